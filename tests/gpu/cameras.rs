//! Blurred cameras: the blur of their picture, and the blur beside everything else that cameras do.

mod effects;
mod gaussian;
mod lifecycle;
mod stacked;
mod targets;
mod units;

use crate::support::prelude::*;

const SIZE: UVec2 = UVec2::new(160, 90);

/// A blur with a standard deviation of `sigma` texels.
fn sigma(sigma: f32) -> GaussianBlur {
    GaussianBlur::from_sigma(sigma)
}

fn frames(twins: &mut Twins, count: usize) {
    twins.headless.frames(count);
}
