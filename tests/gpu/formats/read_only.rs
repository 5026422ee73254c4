//! Read-only formats: compressed ones, and floats that share an exponent. A target that the plugin allocates has the
//! nearest writable format.

use super::*;
use crate::support::formats::decode_srgb;
use crate::support::images::{as_read, asset, blurred};
use crate::support::inputs::patterns;
use bevy::render::render_resource::{Extent3d, TextureDimension};
use half::f16;

/// A multiple of the blocks' sides.
const SIZE: [usize; 2] = [68, 44];
const BLOCK: usize = 4;

/// How a format stores blocks of two colours, and how it shows a colour.
struct Compressed {
    format: TextureFormat,
    /// The format of a target that the plugin allocates.
    target: TextureFormat,
    encode: fn(&mut Bits, &Block),
    shown: fn([u8; 4]) -> [f64; 4],
}

const fn compressed(
    format: TextureFormat,
    target: TextureFormat,
    encode: fn(&mut Bits, &Block),
    shown: fn([u8; 4]) -> [f64; 4],
) -> Compressed {
    Compressed {
        format,
        target,
        encode,
        shown,
    }
}

const COMPRESSED: [Compressed; 14] = {
    use TextureFormat as T;
    [
        compressed(T::Bc1RgbaUnorm, T::Rgba8Unorm, bc1, |end| switched(end, 255)),
        compressed(T::Bc1RgbaUnormSrgb, T::Rgba8UnormSrgb, bc1, |end| switched(end, 255)),
        compressed(T::Bc2RgbaUnorm, T::Rgba8Unorm, bc2, |end| {
            switched(end, end[3] / 16 * 17)
        }),
        compressed(T::Bc2RgbaUnormSrgb, T::Rgba8UnormSrgb, bc2, |end| {
            switched(end, end[3] / 16 * 17)
        }),
        compressed(T::Bc3RgbaUnorm, T::Rgba8Unorm, bc3, |end| switched(end, end[3])),
        compressed(T::Bc3RgbaUnormSrgb, T::Rgba8UnormSrgb, bc3, |end| switched(end, end[3])),
        compressed(T::Bc4RUnorm, T::R8Unorm, bc4, |end| [unorm(end[0]), 0.0, 0.0, 1.0]),
        compressed(T::Bc4RSnorm, T::R16Float, bc4, |end| [snorm(end[0]), 0.0, 0.0, 1.0]),
        compressed(T::Bc5RgUnorm, T::Rg8Unorm, bc5, |end| {
            [unorm(end[0]), unorm(end[1]), 0.0, 1.0]
        }),
        compressed(T::Bc5RgSnorm, T::Rg16Float, bc5, |end| {
            [snorm(end[0]), snorm(end[1]), 0.0, 1.0]
        }),
        compressed(T::Bc6hRgbUfloat, T::Rgba16Float, bc6h_unsigned, |end| {
            half_floats(end, |byte| f16::from_bits((quantum(byte) * 31 / 64) as u16).to_f64())
        }),
        compressed(T::Bc6hRgbFloat, T::Rgba16Float, bc6h_signed, |end| {
            half_floats(end, signed_half)
        }),
        compressed(T::Bc7RgbaUnorm, T::Rgba8Unorm, bc7, |end| {
            [0, 1, 2, 3].map(|channel| unorm(seven_bits(end, channel)))
        }),
        compressed(T::Bc7RgbaUnormSrgb, T::Rgba8UnormSrgb, bc7, |end| {
            let shown = [0, 1, 2, 3].map(|channel| unorm(seven_bits(end, channel)));
            let [red, green, blue] = [shown[0], shown[1], shown[2]].map(decode_srgb);
            [red, green, blue, shown[3]]
        }),
    ]
};

/// Sixteen texels of two colours.
struct Block {
    ends: [[u8; 4]; 2],
    /// Which texels show the second colour, row by row. The first texel never does: some formats omit its highest bit.
    second: [bool; BLOCK * BLOCK],
}

/// Numbers one after the other, from the lowest bit on.
#[derive(Default)]
struct Bits {
    word: u128,
    length: u32,
}

impl Bits {
    fn push(&mut self, value: u32, bits: u32) {
        self.word |= u128::from(value & (u32::MAX >> (32 - bits))) << self.length;
        self.length += bits;
    }

    fn bytes(&self) -> Vec<u8> {
        self.word.to_le_bytes()[..self.length as usize / 8].to_vec()
    }
}

