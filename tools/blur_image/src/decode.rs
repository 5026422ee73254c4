//! Decodes files into pictures.
//!
//! PNG, JPEG, WebP and TIFF files hold sRGB-encoded values and straight alpha, EXR files linear light and premultiplied
//! alpha, and TIFF files of floats linear light and straight alpha.

use crate::choices::Depth;
use crate::input::{Input, MOST_BYTES};
use crate::jpeg;
use crate::meaning::{ENCODED, LIGHT, Meaning};
use crate::picture::Picture;
use bevy::math::UVec2;
use image::codecs::jpeg::JpegDecoder;
use image::codecs::openexr::OpenExrDecoder;
use image::codecs::png::PngDecoder;
use image::codecs::tiff::TiffDecoder;
use image::codecs::webp::WebPDecoder;
use image::{ColorType, DynamicImage, ExtendedColorType, ImageDecoder, ImageError, ImageFormat, Limits};
use std::io::Cursor;

/// Reads a picture.
///
/// # Errors
/// The reason why it cannot be read.
pub fn read(input: &Input) -> Result<Picture, String> {
    let failed = |reason: &dyn std::fmt::Display| format!("cannot read {input}: {reason}");
    let bytes = input.bytes().map_err(|error| failed(&error))?;
    decode(&bytes).map_err(|reason| failed(&reason))
}

fn decode(bytes: &[u8]) -> Result<Picture, String> {
    let format = image::guess_format(bytes).map_err(|_| UNKNOWN.to_owned())?;
    let mut decoder = decoder(bytes, format)?;
    decoder.set_limits(limits()).map_err(unsound)?;
    let (width, height) = decoder.dimensions();
    if width == 0 || height == 0 {
        return Err("it has no pixels".to_owned());
    }
    // A small file can claim a huge picture, so check the size of the decoded picture.
    if u64::from(width) * u64::from(height) * size_of::<[f32; 4]>() as u64 > MOST_BYTES {
        return Err(format!("it has {width}x{height} pixels, which are too many"));
    }
    if matches!(
        decoder.original_color_type(),
        ExtendedColorType::Cmyk8 | ExtendedColorType::Cmyk16
    ) {
        return Err("it is a CMYK picture; convert it to RGB first".to_owned());
    }
    let colours = decoder.color_type();
    let profile = decoder.icc_profile().map_err(unsound)?;
    let orientation = decoder.orientation().map_err(unsound)?;
    let mut texels = DynamicImage::from_decoder(decoder).map_err(unsound)?;
    texels.apply_orientation(orientation);
    Ok(Picture {
        size: UVec2::new(texels.width(), texels.height()),
        texels: texels.to_rgba32f().pixels().map(|texel| texel.0).collect(),
        meaning: meaning(format, colours),
        depth: match colours.bytes_per_pixel() / colours.channel_count() {
            1 => Depth::Eight,
            _ => Depth::Sixteen,
        },
        is_grey: !colours.has_color(),
        profile,
    })
}

const UNKNOWN: &str = "it must be a PNG, JPEG, WebP, TIFF or EXR picture";
const ANIMATED: &str = "it is an animation; take a picture out of it first";

/// The decoder of a file that holds one picture.
fn decoder(bytes: &[u8], format: ImageFormat) -> Result<Box<dyn ImageDecoder + '_>, String> {
    let file = Cursor::new(bytes);
    Ok(match format {
        ImageFormat::Png => {
            let decoder = PngDecoder::with_limits(file, limits()).map_err(unsound)?;
            if decoder.is_apng().map_err(unsound)? {
                return Err(ANIMATED.to_owned());
            }
            Box::new(decoder)
        }
        ImageFormat::Jpeg => {
            jpeg::check(bytes)?;
            Box::new(JpegDecoder::new(file).map_err(unsound)?)
        }
        ImageFormat::WebP => {
            let decoder = WebPDecoder::new(file).map_err(unsound)?;
            if decoder.has_animation() {
                return Err(ANIMATED.to_owned());
            }
            Box::new(decoder)
        }
        ImageFormat::Tiff => Box::new(TiffDecoder::new(file).map_err(unsound)?),
        ImageFormat::OpenExr => Box::new(OpenExrDecoder::new(file).map_err(unsound)?),
        _ => return Err(UNKNOWN.to_owned()),
    })
}

fn limits() -> Limits {
    let mut limits = Limits::no_limits();
    limits.max_alloc = Some(MOST_BYTES);
    limits
}

fn unsound(error: ImageError) -> String {
    format!("it must be a sound picture ({error})")
}

fn meaning(format: ImageFormat, colours: ColorType) -> Meaning {
    match (format, colours) {
        (ImageFormat::OpenExr, _) => LIGHT,
        (_, ColorType::Rgb32F | ColorType::Rgba32F) => Meaning {
            linear: true,
            ..ENCODED
        },
        _ => ENCODED,
    }
}

#[cfg(test)]
mod tests;
