//! Procedural textures, so fine that the slightest blur shows.

use bevy::asset::RenderAssetUsages;
use bevy::image::{ImageAddressMode, ImageFilterMode, ImageSampler, ImageSamplerDescriptor};
use bevy::math::ops;
use bevy::prelude::*;
use bevy::render::render_resource::{Extent3d, TextureDimension, TextureFormat};
use core::f32::consts::TAU;

/// Square paving stones of slightly different greys, with joints.
pub fn paving() -> Image {
    const STONES: u32 = 8;
    const STONE: u32 = 64;
    paint(UVec2::splat(STONES * STONE), |texel| {
        let (stone, inside) = (texel / STONE, texel % STONE);
        let joint = inside.min_element() < 3;
        let shade = if joint { 0.05 } else { 0.25 + 0.3 * noise(stone) };
        let grain = 0.75 + 0.5 * noise(texel + 4096);
        LinearRgba::rgb(shade, 0.92 * shade, 0.86 * shade) * grain
    })
}

/// Rings that get finer outwards: a zone plate in two colours.
pub fn zone_plate() -> Image {
    const SIZE: u32 = 1024;
    paint(UVec2::splat(SIZE), |texel| {
        let from_centre = (texel.as_vec2() + 0.5) / SIZE as f32 - 0.5;
        let wave = 0.5 + 0.5 * ops::cos(TAU * 40.0 * from_centre.length_squared());
        LinearRgba::rgb(0.9, 0.75, 0.45) * wave + LinearRgba::rgb(0.02, 0.05, 0.12) * (1.0 - wave)
    })
}

/// A chequerboard in two colours.
pub fn chequers() -> Image {
    paint(UVec2::splat(512), |texel| {
        let cell = texel / 16;
        if (cell.x + cell.y).is_multiple_of(2) {
            LinearRgba::rgb(0.75, 0.78, 0.8)
        } else {
            LinearRgba::rgb(0.45, 0.03, 0.04)
        }
    })
}

/// Slanting stripes, for columns.
pub fn stripes() -> Image {
    paint(UVec2::splat(512), |texel| {
        if (texel.x + texel.y) % 64 < 32 {
            LinearRgba::rgb(0.6, 0.55, 0.5)
        } else {
            LinearRgba::rgb(0.03, 0.12, 0.3)
        }
    })
}

/// A sky at dusk: dark blue above, orange at the horizon, with stars.
pub fn sky() -> Image {
    let size = UVec2::new(2048, 1024);
    paint(size, |texel| {
        let height = 1.0 - 2.0 * texel.y as f32 / size.y as f32;
        let glow = ops::exp(-9.0 * height.abs());
        let night = LinearRgba::rgb(0.006, 0.012, 0.06);
        let dusk = LinearRgba::rgb(0.85, 0.25, 0.09);
        let star = if noise(texel) > 0.9996 { 0.8 * (1.0 - glow) } else { 0.0 };
        night * (1.0 - glow) + dusk * glow + LinearRgba::rgb(star, star, star)
    })
}

/// A pseudo-random number between 0 and 1 for each position.
fn noise(at: UVec2) -> f32 {
    let mut hash = at.x.wrapping_mul(0x9e37_79b1) ^ at.y.wrapping_mul(0x85eb_ca77);
    for factor in [0x7feb_352d_u32, 0x846c_a68b] {
        hash = (hash ^ (hash >> 15)).wrapping_mul(factor);
    }
    (hash >> 8) as f32 / (1 << 24) as f32
}

/// A repeating texture from a colour for each texel. It has mip levels, so that it does not shimmer without a blur.
fn paint(size: UVec2, colour: impl Fn(UVec2) -> LinearRgba) -> Image {
    let mut level_size = size;
    let mut level: Vec<LinearRgba> = (0..size.y)
        .flat_map(|y| (0..size.x).map(move |x| UVec2::new(x, y)))
        .map(colour)
        .collect();
    let mut data = encode(&level);
    let mut levels = 1;
    while level_size.min_element() > 1 {
        level = halve(&level, level_size.x as usize);
        level_size /= 2;
        data.extend(encode(&level));
        levels += 1;
    }
    let extent = Extent3d {
        width: size.x,
        height: size.y,
        depth_or_array_layers: 1,
    };
    let mut image = Image::new_uninit(
        extent,
        TextureDimension::D2,
        TextureFormat::Rgba8UnormSrgb,
        RenderAssetUsages::RENDER_WORLD,
    );
    image.data = Some(data);
    image.texture_descriptor.mip_level_count = levels;
    image.sampler = ImageSampler::Descriptor(ImageSamplerDescriptor {
        address_mode_u: ImageAddressMode::Repeat,
        address_mode_v: ImageAddressMode::Repeat,
        mag_filter: ImageFilterMode::Linear,
        min_filter: ImageFilterMode::Linear,
        mipmap_filter: ImageFilterMode::Linear,
        ..default()
    });
    image
}

fn encode(level: &[LinearRgba]) -> Vec<u8> {
    level
        .iter()
        .flat_map(|colour| Srgba::from(colour.with_alpha(1.0)).to_u8_array())
        .collect()
}

/// The mean of every two by two texels.
fn halve(level: &[LinearRgba], width: usize) -> Vec<LinearRgba> {
    level
        .chunks_exact(2 * width)
        .flat_map(|rows| {
            let (upper, lower) = rows.split_at(width);
            upper
                .chunks_exact(2)
                .zip(lower.chunks_exact(2))
                .map(|(upper, lower)| (upper[0] + upper[1] + lower[0] + lower[1]) * 0.25)
        })
        .collect()
}
