//! One axis of a plan: how octaves and the residual kernel of the lowest level share its sigma, and the texels of every level.
//! [`plan`](super) explains the idea.

use super::edge_images::ImageWeights;
use super::pass::{AxisPass, BORDER, MAX_WEIGHTS, Means, Weighting};
use super::select_program;
use crate::kernel::{self, Gaussian, Precision};
use crate::program::Beyond;
use crate::settings::EdgeMode;
use bevy::math::{UVec2, Vec2};
use core::ops::Range;

/// A smaller sigma, in texels, is no blur.
pub const MIN_SIGMA: f32 = 0.03;

/// The most octaves: a scale of 32768 is as large as any texture, which then lies in one texel or two. Stronger blurs
/// are [blended](at_the_limit) with the limit. More octaves would overflow positions in an atlas: integers that count
/// fractions of a texel.
pub const MAX_OCTAVES: u32 = 15;

/// The variance, in texels of the level, that the cubic B-spline adds.
const ADDED_UP: f64 = 1.0 / 3.0;

/// Whether a blur of these sigmas, in texels, changes anything.
pub fn blurs(sigma: Vec2) -> bool {
    sigma.max_element() >= MIN_SIGMA
}

/// The least sigma of a blur whose result can be moved by a part of a texel ([`BlurPlan::shifted`](super::BlurPlan::shifted)): 1, less
/// what the scale of a turned node may be off by.
pub const LEAST_SHIFTED: f32 = 0.999;

/// The sigma from which on a periodic image is its mean, in periods.
///
/// The slowest wave of the period `L` is scaled by `exp(-2 (π σ / L)²)`: less than 0.02/255 remains.
const MEAN_SIGMA_IN_PERIODS: f64 = 0.7;

/// The sigma, in lengths of the region, beyond which a renormalised Gaussian does not change: over the region its
/// weights differ by no more than 1 part in 500.
const FLAT_SIGMA_IN_LENGTHS: f64 = 16.0;

/// The texels that a level stores beyond the region on either side. The first two blend inside and outside. The third
/// equals everything farther out, which makes clamped reads exact.
const APRON: i32 = 3;

/// The finest part of a texel by which a result is moved has this many bits, one less on each coarser level: on those, it takes a
/// larger part to be seen.
const SHIFT_BITS: u32 = 6;

/// Where an axis pass reads and writes: the levels of its source and target, `None` for the outermost surfaces.
pub(super) type Levels = (Option<u32>, Option<u32>);

/// The plan of one axis.
#[derive(Clone, Debug)]
pub(super) struct Axis {
    region: Range<i32>,
    edge: EdgeMode,
    octaves: u32,
    /// How far the result is moved, in texels.
    shift: f32,
    /// The half of the kernel at the lowest level; just `[1.0]` if nothing is blurred.
    residual: Vec<f64>,
    /// The weights of the region's images at the lowest level, for a periodic edge.
    images: Option<ImageWeights>,
    /// The weight inside the region at every texel of the lowest level, for a renormalised edge.
    inside: Vec<f64>,
}

impl Axis {
    /// The plan for a sigma, with the most octaves that leave at least `rho` texels of the lowest level.
    pub fn new(sigma: f32, (start, end): (u32, u32), edge: EdgeMode, precision: Precision, rho: f64) -> Self {
        let mut axis = Self {
            region: start as i32..end as i32,
            edge,
            octaves: 0,
            shift: 0.0,
            residual: vec![1.0],
            images: None,
            inside: Vec::new(),
        };
        if sigma < MIN_SIGMA {
            return axis;
        }
        let sigma = f64::from(sigma).min(sigma_limit(edge, length(&axis.region)));
        axis.octaves = octaves(sigma, rho);
        axis.residual = match axis.octaves {
            0 => Gaussian {
                sigma,
                cutoff: precision.cutoff(),
                excess: 0.0,
            },
            octaves => residual(sigma, octaves, precision),
        }
        .half();
        if axis.octaves == MAX_OCTAVES {
            let share = largest_sigma(precision) / sigma;
            axis.residual = at_the_limit(axis.residual, share.min(1.0), edge);
        }
        if axis.octaves > 0 && edge.is_normalized() {
            axis.renormalize();
        } else if axis.octaves > 0 && edge.is_periodic() {
            axis.images = Some(axis.image_weights(sigma, precision));
        }
        debug_assert!(2 * axis.reach() < MAX_WEIGHTS);
        axis
    }

