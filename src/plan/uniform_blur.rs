//! A blur of one sigma: the whole algorithm, from sigma to passes. The comments of [`plan`](super) have the reasons.
//!
//! With compute passes, for a camera's picture of 1920 x 1080 texels and a sigma of 30:
//!
//! ```text
//! 1920x1080 --down, 2 octaves--> 486x276 --down, 2 octaves--> 126x74 --residual--> 126x74 --spline--> 1920x1080
//! ```

use super::axis::Axis;
use super::builder::{Level, PassBuilder};
use super::pass::{BlurPlan, Finish, PassKind, PlanRequest};
use super::residual::least_sigma;
use super::select_program::octaves_of_a_pass;
use crate::program::{Program, Tiling};
use bevy::math::Vec2;

/// The passes of a blur whose result is moved by a part of a texel ([`BlurPlan::shifted`]).
pub(super) fn blur(request: &PlanRequest, shift: Vec2) -> BlurPlan {
    let (means, finish) = (request.means, request.finish);
    let mut builder = PassBuilder::new(request, shift);
    // Each axis on its own: the most octaves that leave enough of sigma, and the kernel of what they leave.
    let axes = builder.axes(request.sigma, least_sigma(request.edge, means.precision));
    let axes = axes.each_ref();
    if !axes.into_iter().any(Axis::blurs) {
        return BlurPlan::unblurred(request);
    }
    // Down: from the picture to the lowest level, along the axes with octaves left.
    let octaves = axes.map(Axis::octaves);
    let (mut level, mut done, most) = (Level::PICTURE, 0, octaves[0].max(octaves[1]));
    while done < most {
        done += octaves_of_a_pass(done, most - done, request);
        level = builder.downsample(axes, level, octaves.map(|octaves| octaves.min(done)));
    }
    if builder.blur_and_upsample(axes, level) {
        return builder.plan;
    }
    // The residual Gaussian, along both axes at once, or along x and then y. On the picture itself, the result may be its target.
    let is_picture = level == Level::PICTURE;
    let writes = is_picture && finish == Finish::Write;
    if let Tiling::Tiled { stores, .. } = means.tiling {
        let target = builder.result_or_level(writes && stores && !means.in_place, axes, octaves);
        builder.convolve_both(builder.reach_of_both(axes), axes, (level, target));
        level = target;
    } else {
        // Back and forth between two textures. The picture is not written, so it needs a third one.
        let mut target = builder.level(axes, octaves);
        let next = if is_picture {
            builder.result_or_level(writes, axes, octaves)
        } else {
            level
        };
        for along in (0..2).filter(|along| is_picture || axes[*along].blurs()) {
            builder.convolve(along, axes, (level, target));
            (level, target) = (target, next);
        }
    }
    // Up: the spline, straight to full resolution.
    let mut plan = builder.finish(axes, level);
    plan.passes
        .iter_mut()
        .for_each(|pass| pass.is_batched = finish == Finish::Defer);
    plan
}

/// One pass that changes nothing.
pub(super) fn copy(request: &PlanRequest) -> BlurPlan {
    let mut builder = PassBuilder::new(request, Vec2::ZERO);
    let axes = builder.axes(Vec2::ZERO, request.means.precision.rho());
    let axes = axes.each_ref();
    if request.finish == Finish::Write {
        return builder.finish(axes, Level::PICTURE);
    }
    let level = builder.level(axes, [0; 2]);
    builder.identity(PassKind::Copy, Program::CopyFragment, (Level::PICTURE, level));
    builder.finish(axes, level)
}
