//! Sigma, region, edge and means in; a [`BlurPlan`], an ordered list of passes, out. Pure values: no GPU.
//!
//! Every pass names its [`Program`](crate::program::Program): plans decide everything that a pass computes, and
//! [`gpu`](crate::gpu) only executes it. [`stages`] finds the programs of all possible plans, by planning.
//!
//! # Small sigma: separable and exact
//!
//! A two-dimensional Gaussian is the product of two one-dimensional ones, so it costs two passes of `2r + 1` taps instead
//! of one of `(2r + 1)²`: horizontally into an intermediate texture, then vertically out of it.
//!
//! # Large sigma: constant cost
//!
//! A strongly blurred image has no detail left, so it can be computed at a lower resolution. The result must still be
//! *the Gaussian of the requested sigma*. Variances of convolved kernels add up, so with a scale of `P = 2ⁿ`:
//!
//! 1. **down**: `n` octaves of the binomial filter `[1 5 10 10 5 1] / 32`, which add the variance `5 (P² - 1) / 12`;
//! 2. **residual Gaussian** at the low level, horizontally and vertically, of the missing variance;
//! 3. **up**: the cubic B-spline straight to full resolution, which adds `P² / 3` at *every* phase of the grid. That is
//!    why nothing shimmers when the content moves.
//!
//! With compute passes, for a camera's picture of 1920 x 1080 texels and a sigma of 30:
//!
//! ```text
//! 1920x1080 --down, 2 octaves--> 486x276 --down, 2 octaves--> 126x74 --residual--> 126x74 --spline--> 1920x1080
//! ```
//!
//! All variances are in source texels squared, so the residual sigma in texels of the low level is
//! `σ'² = (σ² - 5 (P² - 1) / 12) / P² - 1/3`. `n` is the largest number of octaves with `σ ≥ ρ P`, where the
//! [`Precision`] decides ρ. The fourth cumulants of a binomial and a B-spline are less than a Gaussian's; the residual
//! kernel compensates for that ([`Gaussian::excess`](crate::kernel::Gaussian::excess)).
//!
//! The chain of octaves is cheaper than a strided Gaussian straight to the low level, although it has more passes. It
//! fetches less: per texel of the picture, without the upsampling, 11 times instead of 23 at `P = 2`, and 5 times
//! instead of 19 at `P = 4` (sigma `2 P`, kernels of four sigma, three by three fetches an octave).
//!
//! # Borders
//!
//! The source is read through the [`EdgeMode`], so the first pass sees an image without borders. Lower levels carry an
//! **apron**: three texels beyond the border, computed from the extended image. With `Clamp` and `Transparent`
//! everything farther out is constant, and clamped reads supply it. With `Mirror` and `Wrap` levels hold the region
//! alone, and the residual kernel adds its images ([`edge_images`]).
//!
//! The grid of every level is locked to the source's origin, never to the region: a moving region does not move the
//! grid, so still content does not shimmer.
//!
//! # A sigma that varies over the picture
//!
//! The last pass blends several such blurs, which share one chain of octaves ([`profile`]).
//!
//! The axes are planned independently ([`axis`]), so different sigmas along x and y cost nothing.

mod axis;
pub mod batch;
mod builder;
mod edge_images;
pub mod pack;
pub mod pass;
mod profile;
mod select_program;
mod sigma_levels;
pub mod stages;

use crate::program::{Program, Tiling};
use axis::{Axis, least_sigma};
use bevy::math::{IVec2, URect, UVec2, Vec2};
use builder::{Axes, Level, PassBuilder};
use pass::{PassKind, TextureSlot, Weighting};
use select_program::octaves_of_a_pass;

#[cfg(test)]
pub use axis::MIN_SIGMA;
pub use axis::{LEAST_SHIFTED, MAX_OCTAVES, blurs, reach};
pub use pass::{BlurPlan, Finish, Means, PlanRequest, SigmaLevel, SigmaLevels};
pub use sigma_levels::{SIGMA_LEVELS, SIGMAS_APART};

impl BlurPlan {
    /// Plans a blur.
    pub fn new(request: &PlanRequest) -> Self {
        Self::shifted(request, Vec2::ZERO)
    }

