//! The vocabulary of plans: surfaces, passes, and what a pass computes along an axis.

use crate::kernel::Precision;
use crate::program::{Beyond, Filtering, Program, Tiling};
use crate::settings::EdgeMode;
use bevy::math::{IVec2, URect, UVec2, Vec2};
use core::ops::Range;

/// The most numbers in the table of one axis.
pub const MAX_WEIGHTS: usize = 96;

/// The border texels at either end of an axis whose normalisation a [`Weighting::Spline`] carries.
pub const BORDER: usize = 24;

/// How a plan may be executed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Means {
    /// How exact the result must be.
    pub precision: Precision,
    /// Which kinds of passes exist.
    pub tiling: Tiling,
    /// Which fetches may be filtered.
    pub filtering: Filtering,
    /// Whether alpha is written as 1.
    pub opaque: bool,
    /// Whether the destination is the source's texture: no pass may go from one to the other.
    pub in_place: bool,
    /// Whether texels mean something else in the destination than in the source, even if they are not blurred.
    pub converts: bool,
}

impl Means {
    /// Whether the destination holds the result of texels that are not blurred before the blur runs. Then nothing has to write them.
    pub fn leaves_unchanged(&self) -> bool {
        self.in_place && !self.converts
    }
}

/// What runs the last step, from the lowest level to the resolution of the picture.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Finish {
    /// A pass of the plan writes the destination.
    #[default]
    Write,
    /// The front end: [`BlurPlan::deferred`] has the steps.
    Defer,
}

/// What to plan for.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct PlanRequest {
    /// The standard deviations along x and y in source texels. At least 0; below [`MIN_SIGMA`](super::MIN_SIGMA) an axis is not blurred.
    pub sigma: Vec2,
    /// The texels to blur, both in the source and in the destination. Not empty.
    pub region: URect,
    /// What lies outside the region.
    pub edge: EdgeMode,
    /// How to blur.
    pub means: Means,
    /// What runs the last step.
    pub finish: Finish,
}

impl PlanRequest {
    /// Whether the last pass writes the texture that the first one reads.
    pub(super) fn overwrites(&self) -> bool {
        self.means.in_place && self.finish == Finish::Write
    }
}

/// A texture that a pass reads or writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum TextureSlot {
    /// The texture to blur.
    Source,
    /// An entry of [`BlurPlan::intermediates`].
    Intermediate(usize),
    /// The texture that takes the result.
    Destination,
}

/// The purpose of a pass. Consecutive passes of one kind are timed together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PassKind {
    /// Copies the values of the source or of a blur.
    Copy,
    /// Averages a mip level into the next one.
    Mipmap,
    /// Divides the resolution along one axis or both.
    Downsample,
    /// Convolves along x.
    Horizontal,
    /// Convolves along y.
    Vertical,
    /// Convolves along both axes.
    Blur,
    /// Interpolates the low level at full resolution.
    Upsample,
    /// Sums the sharp picture, each texel with its own sigma.
    Gather,
    /// Blends blurs of several sigmas, at full resolution.
    Blend,
}

/// The meaning of the numbers in [`AxisPass::table`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Weighting {
    /// A weighted sum of filtered fetches: pairs of (offset, weight) around the source texel `target · step + shift`. An
    /// offset with a fraction reads between two texels.
    Taps,
    /// A weighted sum of neighbouring texels: `table[i]` is for the source texel `target · step + shift + reach.0 + i`.
    /// Texels beyond the bounds may have other weights ([`ImageTable`]).
    Weights,
    /// The cubic B-spline through a level that is `2^octaves` times coarser.
    ///
    /// With `k = step · target + shift`, the source position is `k / 2^(octaves + 1)`: its whole part is a texel and its
    /// fraction the position between that texel and the next. With 0 octaves this axis stays as it is. If the result is moved by a part
    /// of a texel, step, shift and `2^octaves` are all multiplied by one power of two.
    ///
    /// If the axis is normalised, the table has the weight inside the region, for the first and the last [`BORDER`]
    /// texels of the source. It is 1 between them.
    ///
    /// If the pass has a reach, the source is convolved before: the table has the weights of [`Weighting::Weights`], for every texel of
    /// the source as the centre. Such an axis is not normalised.
    Spline,
    /// The mean of the source texels that a target texel covers, if the target has this many texels for the whole
    /// source. Some are covered in part.
    Mean(u32),
}