/// Colours whose channels have all bits set or none, whatever their number of bits.
fn bc1(bits: &mut Bits, block: &Block) {
    for end in block.ends {
        let channel = |value: u8, bits: u32| if value < 128 { 0 } else { u32::MAX >> (32 - bits) };
        bits.push(channel(end[2], 5), 5);
        bits.push(channel(end[1], 6), 6);
        bits.push(channel(end[0], 5), 5);
    }
    for second in block.second {
        bits.push(second.into(), 2);
    }
}

/// The same behind an alpha of four bits.
fn bc2(bits: &mut Bits, block: &Block) {
    for second in block.second {
        bits.push(u32::from(block.ends[usize::from(second)][3] / 16), 4);
    }
    bc1(bits, block);
}

/// The same behind a channel of alpha.
fn bc3(bits: &mut Bits, block: &Block) {
    channel(bits, block, 3);
    bc1(bits, block);
}

fn bc4(bits: &mut Bits, block: &Block) {
    channel(bits, block, 0);
}

fn bc5(bits: &mut Bits, block: &Block) {
    channel(bits, block, 0);
    channel(bits, block, 1);
}

fn channel(bits: &mut Bits, block: &Block, channel: usize) {
    for end in block.ends {
        bits.push(end[channel].into(), 8);
    }
    for second in block.second {
        bits.push(second.into(), 3);
    }
}

/// The mode with ten bits for each channel.
fn bc6h(bits: &mut Bits, block: &Block, ten_bits: fn(u8) -> u32) {
    bits.push(0b00011, 5);
    for end in block.ends {
        (0..3).for_each(|channel| bits.push(ten_bits(end[channel]), 10));
    }
    indices(bits, block);
}

fn bc6h_unsigned(bits: &mut Bits, block: &Block) {
    bc6h(bits, block, |byte| u32::from(byte) * 495 / 255);
}

fn bc6h_signed(bits: &mut Bits, block: &Block) {
    bc6h(bits, block, |byte| signed_ten_bits(byte) as u32);
}

/// The mode with seven bits for each channel and one for all of a colour.
fn bc7(bits: &mut Bits, block: &Block) {
    bits.push(1 << 6, 7);
    for channel in 0..4 {
        for end in block.ends {
            bits.push(u32::from(end[channel] / 2), 7);
        }
    }
    for end in block.ends {
        bits.push(u32::from(end[0] % 2), 1);
    }
    indices(bits, block);
}

/// Four bits for each texel, three for the first: its highest bit is 0.
fn indices(bits: &mut Bits, block: &Block) {
    for (texel, second) in block.second.into_iter().enumerate() {
        bits.push(if second { 15 } else { 0 }, if texel == 0 { 3 } else { 4 });
    }
}

fn unorm(byte: u8) -> f64 {
    f64::from(byte) / 255.0
}

fn snorm(byte: u8) -> f64 {
    (f64::from(byte as i8) / 127.0).max(-1.0)
}

fn switched(end: [u8; 4], alpha: u8) -> [f64; 4] {
    let on = |channel: usize| f64::from(u8::from(end[channel] >= 128));
    [on(0), on(1), on(2), unorm(alpha)]
}

/// A channel whose lowest bit is that of red.
fn seven_bits(end: [u8; 4], channel: usize) -> u8 {
    end[channel] / 2 * 2 + end[0] % 2
}

fn half_floats(end: [u8; 4], value: fn(u8) -> f64) -> [f64; 4] {
    [value(end[0]), value(end[1]), value(end[2]), 1.0]
}

/// A number of ten bits, expanded to sixteen.
fn quantum(byte: u8) -> u32 {
    match u32::from(byte) * 495 / 255 {
        0 => 0,
        ten_bits => ten_bits * 64 + 32,
    }
}

/// Nine bits with a sign.
fn signed_ten_bits(byte: u8) -> i32 {
    i32::from(byte as i8) * 247 / 128
}

fn signed_half(byte: u8) -> f64 {
    let number = signed_ten_bits(byte);
    let quantum = match number.unsigned_abs() {
        0 => 0,
        nine_bits => nine_bits * 64 + 32,
    };
    f64::from(number.signum()) * f16::from_bits((quantum * 31 / 32) as u16).to_f64()
}

