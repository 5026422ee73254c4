//! Encodes pictures into files. A channel without information is left out.

mod exr;
mod tiff;

use crate::choices::Depth;
use crate::meaning::{ENCODED, Meaning};
use crate::output::Kind;
use crate::picture::Picture;
use crate::png;
use crate::profile;
use image::codecs::png::PngEncoder;
use image::{ExtendedColorType, ImageEncoder, ImageError};
use std::io::Cursor;

/// Encodes a picture.
///
/// # Errors
/// The reason why it cannot be encoded.
pub fn encode(picture: &Picture, kind: Kind, depth: Depth) -> Result<Vec<u8>, String> {
    match kind {
        Kind::Png => encode_png(&picture.shown(), depth).map_err(|error| error.to_string()),
        Kind::Tiff => tiff::encode(&picture.shown(), depth).map_err(|error| error.to_string()),
        Kind::Exr => exr::encode(picture).map_err(|error| error.to_string()),
    }
}

fn encode_png(picture: &Picture, depth: Depth) -> Result<Vec<u8>, ImageError> {
    use ExtendedColorType::{L8, L16, La8, La16, Rgb8, Rgb16, Rgba8, Rgba16};
    let channels = picture.channels();
    let types = [[L8, L16], [La8, La16], [Rgb8, Rgb16], [Rgba8, Rgba16]][channels.len() - 1];
    let curve = picture.origin.curve;
    let meaning = Meaning {
        linear: curve.is_some(),
        ..ENCODED
    };
    let number = move |texel: [f32; 4], channel: usize| match curve {
        Some(curve) if channel < 3 => curve.number(texel[channel]),
        _ => texel[channel],
    };
    let texels = picture.texels_as(meaning);
    let numbers = texels.flat_map(|texel| channels.iter().map(move |channel| number(texel, *channel)));
    let whole = numbers.map(|number| depth.integer(number));
    let (bytes, colours): (Vec<u8>, _) = match depth {
        Depth::Eight => (whole.map(|number| number as u8).collect(), types[0]),
        _ => (
            whole.flat_map(|number| (number as u16).to_ne_bytes()).collect(),
            types[1],
        ),
    };
    let mut file = Cursor::new(Vec::new());
    let mut encoder = PngEncoder::new(&mut file);
    if let Some(profile) = profile::kept(&picture.origin, Kind::Png, depth, picture.is_grey) {
        let set = encoder.set_icc_profile(profile.to_vec());
        set.map_err(ImageError::Unsupported)?;
    }
    encoder.write_image(&bytes, picture.size.x, picture.size.y, colours)?;
    Ok(png::with(&file.into_inner(), &picture.origin.chunks))
}
