//! Blurred cameras: the blur of their picture, and the blur beside everything else that cameras do.

mod effects;
mod gaussian;
mod lifecycle;
mod stacked;
mod targets;
mod units;

use crate::support::twins::Twins;
use bevy::math::UVec2;
use bevy::render::render_resource::TextureFormat;
use bevy_gaussian_blur::prelude::*;

const SIZE: UVec2 = UVec2::new(160, 90);
const FORMAT: TextureFormat = TextureFormat::Rgba8UnormSrgb;

/// A blur with a standard deviation of `sigma` texels.
fn sigma(sigma: f32) -> GaussianBlur {
    GaussianBlur::from_sigma(sigma)
}

fn frames(twins: &mut Twins, count: usize) {
    for _ in 0..count {
        twins.headless.frame();
    }
}