    /// Plans a blur whose result is moved towards larger coordinates by this part of a texel, between 0 and 1. The deferred last step
    /// moves it. Along an axis that is moved, sigma must be at least [`LEAST_SHIFTED`], and the region must reach three texels beyond
    /// what is read of the result.
    ///
    /// The spline moves a result as exactly as it interpolates one. But at full resolution it is too smooth for the weakest blurs: along
    /// an axis, for any picture, this is off by at most 1.5/255 at sigma 1, 0.5/255 at 1.25 and 0.2/255 from 1.5 on.
    pub fn shifted(request: &PlanRequest, shift: Vec2) -> Self {
        let mut builder = PassBuilder::new(request, shift);
        // Each axis on its own: the most octaves that leave enough of sigma, and the kernel of what they leave.
        let axes = builder.axes(request.sigma, least_sigma(request.edge, request.means.precision));
        let axes = axes.each_ref();
        if !axes.into_iter().any(Axis::blurs) {
            // Nothing, or what a front end needs for the last step.
            return match request.finish {
                Finish::Defer => Self::copy(request.region, request.finish),
                Finish::Write => Self::default(),
            };
        }
        // Down: from the picture to the lowest level, along the axes with octaves left.
        let octaves = axes.map(Axis::octaves);
        let (mut level, mut done, most) = (Level::PICTURE, 0, octaves[0].max(octaves[1]));
        while done < most {
            done += octaves_of_a_pass(done, most - done, request);
            level = builder.downsample(axes, level, octaves.map(|octaves| octaves.min(done)));
        }
        // The residual Gaussian, and up: the spline, straight to full resolution. In one pass, if that is faster.
        if !builder.blur_and_upsample(axes, level) {
            let blurred = blur_level(&mut builder, axes, level);
            builder.finish(axes, blurred);
        }
        for pass in &mut builder.plan.passes {
            pass.is_batched = request.finish == Finish::Defer;
        }
        builder.plan
    }

    /// Plans a blur whose sigma varies over the picture, up to the requested one ([`profile`]).
    pub fn varying(request: &PlanRequest) -> Self {
        if !blurs(request.sigma) {
            return Self::new(request);
        }
        profile::blur(request)
    }

    /// Plans an exact copy of `region`.
    pub fn copy(region: URect, finish: Finish) -> Self {
        let request = PlanRequest {
            region,
            finish,
            ..PlanRequest::default()
        };
        let mut builder = PassBuilder::new(&request, Vec2::ZERO);
        let axes = builder.axes(Vec2::ZERO, request.means.precision.rho());
        let axes = axes.each_ref();
        let mut level = Level::PICTURE;
        if finish == Finish::Defer {
            level = builder.level(axes, [0; 2]);
            builder.identity(PassKind::Copy, Program::CopyFragment, (Level::PICTURE, level));
        }
        builder.finish(axes, level);
        builder.plan
    }

    /// Plans the step from one mip level to the next: as a copy, of which each texel is a mean.
    pub fn mipmap(from: UVec2, to: UVec2) -> Self {
        let mut plan = Self::copy(URect::from_corners(UVec2::ZERO, from), Finish::Write);
        for pass in &mut plan.passes {
            (pass.kind, pass.program, pass.size) = (PassKind::Mipmap, Program::MipmapFragment, to);
            for (axis, to) in pass.axes.iter_mut().zip(to.to_array()) {
                (axis.filter, axis.table) = (Weighting::Mean(to), Vec::new());
            }
        }
        plan
    }

    /// The same plan for a source whose first texel is this texel of the picture. The positions of a varying sigma
    /// count from it, too.
    pub fn with_source_at(mut self, at: IVec2) -> Self {
        if at == IVec2::ZERO {
            return self;
        }
        for pass in &mut self.passes {
            if pass.source == TextureSlot::Source {
                let axes = pass.axes.each_ref();
                pass.axes = [0, 1].map(|i| axes[i].clone().moved(-at[i], 0));
            }
            if let Some(needed) = &mut pass.needed {
                needed.move_source(at);
            }
        }
        if let Some(sigma_levels) = &mut self.sigma_levels {
            sigma_levels.origin -= at;
        }
        self
    }

    /// The largest width and height of any intermediate.
    pub fn largest_intermediate(&self) -> UVec2 {
        self.intermediates.iter().copied().fold(UVec2::ZERO, UVec2::max)
    }
}

/// The residual Gaussian of a level: along both axes at once, or along x and then y. On the picture itself, the result may be its target.
fn blur_level(builder: &mut PassBuilder, axes: Axes, level: Level) -> Level {
    let PlanRequest { means, finish, .. } = builder.request;
    let is_picture = level == Level::PICTURE;
    let writes = is_picture && finish == Finish::Write;
    if let Tiling::Tiled { stores, .. } = means.tiling {
        let target = builder.result_or_level(writes && stores && !means.in_place, axes, level.octaves);
        builder.convolve_both(builder.reach_of_both(axes), axes, (level, target));
        return target;
    }
    // Back and forth between two textures. The picture is not written, so it needs a third one.
    let (mut level, mut target) = (level, builder.level(axes, level.octaves));
    let next = if is_picture {
        builder.result_or_level(writes, axes, level.octaves)
    } else {
        level
    };
    for along in (0..2).filter(|along| is_picture || axes[*along].blurs()) {
        builder.convolve(along, axes, (level, target));
        (level, target) = (target, next);
    }
    level
}

#[cfg(test)]
pub(crate) mod tests;