    /// The same axis with a result that the spline moves by a part of a texel. At full resolution, too, it then adds its variance.
    pub fn shifted(mut self, shift: f32, sigma: f32, precision: Precision) -> Self {
        if shift != 0.0 && self.blurs() {
            self.shift = shift;
            if self.octaves == 0 {
                self.residual = residual(f64::from(sigma), 0, precision).half();
            }
        }
        self
    }

    pub fn octaves(&self) -> u32 {
        self.octaves
    }

    pub fn blurs(&self) -> bool {
        self.residual.len() > 1
    }

    /// The texels that a level stores, counted from the source's origin. Level 0 is just the region: its outside is computed while
    /// reading.
    pub fn extent(&self, level: u32) -> Range<i32> {
        if level == 0 {
            return self.region.clone();
        }
        let last = (self.region.end - 1) >> level;
        (self.region.start >> level) - APRON..last + APRON + 1
    }

    /// Leaves this axis as it is.
    pub fn identity(&self, levels: Levels) -> AxisPass {
        self.weigh(levels, 1, 0, vec![1.0])
    }

    /// The reach of the residual kernel, in texels.
    pub fn reach(&self) -> usize {
        self.residual.len() - 1
    }

    /// The reach of reads of images, 0 if there are none.
    pub fn images_reach(&self) -> usize {
        self.images.as_ref().map_or(0, ImageWeights::reach)
    }

    /// How many texels away the residual convolution may read, including edges.
    pub fn reads_beyond(&self) -> i32 {
        let reach = self.reach().max(self.images_reach()) as i32;
        let length = length(&self.extent(self.octaves));
        // A texel mirrored once is no farther away than the texel that was requested.
        if self.edge.is_periodic() && (reach >= length || self.edge.reads_far()) {
            length
        } else {
            reach
        }
    }

    /// Convolves with the residual kernel, as weights from `-reach` to `reach`.
    pub fn convolve(&self, levels: Levels, reach: usize) -> AxisPass {
        if let Some(images) = &self.images {
            return self.convolve_images(levels, reach, images);
        }
        let weight = |i: i32| self.residual.get(i.unsigned_abs() as usize).copied().unwrap_or(0.0);
        let reach = reach as i32;
        self.weigh(levels, 1, -reach, (-reach..=reach).map(weight).collect())
    }

    /// Sums texels as [`convolve`](Self::convolve) does, with the images of the region.
    fn convolve_images(&self, levels: Levels, reach: usize, images: &ImageWeights) -> AxisPass {
        let (table, images) = images.table(reach);
        AxisPass {
            // The outermost texels are zero.
            bounds: (1, length(&self.extent(self.octaves)) - 1),
            edge: self.edge,
            reach: (-(reach as i32), reach as i32),
            images: Some(images),
            ..self.weigh(levels, 1, 0, table)
        }
    }

    /// Goes from one level to a coarser one, without filtered fetches.
    pub fn downsample(&self, levels: Levels) -> AxisPass {
        let octaves = octaves_between(levels);
        let weights = kernel::decimation_weights(octaves);
        self.weigh(levels, 1 << octaves, kernel::decimation_start(octaves), weights)
    }

