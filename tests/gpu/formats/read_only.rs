//! Read-only formats: compressed ones, and floats that share an exponent. A target that the plugin allocates has the
//! nearest writable format.

use super::*;
use crate::support::images::{asset, blurred, converting};
use crate::support::inputs::patterns;
use bevy::render::render_resource::{Extent3d, TextureDimension};

/// A multiple of the blocks' sides.
const SIZE: [usize; 2] = [68, 44];

/// Compressed formats, the number of bytes of their blocks, and the format of a target that the plugin allocates.
const COMPRESSED: [(TextureFormat, usize, TextureFormat); 14] = {
    use TextureFormat as T;
    [
        (T::Bc1RgbaUnorm, 8, T::Rgba8Unorm),
        (T::Bc1RgbaUnormSrgb, 8, T::Rgba8UnormSrgb),
        (T::Bc2RgbaUnorm, 16, T::Rgba8Unorm),
        (T::Bc2RgbaUnormSrgb, 16, T::Rgba8UnormSrgb),
        (T::Bc3RgbaUnorm, 16, T::Rgba8Unorm),
        (T::Bc3RgbaUnormSrgb, 16, T::Rgba8UnormSrgb),
        (T::Bc4RUnorm, 8, T::R8Unorm),
        (T::Bc4RSnorm, 8, T::R16Float),
        (T::Bc5RgUnorm, 16, T::Rg8Unorm),
        (T::Bc5RgSnorm, 16, T::Rg16Float),
        (T::Bc6hRgbUfloat, 16, T::Rgba16Float),
        (T::Bc6hRgbFloat, 16, T::Rgba16Float),
        (T::Bc7RgbaUnorm, 16, T::Rgba8Unorm),
        (T::Bc7RgbaUnormSrgb, 16, T::Rgba8UnormSrgb),
    ]
};

/// Random blocks: any bits make a valid block. Blocks of floats use the mode that stores two colours with ten bits per channel, and the
/// highest bits are set so that no value exceeds 1.5.
fn compressed(format: TextureFormat, block_bytes: usize) -> Image {
    let [width, height] = SIZE;
    let random = |index: usize| u128::from(inputs::mix(index as u64));
    let mut bytes = Vec::new();
    for index in 0..width / 4 * height / 4 {
        let mut block = random(2 * index) << 64 | random(2 * index + 1);
        let is_signed = format == TextureFormat::Bc6hRgbFloat;
        if is_signed || format == TextureFormat::Bc6hRgbUfloat {
            block = block & !0b11111 | 0b00011;
            for highest in (0..6).map(|channel| 5 + 10 * channel + 9) {
                // Below a sign, the next bit repeats it.
                let (cleared, sign) = match is_signed {
                    true => (highest - 1, block >> highest & 1),
                    false => (highest, 0),
                };
                block = block & !(1 << cleared) | sign << cleared;
            }
        }
        bytes.extend(&block.to_le_bytes()[..block_bytes]);
    }
    image_of(format, bytes)
}

/// What the GPU reads of an image.
fn decoded(headless: &mut Headless, image: &Image) -> Picture {
    blurred(
        headless,
        GaussianBlur::new(0.0),
        image.clone(),
        BlurAlpha::Premultiplied,
        TextureFormat::Rgba32Float,
    )
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
        TextureFormat::Bc4RSnorm | TextureFormat::Bc5RgSnorm => Span::new(-1.0, 1.0),
        TextureFormat::Bc6hRgbUfloat => Span::new(0.0, 1.5),
        TextureFormat::Bc6hRgbFloat => Span::new(-1.5, 1.5),
        TextureFormat::Rgb9e5Ufloat => Span::new(0.0, 8.0),
        _ => Span::new(0.0, 1.0),
    };
    let sigmas = [0.0, 0.8, 2.9, 13.0];
    let given = TextureFormat::Rgba16Float;
    let source = headless.add_image(image.clone());
    let mut blurs = Vec::new();
    for sigma in sigmas {
        for target in [plain(source.clone()), converting(headless, image.clone(), given)] {
            blurs.push((GaussianBlur::from_sigma(sigma as f32), target, BlurProfile::Uniform));
        }
    }
    let targets: Vec<_> = headless
        .blur_all(blurs)
        .into_iter()
        .collect::<Result<_, _>>()
        .expect("the blurs succeed");
    for (sigma, targets) in sigmas.into_iter().zip(targets.chunks(2)) {
        let expected = gaussian_blur(picture, [sigma; 2], EdgeMode::Clamp);
        for (target, wanted) in targets.iter().zip([own, given]) {
            let name = format!("{format:?}-{sigma}-{wanted:?}");
            assert_eq!(asset(headless, target).texture_descriptor.format, wanted, "{name}");
            let pixels = headless.read_image(target);
            assert_eq!(pixels.format, wanted, "{name}");
            formats::assert_stored(&name, &to_picture(&pixels), &expected, wanted, &span);
        }
    }
}

#[test]
fn compressed_formats() {
    by_one_executor(|headless| {
        for (format, block_bytes, own) in COMPRESSED {
            if !headless.available(&[format]).is_empty() {
                let image = compressed(format, block_bytes);
                let picture = decoded(headless, &image);
                let brightest = picture.texels.iter().map(|texel| texel[0]).fold(0.0, f64::max);
                assert!((0.5..1.5).contains(&brightest), "{format:?}: at most {brightest}");
                assert_blurs(headless, &image, &picture, own);
            }
        }
    });
}

#[test]
fn a_shared_exponent() {
    by_one_executor(|headless| {
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
