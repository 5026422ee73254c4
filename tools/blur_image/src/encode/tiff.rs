//! Encodes TIFF files of 8-bit and 16-bit integers and 32-bit floats.

use crate::choices::Depth;
use crate::meaning::{ENCODED, Meaning};
use crate::output::Kind;
use crate::picture::Picture;
use crate::profile;
use std::io::Cursor;
use tiff::TiffResult;
use tiff::encoder::colortype::{ColorType, Gray8, Gray16, Gray32Float, RGB8, RGB16, RGB32Float};
use tiff::encoder::{Compression, DeflateLevel, TiffEncoder, TiffKind, TiffValue};
use tiff::tags::{ExtraSamples, Tag};

/// The largest file whose places fit into 32 bits, with room for compression that fails.
const MOST_OF_SMALL: u64 = 4_000_000_000;

/// Encodes a picture. Its colour is multiplied by alpha if it was so in its file.
///
/// # Errors
/// The reason why it cannot be encoded.
pub fn encode(picture: &Picture, depth: Depth) -> TiffResult<Vec<u8>> {
    let channels = picture.channels();
    let is_associated = picture.origin.is_associated;
    let meaning = match depth {
        Depth::Float => Meaning {
            linear: true,
            premultiplied: is_associated,
        },
        _ => ENCODED,
    };
    let multiplies = is_associated && depth != Depth::Float;
    let numbers = picture.texels_as(meaning).flat_map(|texel| {
        let factor = if multiplies { texel[3] } else { 1.0 };
        let number = move |channel| {
            if channel == 3 {
                texel[3]
            } else {
                texel[channel] * factor
            }
        };
        channels.iter().map(move |channel| number(*channel))
    });
    let is_grey = channels.len() < 3;
    match depth {
        Depth::Eight => {
            let numbers: Vec<u8> = numbers.map(|number| depth.integer(number) as u8).collect();
            match is_grey {
                true => file::<Gray8>(picture, depth, &numbers),
                false => file::<RGB8>(picture, depth, &numbers),
            }
        }
        Depth::Sixteen => {
            let numbers: Vec<u16> = numbers.map(|number| depth.integer(number) as u16).collect();
            match is_grey {
                true => file::<Gray16>(picture, depth, &numbers),
                false => file::<RGB16>(picture, depth, &numbers),
            }
        }
        Depth::Float => {
            let numbers: Vec<f32> = numbers.collect();
            match is_grey {
                true => file::<Gray32Float>(picture, depth, &numbers),
                false => file::<RGB32Float>(picture, depth, &numbers),
            }
        }
    }
}

/// A file with these numbers.
fn file<C: ColorType>(picture: &Picture, depth: Depth, numbers: &[C::Inner]) -> TiffResult<Vec<u8>>
where
    [C::Inner]: TiffValue,
{
    let mut bytes = Cursor::new(Vec::new());
    if size_of_val(numbers) as u64 > MOST_OF_SMALL {
        write::<C, _>(TiffEncoder::new_big(&mut bytes)?, picture, depth, numbers)?;
    } else {
        write::<C, _>(TiffEncoder::new(&mut bytes)?, picture, depth, numbers)?;
    }
    Ok(bytes.into_inner())
}

fn write<C: ColorType, K: TiffKind>(
    encoder: TiffEncoder<&mut Cursor<Vec<u8>>, K>,
    picture: &Picture,
    depth: Depth,
    numbers: &[C::Inner],
) -> TiffResult<()>
where
    [C::Inner]: TiffValue,
{
    let mut encoder = encoder.with_compression(Compression::Deflate(DeflateLevel::default()));
    let mut image = encoder.new_image::<C>(picture.size.x, picture.size.y)?;
    if picture.channels().contains(&3) {
        image.extra_samples(&[match picture.origin.is_associated {
            true => ExtraSamples::AssociatedAlpha,
            false => ExtraSamples::UnassociatedAlpha,
        }])?;
    }
    for (tag, value) in &picture.origin.tags {
        image.encoder().write_tag_buf(*tag, value)?;
    }
    if let Some(profile) = profile::kept(&picture.origin, Kind::Tiff, depth, picture.is_grey) {
        image.encoder().write_tag(Tag::IccProfile, profile)?;
    }
    image.write_data(numbers)
}
