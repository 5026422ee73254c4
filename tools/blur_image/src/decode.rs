//! Decodes files into pictures.
//!
//! PNG, JPEG, WebP and TIFF files hold sRGB-encoded values and straight alpha, EXR files linear light and premultiplied
//! alpha, and TIFF files of floats linear light. TIFF files say whether their colour is multiplied by alpha.

mod exr;
mod layers;
mod shared;
mod tiff;

use crate::choices::Depth;
use crate::input::{Input, MOST_BYTES};
use crate::jpeg;
use crate::meaning::ENCODED;
use crate::picture::{Origin, Picture};
use bevy::math::UVec2;
use image::codecs::jpeg::JpegDecoder;
use image::codecs::png::PngDecoder;
use image::codecs::webp::WebPDecoder;
use image::{DynamicImage, ImageDecoder, ImageError, ImageFormat, Limits};
pub use shared::Selection;
use shared::{check_size, no_page, oriented};
use std::io::Cursor;
use std::rc::Rc;

/// Reads a picture.
///
/// # Errors
/// The reason why it cannot be read.
pub fn read(input: &Input, selection: &Selection) -> Result<Picture, String> {
    let failed = |reason: &dyn std::fmt::Display| format!("cannot read {input}: {reason}");
    let bytes = input.bytes().map_err(|error| failed(&error))?;
    decode(&bytes, selection).map_err(|reason| failed(&reason))
}

fn decode(bytes: &[u8], selection: &Selection) -> Result<Picture, String> {
    let format = image::guess_format(bytes).map_err(|_| UNKNOWN.to_owned())?;
    if selection.layer.is_some() && format != ImageFormat::OpenExr {
        return Err("it has no layers; only EXR files have".to_owned());
    }
    match (format, selection.page) {
        (ImageFormat::Tiff, _) => tiff::decode(bytes, selection),
        (_, Some(page)) if page > 1 => Err(no_page(1, page)),
        (ImageFormat::OpenExr, _) => exr::decode(bytes, selection),
        _ => decode_encoded(decoder(bytes, format)?),
    }
}

/// Decodes a picture of sRGB-encoded colours.
fn decode_encoded(mut decoder: Box<dyn ImageDecoder + '_>) -> Result<Picture, String> {
    decoder.set_limits(limits()).map_err(unsound)?;
    let size = UVec2::from(decoder.dimensions());
    check_size(size)?;
    let colours = decoder.color_type();
    let profile = decoder.icc_profile().map_err(unsound)?;
    let orientation = decoder.orientation().map_err(unsound)?;
    let texels = DynamicImage::from_decoder(decoder).map_err(unsound)?.into_rgba32f();
    let (size, texels) = oriented(size, texels.pixels().map(|texel| texel.0).collect(), orientation);
    Ok(Picture {
        size,
        texels,
        meaning: ENCODED,
        depth: match colours.bytes_per_pixel() / colours.channel_count() {
            1 => Depth::Eight,
            _ => Depth::Sixteen,
        },
        is_grey: !colours.has_color(),
        origin: Rc::new(Origin {
            profile,
            ..Origin::default()
        }),
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

#[cfg(test)]
mod tests;
