//! The sprite: a badge with a star and a small second shape, 16 samples per pixel, with straight alpha.

use crate::texture::srgb8;
use bevy::prelude::*;
use image::{Rgba, RgbaImage};
use std::f32::consts::{PI, TAU};

pub fn draw() -> RgbaImage {
    RgbaImage::from_fn(256, 256, |x, y| {
        let offset = |i: u32| vec2((i % 4) as f32 + 0.5, (i / 4) as f32 + 0.5) / 4.0;
        let samples = (0..16).filter_map(|i| paint(vec2(x as f32, y as f32) + offset(i)));
        let hits: Vec<Vec3> = samples.collect();
        let [r, g, b] = srgb8(hits.iter().sum::<Vec3>() / hits.len().max(1) as f32);
        Rgba([r, g, b, (hits.len() * 255 / 16) as u8])
    })
}

/// The colour at a point, or `None`. The star is a disc whose radius falls along each half arm.
fn paint(p: Vec2) -> Option<Vec3> {
    let (d, small) = (p - vec2(110.0, 112.0), p - vec2(212.0, 210.0));
    let arm = |turn: f32| (((d.to_angle() + turn) / TAU * 5.0).rem_euclid(1.0) * 2.0 - 1.0).abs();
    let star = 25.0 + 39.0 * arm(PI / 10.0 + PI).powf(1.6);
    let rim = 86.0 + 3.5 * (d.to_angle() * 20.0).cos();
    let shade = 1.0 - 0.45 * (p.y / 220.0);
    match d.length() {
        r if r < star => Some(vec3(1.0, 0.68, 0.06) * (shade + 0.15)),
        r if r < 70.0 => Some(vec3(0.85, 0.03, 0.12) * shade),
        r if r < 76.0 => Some(vec3(1.0, 0.9, 0.7)),
        r if r < rim => Some(vec3(0.04, 0.1, 0.5) * shade),
        _ if small.abs().element_sum() < 30.0 => Some(vec3(0.02, 0.75, 0.6) * shade * 1.4),
        _ => None,
    }
}
