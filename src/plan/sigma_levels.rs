//! The sigmas of sigma levels: a ladder with fixed rungs, whatever the largest sigma.
//!
//! # How rungs are blended
//!
//! The Gaussian of a sigma between two rungs is interpolated from the Gaussians at the rungs, as a polynomial in the
//! logarithm of sigma. In the logarithm a Gaussian changes most evenly: its waves decay along one curve,
//! `exp(-x² / 2)`, that is only shifted, and a polynomial that fits the curve in one place fits it everywhere.
//!
//! Half the L1 distance between a blend and the Gaussian is the worst error of any picture in [0, 1], in both
//! dimensions. In 1/255, for rungs with these ratios:
//!
//! | ratio | 2^(1/6) | 2^(1/4) | 2^(1/3) | √2 |
//! |---|---|---|---|---|
//! | a line through two rungs, in variance | 1.1 | 2.4 | 4.2 | 9.2 |
//! | a line through two rungs, in the logarithm | 0.8 | 1.8 | 3.2 | 7.0 |
//! | a parabola through three, the lowest below, in the logarithm | 0.2 | 0.6 | 1.4 | 4.2 |
//!
//! If the sigma of one axis is so much less than the other's that it is below [`ALONG`], texels are too coarse for the
//! curve: a line through rungs of the ratio 2^(1/4) is off by 2.1, and a parabola of the ratio 2^(1/3) by 2.0.
//!
//! The third rung is the one below both. The one above would do as well, but there is none at the top of the ladder.
//! And the topmost rung, which is the largest sigma, may be very near to the one below it: there a parabola would
//! amplify rounding into noise.
//!
//! # Which rungs
//!
//! Below a scale of 4 a sigma level is expensive, and rungs are sparse: three to the octave, with parabolas. From there
//! on sigma levels cost next to nothing, but blending them costs the same as elsewhere: four to the octave, with lines.
//! From 256 on there is room for no more than three to the octave, with parabolas again: a uniform buffer holds the
//! numbers of [`SIGMA_LEVELS`] sigma levels. Beyond the last fixed rung, even the largest textures cannot be told from
//! their mean.
//!
//! Below the first rung there is no sigma level. The texels of the sharp picture are summed, each with its own
//! Gaussian: up to 17 by 17 texels where the sigma is small but not 0. Where sigma hardly varies from neighbour to
//! neighbour, rows and then columns are as good: render passes sum these there, and compute passes do it for the texels
//! of a tile together (`gather_compute.wgsl`). The first two rungs of sigma levels are nearer together, as there is
//! none below them.
//!
//! The topmost rung is the largest sigma itself. When it grows past a fixed rung, the fixed rung appears at the same
//! sigma, so nothing pops.

use bevy::math::Vec2;
use core::ops::Range;

/// The fixed rungs, as exponents of 2^(1/12).
fn exponents() -> impl Iterator<Item = i32> {
    let sparse = [FIRST, FIRST + 2, 20, 24];
    sparse
        .into_iter()
        .chain((DENSE..97).step_by(3))
        .chain((97..=237).step_by(4))
}

/// The most rungs: all fixed ones, and the topmost.
pub const SIGMA_LEVELS: usize = 64;

/// The first rung.
const FIRST: i32 = 14;

/// The rung from which on rungs are dense.
const DENSE: i32 = 28;

/// The sigmas from which on rungs are dense, and sparse again.
const DENSE_FROM: f64 = 5.0;
const SPARSE_FROM: f64 = 256.0;

/// Below the first sigma a line through dense rungs is not exact enough along an axis. Below the second, the axis is
/// not blurred.
const ALONG: f64 = 1.2;
const NO_BLUR: f64 = 0.15;

/// The ratio of the first two rungs, and how far the sum of the sharp picture may end below the first.
const FIRST_RATIO: f64 = 1.122_462;

/// Sigmas that differ by less than one part in this many count as equal, because the GPU rounds.
pub const SIGMAS_APART: u32 = 1000;

/// That part, as a fraction.
pub const ROUNDING: f64 = 1.0 / SIGMAS_APART as f64;

fn fixed_sigma(exponent: i32) -> f64 {
    (f64::from(exponent) / 12.0).exp2()
}

/// The fixed sigmas below a largest one. Levels equal to the maximum are redundant.
pub fn fixed_sigmas(largest: f64) -> impl Iterator<Item = f64> {
    exponents()
        .map(fixed_sigma)
        .take_while(move |sigma| *sigma < (1.0 - ROUNDING) * largest)
}

