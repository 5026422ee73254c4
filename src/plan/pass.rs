//! The vocabulary of plans: surfaces, passes, and what a pass computes along an axis.

use crate::kernel::Precision;
use crate::program::{Beyond, Filtering, Program, Tiling};
use crate::settings::EdgeMode;
use bevy::math::{IVec2, URect, UVec2, Vec2};
use core::ops::Range;

/// The most numbers of one axis.
pub const MAX_WEIGHTS: usize = 96;

/// The border texels at either end of an axis whose normalisation a [`Filter::Spline`] carries.
pub const BORDER: usize = 24;

/// How a plan may be carried out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Means {
    /// How exact the result has to be.
    pub precision: Precision,
    /// Which kinds of passes there are.
    pub tiling: Tiling,
    /// Which fetches may be filtered.
    pub filtering: Filtering,
    /// Whether alpha is written as 1.
    pub opaque: bool,
    /// Whether the destination is the texture of the source: no pass may go from one to the other.
    pub in_place: bool,
}

/// Who does the last step: from the level that the blur ran at to the resolution of the picture.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Finish {
    /// A pass of the plan writes the destination.
    #[default]
    Write,
    /// Somebody else: [`BlurPlan::left`] says how.
    Defer,
}

/// What to plan for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PlanRequest {
    /// The standard deviations along x and y in source texels. At least 0; below [`MIN_SIGMA`](super::MIN_SIGMA) an axis is not blurred.
    pub sigma: Vec2,
    /// The texels to blur, both in the source and in the destination. Not empty.
    pub region: URect,
    /// What lies outside the region.
    pub edge: EdgeMode,
    /// How to do it.
    pub means: Means,
    /// Who does the last step.
    pub finish: Finish,
}

impl PlanRequest {
    /// Whether the last pass writes the texture that the first one reads.
    pub(super) fn overwrites(&self) -> bool {
        self.means.in_place && self.finish == Finish::Write
    }
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

/// How the numbers of [`AxisPass::table`] are meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Filter {
    /// A weighted sum of filtered fetches: pairs of (offset, weight) around the source texel `target · step + shift`. An
    /// offset with a fraction reads between two texels.
    Taps,
    /// A weighted sum of neighbouring texels: `table[i]` is for the source texel `target · step + shift + reach.0 + i`. Texels
    /// beyond the bounds may have weights of their own ([`Images`]).
    Weights,
    /// The cubic B-spline through a level that is `2^octaves` times coarser.
    ///
    /// With `k = 2 · target + shift`, the source position is `k / 2^(octaves + 1)`: its whole part is a texel and its
    /// fraction the place between that texel and the next. With 0 octaves this axis stays as it is.
    ///
    /// If the axis is to be normalised, the table has the weight that lies inside the region, for the first and the last
    /// [`BORDER`] texels of the source. It is 1 between them.
    Spline,
    /// The mean of the source texels that a target texel covers, where the target has this many texels for all of the
    /// source. Some are covered in part.
    Mean(u32),
}

/// One axis of a pass.
#[derive(Clone, Debug, PartialEq)]
pub struct AxisPass {
    /// Source texels per target texel, or 2 for [`Filter::Spline`].
    pub step: i32,
    /// See [`Filter`].
    pub shift: i32,
    /// The valid source texels: from the first up to, not including, the second.
    pub bounds: (i32, i32),
    /// How reads outside the bounds are answered.
    pub edge: EdgeMode,
    /// What is computed.
    pub filter: Filter,
    /// The first and the last texel that is read, from `target · step + shift`. For [`Filter::Taps`] and
    /// [`Filter::Weights`].
    pub reach: (i32, i32),
    /// The octaves of a [`Filter::Spline`], else 0.
    pub octaves: u32,
    /// Whether the result is divided by the part of its weights that lies inside the region.
    pub normalize: bool,
    /// The weights of what lies beyond the bounds, where they differ.
    pub images: Option<Images>,
    /// What the filter works with. At most [`MAX_WEIGHTS`] numbers.
    pub table: Vec<f64>,
}

/// A level that stands for itself and for its images beyond both borders, which do not lie on the level's grid.
///
/// A read beyond the bounds ends at a texel inside them, as the edge mode has it, at a whole number of texels from the
/// centre. The image of that texel lies somewhere else. So the weight depends on which side of the bounds a read is on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Images {
    /// How far the images' weights reach beyond the kernel's own.
    pub margin: i32,
    /// Where their weights start in the table: those of the texels from 1 on below the bounds, then those above, as many each
    /// as the reach and the margin say. Before that come the kernel's own, continued as far.
    pub start: u32,
}

impl AxisPass {
    /// The same where texel 0 of the source and of the target lie at other texels of their textures.
    pub(super) fn moved(self, source: i32, target: i32) -> Self {
        // Positions of splines are halves of texels of the picture.
        let texel = match self.filter {
            Filter::Spline => 2 << self.octaves,
            Filter::Taps | Filter::Weights | Filter::Mean(_) => 1,
        };
        // A place that integers do not hold lies beyond the largest texture: such a plan is refused for its size.
        let by = i64::from(texel) * i64::from(source) - i64::from(self.step) * i64::from(target);
        let shift = i64::from(self.shift) + by;
        Self {
            shift: shift.clamp(i64::from(i32::MIN), i64::from(i32::MAX)) as i32,
            bounds: (self.bounds.0 + source, self.bounds.1 + source),
            ..self
        }
    }