    /// Sums texels by filtered fetches.
    pub fn downsample_filtered(&self, levels: Levels) -> AxisPass {
        let octaves = octaves_between(levels);
        AxisPass {
            filter: Weighting::Taps,
            table: kernel::decimation_taps(octaves).concat(),
            ..self.downsample(levels)
        }
    }

    /// Interpolates at the resolution of the source.
    pub fn upsample(&self, levels: Levels) -> AxisPass {
        let (source, target) = self.firsts(levels);
        let scale = 1 << self.octaves;
        // Positions count halves of a texel, or finer parts of it if the result is moved by such.
        let finer = if self.shift == 0.0 {
            0
        } else {
            SHIFT_BITS.saturating_sub(self.octaves)
        };
        let shift = (self.shift * (2 << finer) as f32).round() as i32;
        AxisPass {
            step: 2 << finer,
            // The texel j of the level has its centre at (j + 1/2) P - 1/2, so t is at (2t + 1 - P) / 2P.
            shift: ((1 - scale - 2 * scale * source + 2 * target) << finer) - shift,
            filter: Weighting::Spline,
            octaves: self.octaves + finer,
            normalize: !self.inside.is_empty(),
            table: self.border_weights(),
            ..self.identity(levels)
        }
    }

    /// A weighted sum of neighbouring texels.
    fn weigh(&self, levels: Levels, step: i32, first: i32, weights: Vec<f64>) -> AxisPass {
        let (source, target) = self.firsts(levels);
        let level = levels.0.unwrap_or(0);
        let start = if levels.0.is_none() { self.region.start } else { 0 };
        let edge = self.read_edge(level);
        AxisPass {
            step,
            shift: step * target - source,
            bounds: (start, start + length(&self.extent(level))),
            edge,
            filter: Weighting::Weights,
            reach: (first, first + weights.len() as i32 - 1),
            octaves: 0,
            normalize: edge.is_normalized(),
            images: None,
            table: weights,
        }
    }

    /// The indices of texel 0 of the source and of the target. The outermost surfaces count from the origin.
    fn firsts(&self, levels: Levels) -> (i32, i32) {
        let first = |level: Option<u32>| level.map_or(0, |level| self.extent(level).start);
        (first(levels.0), first(levels.1))
    }

    /// How reads beyond the stored texels of a level behave.
    fn read_edge(&self, level: u32) -> EdgeMode {
        if level > 0 {
            EdgeMode::Clamp
        } else if self.octaves > 0 && (self.edge.is_normalized() || self.edge.is_periodic()) {
            // Lower levels hold the region alone. They are normalised at the very end, by the weights of the whole chain, and the
            // residual kernel adds the images.
            EdgeMode::Transparent
        } else {
            self.edge
        }
    }

    /// Computes the weight inside the region by blurring the region itself, and scales the kernel so that the largest
    /// weight is 1. Half-float intermediates then stay in range even if hardly any weight is inside.
    fn renormalize(&mut self) {
        let mut weights: Vec<f64> = vec![1.0; self.region.len()];
        for level in 1..=self.octaves {
            let levels = ((level > 1).then(|| level - 1), Some(level));
            weights = weighted_sums(&self.downsample(levels), &weights, length(&self.extent(level)));
        }
        let low = Some(self.octaves);
        let convolve = self.convolve((low, low), self.reach());
        weights = weighted_sums(&convolve, &weights, length(&self.extent(self.octaves)));
        let gain = 1.0 / weights.iter().copied().fold(f64::MIN_POSITIVE, f64::max);
        self.residual.iter_mut().for_each(|w| *w *= gain);
        weights.iter_mut().for_each(|w| *w *= gain);
        self.inside = weights;
    }

    fn image_weights(&self, sigma: f64, precision: Precision) -> ImageWeights {
        let (scale, extent) = (f64::from(self.octaves).exp2(), self.extent(self.octaves));
        let border = |texel: i32| f64::from(texel) / scale - 0.5;
        let kernel = residual(sigma, self.octaves, precision);
        let region = border(self.region.start)..border(self.region.end);
        let texels = extent.start + 1..extent.end - 1;
        ImageWeights::new(region, texels, kernel, self.edge)
    }

