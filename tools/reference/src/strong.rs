//! The same Gaussian for small pictures and any sigma: the cost depends only on the picture.
//!
//! Kernels have no cutoff. The sum of all weights of a sampled Gaussian has a closed form, so the weight beyond an end
//! of the picture is the remainder, however far it reaches.

use crate::{EdgeMode, Picture, SMALLEST_SIGMA};
use std::f64::consts::{PI, TAU};

/// From a sigma of this many periods on, periodic pictures equal their mean: their waves are damped to less than 1e-30.
const MEAN_FROM: f64 = 2.0;

/// Images of periodic pictures are summed up to a distance of this many sigmas.
const REACH: f64 = 8.5;

/// Blurs every texel with its own sigma, `sigma(x, y)`, horizontally and vertically, as [`varying_blur`](crate::varying_blur)
/// does. Its cost is the square of the number of texels, whatever the sigmas are.
pub fn strong_blur(picture: &Picture, edge: EdgeMode, sigma: impl Fn(usize, usize) -> [f64; 2]) -> Picture {
    blur_by(picture, edge, &sigma)
}

/// Not generic, so that it is compiled (and optimised) with this package, not with its callers.
fn blur_by(picture: &Picture, edge: EdgeMode, sigma: &dyn Fn(usize, usize) -> [f64; 2]) -> Picture {
    Picture::from_fn(picture.width, picture.height, |x, y| {
        let [across, down] = sigma(x, y);
        let across = weights(picture.width, x, across, edge);
        let down = weights(picture.height, y, down, edge);
        let mut sum = [0.0; 4];
        for (row, weight_y) in picture.texels.chunks(picture.width).zip(&down) {
            for (texel, weight_x) in row.iter().zip(&across) {
                let weight = weight_x * weight_y;
                (0..4).for_each(|channel| sum[channel] += weight * texel[channel]);
            }
        }
        sum
    })
}

/// The weights of `length` texels in the result at `centre`.
fn weights(length: usize, centre: usize, sigma: f64, edge: EdgeMode) -> Vec<f64> {
    let mut row = vec![0.0; length];
    if sigma < SMALLEST_SIGMA || sigma.is_nan() {
        row[centre] = 1.0;
        return row;
    }
    let total = sum_of_all(sigma);
    let weight = |distance: f64| (-0.5 * (distance / sigma).powi(2)).exp() / total;
    let images: &[bool] = match edge {
        EdgeMode::Mirror => &[false, true],
        EdgeMode::Wrap => &[false],
        EdgeMode::Clamp | EdgeMode::Transparent | EdgeMode::Renormalize => {
            for (index, share) in row.iter_mut().enumerate() {
                *share = weight(index.abs_diff(centre) as f64);
            }
            end(&mut row, centre, edge);
            return row;
        }
    };
    let period = (length * images.len()) as f64;
    if sigma > MEAN_FROM * period {
        return vec![1.0 / length as f64; length];
    }
    let periods = (REACH * sigma / period).ceil() as i32 + 1;
    for (index, share) in row.iter_mut().enumerate() {
        for is_mirrored in images {
            // Beyond the first border, the mirror image of texel 0 is at -1.
            let place = if *is_mirrored {
                -1.0 - index as f64
            } else {
                index as f64
            };
            let distance = place - centre as f64;
            let images = (-periods..=periods).map(|times| weight(distance + f64::from(times) * period));
            *share += images.sum::<f64>();
        }
    }
    row
}

/// Adds the weight beyond the ends to a row that holds the weights of the texels themselves.
fn end(row: &mut [f64], centre: usize, edge: EdgeMode) {
    let inside: f64 = row.iter().sum();
    match edge {
        EdgeMode::Clamp => {
            let half = 0.5 * (1.0 - row[centre]);
            let below = half - row[..centre].iter().sum::<f64>();
            let above = half - row[centre + 1..].iter().sum::<f64>();
            let last = row.len() - 1;
            row[0] += below.max(0.0);
            row[last] += above.max(0.0);
        }
        EdgeMode::Renormalize => row.iter_mut().for_each(|weight| *weight /= inside),
        EdgeMode::Transparent | EdgeMode::Mirror | EdgeMode::Wrap => {}
    }
}

/// The sum of `exp(-x² / 2σ²)` over all whole numbers `x`: directly if few terms matter, otherwise by the first two terms
/// of the equal sum over frequencies (Poisson summation), whose third term is below 1e-34.
fn sum_of_all(sigma: f64) -> f64 {
    if sigma < 1.0 {
        let beyond = (1..16).map(|x| (-0.5 * (f64::from(x) / sigma).powi(2)).exp());
        return 1.0 + 2.0 * beyond.sum::<f64>();
    }
    TAU.sqrt() * sigma * (1.0 + 2.0 * (-2.0 * (PI * sigma).powi(2)).exp())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::varying_blur;

    fn noise(width: usize, height: usize) -> Picture {
        Picture::from_fn(width, height, |x, y| {
            [3, 7, 11, 13].map(|k| ((x * x + k * y + k * x * y) % 17) as f64 / 16.0)
        })
    }

    fn worst(a: &Picture, b: &Picture) -> f64 {
        let (a, b) = (a.texels.as_flattened(), b.texels.as_flattened());
        a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
    }

    #[test]
    fn it_is_the_kernel_that_is_summed() {
        for (width, height) in [(1, 1), (1, 9), (13, 2), (8, 11)] {
            let picture = noise(width, height);
            for edge in EdgeMode::ALL {
                for sigma in [0.02, 0.03, 0.2, 0.7, 0.99, 1.01, 3.0, 15.0, 40.0, 150.0] {
                    let sigma = |x: usize, y: usize| [sigma + 0.01 * y as f64, sigma * (1.0 - 0.02 * x as f64)];
                    let (got, expected) = (strong_blur(&picture, edge, sigma), varying_blur(&picture, edge, sigma));
                    let worst = worst(&got, &expected);
                    // `varying_blur` cuts its kernels off at six sigma.
                    assert!(worst < 1e-8, "{width}x{height}, {edge:?}: {worst}");
                }
            }
        }
    }

    #[test]
    fn the_strongest_blurs_have_a_limit() {
        let picture = Picture::from_fn(4, 1, |x, _| [x as f64; 4]);
        // `Clamp` tends to the mean of the two ends, `Transparent` to 0, the others to the mean of the picture.
        let limits = [1.5, 1.5, 1.5, 0.0, 1.5];
        for (edge, limit) in EdgeMode::ALL.into_iter().zip(limits) {
            let blurred = strong_blur(&picture, edge, |_, _| [1e12, 0.0]);
            let off = blurred.texels.as_flattened().iter().map(|value| (value - limit).abs());
            assert!(off.fold(0.0, f64::max) < 1e-10, "{edge:?}: {blurred:?}");
        }
    }
}
