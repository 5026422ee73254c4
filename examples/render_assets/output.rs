//! Rendered targets become pictures, and pictures become files.

use crate::headless::Pixels;
use crate::texture::{halve, srgb8};
use bevy::prelude::*;
use half::f16;
use image::{DynamicImage, Rgb, Rgb32FImage, RgbImage};

/// Writes a picture into the folder of assets, in the format that its name ends with.
pub fn save(name: &str, picture: impl Into<DynamicImage>) -> Result<(), String> {
    let path = format!("assets/{name}");
    picture.into().save(&path).map_err(|e| format!("{path}: {e}"))
}

/// The linear light in a target of 8-bit sRGB or of half floats, averaged 2x2.
pub fn halved(target: &Pixels) -> Rgb32FImage {
    let size = uvec2(target.width, target.height);
    let texel = target.bytes.len() / size.element_product() as usize;
    let pixels: Vec<Vec3> = target.bytes.chunks_exact(texel).map(decode).collect();
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