    fn border_weights(&self) -> Vec<f64> {
        if self.inside.is_empty() {
            return Vec::new();
        }
        let length = self.inside.len();
        let low = (0..BORDER).map(|i| i.min(length - 1));
        let high = (0..BORDER).map(|i| (length + i).saturating_sub(BORDER));
        low.chain(high).map(|i| self.inside[i]).collect()
    }
}

fn length(texels: &Range<i32>) -> i32 {
    texels.end - texels.start
}

fn octaves_between(levels: Levels) -> u32 {
    levels.1.unwrap_or(0) - levels.0.unwrap_or(0)
}

/// The sigma above which the result no longer changes.
fn sigma_limit(edge: EdgeMode, length: i32) -> f64 {
    let length = f64::from(length);
    match edge.period() {
        Some(period) => MEAN_SIGMA_IN_PERIODS * period * length,
        None if edge.is_normalized() => FLAT_SIGMA_IN_LENGTHS * length,
        None => f64::INFINITY,
    }
}

/// The least sigma of the lowest level, in its texels: rho, or a little more for periodic edges, whose images do not
/// lie on the level's grid.
pub fn least_sigma(edge: EdgeMode, precision: Precision) -> f64 {
    let is_coarse = precision == Precision::Standard && edge.is_periodic();
    if is_coarse {
        1.01 * precision.rho()
    } else {
        precision.rho()
    }
}

/// The most octaves that leave at least `rho` texels of the lowest level.
fn octaves(sigma: f64, rho: f64) -> u32 {
    ((sigma / rho).log2().floor().max(0.0) as u32).min(MAX_OCTAVES)
}

/// The farthest distance, in texels, at which a blur of these sigmas reads along x and y, with the coarsest levels and
/// the widest kernels of any precision and edge mode. The residual kernel reaches one texel of the lowest level beyond
/// the cutoff, the spline two, and the filters before it two and a half.
pub fn reach(sigma: Vec2) -> UVec2 {
    let reach = |sigma: f32| {
        if sigma < MIN_SIGMA {
            return 0;
        }
        let sigma = f64::from(sigma);
        let scale = f64::from(octaves(sigma, Precision::Standard.rho())).exp2();
        // The cast saturates.
        (Precision::Hdr.cutoff() * sigma + 6.0 * scale).ceil() as u32
    };
    UVec2::new(reach(sigma.x), reach(sigma.y))
}

/// The sigma of a blur whose residual sigma this is, in texels of the lowest level.
fn whole_sigma(residual: f64, octaves: u32) -> f64 {
    if octaves == 0 {
        return residual;
    }
    let scale = f64::from(octaves).exp2();
    ((residual.powi(2) + ADDED_UP) * scale.powi(2) + added_down(scale)).sqrt()
}

/// The residual sigma at the lowest level, in its texels.
fn residual_sigma(sigma: f64, octaves: u32, precision: Precision) -> f64 {
    let scale = f64::from(octaves).exp2();
    let residual = ((sigma.powi(2) - added_down(scale)) / scale.powi(2) - ADDED_UP).sqrt();
    // Only a sigma beyond MAX_OCTAVES exceeds this; `at_the_limit` does the rest.
    residual.min(2.0 * precision.rho())
}

/// The variance that downsampling to a scale adds, in texels of the source.
fn added_down(scale: f64) -> f64 {
    5.0 * (scale.powi(2) - 1.0) / 12.0
}

/// The largest sigma of a residual kernel.
fn largest_sigma(precision: Precision) -> f64 {
    whole_sigma(2.0 * precision.rho(), MAX_OCTAVES)
}

