//! How the octaves of an axis and the residual kernel at its lowest level share a sigma. [`plan`](super) explains the
//! idea.

use crate::kernel::{self, Precision};
use crate::settings::EdgeMode;
use bevy::math::{UVec2, Vec2};

/// A smaller sigma, in texels, is no blur.
pub const MIN_SIGMA: f32 = 0.03;

/// The most octaves: a scale of 32768 is as large as any texture, which then lies in one texel or two. Stronger blurs
/// are [blended](at_the_limit) with the limit. More octaves would overflow positions in an atlas: integers that count
/// fractions of a texel.
pub const MAX_OCTAVES: u32 = 15;

/// The variance, in texels of the level, that the cubic B-spline adds.
const ADDED_UP: f64 = 1.0 / 3.0;

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
pub fn octaves(sigma: f64, rho: f64) -> u32 {
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
pub fn whole_sigma(residual: f64, octaves: u32) -> f64 {
    if octaves == 0 {
        return residual;
    }
    let scale = f64::from(octaves).exp2();
    ((residual.powi(2) + ADDED_UP) * scale.powi(2) + added_down(scale)).sqrt()
}

/// The residual sigma at the lowest level, in its texels.
pub fn residual_sigma(sigma: f64, octaves: u32, precision: Precision) -> f64 {
    let scale = f64::from(octaves).exp2();
    let residual = ((sigma.powi(2) - added_down(scale)) / scale.powi(2) - ADDED_UP).sqrt();
    // Only a sigma beyond MAX_OCTAVES exceeds this; `at_the_limit` does the rest.
    residual.min(2.0 * precision.rho())
}

/// The variance that downsampling to a scale adds, in texels of the source.
pub fn added_down(scale: f64) -> f64 {
    5.0 * (scale.powi(2) - 1.0) / 12.0
}

/// The largest sigma of a residual kernel.
pub fn largest_sigma(precision: Precision) -> f64 {
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
pub fn at_the_limit(mut half: Vec<f64>, share: f64, edge: EdgeMode) -> Vec<f64> {
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

/// The residual half kernel at the lowest level.
pub fn residual_kernel(sigma: f64, octaves: u32, precision: Precision) -> Vec<f64> {
    let cutoff = precision.cutoff();
    if octaves == 0 {
        return kernel::gaussian(sigma, cutoff);
    }
    kernel::compensated_gaussian(residual_sigma(sigma, octaves, precision), cutoff, excess(octaves))
}

/// The amount of a fourth difference that restores the fourth cumulant after this many octaves.
///
/// A box of w texels has the fourth cumulant -(w⁴ - 1)/120, a continuous one -w⁴/120. Downsampling is five discrete
/// boxes, and the cubic B-spline is four continuous ones. A fourth difference raises the cumulant by 24.
pub fn excess(octaves: u32) -> f64 {
    let missing = (5.0 * (1.0 - f64::from(octaves).exp2().powi(-4)) + 4.0) / 120.0;
    missing / 24.0
}
