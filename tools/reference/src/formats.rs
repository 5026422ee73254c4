//! Pictures in the formats of textures: their bytes, the numbers that they can hold, and how far rounding goes.
//!
//! Pictures hold the values that a shader sees: linear light for sRGB formats, whose bytes are encoded, and integers as
//! they are.

use crate::{Picture, decode_srgb, encode_srgb};
use half::f16;
use wgpu::TextureFormat;

/// What the bits of a channel mean.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Kind {
    Unorm,
    /// Eight bits of encoded light, and of alpha as it is.
    Srgb,
    Snorm,
    Uint,
    Sint,
    /// With 16 or 32 bits; or with 11 or 10, which are half floats without a sign and with less mantissa.
    Float,
}

/// How a format stores its texels.
struct Layout {
    format: TextureFormat,
    kind: Kind,
    /// The channels from the lowest bit on, as indices into RGBA.
    order: &'static [usize],
    /// The bits of each channel of RGBA.
    bits: [u32; 4],
}

const R: &[usize] = &[0];
const RG: &[usize] = &[0, 1];
const RGB: &[usize] = &[0, 1, 2];
const RGBA: &[usize] = &[0, 1, 2, 3];
const BGRA: &[usize] = &[2, 1, 0, 3];

/// All writable formats of colours.
const TABLE: &[Layout] = {
    use self::Kind::{Float, Sint, Snorm, Srgb, Uint, Unorm};
    use TextureFormat as T;
    &[
        Layout::plain(T::R8Unorm, Unorm, R, 8),
        Layout::plain(T::Rg8Unorm, Unorm, RG, 8),
        Layout::plain(T::Rgba8Unorm, Unorm, RGBA, 8),
        Layout::plain(T::Rgba8UnormSrgb, Srgb, RGBA, 8),
        Layout::plain(T::Bgra8Unorm, Unorm, BGRA, 8),
        Layout::plain(T::Bgra8UnormSrgb, Srgb, BGRA, 8),
        Layout::plain(T::R8Snorm, Snorm, R, 8),
        Layout::plain(T::Rg8Snorm, Snorm, RG, 8),
        Layout::plain(T::Rgba8Snorm, Snorm, RGBA, 8),
        Layout::plain(T::R8Uint, Uint, R, 8),
        Layout::plain(T::Rg8Uint, Uint, RG, 8),
        Layout::plain(T::Rgba8Uint, Uint, RGBA, 8),
        Layout::plain(T::R8Sint, Sint, R, 8),
        Layout::plain(T::Rg8Sint, Sint, RG, 8),
        Layout::plain(T::Rgba8Sint, Sint, RGBA, 8),
        Layout::plain(T::R16Unorm, Unorm, R, 16),
        Layout::plain(T::Rg16Unorm, Unorm, RG, 16),
        Layout::plain(T::Rgba16Unorm, Unorm, RGBA, 16),
        Layout::plain(T::R16Snorm, Snorm, R, 16),
        Layout::plain(T::Rg16Snorm, Snorm, RG, 16),
        Layout::plain(T::Rgba16Snorm, Snorm, RGBA, 16),
        Layout::plain(T::R16Uint, Uint, R, 16),
        Layout::plain(T::Rg16Uint, Uint, RG, 16),
        Layout::plain(T::Rgba16Uint, Uint, RGBA, 16),
        Layout::plain(T::R16Sint, Sint, R, 16),
        Layout::plain(T::Rg16Sint, Sint, RG, 16),
        Layout::plain(T::Rgba16Sint, Sint, RGBA, 16),
        Layout::plain(T::R16Float, Float, R, 16),
        Layout::plain(T::Rg16Float, Float, RG, 16),
        Layout::plain(T::Rgba16Float, Float, RGBA, 16),
        Layout::plain(T::R32Uint, Uint, R, 32),
        Layout::plain(T::Rg32Uint, Uint, RG, 32),
        Layout::plain(T::Rgba32Uint, Uint, RGBA, 32),
        Layout::plain(T::R32Sint, Sint, R, 32),
        Layout::plain(T::Rg32Sint, Sint, RG, 32),
        Layout::plain(T::Rgba32Sint, Sint, RGBA, 32),
        Layout::plain(T::R32Float, Float, R, 32),
        Layout::plain(T::Rg32Float, Float, RG, 32),
        Layout::plain(T::Rgba32Float, Float, RGBA, 32),
        Layout::packed(T::Rgb10a2Unorm, Unorm, RGBA, [10, 10, 10, 2]),
        Layout::packed(T::Rgb10a2Uint, Uint, RGBA, [10, 10, 10, 2]),
        Layout::packed(T::Rg11b10Ufloat, Float, RGB, [11, 11, 10, 0]),
    ]
};

