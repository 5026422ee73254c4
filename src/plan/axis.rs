//! One axis of a plan: the number of octaves, the residual kernel, and the texels of every level.

use super::edge_images::ImageWeights;
use super::pass::{AxisPass, BORDER, MAX_WEIGHTS, Means, Weighting};
use super::residual::{
    MAX_OCTAVES, MIN_SIGMA, at_the_limit, excess, largest_sigma, least_sigma, octaves, residual_kernel, residual_sigma,
    whole_sigma,
};
use super::select_program;
use crate::kernel::{self, CompensatedGaussian, Precision};
use crate::program::Beyond;
use crate::settings::EdgeMode;
use bevy::math::Vec2;

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

/// The texels of a level.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Extent {
    /// The index, counted from the source's origin, of the level's first stored texel.
    pub first: i32,
    /// How many texels are stored.
    pub length: i32,
}

/// The plan of one axis.
#[derive(Clone, Debug)]
pub(super) struct Axis {
    region: Extent,
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
        let region = Extent {
            first: start as i32,
            length: (end - start) as i32,
        };
        let mut axis = Self {
            region,
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
        let sigma = f64::from(sigma).min(sigma_limit(edge, region.length));
        axis.octaves = octaves(sigma, rho);
        axis.residual = residual_kernel(sigma, axis.octaves, precision);
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
                let residual = residual_sigma(f64::from(sigma), 0, precision);
                self.residual = kernel::compensated_gaussian(residual, precision.cutoff(), excess(0));
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

    /// The texels of a level. Level 0 is just the region: its outside is computed while reading.
    pub fn extent(&self, level: u32) -> Extent {
        if level == 0 {
            return self.region;
        }
        let first = (self.region.first >> level) - APRON;
        let last = ((self.region.first + self.region.length - 1) >> level) + APRON;
        Extent {
            first,
            length: last - first + 1,
        }
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
        let length = self.extent(self.octaves).length;
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
        let length = self.extent(self.octaves).length;
        AxisPass {
            // The outermost texels are zero.
            bounds: (1, length - 1),
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
        let taps = kernel::decimation_taps(octaves);
        AxisPass {
            filter: Weighting::Taps,
            table: taps.iter().flat_map(|tap| [tap.offset, tap.weight]).collect(),
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
        let start = if levels.0.is_none() { self.region.first } else { 0 };
        let edge = self.read_edge(level);
        AxisPass {
            step,
            shift: step * target - source,
            bounds: (start, start + self.extent(level).length),
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
        let first = |level: Option<u32>| level.map_or(0, |level| self.extent(level).first);
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
        let mut weights: Vec<f64> = vec![1.0; self.region.length as usize];
        for level in 1..=self.octaves {
            let levels = ((level > 1).then(|| level - 1), Some(level));
            weights = weighted_sums(&self.downsample(levels), &weights, self.extent(level).length);
        }
        let low = Some(self.octaves);
        let convolve = self.convolve((low, low), self.reach());
        weights = weighted_sums(&convolve, &weights, self.extent(self.octaves).length);
        let gain = 1.0 / weights.iter().copied().fold(f64::MIN_POSITIVE, f64::max);
        self.residual.iter_mut().for_each(|w| *w *= gain);
        weights.iter_mut().for_each(|w| *w *= gain);
        self.inside = weights;
    }

    fn image_weights(&self, sigma: f64, precision: Precision) -> ImageWeights {
        let (scale, extent) = (f64::from(self.octaves).exp2(), self.extent(self.octaves));
        let border = |texel: i32| f64::from(texel) / scale - 0.5;
        let kernel = CompensatedGaussian {
            sigma: residual_sigma(sigma, self.octaves, precision),
            cutoff: precision.cutoff(),
            excess: excess(self.octaves),
        };
        let region = border(self.region.first)..border(self.region.first + self.region.length);
        let texels = extent.first + 1..extent.first + extent.length - 1;
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