    /// Goes from one mip level to the next along an axis of so many texels.
    pub(super) fn mean(from: u32, to: u32) -> Self {
        Self {
            step: 1,
            shift: 0,
            bounds: (0, from as i32),
            edge: EdgeMode::Clamp,
            filter: Filter::Mean(to),
            reach: (0, 0),
            octaves: 0,
            normalize: false,
            images: None,
            table: Vec::new(),
        }
    }
}

/// What of a pass is read later, where sigma varies: the rest need not be written.
///
/// A texel of a level is read by splines through it, out of a box of the picture around it. It is read where the share of the
/// largest sigma is such that the sigma level is blended. Pairs are x and y, but for the shares.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Needed {
    /// The least and the largest share that read.
    pub shares: (f32, f32),
    /// The octaves of the level.
    pub octaves: [u32; 2],
    /// The index at that level, counted from the source's origin, of the first texel of the target.
    pub first: [i32; 2],
    /// By how many texels of the level readers are away.
    pub around: [i32; 2],
}

impl Needed {
    /// Counts from this texel of the picture. Where that lies within a texel of the level, more is read.
    pub(super) fn move_source(&mut self, at: UVec2) {
        for (axis, at) in at.to_array().into_iter().enumerate() {
            let octaves = self.octaves[axis];
            self.first[axis] -= (at >> octaves) as i32;
            self.around[axis] += i32::from(at.trailing_zeros() < octaves);
        }
    }
}

/// A draw or dispatch over `origin .. origin + size` of its target.
#[derive(Clone, Debug, PartialEq)]
pub struct Pass {
    /// What the pass is for.
    pub kind: PassKind,
    /// What it runs.
    pub program: Program,
    /// What it reads.
    pub source: Surface,
    /// What it writes.
    pub target: Surface,
    /// The first texel written.
    pub origin: UVec2,
    /// How many texels are written.
    pub size: UVec2,
    /// The two halves of the computation, along x and y.
    pub axes: [AxisPass; 2],
    /// What of it is read. `None` if that is all.
    pub needed: Option<Needed>,
    /// Whether the last step of its plan is deferred: then it becomes one of a [batch](super::batch), where the others of its step do
    /// not depend on it.
    pub is_batched: bool,
}

/// How to blur: the textures that are needed in between and the passes, in order.
///
/// The first pass reads the source and the last one writes the destination. One pass may do both, unless
/// they are one texture ([`Means::in_place`]). A plan without passes leaves everything as it is.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BlurPlan {
    /// The sizes of the intermediate textures.
    pub intermediates: Vec<UVec2>,
    /// The passes, in order.
    pub passes: Vec<Pass>,
    /// The steps that are deferred: upsamplings by a render pass, which read an intermediate. One for a single
    /// blur, and one for each of [several](super::batch).
    pub deferred: Vec<Pass>,
    /// What the last pass blends, if sigma varies over the picture.
    pub sigma_levels: Option<SigmaLevels>,
    /// The texels of the destination that are written, if not all that the passes compute. Render passes write them.
    pub scissor: Option<URect>,
}

impl BlurPlan {
    /// Whether a deferred step reads an intermediate.
    #[must_use]
    pub fn reads_later(&self, intermediate: usize) -> bool {
        let surface = Surface::Intermediate(intermediate);
        self.deferred.iter().any(|deferred| deferred.source == surface)
    }
}

/// What the last pass blends.
#[derive(Clone, Debug, PartialEq)]
pub struct SigmaLevels {
    /// The texture that holds all sigma levels.
    pub atlas: Surface,
    /// The sigma up to which the sharp picture is summed, along the axis of the larger sigma.
    pub gathered: f64,
    /// After how many sigmas that sum ends.
    pub cutoff: f64,
    /// The texture of those sums, or of the sums of rows.
    pub sums: Surface,
    /// The sigmas along x and y as shares of the larger one.
    pub aspect: Vec2,
    /// The sigmas of sigma levels above which a line through two of them is enough.
    pub lines: Range<f64>,
    /// The position of the target's first texel in the picture.
    pub origin: IVec2,
    /// The sigma levels, from weak to strong.
    pub levels: Vec<SigmaLevel>,
}

/// One blur of the whole picture.
#[derive(Clone, Debug, PartialEq)]
pub struct SigmaLevel {
    /// Its sigma, along the axis of the larger sigma.
    pub sigma: f64,
    /// The first texel of its tile.
    pub origin: UVec2,
    /// The splines from its tile to the target of the last pass.
    pub axes: [AxisPass; 2],
}

/// A program with the ends that it touches: all that decides a pipeline, but for the formats.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Stage {
    /// What runs.
    pub program: Program,
    /// Whether it reads the texture to blur.
    pub is_first: bool,
    /// Whether it writes the result.
    pub is_last: bool,
    /// Whether it leaves out what is not read.
    pub skips: bool,
    /// Whether a dispatch may carry out several passes of it: none of them reads what another one writes.
    pub merges: bool,
}

impl Pass {
    /// Reads a source that begins at this texel of the picture.
    pub(super) fn move_source(&mut self, at: UVec2) {
        let by = -at.as_ivec2();
        self.axes = [0, 1].map(|axis| self.axes[axis].clone().moved(by[axis], 0));
    }

    /// The stage that this pass is.
    #[must_use]
    pub fn stage(&self) -> Stage {
        Stage {
            program: self.program,
            is_first: self.source == Surface::Source,
            is_last: self.target == Surface::Destination,
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