impl Layout {
    const fn plain(format: TextureFormat, kind: Kind, order: &'static [usize], bits: u32) -> Self {
        Self::packed(format, kind, order, [bits; 4])
    }

    const fn packed(format: TextureFormat, kind: Kind, order: &'static [usize], bits: [u32; 4]) -> Self {
        Self {
            format,
            kind,
            order,
            bits,
        }
    }

    fn of(format: TextureFormat) -> &'static Self {
        let found = TABLE.iter().find(|layout| layout.format == format);
        found.unwrap_or_else(|| panic!("{format:?} is not in the table"))
    }

    /// The bytes of a texel.
    fn size(&self) -> usize {
        let bits: u32 = self.order.iter().map(|channel| self.bits[*channel]).sum();
        bits as usize / 8
    }

    /// A texel as a word. The format stores its lowest bytes.
    fn encode(&self, texel: [f64; 4]) -> u128 {
        let (mut word, mut length) = (0, 0);
        for &channel in self.order {
            let bits = self.bits[channel];
            word |= u128::from(to_bits(texel[channel], self.kind_of(channel), bits)) << length;
            length += bits;
        }
        word
    }

    fn decode(&self, mut word: u128) -> [f64; 4] {
        let mut texel = [0.0, 0.0, 0.0, 1.0];
        for &channel in self.order {
            let bits = self.bits[channel];
            let mask = u128::from(u32::MAX >> (32 - bits));
            texel[channel] = from_bits((word & mask) as u32, self.kind_of(channel), bits);
            word >>= bits;
        }
        texel
    }

    /// Alpha is never encoded as light is.
    fn kind_of(&self, channel: usize) -> Kind {
        match self.kind {
            Kind::Srgb if channel == 3 => Kind::Unorm,
            kind => kind,
        }
    }
}

/// All writable formats, with or without a feature.
pub fn all() -> Vec<TextureFormat> {
    TABLE.iter().map(|layout| layout.format).collect()
}

pub fn kind(format: TextureFormat) -> Kind {
    Layout::of(format).kind
}

pub fn is_integer(format: TextureFormat) -> bool {
    matches!(kind(format), Kind::Uint | Kind::Sint)
}

/// The channels of RGBA that a format holds.
pub fn stored_channels(format: TextureFormat) -> Vec<usize> {
    Layout::of(format).order.to_vec()
}

/// The bytes of a texture that holds `picture` as exactly as its format can.
pub fn encode(picture: &Picture, format: TextureFormat) -> Vec<u8> {
    let layout = Layout::of(format);
    let size = layout.size();
    let mut bytes = Vec::with_capacity(picture.texels.len() * size);
    for texel in &picture.texels {
        bytes.extend_from_slice(&layout.encode(*texel).to_le_bytes()[..size]);
    }
    bytes
}

/// The picture that the bytes of a texture hold. Channels that the format lacks are 0, alpha 1.
pub fn decode(bytes: &[u8], width: usize, height: usize, format: TextureFormat) -> Picture {
    let layout = Layout::of(format);
    let size = layout.size();
    let texels = bytes.chunks(size).map(|bytes| {
        let mut word = [0; 16];
        word[..size].copy_from_slice(bytes);
        layout.decode(u128::from_le_bytes(word))
    });
    Picture::new(width, height, texels.collect())
}

