//! Colours, noise, and textures that are computed from them. A colour is a vector in linear light.

use bevy::asset::RenderAssetUsages;
use bevy::image::{ImageAddressMode, ImageSampler, ImageSamplerDescriptor, ToExtents};
use bevy::prelude::*;
use bevy::render::render_resource::{TextureDimension, TextureFormat};

/// The colour of an sRGB number such as 0xff8000.
pub fn hex(rgb: u32) -> Vec3 {
    let [_, r, g, b] = rgb.to_be_bytes();
    LinearRgba::from(Srgba::rgb_u8(r, g, b)).to_vec3()
}

pub fn srgb8(c: Vec3) -> [u8; 3] {
    Srgba::from(LinearRgba::from_vec3(c)).to_u8_array_no_alpha()
}

/// A pseudo-random number in 0..1 for a whole-numbered seed.
pub fn hash(seed: u32) -> f32 {
    let state = seed.wrapping_mul(747_796_405).wrapping_add(2_891_336_453);
    let word = (state >> (state >> 28).wrapping_add(4) ^ state).wrapping_mul(277_803_737);
    (word >> 22 ^ word) as f32 / u32::MAX as f32
}

/// Four octaves of value noise, in about 0..1, repeating every `period` cells.
pub fn noise(p: Vec2, period: u32) -> f32 {
    (0..4u32).fold(0.0, |sum, octave| {
        let n = IVec2::splat((period << octave) as i32);
        let (q, scale) = (p * (1 << octave) as f32, 0.5f32.powi(octave as i32 + 1));
        let (cell, f) = (q.floor().as_ivec2(), q.fract_gl());
        let at = |x: i32, y: i32| {
            let corner = (cell + ivec2(x, y)).rem_euclid(n).as_uvec2();
            hash(corner.x + 4099 * corner.y + octave * 77_773)
        };
        let s = f * f * (3.0 - 2.0 * f);
        let (top, bottom) = (at(0, 0).lerp(at(1, 0), s.x), at(0, 1).lerp(at(1, 1), s.x));
        sum + scale * top.lerp(bottom, s.y)
    })
}

/// An uninitialised image that exists only on the GPU.
pub fn empty(size: UVec2, format: TextureFormat) -> Image {
    let usage = RenderAssetUsages::RENDER_WORLD;
    Image::new_uninit(size.to_extents(), TextureDimension::D2, format, usage)
}

/// A repeating texture with its mip levels, from a colour for each point of the unit square.
pub fn texture(mut size: UVec2, color: impl Fn(Vec2) -> Vec3) -> Image {
    let mut image = empty(size, TextureFormat::Rgba8UnormSrgb);
    let centre = |i: u32| (uvec2(i % size.x, i / size.x).as_vec2() + 0.5) / size.as_vec2();
    let mut level: Vec<Vec3> = (0..size.element_product()).map(centre).map(color).collect();
    let mut data = Vec::new();
    image.texture_descriptor.mip_level_count = size.min_element().ilog2() + 1;
    for _ in 0..image.texture_descriptor.mip_level_count {
        let texels = level.iter().map(|&c| srgb8(c));
        data.extend(texels.flat_map(|[r, g, b]| [r, g, b, 255]));
        level = halve(&level, size);
        size /= 2;
    }
    image.data = Some(data);
    let mut sampler = ImageSamplerDescriptor::linear();
    sampler
        .set_address_mode(ImageAddressMode::Repeat)
        .set_anisotropic_filter(8);
    image.sampler = ImageSampler::Descriptor(sampler);
    image
}

/// Averages an image 2x2.
pub fn halve(pixels: &[Vec3], size: UVec2) -> Vec<Vec3> {
    let at = |x: u32, y: u32| pixels[(y * size.x + x) as usize];
    let quad = |x, y| (at(x, y) + at(x + 1, y) + at(x, y + 1) + at(x + 1, y + 1)) / 4.0;
    let half = size / 2;
    let corners = (0..half.element_product()).map(|i| (i % half.x * 2, i / half.x * 2));
    corners.map(|(x, y)| quad(x, y)).collect()
}
