//! Sigma, region, edge and precision in; a [`BlurPlan`], an ordered list of passes, out. Pure values: no GPU.
//!
//! # Small sigma: separable and exact
//!
//! A two-dimensional Gaussian is the product of two one-dimensional ones, so it costs two passes of `2r + 1` taps instead
//! of one of `(2r + 1)²`: horizontally into an intermediate texture, then vertically out of it.
//!
//! # Large sigma: constant cost
//!
//! A strongly blurred image has no detail left, so it can be computed at a lower resolution. What must not be lost is
//! that the result is *the Gaussian of the sigma asked for*. Variances of convolved kernels add up, so with a scale of
//! `P = 2ⁿ`:
//!
//! 1. **down**: `n` octaves of the binomial filter `[1 5 10 10 5 1] / 32`, which add the variance `5 (P² - 1) / 12`;
//! 2. **residual Gaussian** at the low level, horizontally and vertically, of the variance that is still missing;
//! 3. **up**: the cubic B-spline straight to full resolution, which adds `P² / 3` at *every* phase of the grid. That is
//!    why nothing shimmers when the content moves.
//!
//! All variances are in source texels squared, so the residual sigma in texels of the low level is
//! `σ'² = (σ² - 5 (P² - 1) / 12) / P² - 1/3`. `n` is the largest number of octaves that leaves
//! `σ ≥ ρ P`, where the [`Precision`] decides ρ. A binomial and a B-spline fall short of a Gaussian in their fourth
//! cumulant; the residual kernel makes up for it ([`compensated_gaussian`](kernel::compensated_gaussian)).
//!
//! The chain of octaves is cheaper than a strided Gaussian straight to the low level, although it has more passes. It
//! fetches less: counted per texel of the picture before the upsampling, 11 times instead of 23 at `P = 2`, and 5 times
//! instead of 19 at `P = 4` (sigma `2 P`, kernels of four sigma, three by three fetches an octave). As compute passes over
//! 3840x2160 on an H200 it takes 67 us instead of 157 us, and 48 us instead of 143 us.
//!
//! # Borders
//!
//! The source is read through the [`EdgeMode`], so the first pass sees an image without borders. Lower levels carry an
//! **apron**: texels beyond the border that were really computed from the extended image. With `Clamp` and
//! `Transparent` everything farther out than three texels is constant, and clamped reads supply it. `Mirror` and `Wrap`
//! have no such end (the period is no multiple of `P`), so their aprons are as wide as the residual kernel.
//!
//! The grid of every level is locked to the source's origin, never to the region: a region that moves does not move the
//! grid, and what does not move does not shimmer.
//!
//! The axes are planned independently ([`axis`]), which is what makes different sigmas along x and y free.

mod axis;
mod build;
mod row;

use crate::kernel::Tap;
use crate::settings::EdgeMode;
use axis::Axis;
use bevy::math::{URect, UVec2, Vec2};
use build::Builder;
use wgpu::TextureFormat;

/// Below this many texels a sigma is no blur.
pub const MIN_SIGMA: f32 = 0.03;

/// The most texels along one axis of a [`Filter::Weights`].
pub const MAX_WEIGHTS: usize = 48;

/// The border texels at either end of an axis whose normalisation a [`Filter::CubicUp`] carries.
pub const BORDER: usize = 24;

/// How exact a plan has to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Precision {
    /// Values in [0, 1]: at most 0.35/255 off for any image.
    Standard,
    /// High dynamic range, where a single texel can outshine thousands: at most 0.1/255 of the peak.
    Hdr,
}

impl Precision {
    /// ρ: the least sigma, in texels of the level a blur runs at.
    ///
    /// Accuracy alone decides it, because half the resolution is faster from the first sigma on at which it is exact
    /// enough. On an H200, 1920x1080 by render passes, the exact blur of `rgba8unorm-srgb` takes 2097 us at sigma 2 and
    /// the one at half the resolution 919 us at sigma 3; for `rgba16float` it is 2229 us at sigma 3 and 1385 us at sigma 4.
    #[must_use]
    pub const fn rho(self) -> f64 {
        match self {
            Self::Standard => 1.5,
            Self::Hdr => 2.0,
        }
    }

    /// What a picture of this format needs: formats that can hold more than 1 do.
    #[must_use]
    pub const fn of(format: TextureFormat) -> Self {
        match format {
            TextureFormat::R16Float
            | TextureFormat::Rg16Float
            | TextureFormat::Rgba16Float
            | TextureFormat::R32Float
            | TextureFormat::Rg32Float
            | TextureFormat::Rgba32Float
            | TextureFormat::Rg11b10Ufloat
            | TextureFormat::Rgb9e5Ufloat => Self::Hdr,
            _ => Self::Standard,
        }
    }

    /// The number of sigmas after which a kernel ends.
    #[must_use]
    pub const fn cutoff(self) -> f64 {
        match self {
            Self::Standard => 3.5,
            Self::Hdr => 4.0,
        }
    }
}

/// What to plan for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BlurRequest {
    /// The standard deviations along x and y in source texels. At least 0; below [`MIN_SIGMA`] an axis is not blurred.
    pub sigma: Vec2,
    /// The texels to blur, both in the source and in the destination. Not empty.
    pub region: URect,
    /// What lies outside the region.
    pub edge: EdgeMode,
    /// How exact the result has to be.
    pub precision: Precision,
    /// Which passes may be one.
    pub fusion: Fusion,
    /// Which textures may be read between their texels.
    pub filtering: Filtering,
}

