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
    pub numbers: Encoding,
}

/// All formats but ASTC, grouped by how they encode numbers; compressed ones, by the texels that they decode to.
pub static TABLE: &[(Encoding, &[TextureFormat])] = {
    use Encoding::{Float, Half, Packed, SharedExponent, Sint, Snorm, Srgb, Uint, Unorm};
    use TextureFormat as T;
    &[
        (Unorm(8), &[T::R8Unorm, T::Rg8Unorm, T::Rgba8Unorm, T::Bgra8Unorm]),
        (Srgb, &[T::Rgba8UnormSrgb, T::Bgra8UnormSrgb]),
        (Snorm(8), &[T::R8Snorm, T::Rg8Snorm, T::Rgba8Snorm]),
        (Uint(8), &[T::R8Uint, T::Rg8Uint, T::Rgba8Uint]),
        (Sint(8), &[T::R8Sint, T::Rg8Sint, T::Rgba8Sint]),
        (Unorm(16), &[T::R16Unorm, T::Rg16Unorm, T::Rgba16Unorm]),
        (Snorm(16), &[T::R16Snorm, T::Rg16Snorm, T::Rgba16Snorm]),
        (Uint(16), &[T::R16Uint, T::Rg16Uint, T::Rgba16Uint]),
        (Sint(16), &[T::R16Sint, T::Rg16Sint, T::Rgba16Sint]),
        (Half, &[T::R16Float, T::Rg16Float, T::Rgba16Float]),
        (Uint(32), &[T::R32Uint, T::Rg32Uint, T::Rgba32Uint]),
        (Sint(32), &[T::R32Sint, T::Rg32Sint, T::Rgba32Sint]),
        (Float, &[T::R32Float, T::Rg32Float, T::Rgba32Float]),
        (Unorm(10), &[T::Rgb10a2Unorm]),
        (Uint(10), &[T::Rgb10a2Uint]),
        (Packed, &[T::Rg11b10Ufloat]),
        (
            Unorm(8),
            &[T::Bc1RgbaUnorm, T::Bc2RgbaUnorm, T::Bc3RgbaUnorm, T::Bc7RgbaUnorm],
        ),
        (Unorm(8), &[T::Bc4RUnorm, T::Bc5RgUnorm]),
        (Unorm(8), &[T::Etc2Rgb8Unorm, T::Etc2Rgb8A1Unorm, T::Etc2Rgba8Unorm]),
        (Snorm(8), &[T::Bc4RSnorm, T::Bc5RgSnorm]),
        (Unorm(11), &[T::EacR11Unorm, T::EacRg11Unorm]),
        (Srgb, &[T::Bc1RgbaUnormSrgb, T::Bc2RgbaUnormSrgb]),
        (Srgb, &[T::Bc3RgbaUnormSrgb, T::Bc7RgbaUnormSrgb]),
        (Srgb, &[T::Etc2Rgb8UnormSrgb, T::Etc2Rgb8A1UnormSrgb]),
        (Srgb, &[T::Etc2Rgba8UnormSrgb]),
        (Snorm(11), &[T::EacR11Snorm, T::EacRg11Snorm]),
        (Half, &[T::Bc6hRgbUfloat, T::Bc6hRgbFloat]),
        (SharedExponent, &[T::Rgb9e5Ufloat]),
    ]
};

impl Format {
    /// The entry of a format, `None` if it holds no colours.
    pub fn find(texture: TextureFormat) -> Option<Self> {
        let numbers = match texture {
            TextureFormat::Astc { channel, .. } => match channel {
                AstcChannel::Unorm => Encoding::Unorm(8),
                AstcChannel::UnormSrgb => Encoding::Srgb,
                AstcChannel::Hdr => Encoding::Half,
            },
            _ => TABLE.iter().find(|(_, formats)| formats.contains(&texture))?.0,
        };
        Some(Self { texture, numbers })
    }

    /// How many channels it has.
    pub fn channels(&self) -> u8 {
        self.texture.components()
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
        self.channels() == 4 && self.sample() == Sample::Float
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
        !self.texture.is_compressed() && !matches!(self.numbers, Encoding::Unorm(8) | Encoding::Snorm(8))
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
            Encoding::Uint(bits) => {
                let has_small_alpha = self.texture == TextureFormat::Rgb10a2Uint;
                let largest = [bits, if has_small_alpha { 2 } else { bits }].map(|bits| u32::MAX >> (32 - bits));
                Rounding::Integer { largest }
            }
            Encoding::Sint(bits) => Rounding::Integer {
                largest: [u32::MAX >> (33 - bits); 2],
            },
            _ => Rounding::None,
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
    pub fn stand_in(&self) -> TextureFormat {
        let all: [TextureFormat; 3] = match self.numbers {
            Encoding::Srgb => return TextureFormat::Rgba8UnormSrgb,
            Encoding::Unorm(8) => [
                TextureFormat::R8Unorm,
                TextureFormat::Rg8Unorm,
                TextureFormat::Rgba8Unorm,
            ],
            _ if self.is_wide() => [
                TextureFormat::R32Float,
                TextureFormat::Rg32Float,
                TextureFormat::Rgba32Float,
            ],
            _ => [
                TextureFormat::R16Float,
                TextureFormat::Rg16Float,
                TextureFormat::Rgba16Float,
            ],
        };
        // No GPU has to render to three channels.
        all[usize::from(self.channels() - 1).min(2)]
    }
}

#[cfg(test)]
mod tests;
