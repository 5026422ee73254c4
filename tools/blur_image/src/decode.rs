//! Decodes files into pictures.
//!
//! PNG, JPEG, WebP and TIFF files hold sRGB-encoded values and straight alpha, EXR files linear light and premultiplied
//! alpha, and TIFF files of floats linear light. TIFF files say whether their colour is multiplied by alpha.

mod exr;
mod fill_order;
mod layers;
mod shared;
mod tiff;
mod tiff_file;
mod tiff_tags;

use crate::choices::Depth;
use crate::input::{Input, MOST_BYTES};
use crate::jpeg::{self, End};
use crate::meaning::{ENCODED, Meaning};
use crate::picture::{Origin, Picture};
use crate::png::{self, Chunk};
use bevy::math::UVec2;
use image::codecs::jpeg::JpegDecoder;
use image::codecs::png::PngDecoder;
use image::codecs::webp::WebPDecoder;
use image::{DynamicImage, ImageDecoder, ImageError, ImageFormat, Limits};
pub use shared::Selection;
use shared::{check_size, is_on_its_side, no_page, oriented};
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
        (ImageFormat::Jpeg, _) => decode_jpeg(bytes),
        (ImageFormat::Png, _) => decode_encoded(decoder(bytes, format)?, png::kept(bytes), Vec::new()),
        _ => decode_encoded(decoder(bytes, format)?, Vec::new(), Vec::new()),
    }
}

/// Decodes a picture of sRGB-encoded colours, or of colours with the curve that these chunks of a PNG file name.
fn decode_encoded(
    mut decoder: Box<dyn ImageDecoder + '_>,
    chunks: Vec<Chunk>,
    mut notes: Vec<String>,
) -> Result<Picture, String> {
    decoder.set_limits(limits()).map_err(unsound)?;
    let size = UVec2::from(decoder.dimensions());
    check_size(size)?;
    let colours = decoder.color_type();
    let profile = decoder.icc_profile().map_err(unsound)?;
    let orientation = decoder.orientation().map_err(unsound)?;
    let curve = png::curve(&chunks, profile.is_some()).unwrap_or_else(|note| {
        notes.push(note);
        None
    });
    let texels = DynamicImage::from_decoder(decoder).map_err(unsound)?.into_rgba32f();
    let texels = texels.pixels().map(|texel| match (curve, texel.0) {
        (Some(curve), [red, green, blue, alpha]) => [curve.light(red), curve.light(green), curve.light(blue), alpha],
        (None, texel) => texel,
    });
    let (size, texels) = oriented(size, texels.collect(), orientation);
    Ok(Picture {
        size,
        texels,
        meaning: Meaning {
            linear: curve.is_some(),
            ..ENCODED
        },
        depth: match colours.bytes_per_pixel() / colours.channel_count() {
            1 => Depth::Eight,
            _ => Depth::Sixteen,
        },
        is_grey: !colours.has_color(),
        origin: Rc::new(Origin {
            profile,
            curve,
            chunks: if is_on_its_side(orientation) {
                png::on_its_side(chunks)
            } else {
                chunks
            },
            notes,
            ..Origin::default()
        }),
    })
}

/// Decodes a JPEG picture, which may lack its end marker if it does not lack pixels.
fn decode_jpeg(bytes: &[u8]) -> Result<Picture, String> {
    let decode = |bytes: &[u8], notes| decode_encoded(decoder(bytes, ImageFormat::Jpeg)?, Vec::new(), notes);
    match jpeg::check(bytes)? {
        End::Marked { behind: 0 } => decode(bytes, Vec::new()),
        End::Marked { behind } => {
            let note = format!("the {behind} bytes behind its end are left out");
            decode(&bytes[..bytes.len() - behind], vec![note])
        }
        End::Unmarked { at } => {
            let note = "it has no end marker, but all its pixels; what follows them is left out";
            let [zeros, ones] =
                [false, true].map(|bits| decode(&jpeg::with_end(bytes, at, bits), vec![note.to_owned()]));
            match (zeros, ones) {
                (Ok(zeros), Ok(ones)) if zeros.texels == ones.texels => Ok(zeros),
                _ => Err(jpeg::TOO_SHORT.to_owned()),
            }
        }
    }
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
        ImageFormat::Jpeg => Box::new(JpegDecoder::new(file).map_err(unsound)?),
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