/// The picture as a format stores it.
pub fn quantised(picture: &Picture, format: TextureFormat) -> Picture {
    let layout = Layout::of(format);
    let texels = picture.texels.iter().map(|texel| layout.decode(layout.encode(*texel)));
    Picture::new(picture.width, picture.height, texels.collect())
}

/// The largest unsigned number of so many bits.
fn largest(bits: u32) -> f64 {
    f64::from(u32::MAX >> (32 - bits))
}

fn largest_signed(bits: u32) -> f64 {
    f64::from(u32::MAX >> (33 - bits))
}

fn to_bits(value: f64, kind: Kind, bits: u32) -> u32 {
    let mask = u32::MAX >> (32 - bits);
    let unsigned = |value: f64| (value.clamp(0.0, 1.0) * largest(bits)).round() as u32;
    match kind {
        Kind::Unorm => unsigned(value),
        Kind::Srgb => unsigned(encode_srgb(value.clamp(0.0, 1.0))),
        Kind::Snorm => (value.clamp(-1.0, 1.0) * largest_signed(bits)).round() as i32 as u32 & mask,
        Kind::Uint => value.clamp(0.0, largest(bits)).round() as u32,
        Kind::Sint => {
            let most = largest_signed(bits);
            value.clamp(-most - 1.0, most).round() as i32 as u32 & mask
        }
        Kind::Float => match bits {
            32 => (value as f32).to_bits(),
            16 => u32::from(f16::from_f64(value).to_bits()),
            _ => {
                // Half floats have 15 bits beside their sign. NaN stays NaN.
                let positive = if value < 0.0 { 0.0 } else { value };
                let half = u32::from(f16::from_f64(positive).to_bits() & 0x7fff);
                let dropped = 15 - bits;
                (half + (1 << (dropped - 1))) >> dropped
            }
        },
    }
}

fn from_bits(raw: u32, kind: Kind, bits: u32) -> f64 {
    let signed = || f64::from((raw << (32 - bits)) as i32 >> (32 - bits));
    match kind {
        Kind::Unorm => f64::from(raw) / largest(bits),
        Kind::Srgb => decode_srgb(f64::from(raw) / largest(bits)),
        Kind::Snorm => (signed() / largest_signed(bits)).max(-1.0),
        Kind::Uint => f64::from(raw),
        Kind::Sint => signed(),
        Kind::Float => match bits {
            32 => f64::from(f32::from_bits(raw)),
            16 => f16::from_bits(raw as u16).to_f64(),
            _ => f16::from_bits((raw << (15 - bits)) as u16).to_f64(),
        },
    }
}

/// The least and the greatest number of each channel of a picture.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Span {
    pub low: [f64; 4],
    pub high: [f64; 4],
}

impl Span {
    /// The same numbers in all channels.
    pub const fn new(low: f64, high: f64) -> Self {
        Self {
            low: [low; 4],
            high: [high; 4],
        }
    }

    /// The range of a format; 0 to 1 for floats, which can be anything.
    pub fn of(format: TextureFormat) -> Self {
        let layout = Layout::of(format);
        let mut span = Self::new(0.0, 1.0);
        for &channel in layout.order {
            let bits = layout.bits[channel];
            (span.low[channel], span.high[channel]) = match layout.kind {
                Kind::Unorm | Kind::Srgb | Kind::Float => (0.0, 1.0),
                Kind::Snorm => (-1.0, 1.0),
                Kind::Uint => (0.0, largest(bits)),
                Kind::Sint => (-largest_signed(bits) - 1.0, largest_signed(bits)),
            };
        }
        span
    }

    /// Stretches values from 0 to 1 over the span.
    pub fn spread(&self, picture: &Picture) -> Picture {
        self.map(picture, |value, low, width| low + value * width)
    }

