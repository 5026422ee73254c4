//! What the decoders of all formats share.

use crate::input::MOST_BYTES;
use bevy::math::UVec2;
use image::metadata::Orientation;
use image::{DynamicImage, Rgba32FImage};

/// Which picture of a file is read.
#[derive(Clone, Default)]
pub struct Selection {
    /// The page of a TIFF file, from 1 on.
    pub page: Option<u32>,
    /// The layer of an EXR file.
    pub layer: Option<String>,
}

/// A small file can claim a huge picture, so the size of the decoded picture is checked first.
///
/// # Errors
/// It is empty or too large.
pub fn check_size(size: UVec2) -> Result<(), String> {
    let UVec2 { x, y } = size;
    if x == 0 || y == 0 {
        return Err("it has no pixels".to_owned());
    }
    let bytes = (u64::from(x) * u64::from(y)).checked_mul(size_of::<[f32; 4]>() as u64);
    if bytes.is_none_or(|bytes| bytes > MOST_BYTES) {
        return Err(format!("it has {x}x{y} pixels, which are too many"));
    }
    Ok(())
}

/// The reason why a page cannot be read.
pub fn no_page(pages: usize, page: u32) -> String {
    let count = if pages == 1 {
        "one page".to_owned()
    } else {
        format!("{pages} pages")
    };
    format!("it has {count}, and no page {page}")
}

/// Whether a turned picture's width is its height before.
pub fn is_on_its_side(orientation: Orientation) -> bool {
    use Orientation::{Rotate90, Rotate90FlipH, Rotate270, Rotate270FlipH};
    matches!(orientation, Rotate90 | Rotate90FlipH | Rotate270 | Rotate270FlipH)
}

/// Turns a picture as its file says, and returns its new size.
pub fn oriented(size: UVec2, texels: Vec<[f32; 4]>, orientation: Orientation) -> (UVec2, Vec<[f32; 4]>) {
    if orientation == Orientation::NoTransforms {
        return (size, texels);
    }
    let turned = Rgba32FImage::from_raw(size.x, size.y, texels.into_flattened());
    let mut turned = DynamicImage::from(turned.expect("it has one texel for each pixel"));
    turned.apply_orientation(orientation);
    let size = UVec2::new(turned.width(), turned.height());
    let texels = turned.into_rgba32f();
    (size, texels.pixels().map(|texel| texel.0).collect())
}
