//! A blur of one sigma: the plans of two axes, zipped into passes.

use super::axis::Axis;
use super::builder::{Axes, Level, PassBuilder};
use super::pass::{BlurPlan, Finish, PassKind};
use super::select_program;
use crate::program::{Program, Tiling};
use bevy::math::Vec2;

/// The passes of a blur along at least one axis.
pub(super) fn blur(mut builder: PassBuilder, axes: Axes) -> BlurPlan {
    let low = downsample(&mut builder, axes);
    let blurred = residual(&mut builder, axes, low);
    let is_batched = builder.request.finish == Finish::Defer;
    let mut plan = builder.finish(axes, blurred);
    plan.passes.iter_mut().for_each(|pass| pass.is_batched = is_batched);
    plan
}

/// One pass that changes nothing.
pub(super) fn copy(mut builder: PassBuilder) -> BlurPlan {
    let axes = builder.axes(Vec2::ZERO, builder.request.means.precision.rho());
    let axes = axes.each_ref();
    if builder.request.finish == Finish::Write {
        return builder.finish(axes, Level::PICTURE);
    }
    let level = builder.level(axes, [0; 2]);
    builder.identity(PassKind::Copy, Program::CopyFragment, (Level::PICTURE, level));
    builder.finish(axes, level)
}

/// From the picture to the lowest level, along the axes with octaves left.
fn downsample(builder: &mut PassBuilder, axes: Axes) -> Level {
    let octaves = axes.map(Axis::octaves);
    let (mut level, mut done, most) = (Level::PICTURE, 0, octaves[0].max(octaves[1]));
    while done < most {
        done += select_program::octaves_of_a_pass(done, most - done, builder.request.means.tiling);
        level = builder.downsample(axes, level, octaves.map(|octaves| octaves.min(done)));
    }
    level
}

/// The residual Gaussian. Without octaves it writes the result itself, if its passes can.
fn residual(builder: &mut PassBuilder, axes: Axes, low: Level) -> Level {
    let writes = low == Level::PICTURE && builder.request.finish == Finish::Write;
    match builder.request.means.tiling {
        Tiling::None if low == Level::PICTURE => {
            let between = builder.level(axes, low.octaves);
            let target = if writes {
                Level::RESULT
            } else {
                builder.level(axes, low.octaves)
            };
            builder.convolve(0, axes, (low, between));
            builder.convolve(1, axes, (between, target));
            target
        }
        Tiling::None => back_and_forth(builder, axes, low),
        Tiling::Tiled { stores } => {
            let is_direct = writes && stores && !builder.request.means.in_place;
            let target = if is_direct {
                Level::RESULT
            } else {
                builder.level(axes, low.octaves)
            };
            builder.convolve_both(builder.reach_of_both(axes), axes, (low, target));
            target
        }
    }
}

/// The convolutions of a low level, along the axes that are blurred, between two textures of one size.
fn back_and_forth(builder: &mut PassBuilder, axes: Axes, low: Level) -> Level {
    let (mut source, mut target) = (low, builder.level(axes, low.octaves));
    for along in 0..2 {
        if axes[along].blurs() {
            builder.convolve(along, axes, (source, target));
            (source, target) = (target, source);
        }
    }
    source
}