    /// The inverse of [`spread`](Self::spread).
    pub fn unit(&self, picture: &Picture) -> Picture {
        self.map(picture, |value, low, width| (value - low) / width)
    }

    /// Clamps a picture to the span.
    pub fn saturated(&self, picture: &Picture) -> Picture {
        self.map(picture, |value, low, width| value.clamp(low, low + width))
    }

    fn map(&self, picture: &Picture, change: impl Fn(f64, f64, f64) -> f64) -> Picture {
        let width = |channel: usize| self.high[channel] - self.low[channel];
        let changed = |texel: &[f64; 4]| {
            core::array::from_fn(|channel| change(texel[channel], self.low[channel], width(channel)))
        };
        let texels = picture.texels.iter().map(changed).collect();
        Picture::new(picture.width, picture.height, texels)
    }
}

/// The tolerance for the channels of a blurred picture, as a share of the picture's span: 0.35/255 for the blur, and half a
/// step of the format with the latitude that graphics APIs allow. For floats, it is 0.2 % of the peak.
pub fn tolerance(format: TextureFormat, span: &Span) -> [f64; 4] {
    let layout = Layout::of(format);
    core::array::from_fn(|channel| {
        let bits = layout.bits[channel].max(1);
        let step = match layout.kind {
            // The rounding itself comes on top: it depends on the value.
            Kind::Srgb => return 0.6 / 255.0,
            Kind::Float => return 0.002,
            Kind::Unorm => 1.0 / largest(bits),
            Kind::Snorm => 1.0 / largest_signed(bits),
            Kind::Uint | Kind::Sint => 1.0,
        };
        // Integers of 32 bits go through floats, which carry 24.
        let carried = if bits == 32 { 0.5_f64.powi(23) } else { 0.0 };
        0.35 / 255.0 + 0.65 * step / (span.high[channel] - span.low[channel]) + carried
    })
}

/// The expected picture, moved towards the result by the rounding error of a format, if that error depends on the value: the
/// error of sRGB, and half a step of a mantissa of six bits, of five in blue.
pub fn within_storage(got: &Picture, expected: &Picture, format: TextureFormat) -> Picture {
    if format != TextureFormat::Rg11b10Ufloat {
        return within_rounding(got, expected, format);
    }
    Picture::from_fn(got.width, got.height, |x, y| {
        let (got, expected) = (got.at(x, y), expected.at(x, y));
        core::array::from_fn(|channel| {
            let share = if channel == 2 { 1.0 / 64.0 } else { 1.0 / 128.0 };
            let step = share * expected[channel].abs();
            expected[channel] + (got[channel] - expected[channel]).clamp(-step, step)
        })
    })
}

/// The expected picture, moved towards the result by the rounding error of an 8-bit sRGB format: half a step of the
/// encoding, with the latitude of 0.6 steps that graphics APIs allow an encoder. Other formats do not move.
pub fn within_rounding(got: &Picture, expected: &Picture, format: TextureFormat) -> Picture {
    if !matches!(format, TextureFormat::Rgba8UnormSrgb | TextureFormat::Bgra8UnormSrgb) {
        return expected.clone();
    }
    Picture::from_fn(got.width, got.height, |x, y| {
        let (got, expected) = (got.at(x, y), expected.at(x, y));
        core::array::from_fn(|channel| {
            if got[channel] == expected[channel] {
                return got[channel];
            }
            let step = rounding_step(expected[channel], channel);
            expected[channel] + (got[channel] - expected[channel]).clamp(-step, step)
        })
    })
}

fn rounding_step(linear: f64, channel: usize) -> f64 {
    if channel == 3 {
        return 0.6 / 255.0;
    }
    let encoded = encode_srgb(linear.clamp(0.0, 1.0));
    let around = |offset: f64| decode_srgb((encoded + offset / 255.0).clamp(0.0, 1.0));
    (around(0.6) - linear).max(linear - around(-0.6))
}