/// One axis of a pass.
#[derive(Clone, Debug, PartialEq)]
pub struct AxisPass {
    /// Source texels per target texel. For [`Weighting::Spline`] 2, or a multiple of it if the result is moved.
    pub step: i32,
    /// See [`Weighting`].
    pub shift: i32,
    /// The valid source texels: from the first up to, not including, the second.
    pub bounds: (i32, i32),
    /// How reads outside the bounds behave.
    pub edge: EdgeMode,
    /// The computation.
    pub filter: Weighting,
    /// The first and the last texel that is read, from `target · step + shift`. For [`Weighting::Taps`] and
    /// [`Weighting::Weights`]. For [`Weighting::Spline`]: from the texels that it interpolates.
    pub reach: (i32, i32),
    /// The octaves of a [`Weighting::Spline`], else 0. If the result is moved, more.
    pub octaves: u32,
    /// Whether the result is divided by the part of its weights that lies inside the region.
    pub normalize: bool,
    /// The weights of texels beyond the bounds, if they differ.
    pub images: Option<ImageTable>,
    /// The numbers of the filter. At most [`MAX_WEIGHTS`].
    pub table: Vec<f64>,
}

/// A level that stands for itself and for its images beyond both borders, which do not lie on the level's grid.
///
/// A read beyond the bounds, at a whole number of texels from the centre, returns a texel inside them, chosen by the
/// edge mode. The image of that texel lies at another distance, so the weight depends on the side of the bounds on
/// which a read lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ImageTable {
    /// How far the images' weights reach beyond the kernel's own.
    pub margin: i32,
    /// The start of their weights in the table: the weights of reads below the bounds by distance, from 1 to the reach
    /// plus the margin, then as many above. Before them come the kernel's own, from minus the reach to the reach plus
    /// the margin.
    pub start: u32,
}

impl AxisPass {
    /// The same pass with the contents of its source and target moved by this many texels.
    pub(super) fn moved(self, source: i32, target: i32) -> Self {
        // Positions of splines are halves of texels of the picture.
        let texel = match self.filter {
            Weighting::Spline => 2 << self.octaves,
            Weighting::Taps | Weighting::Weights | Weighting::Mean(_) => 1,
        };
        // A position that integers cannot hold lies beyond the largest texture: such a plan is refused for its size.
        let by = i64::from(texel) * i64::from(source) - i64::from(self.step) * i64::from(target);
        let shift = i64::from(self.shift) + by;
        Self {
            shift: shift.clamp(i64::from(i32::MIN), i64::from(i32::MAX)) as i32,
            bounds: (self.bounds.0 + source, self.bounds.1 + source),
            ..self
        }
    }
}

/// Which texels of a pass are read later, if sigma varies: the rest need not be written.
///
/// Splines read a texel of a level for a box of the picture around it. The texel is needed if the shares of the largest
/// sigma in that box overlap the shares for which the sigma level is blended. Pairs are x and y, except the shares.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Needed {
    /// The least and the largest share that read it.
    pub shares: (f32, f32),
    /// The octaves of the level.
    pub octaves: [u32; 2],
    /// The level's index of the first texel of the target, counted from the source's origin.
    pub first: [i32; 2],
    /// The distance of readers, in texels of the level.
    pub around: [i32; 2],
}

impl Needed {
    /// Counts from this texel of the picture. If it lies inside a texel of the level, readers may be one texel farther
    /// away.
    pub(super) fn move_source(&mut self, at: IVec2) {
        for (axis, at) in at.to_array().into_iter().enumerate() {
            let octaves = self.octaves[axis];
            self.first[axis] -= at >> octaves;
            self.around[axis] += i32::from(at.trailing_zeros() < octaves);
        }
    }
}

