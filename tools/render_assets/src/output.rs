//! Converts rendered targets to pictures, and saves them.

use crate::texture::{halve, srgb8};
use bevy::prelude::*;
use half::f16;
use image::{DynamicImage, Rgb, Rgb32FImage, RgbImage};
use std::path::Path;

/// Saves a picture in the repository's folder of assets, in the format of its extension.
pub fn save(name: &str, picture: impl Into<DynamicImage>) -> Result<(), String> {
    let assets = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../assets");
    picture
        .into()
        .save(assets.join(name))
        .map_err(|error| format!("assets/{name}: {error}"))
}

/// The linear light in the bytes of a target of 8-bit sRGB or of half floats, averaged 2x2.
pub fn halved(bytes: &[u8], size: UVec2) -> Rgb32FImage {
    let texel = bytes.len() / size.element_product() as usize;
    let pixels: Vec<Vec3> = bytes.chunks_exact(texel).map(decode).collect();
    let floats = halve(&pixels, size).iter().flat_map(Vec3::to_array).collect();
    Rgb32FImage::from_raw(size.x / 2, size.y / 2, floats).expect("a colour for each pixel")
}

fn decode(texel: &[u8]) -> Vec3 {
    match *texel {
        [r, g, b, _] => Color::srgb_u8(r, g, b).to_linear().to_vec3(),
        _ => Vec3::from([0, 2, 4].map(|i| f16::from_le_bytes([texel[i], texel[i + 1]]).to_f32())),
    }
}

/// The same picture in 8-bit sRGB.
pub fn srgb(linear: &Rgb32FImage) -> RgbImage {
    let pixel = |x, y| Rgb(srgb8(Vec3::from(linear[(x, y)].0)));
    RgbImage::from_fn(linear.width(), linear.height(), pixel)
}
