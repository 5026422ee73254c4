//! The colour formats, as far as they matter to a blur. All their differences follow from their numbers and their
//! channels.

use crate::kernel::Precision;
use bevy::render::render_resource::{AstcChannel, TextureFormat};

/// The numbers of a format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Encoding {
    /// 0 to 1, in this many bits.
    Unorm(u32),
    /// 0 to 1 in eight bits, encoded. Shaders see light.
    Srgb,
    /// -1 to 1, in this many bits.
    Snorm(u32),
    /// Unsigned integers, in this many bits.
    Uint(u32),
    /// Signed integers, in this many bits.
    Sint(u32),
    /// Floats of 16 bits.
    Half,
    /// Floats of 32 bits.
    Float,
    /// Positive floats with 6, 6 and 5 bits of mantissa.
    Packed,
    /// Positive floats with 9 bits of mantissa and an exponent for all.
    SharedExponent,
}

/// The channels of a format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Channels {
    R,
    Rg,
    Rgb,
    Rgba,
}

/// The type with which shaders read and write a format.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Sample {
    #[default]
    Float,
    Uint,
    Sint,
}

/// How a shader must change a value before it is stored, where GPUs do not round reliably.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Rounding {
    /// Nothing.
    None,
    /// Some GPUs truncate half floats instead of rounding.
    Half,
    /// Some GPUs truncate packed floats, which have fewer bits.
    Packed,
    /// To the nearest integer that the format can hold. `largest` is the largest colour and the largest alpha.
    Integer { largest: [u32; 2] },
}

/// A colour format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Format {
    pub texture: TextureFormat,
    pub channels: Channels,
    pub numbers: Encoding,
    /// Whether texels are stored in compressed blocks.
    is_compressed: bool,
}

/// All formats that are not compressed.
pub static PLAIN: &[Format] = {
    use Channels::{R, Rg, Rgb, Rgba};
    use Encoding::{Float, Half, Packed, SharedExponent, Sint, Snorm, Srgb, Uint, Unorm};
    use TextureFormat as T;
    &[
        Format::plain(T::R8Unorm, R, Unorm(8)),
        Format::plain(T::Rg8Unorm, Rg, Unorm(8)),
        Format::plain(T::Rgba8Unorm, Rgba, Unorm(8)),
        Format::plain(T::Bgra8Unorm, Rgba, Unorm(8)),
        Format::plain(T::Rgba8UnormSrgb, Rgba, Srgb),
        Format::plain(T::Bgra8UnormSrgb, Rgba, Srgb),
        Format::plain(T::R8Snorm, R, Snorm(8)),
        Format::plain(T::Rg8Snorm, Rg, Snorm(8)),
        Format::plain(T::Rgba8Snorm, Rgba, Snorm(8)),
        Format::plain(T::R8Uint, R, Uint(8)),
        Format::plain(T::Rg8Uint, Rg, Uint(8)),
        Format::plain(T::Rgba8Uint, Rgba, Uint(8)),
        Format::plain(T::R8Sint, R, Sint(8)),
        Format::plain(T::Rg8Sint, Rg, Sint(8)),
        Format::plain(T::Rgba8Sint, Rgba, Sint(8)),
        Format::plain(T::R16Unorm, R, Unorm(16)),
        Format::plain(T::Rg16Unorm, Rg, Unorm(16)),
        Format::plain(T::Rgba16Unorm, Rgba, Unorm(16)),
        Format::plain(T::R16Snorm, R, Snorm(16)),
        Format::plain(T::Rg16Snorm, Rg, Snorm(16)),
        Format::plain(T::Rgba16Snorm, Rgba, Snorm(16)),
        Format::plain(T::R16Uint, R, Uint(16)),
        Format::plain(T::Rg16Uint, Rg, Uint(16)),
        Format::plain(T::Rgba16Uint, Rgba, Uint(16)),
        Format::plain(T::R16Sint, R, Sint(16)),
        Format::plain(T::Rg16Sint, Rg, Sint(16)),
        Format::plain(T::Rgba16Sint, Rgba, Sint(16)),
        Format::plain(T::R16Float, R, Half),
        Format::plain(T::Rg16Float, Rg, Half),
        Format::plain(T::Rgba16Float, Rgba, Half),
        Format::plain(T::R32Uint, R, Uint(32)),
        Format::plain(T::Rg32Uint, Rg, Uint(32)),
        Format::plain(T::Rgba32Uint, Rgba, Uint(32)),
        Format::plain(T::R32Sint, R, Sint(32)),
        Format::plain(T::Rg32Sint, Rg, Sint(32)),
        Format::plain(T::Rgba32Sint, Rgba, Sint(32)),
        Format::plain(T::R32Float, R, Float),
        Format::plain(T::Rg32Float, Rg, Float),
        Format::plain(T::Rgba32Float, Rgba, Float),
        Format::plain(T::Rgb10a2Unorm, Rgba, Unorm(10)),
        Format::plain(T::Rgb10a2Uint, Rgba, Uint(10)),
        Format::plain(T::Rg11b10Ufloat, Rgb, Packed),
        Format::plain(T::Rgb9e5Ufloat, Rgb, SharedExponent),
    ]
};