/// A draw or dispatch over `origin .. origin + size` of its target.
#[derive(Clone, Debug, PartialEq)]
pub struct Pass {
    /// The purpose of the pass.
    pub kind: PassKind,
    /// The program to run.
    pub program: Program,
    /// The surface to read.
    pub source: TextureSlot,
    /// The surface to write.
    pub target: TextureSlot,
    /// The first texel written.
    pub origin: UVec2,
    /// How many texels are written.
    pub size: UVec2,
    /// The two halves of the computation, along x and y.
    pub axes: [AxisPass; 2],
    /// The texels that are read later. `None` if all are.
    pub needed: Option<Needed>,
    /// Whether the last step of its plan is deferred. Then the pass belongs to a [batch](super::batch), in which passes
    /// of the same step are independent.
    pub is_batched: bool,
}

/// How to blur: the intermediate textures and the passes, in order.
///
/// The first pass reads the source and the last one writes the destination. One pass may do both, unless they are one
/// texture ([`Means::in_place`]). A plan without passes leaves everything as it is.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BlurPlan {
    /// The sizes of the intermediate textures.
    pub intermediates: Vec<UVec2>,
    /// The passes, in order.
    pub passes: Vec<Pass>,
    /// The deferred steps: upsamplings by a render pass, which read an intermediate texture. One for a single blur, and
    /// one for each of a [batch](super::batch).
    pub deferred: Vec<Pass>,
    /// What the last pass blends, if sigma varies over the picture.
    pub sigma_levels: Option<SigmaLevels>,
    /// The texels of the destination to write, if not all that the passes compute. Only render passes honour this.
    pub scissor: Option<URect>,
}

impl BlurPlan {
    /// Whether a deferred step reads an intermediate.
    pub fn reads_later(&self, intermediate: usize) -> bool {
        let surface = TextureSlot::Intermediate(intermediate);
        self.deferred.iter().any(|deferred| deferred.source == surface)
    }
}

/// What the last pass blends.
#[derive(Clone, Debug, PartialEq)]
pub struct SigmaLevels {
    /// The texture that holds all sigma levels.
    pub atlas: TextureSlot,
    /// The sigma up to which the sharp picture is summed, along the axis with the larger sigma.
    pub gathered: f64,
    /// The cutoff of that sum, in sigmas.
    pub cutoff: f64,
    /// The texture of those sums, or of the sums of rows.
    pub sums: TextureSlot,
    /// The sigmas along x and y as shares of the larger one.
    pub aspect: Vec2,
    /// The sigmas of sigma levels above which a line through two of them is exact enough.
    pub lines: Range<f64>,
    /// The position of the target's first texel in the picture.
    pub origin: IVec2,
    /// The sigma levels, from weak to strong.
    pub levels: Vec<SigmaLevel>,
}

/// One blur of the whole picture.
#[derive(Clone, Debug, PartialEq)]
pub struct SigmaLevel {
    /// Its sigma, along the axis with the larger sigma.
    pub sigma: f64,
    /// The first texel of its tile.
    pub origin: UVec2,
    /// The splines from its tile to the target of the last pass.
    pub axes: [AxisPass; 2],
}

/// A program and the ends that it touches: everything that decides a pipeline, except the formats.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Stage {
    /// What runs.
    pub program: Program,
    /// Whether it reads the texture to blur.
    pub is_first: bool,
    /// Whether it writes the result.
    pub is_last: bool,
    /// Whether it leaves out texels that no later pass reads.
    pub skips: bool,
    /// Whether a dispatch may execute several passes of it: none of them reads what another one writes.
    pub merges: bool,
}

impl Pass {
    /// The stage of this pass.
    pub fn stage(&self) -> Stage {
        Stage {
            program: self.program,
            is_first: self.source == TextureSlot::Source,
            is_last: self.target == TextureSlot::Destination,
            skips: self.needed.is_some(),
            merges: (self.needed.is_some() || self.is_batched) && self.program.computes(),
        }
    }
}

/// What two axes read beyond their bounds.
pub(super) fn beyond(axes: &[AxisPass; 2]) -> Beyond {
    if axes.iter().any(|axis| axis.images.is_some()) {
        Beyond::Images
    } else if axes
        .iter()
        .any(|axis| axis.edge != EdgeMode::Clamp && axis.reach != (0, 0))
    {
        Beyond::Folded
    } else {
        Beyond::Clamped
    }
}
