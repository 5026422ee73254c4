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
//! All variances are in source texels squared, so the residual sigma in texels of the low level is
//! `σ'² = (σ² - 5 (P² - 1) / 12) / P² - 1/3`. `n` is the largest number of octaves with `σ ≥ ρ P`, where the
//! [`Precision`] decides ρ. The fourth cumulants of a binomial and a B-spline are less than a Gaussian's; the residual
//! kernel compensates for that ([`compensated_gaussian`](kernel::compensated_gaussian)).
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
mod residual;
mod select_program;
mod sigma_levels;
pub mod stages;
mod uniform_blur;

use crate::kernel::Precision;
use crate::program::{Filtering, Program, Tiling};
use crate::settings::EdgeMode;
use bevy::math::{IVec2, URect, UVec2, Vec2};
use pass::{AxisPass, Pass, PassKind, TextureSlot};

pub use axis::{LEAST_SHIFTED, blurs};
pub use pass::{BlurPlan, Finish, Means, PlanRequest, SigmaLevel, SigmaLevels};
pub(crate) use residual::MAX_OCTAVES;
#[cfg(test)]
pub(crate) use residual::MIN_SIGMA;
pub use residual::reach;
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
        uniform_blur::blur(request, shift)
    }

    /// Plans a blur that changes nothing: a copy if a front end does the last step, or else nothing.
    fn unblurred(request: &PlanRequest) -> Self {
        match request.finish {
            Finish::Defer => Self::copy(request.region, request.finish),
            Finish::Write => Self::default(),
        }
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
        uniform_blur::copy(&PlanRequest {
            sigma: Vec2::ZERO,
            region,
            edge: EdgeMode::Clamp,
            means: Means {
                precision: Precision::Standard,
                tiling: Tiling::None,
                filtering: Filtering::default(),
                opaque: false,
                in_place: true,
                converts: false,
            },
            finish,
        })
    }

    /// Plans the step from one mip level to the next.
    pub fn mipmap(from: UVec2, to: UVec2) -> Self {
        Self {
            intermediates: Vec::new(),
            passes: vec![Pass {
                kind: PassKind::Mipmap,
                program: Program::MipmapFragment,
                source: TextureSlot::Source,
                target: TextureSlot::Destination,
                origin: UVec2::ZERO,
                size: to,
                axes: [AxisPass::mean(from.x, to.x), AxisPass::mean(from.y, to.y)],
                needed: None,
                is_batched: false,
            }],
            ..Self::default()
        }
    }

    /// The same plan for a source whose first texel is this texel of the picture. The positions of a varying sigma
    /// count from it, too.
    pub fn with_source_at(mut self, at: IVec2) -> Self {
        if at == IVec2::ZERO {
            return self;
        }
        for pass in &mut self.passes {
            if pass.source == TextureSlot::Source {
                pass.move_source(at);
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
        self.intermediates
            .iter()
            .fold(UVec2::ZERO, |largest, size| largest.max(*size))
    }
}

#[cfg(test)]
pub(crate) mod tests;