impl Format {
    const fn plain(texture: TextureFormat, channels: Channels, numbers: Encoding) -> Self {
        Self {
            texture,
            channels,
            numbers,
            is_compressed: false,
        }
    }

    /// The entry of a format, `None` if it holds no colours.
    pub fn find(texture: TextureFormat) -> Option<Self> {
        let plain = PLAIN.iter().find(|format| format.texture == texture).copied();
        plain.or_else(|| Self::compressed(texture))
    }

    /// The entry of a compressed format: the type of its decoded texels.
    fn compressed(texture: TextureFormat) -> Option<Self> {
        use Channels::{R, Rg, Rgb, Rgba};
        use Encoding::{Half, Snorm, Srgb, Unorm};
        use TextureFormat as T;
        let (channels, numbers) = match texture {
            T::Bc1RgbaUnorm | T::Bc2RgbaUnorm | T::Bc3RgbaUnorm | T::Bc7RgbaUnorm => (Rgba, Unorm(8)),
            T::Bc1RgbaUnormSrgb | T::Bc2RgbaUnormSrgb | T::Bc3RgbaUnormSrgb | T::Bc7RgbaUnormSrgb => (Rgba, Srgb),
            T::Bc4RUnorm => (R, Unorm(8)),
            T::Bc4RSnorm => (R, Snorm(8)),
            T::Bc5RgUnorm => (Rg, Unorm(8)),
            T::Bc5RgSnorm => (Rg, Snorm(8)),
            T::Bc6hRgbUfloat | T::Bc6hRgbFloat => (Rgb, Half),
            T::Etc2Rgb8Unorm => (Rgb, Unorm(8)),
            T::Etc2Rgb8UnormSrgb => (Rgb, Srgb),
            T::Etc2Rgb8A1Unorm | T::Etc2Rgba8Unorm => (Rgba, Unorm(8)),
            T::Etc2Rgb8A1UnormSrgb | T::Etc2Rgba8UnormSrgb => (Rgba, Srgb),
            T::EacR11Unorm => (R, Unorm(11)),
            T::EacR11Snorm => (R, Snorm(11)),
            T::EacRg11Unorm => (Rg, Unorm(11)),
            T::EacRg11Snorm => (Rg, Snorm(11)),
            T::Astc { channel, .. } => match channel {
                AstcChannel::Unorm => (Rgba, Unorm(8)),
                AstcChannel::UnormSrgb => (Rgba, Srgb),
                AstcChannel::Hdr => (Rgba, Half),
            },
            _ => return None,
        };
        Some(Self {
            texture,
            channels,
            numbers,
            is_compressed: true,
        })
    }

    /// The type that shaders see.
    pub const fn sample(&self) -> Sample {
        match self.numbers {
            Encoding::Uint(_) => Sample::Uint,
            Encoding::Sint(_) => Sample::Sint,
            _ => Sample::Float,
        }
    }

    /// Whether a value may be infinite or NaN.
    pub const fn may_be_infinite(&self) -> bool {
        matches!(self.numbers, Encoding::Half | Encoding::Float | Encoding::Packed)
    }