/// Which textures can be read between their texels, and may be.
///
/// A fetch between four texels does the work of four. But samplers keep only eight bits of the place between two texels:
/// an axis that is read at the very centres of texels can so catch 1/256 of a neighbour, which is seen where the picture
/// is still sharp along it. So only passes that change the resolution of both axes use it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Filtering {
    /// The texture to blur.
    pub source: bool,
    /// What lies in between.
    pub intermediates: bool,
}

/// How much one pass may do.
///
/// Render passes compute every target texel on its own. Compute passes share what neighbours have in common through
/// workgroup memory, so that they can do more of the work at once and move less of the picture through memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Fusion {
    /// One octave or one convolution along one axis in a pass.
    #[default]
    None,
    /// Up to three octaves in a pass, and both convolutions in one.
    Tiled {
        /// Whether a pass may do so from the source straight into the destination. Not if those are one texture, nor if
        /// the destination takes render passes only; a blur without octaves is then copied there.
        direct: bool,
    },
}

/// Something that a pass reads or writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Surface {
    /// The texture to blur.
    Source,
    /// An entry of [`BlurPlan::intermediates`].
    Intermediate(usize),
    /// The texture that takes the result.
    Destination,
}

/// What a pass is for. Passes of one kind that follow each other are timed together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PassKind {
    /// Leaves the values as they are, be they the source's or blurred.
    Copy,
    /// Halves the resolution along one axis or both.
    Downsample,
    /// Convolves along x.
    Horizontal,
    /// Convolves along y.
    Vertical,
    /// Convolves along both axes.
    Blur,
    /// Interpolates the low level at full resolution.
    Upsample,
}

/// How a pass computes one axis.
#[derive(Clone, Debug, PartialEq)]
pub enum Filter {
    /// A weighted sum of fetches between texels, around the source texel `target · step + shift`.
    Taps(Vec<Tap>),
    /// A weighted sum of neighbouring texels: `weights[i]` is for the source texel `target · step + shift + first + i`.
    Weights {
        /// The first texel, from the centre.
        first: i32,
        /// At most [`MAX_WEIGHTS`].
        weights: Vec<f64>,
    },
    /// The cubic B-spline through a level that is `2^octaves` times coarser.
    ///
    /// With `k = 2 · target + shift`, the source position is `k / 2^(octaves + 1)`: its whole part is a texel and its
    /// fraction the place between that texel and the next.
    CubicUp {
        /// How many octaves the source is below the target. With 0 the pass leaves this axis as it is.
        octaves: u32,
        /// For [`EdgeMode::Renormalize`]: the weight that lies inside the region, for the first and the last
        /// [`BORDER`] texels of the source. It is 1 between them. Empty for the other modes.
        inside: Vec<f64>,
    },
}

/// One axis of a pass.
#[derive(Clone, Debug, PartialEq)]
pub struct AxisPass {
    /// Source texels per target texel, or 2 for [`Filter::CubicUp`].
    pub step: i32,
    /// See [`Filter`].
    pub shift: i32,
    /// The valid source texels: from the first up to, not including, the second.
    pub bounds: (i32, i32),
    /// How reads outside the bounds are answered.
    pub edge: EdgeMode,
    /// What is computed.
    pub filter: Filter,
}

impl AxisPass {
    /// How many texels a [`Filter::Weights`] reads, 1 for other filters.
    #[must_use]
    pub fn texels(&self) -> u32 {
        match &self.filter {
            Filter::Weights { weights, .. } => weights.len() as u32,
            Filter::Taps(_) | Filter::CubicUp { .. } => 1,
        }
    }
}

/// A draw or dispatch over `origin .. origin + size` of its target.
#[derive(Clone, Debug, PartialEq)]
pub struct Pass {
    /// What the pass is for.
    pub kind: PassKind,
    /// What it reads.
    pub source: Surface,
    /// What it writes.
    pub target: Surface,
    /// The first texel written.
    pub origin: UVec2,
    /// How many texels are written.
    pub size: UVec2,
    /// The horizontal half of the computation.
    pub x: AxisPass,
    /// The vertical half.
    pub y: AxisPass,
}

/// How to blur: the textures that are needed in between and the passes, in order.
///
/// The first pass reads [`Surface::Source`] and the last one writes [`Surface::Destination`]; no pass does both, so the
/// two may be one texture. A plan without passes leaves everything as it is.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BlurPlan {
    /// The sizes of the intermediate textures.
    pub intermediates: Vec<UVec2>,
    /// The passes, in order.
    pub passes: Vec<Pass>,
}

impl BlurPlan {
    /// Plans a blur.
    #[must_use]
    pub fn new(request: &BlurRequest) -> Self {
        let BlurRequest {
            sigma,
            region,
            edge,
            precision,
            fusion,
            filtering,
        } = *request;
        let axis = |sigma: f32, start: u32, end: u32| Axis::new(sigma, start, end, edge, precision);
        let x = axis(sigma.x, region.min.x, region.max.x);
        let y = axis(sigma.y, region.min.y, region.max.y);
        if !x.blurs() && !y.blurs() {
            return Self::default();
        }
        Builder::new(x, y, region).build(fusion, filtering)
    }

    /// Plans an exact copy of `region`.
    #[must_use]
    pub fn copy(region: URect) -> Self {
        let axis = |start: u32, end: u32| Axis::new(0.0, start, end, EdgeMode::Clamp, Precision::Standard);
        let x = axis(region.min.x, region.max.x);
        let y = axis(region.min.y, region.max.y);
        Builder::new(x, y, region).copy()
    }

    /// The largest width or height of any intermediate.
    #[must_use]
    pub fn largest_intermediate(&self) -> UVec2 {
        self.intermediates
            .iter()
            .fold(UVec2::ZERO, |largest, size| largest.max(*size))
    }
}

#[cfg(test)]
mod tests;
