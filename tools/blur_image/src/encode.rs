//! Encodes pictures into files.

use crate::choices::Depth;
use crate::meaning::{ENCODED, LIGHT};
use crate::output::Kind;
use crate::picture::Picture;
use crate::profile;
use image::codecs::openexr::OpenExrEncoder;
use image::codecs::png::PngEncoder;
use image::{ExtendedColorType, ImageEncoder, ImageError};
use std::io::Cursor;

/// Encodes a picture. A channel without information is left out.
///
/// # Errors
/// The reason why it cannot be encoded.
pub fn encode(picture: &Picture, kind: Kind, depth: Depth) -> Result<Vec<u8>, String> {
    let encoded = match kind {
        Kind::Png => encode_png(picture, depth),
        Kind::Exr => encode_exr(picture),
    };
    encoded.map_err(|error| error.to_string())
}

fn encode_png(picture: &Picture, depth: Depth) -> Result<Vec<u8>, ImageError> {
    use ExtendedColorType::{L8, L16, La8, La16, Rgb8, Rgb16, Rgba8, Rgba16};
    let (channels, types): (&[usize], _) = match (picture.is_grey, picture.is_opaque()) {
        (true, true) => (&[0], [L8, L16]),
        (true, false) => (&[0, 3], [La8, La16]),
        (false, true) => (&[0, 1, 2], [Rgb8, Rgb16]),
        (false, false) => (&[0, 1, 2, 3], [Rgba8, Rgba16]),
    };
    let texels = picture.texels_as(ENCODED);
    let numbers = texels.flat_map(|texel| channels.iter().map(move |channel| texel[*channel]));
    let whole = numbers.map(|number| (f64::from(number).clamp(0.0, 1.0) * depth.largest()).round());
    let (bytes, colours): (Vec<u8>, _) = match depth {
        Depth::Eight => (whole.map(|number| number as u8).collect(), types[0]),
        Depth::Sixteen => (
            whole.flat_map(|number| (number as u16).to_ne_bytes()).collect(),
            types[1],
        ),
    };
    let mut file = Cursor::new(Vec::new());
    let mut encoder = PngEncoder::new(&mut file);
    if let Some(profile) = &picture.profile
        && profile::loss(profile, Kind::Png, picture.is_grey).is_none()
    {
        let set = encoder.set_icc_profile(profile.clone());
        set.map_err(ImageError::Unsupported)?;
    }
    encoder.write_image(&bytes, picture.size.x, picture.size.y, colours)?;
    Ok(file.into_inner())
}

fn encode_exr(picture: &Picture) -> Result<Vec<u8>, ImageError> {
    let (channels, colours) = match picture.is_opaque() {
        true => (3, ExtendedColorType::Rgb32F),
        false => (4, ExtendedColorType::Rgba32F),
    };
    let texels = picture.texels_as(LIGHT);
    let numbers = texels.flat_map(|texel| texel.into_iter().take(channels));
    let bytes: Vec<u8> = numbers.flat_map(f32::to_ne_bytes).collect();
    let mut file = Cursor::new(Vec::new());
    OpenExrEncoder::new(&mut file).write_image(&bytes, picture.size.x, picture.size.y, colours)?;
    Ok(file.into_inner())
}