    /// Whether alpha is an opacity: integers are just numbers.
    pub fn has_opacity(&self) -> bool {
        self.channels == Channels::Rgba && self.sample() == Sample::Float
    }

    /// Whether alpha has at least eight bits, so that what is painted on transparent black keeps its opacity.
    pub fn keeps_opacity(&self) -> bool {
        self.has_opacity() && self.texture != TextureFormat::Rgb10a2Unorm
    }

    /// Whether GPUs filter these textures as exactly as a blur needs.
    ///
    /// Some software rasterisers filter 8-bit textures with 8-bit arithmetic, which is off by up to 1/255 per fetch, so
    /// those are read texel by texel. sRGB formats are decoded before they are filtered, in full precision.
    pub fn filters_exactly(&self) -> bool {
        !self.is_compressed && !matches!(self.numbers, Encoding::Unorm(8) | Encoding::Snorm(8))
    }

    /// Whether half floats, with their eleven bits and their maximum of 65504, would lose something.
    pub const fn is_wide(&self) -> bool {
        match self.numbers {
            Encoding::Unorm(bits) | Encoding::Snorm(bits) | Encoding::Uint(bits) | Encoding::Sint(bits) => bits > 11,
            Encoding::Float => true,
            Encoding::Srgb | Encoding::Half | Encoding::Packed | Encoding::SharedExponent => false,
        }
    }

    /// How exact a blur of a picture in this format must be. Formats that can hold more than 1 may hold lights, and
    /// sixteen bits distinguish more than 256 levels.
    pub const fn precision(&self) -> Precision {
        match self.numbers {
            Encoding::Half | Encoding::Packed | Encoding::SharedExponent => Precision::Hdr,
            _ if self.is_wide() => Precision::Hdr,
            _ => Precision::Standard,
        }
    }

    /// How a value must be changed before it is stored.
    pub fn rounding(&self) -> Rounding {
        match self.numbers {
            Encoding::Half => Rounding::Half,
            Encoding::Packed => Rounding::Packed,
            Encoding::Uint(bits) => Rounding::Integer {
                largest: [u32::MAX >> (32 - bits), u32::MAX >> (32 - self.alpha_bits(bits))],
            },
            Encoding::Sint(bits) => Rounding::Integer {
                largest: [u32::MAX >> (33 - bits); 2],
            },
            _ => Rounding::None,
        }
    }

    fn alpha_bits(&self, bits: u32) -> u32 {
        if self.texture == TextureFormat::Rgb10a2Uint {
            2
        } else {
            bits
        }
    }

    /// The shader definition of a texture that compute passes store to, `None` if the shaders have no such definition.
    pub const fn storage_definition(&self) -> Option<&'static str> {
        match self.texture {
            TextureFormat::Rgba8Unorm => Some("STORE_RGBA8UNORM"),
            TextureFormat::Rgba16Float => Some("STORE_RGBA16FLOAT"),
            TextureFormat::Rgba32Float => Some("STORE_RGBA32FLOAT"),
            _ => None,
        }
    }

    /// The format of the blurred picture if this one is not renderable: every GPU renders to it, and it loses nothing
    /// of the picture.
    pub const fn stand_in(&self) -> TextureFormat {
        match (self.channels, self.numbers) {
            (Channels::R, Encoding::Unorm(8)) => TextureFormat::R8Unorm,
            (Channels::Rg, Encoding::Unorm(8)) => TextureFormat::Rg8Unorm,
            (_, Encoding::Unorm(8)) => TextureFormat::Rgba8Unorm,
            (_, Encoding::Srgb) => TextureFormat::Rgba8UnormSrgb,
            (Channels::R, _) if self.is_wide() => TextureFormat::R32Float,
            (Channels::Rg, _) if self.is_wide() => TextureFormat::Rg32Float,
            (_, _) if self.is_wide() => TextureFormat::Rgba32Float,
            (Channels::R, _) => TextureFormat::R16Float,
            (Channels::Rg, _) => TextureFormat::Rg16Float,
            (_, _) => TextureFormat::Rgba16Float,
        }
    }
}

#[cfg(test)]
mod tests;