/// The least sigma of a sigma level, in texels of its level: 2^(1/6), as at the first rung, less an allowance for
/// rounding. At the first rung, a picture may be off by 0.7/255 along an axis, and by half as much from the next rung
/// on.
pub const RHO: f64 = 1.122;

/// The sigma up to which the sharp picture is summed: near enough to the first rung, and no farther than needed. Up to
/// 1, sums cost less than sigma levels.
pub fn gathered(largest: f64) -> f64 {
    fixed_sigma(FIRST).min(largest / FIRST_RATIO).max(largest.min(1.0))
}

/// The sigmas of rungs above which a line through two is exact enough, for the sigmas along x and y as shares of the
/// larger one.
pub fn lines(aspect: Vec2) -> Range<f64> {
    let shares = aspect.to_array().map(f64::from);
    let blurred = shares.into_iter().filter(|share| share * SPARSE_FROM > NO_BLUR);
    let from = blurred.map(|share| ALONG / share).fold(DENSE_FROM, f64::max);
    from..SPARSE_FROM
}

/// The range of sigmas whose texels read one of the rungs of a ladder.
///
/// It extends from the rung below to the rung above, or to the second rung above where parabolas are blended.
pub fn readers(sigmas: &[f64], rung: usize, lines: &Range<f64>) -> (f64, f64) {
    let top = sigmas.last().copied().unwrap_or(0.0);
    let below = rung.checked_sub(1).map_or_else(|| gathered(top), |below| sigmas[below]);
    let above = match sigmas[rung + 1..] {
        [] => f64::INFINITY,
        [next, after, ..] if !lines.contains(&next) => after,
        [next, ..] => next,
    };
    (below, above)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::Precision;
    use crate::program::workgroups::GATHER_REACH;

    #[test]
    fn rungs_are_as_near_to_each_other_as_they_have_to_be() {
        let rungs: Vec<f64> = exponents().map(fixed_sigma).collect();
        assert_eq!(rungs.len() + 1, SIGMA_LEVELS);
        for pair in rungs.windows(2) {
            let ratio = (pair[1] / pair[0]).log2();
            let most = match pair[0] {
                sigma if sigma < 2.3 => 1.0 / 6.0,
                sigma if sigma < DENSE_FROM => 1.0 / 3.0,
                sigma if sigma < SPARSE_FROM => 0.25,
                _ => 1.0 / 3.0,
            };
            assert!(ratio > 0.0 && ratio < most + 1e-9, "{pair:?}");
        }
    }

    #[test]
    fn rungs_are_read_by_what_lies_between_their_neighbours() {
        let sigmas: Vec<f64> = fixed_sigmas(400.0).chain([400.0]).collect();
        let lines = lines(Vec2::ONE);
        let readers = |sigmas: &[f64], rung| readers(sigmas, rung, &lines);
        assert_eq!(readers(&sigmas, 0), (gathered(400.0), sigmas[2]));
        let dense = sigmas
            .iter()
            .position(|sigma| *sigma >= DENSE_FROM)
            .expect("dense rungs");
        // The first dense rung is the one above the last parabola.
        assert_eq!(readers(&sigmas, dense - 2), (sigmas[dense - 3], sigmas[dense]));
        assert_eq!(readers(&sigmas, dense), (sigmas[dense - 1], sigmas[dense + 1]));
        // And the last one is the first that a parabola needs.
        let sparse = sigmas
            .iter()
            .position(|sigma| *sigma >= SPARSE_FROM)
            .expect("sparse rungs");
        assert_eq!(readers(&sigmas, sparse - 2), (sigmas[sparse - 3], sigmas[sparse - 1]));
        assert_eq!(readers(&sigmas, sparse - 1), (sigmas[sparse - 2], sigmas[sparse + 1]));
        let top = sigmas.len() - 1;
        assert_eq!(readers(&sigmas, top), (sigmas[top - 1], f64::INFINITY));
        assert_eq!(readers(&[0.7], 0), (0.7, f64::INFINITY));
    }

    #[test]
    fn sums_end_near_the_first_rung() {
        for largest in (1..400).map(|i| 0.02 * f64::from(i)) {
            let first = fixed_sigmas(largest).next().unwrap_or(largest);
            let end = gathered(largest);
            assert!(
                end <= first && (first <= 1.0 || first <= end * 1.1225),
                "{largest}: {end}, {first}"
            );
        }
    }

    #[test]
    fn sums_reach_no_farther_than_their_program() {
        for precision in [Precision::Standard, Precision::Hdr] {
            let reach = (precision.cutoff() * fixed_sigma(FIRST)).ceil() as u32;
            assert!(reach <= GATHER_REACH, "{precision:?}: {reach}");
        }
    }
}