/// The kernel for a sigma beyond the [largest](largest_sigma), from the kernel for the largest one. `share` is the
/// largest sigma divided by this one.
///
/// A Gaussian of many times a picture's length is flat over the picture, up to a term with the square of length over
/// sigma. So the weight of the picture falls as one over sigma. The rest lies beyond the picture, half on either side:
/// it goes to the outermost weights, which no texel of the picture has. If renormalised, only the curvature matters,
/// which falls as one over the square of sigma.
///
/// This is off by less than 0.03/255 in a texture of 16384 texels, and 0.25/255 in one of 32768.
fn at_the_limit(mut half: Vec<f64>, share: f64, edge: EdgeMode) -> Vec<f64> {
    if edge.is_normalized() {
        let flat = half[0] * (1.0 - share * share);
        half.iter_mut()
            .for_each(|weight| *weight = *weight * share * share + flat);
    } else {
        half.iter_mut().for_each(|weight| *weight *= share);
        half.last_mut()
            .into_iter()
            .for_each(|weight| *weight += 0.5 * (1.0 - share));
    }
    half
}

/// The residual Gaussian at a lowest level that is coarser by these octaves: what the ways down and up leave.
fn residual(sigma: f64, octaves: u32, precision: Precision) -> Gaussian {
    Gaussian {
        sigma: residual_sigma(sigma, octaves, precision),
        cutoff: precision.cutoff(),
        excess: excess(octaves),
    }
}

/// The amount of a fourth difference that restores the fourth cumulant after this many octaves.
///
/// A box of w texels has the fourth cumulant -(w⁴ - 1)/120, a continuous one -w⁴/120. Downsampling is five discrete
/// boxes, and the cubic B-spline is four continuous ones. A fourth difference raises the cumulant by 24.
fn excess(octaves: u32) -> f64 {
    let missing = (5.0 * (1.0 - f64::from(octaves).exp2().powi(-4)) + 4.0) / 120.0;
    missing / 24.0
}

/// The sigmas with this number of octaves at which the kernel of any edge mode gets another program. The first one has
/// these octaves with every edge mode.
pub(super) fn boundaries(octaves: u32, means: Means) -> Vec<f32> {
    let Means { precision, tiling, .. } = means;
    let scale = f64::from(octaves).exp2();
    let [start, periodic] = [EdgeMode::Clamp, EdgeMode::Mirror].map(|edge| scale * least_sigma(edge, precision));
    let starts = if octaves == 0 {
        vec![f64::from(MIN_SIGMA)]
    } else {
        vec![periodic, start]
    };
    let reaching = |reach: usize| whole_sigma(reach as f64 / precision.cutoff(), octaves);
    let least = starts[starts.len() - 1];
    let has_program = |reach: &usize| select_program::rounded_reach(*reach, tiling, Beyond::Clamped) == *reach;
    let others = (1..MAX_WEIGHTS).filter(has_program).map(reaching);
    let others = others.filter(|sigma| (least..2.0 * periodic).contains(sigma));
    // Slightly larger, so that rounding does not lead back below a boundary.
    starts
        .into_iter()
        .chain(others)
        .map(|sigma| 1.0001 * sigma as f32)
        .collect()
}

/// The first `count` texels of the target of a pass with weights, whose reads clamp or find nothing beyond these texels of its
/// source.
fn weighted_sums(pass: &AxisPass, source: &[f64], count: i32) -> Vec<f64> {
    let last = source.len() as i32 - 1;
    let read = |texel: i32| match pass.edge {
        EdgeMode::Clamp => source[texel.clamp(0, last) as usize],
        _ if (0..=last).contains(&texel) => source[texel as usize],
        _ => 0.0,
    };
    let sum = |target: i32| {
        let first = target * pass.step + pass.shift + pass.reach.0 - pass.bounds.0;
        (first..)
            .zip(&pass.table)
            .map(|(texel, weight)| weight * read(texel))
            .sum()
    };
    (0..count).map(sum).collect()
}