/// An image of blocks, and the picture that it shows.
fn compress(kind: &Compressed) -> (Image, Picture) {
    let [width, height] = SIZE;
    let [first, second] = patterns(width, height);
    let byte = |value: f64| (value * 255.0).round() as u8;
    let block_at = |column: usize, row: usize| {
        let (x, y) = (column * BLOCK, row * BLOCK);
        // The colours of a block are those at two of its positions. Noise decides which one a texel shows.
        let is_second = |texel: usize| first.at(x + texel % BLOCK, y + texel / BLOCK)[3] > 0.5;
        Block {
            ends: [first.at(x + 1, y + 2).map(byte), second.at(x + 2, y + 1).map(byte)],
            second: core::array::from_fn(|texel| texel > 0 && is_second(texel)),
        }
    };
    let mut bytes = Vec::new();
    for row in 0..height / BLOCK {
        for column in 0..width / BLOCK {
            let mut bits = Bits::default();
            (kind.encode)(&mut bits, &block_at(column, row));
            bytes.extend(bits.bytes());
        }
    }
    let picture = Picture::from_fn(width, height, |x, y| {
        let block = block_at(x / BLOCK, y / BLOCK);
        let second = block.second[y % BLOCK * BLOCK + x % BLOCK];
        (kind.shown)(block.ends[usize::from(second)])
    });
    (image_of(kind.format, bytes), picture)
}

/// An image with the usages of an image loaded from a file.
fn image_of(format: TextureFormat, bytes: Vec<u8>) -> Image {
    let size = Extent3d {
        width: SIZE[0] as u32,
        height: SIZE[1] as u32,
        depth_or_array_layers: 1,
    };
    Image::new(size, TextureDimension::D2, bytes, format, RenderAssetUsages::default())
}

/// Blurs an image into a target that the plugin allocates, which must have the format `own`, and into a target with
/// another format.
fn assert_blurs(headless: &mut Headless, image: &Image, picture: &Picture, own: TextureFormat) {
    let format = image.texture_descriptor.format;
    let span = match format {
        TextureFormat::Bc4RSnorm | TextureFormat::Bc5RgSnorm | TextureFormat::Bc6hRgbFloat => Span::new(-1.0, 1.0),
        TextureFormat::Rgb9e5Ufloat => Span::new(0.0, 8.0),
        _ => Span::new(0.0, 1.0),
    };
    for sigma in [0.0, 0.8, 2.9, 13.0] {
        let blur = GaussianBlur::from_sigma(sigma as f32);
        let expected = gaussian_blur(picture, [sigma; 2], EdgeMode::Clamp);
        let name = format!("{format:?}-{sigma}");

        let source = headless.add_image(image.clone());
        let target = headless.blur(blur, plain(source)).expect("the blur succeeds");
        assert_eq!(asset(headless, &target).texture_descriptor.format, own, "{name}");
        let pixels = headless.read_image(&target);
        assert_eq!(pixels.format, own, "{name}");
        formats::assert_stored(&name, &to_picture(&pixels), &expected, own, &span);

        let given = TextureFormat::Rgba16Float;
        let got = blurred(headless, blur, image.clone(), BlurAlpha::Premultiplied, given);
        formats::assert_stored(&format!("{name}-given"), &got, &expected, given, &span);
    }
}

#[test]
fn compressed_formats() {
    by_general_executors(|headless| {
        for kind in COMPRESSED {
            if !headless.available(&[kind.format]).is_empty() {
                let (image, picture) = compress(&kind);
                let source = headless.add_image(image.clone());
                let picture = as_read(headless, &source, &picture, kind.format);
                assert_blurs(headless, &image, &picture, kind.target);
            }
        }
    });
}

#[test]
fn a_shared_exponent() {
    by_general_executors(|headless| {
        let [width, height] = SIZE;
        let [source, _] = patterns(width, height);
        // Nine bits of each colour, times a power of two that differs from texel to texel.
        let numbers = |x: usize, y: usize| {
            let colours = source.at(x, y).map(|value| (value * 511.0).round() as u32);
            (colours, (x / 5 + y / 3) as u32 % 4)
        };
        let picture = Picture::from_fn(width, height, |x, y| {
            let (colours, exponent) = numbers(x, y);
            let [red, green, blue, _] = colours.map(|colour| f64::from(colour << exponent) / 512.0);
            [red, green, blue, 1.0]
        });
        let words = (0..width * height).map(|texel| {
            let ([red, green, blue, _], exponent) = numbers(texel % width, texel / width);
            red | green << 9 | blue << 18 | (15 + exponent) << 27
        });
        let bytes = words.flat_map(u32::to_le_bytes).collect();
        let image = image_of(TextureFormat::Rgb9e5Ufloat, bytes);
        assert_blurs(headless, &image, &picture, TextureFormat::Rgba16Float);
    });
}
