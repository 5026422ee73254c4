//! Dithering: how a result is rounded to eight bits without bands.
//!
//! # Why
//!
//! A strong blur turns a dark picture into gradients of less than one level over dozens of texels. Rounded to the
//! nearest level, they become bands. Let `v` be a value in levels and `u` be uniform from 0 to 1: then `floor(v + u)`
//! is one of the two levels around `v`, and `v` on average. What remains is noise of less than a level, without visible
//! bands.
//!
//! # Which noise
//!
//! `u` is the noise of Bevy's [`DebandDither`]: `fract((171 x + 231 y + 201) / p)` at the texel (x, y), with p = 103,
//! 71 and 97 for red, green and blue (Alex Vlachos, "Advanced VR Rendering", GDC 2015, slide 49), so that blurred and
//! sharp parts look alike. It depends on the texel alone, so it stands still. Bevy takes the p values 0, 1/p, and so
//! on; half a step is added here, which makes their mean 1/2. Any 16 x 16 texels have a mean within 0.05 levels of the
//! exact one.
//!
//! # What rounds
//!
//! The shader rounds; Bevy leaves rounding to the GPU. So a value that is already a level stays the same, in float
//! textures too: a blur over a dithered picture adds noise only as far as it averages levels. And nothing depends on
//! the tolerance that GPUs have when they encode sRGB. Decoding is left to the GPU.
//!
//! [`DebandDither`]: bevy::core_pipeline::tonemapping::DebandDither

use super::table::{Encoding, Format};
use bevy::camera::CompositingSpace;
use bevy::render::render_resource::TextureFormat;

/// How a shader dithers its result.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Dither {
    /// Not at all: the result does not have eight bits, or dithering is off.
    #[default]
    Off,
    /// The values themselves are rounded to levels.
    Stored,
    /// The values are light, and their sRGB encodings are rounded to levels.
    Encoded,
}

impl Dither {
    /// The dithering of a texture's format: formats with eight bits for numbers from 0 to 1 are dithered, all others
    /// are not.
    pub fn of_target(format: TextureFormat) -> Self {
        match Format::find(format).map(|format| format.numbers) {
            Some(Encoding::Unorm(8)) => Self::Stored,
            Some(Encoding::Srgb) => Self::Encoded,
            _ => Self::Off,
        }
    }

    /// The dithering of a camera: its picture may have more than eight bits although its output has only eight. Without
    /// an output, the picture's format decides.
    pub fn of_camera(picture: TextureFormat, output: Option<TextureFormat>, space: Option<CompositingSpace>) -> Self {
        let own = Self::of_target(picture);
        if own != Self::Off {
            return own;
        }
        match (Self::of_target(output.unwrap_or(picture)), space) {
            (of_output, None | Some(CompositingSpace::Linear)) => of_output,
            // Bevy decodes the picture before it writes to the output, which encodes again.
            (Self::Encoded, Some(CompositingSpace::Srgb)) => Self::Stored,
            // Levels of the output are not levels of any channel of the picture.
            _ => Self::Off,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use TextureFormat as T;

    #[test]
    fn only_eight_bits_are_dithered() {
        for format in [T::R8Unorm, T::Rg8Unorm, T::Rgba8Unorm, T::Bgra8Unorm] {
            assert_eq!(Dither::of_target(format), Dither::Stored, "{format:?}");
        }
        for format in [T::Rgba8UnormSrgb, T::Bgra8UnormSrgb] {
            assert_eq!(Dither::of_target(format), Dither::Encoded, "{format:?}");
        }
        for format in [
            T::Rgba8Snorm,
            T::Rgba8Uint,
            T::R16Unorm,
            T::Rgba16Float,
            T::Rgba32Float,
            T::Rgb10a2Unorm,
            T::Depth32Float,
        ] {
            assert_eq!(Dither::of_target(format), Dither::Off, "{format:?}");
        }
    }

    #[test]
    fn wide_pictures_are_dithered_for_what_they_are_written_to() {
        let float = |output, space| Dither::of_camera(T::Rgba16Float, output, space);
        assert_eq!(float(Some(T::Bgra8UnormSrgb), None), Dither::Encoded);
        assert_eq!(
            float(Some(T::Bgra8UnormSrgb), Some(CompositingSpace::Linear)),
            Dither::Encoded
        );
        assert_eq!(
            float(Some(T::Bgra8UnormSrgb), Some(CompositingSpace::Srgb)),
            Dither::Stored
        );
        assert_eq!(
            float(Some(T::Bgra8UnormSrgb), Some(CompositingSpace::Oklab)),
            Dither::Off
        );
        assert_eq!(float(Some(T::Rgba8Unorm), None), Dither::Stored);
        assert_eq!(float(Some(T::Rgba8Unorm), Some(CompositingSpace::Srgb)), Dither::Off);
        assert_eq!(float(Some(T::Rgba16Float), None), Dither::Off);
        assert_eq!(float(None, None), Dither::Off);
    }

    #[test]
    fn pictures_of_eight_bits_are_dithered_themselves() {
        let srgb = Some(CompositingSpace::Srgb);
        assert_eq!(
            Dither::of_camera(T::Rgba8Unorm, Some(T::Bgra8UnormSrgb), srgb),
            Dither::Stored
        );
        assert_eq!(
            Dither::of_camera(T::Rgba8Unorm, Some(T::Rgba16Float), srgb),
            Dither::Stored
        );
        assert_eq!(Dither::of_camera(T::Rgba8UnormSrgb, None, None), Dither::Encoded);
    }
}
