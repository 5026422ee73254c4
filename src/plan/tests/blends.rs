//! Blends of sigma levels against the Gaussian, by the kernels, at every sigma and aspect. The error of the sigma
//! levels themselves comes on top.

use super::super::sigma_levels::{fixed_sigmas, lines};
use bevy::math::Vec2;

/// The kernel of a sigma at these distances. With a sigma near 0, all weight lies at 0.
fn kernel(sigma: f64, step: f64, count: i32) -> Vec<f64> {
    let weight = |place: i32| (-0.5 * (f64::from(place) * step / sigma.max(1e-3)).powi(2)).exp();
    let weights: Vec<f64> = (-count..=count).map(weight).collect();
    let total: f64 = weights.iter().sum();
    weights.iter().map(|weight| weight / total).collect()
}

/// The error of a weighted sum of kernels, for any picture, in 1/255. All kernels have one step: a texel, or for large
/// sigmas a part of the sigma.
fn error(sigma: f64, blended: &[(f64, f64)], aspect: [f64; 2]) -> f64 {
    let top = blended.iter().map(|(sigma, _)| *sigma).fold(0.0, f64::max);
    let both = aspect.map(|share| {
        let largest = top * share;
        let (step, count) = if largest > 8.0 {
            (largest / 8.0, 44)
        } else {
            (1.0, (5.5 * largest).ceil() as i32 + 1)
        };
        let of = |sigma: f64| kernel(sigma * share, step, count);
        let blended: Vec<Vec<f64>> = blended.iter().map(|(sigma, _)| of(*sigma)).collect();
        (of(sigma), blended)
    });
    let [(wanted_x, blended_x), (wanted_y, blended_y)] = &both;
    let mut sum = 0.0;
    for (x, wanted_x) in wanted_x.iter().enumerate() {
        for (y, wanted_y) in wanted_y.iter().enumerate() {
            let kernels = blended_x.iter().zip(blended_y).zip(blended);
            let got: f64 = kernels.map(|((kx, ky), (_, weight))| weight * kx[x] * ky[y]).sum();
            sum += (got - wanted_x * wanted_y).abs();
        }
    }
    255.0 * 0.5 * sum
}

/// The sigma levels that a sigma is blended from, with their weights, by Lagrange's polynomial in the logarithm.
fn blend(sigma: f64, above: usize, sigmas: &[f64], aspect: Vec2) -> Vec<(f64, f64)> {
    let is_line = above == 1 || lines(aspect).contains(&sigmas[above - 1]);
    let taken = &sigmas[above - if is_line { 1 } else { 2 }..=above];
    let weight = |own: &f64| -> f64 {
        let others = taken.iter().filter(|other| *other != own);
        others.map(|other| (sigma / other).ln() / (own / other).ln()).product()
    };
    taken.iter().map(|own| (*own, weight(own))).collect()
}

/// The worst blend under a largest sigma, from a least one on: its error, and its sigma.
fn worst(largest: f64, from: f64, aspect: Vec2) -> (f64, f64) {
    let sigmas: Vec<f64> = fixed_sigmas(largest).chain([largest]).collect();
    let mut worst = (0.0, 0.0);
    for above in 1..sigmas.len() {
        if sigmas[above] < from {
            continue;
        }
        for share in [0.25, 0.4, 0.55, 0.75] {
            let sigma = sigmas[above].powf(1.0 - share) * sigmas[above - 1].powf(share);
            let error = error(
                sigma,
                &blend(sigma, above, &sigmas, aspect),
                aspect.to_array().map(f64::from),
            );
            if error > worst.0 {
                worst = (error, sigma);
            }
        }
    }
    worst
}

#[test]
fn every_sigma_lies_between_sigma_levels_near_enough() {
    for (largest, from, tolerance) in [(15.0, 0.0, 2.0), (1e6, 5.0, 1.85)] {
        let (error, sigma) = worst(largest, from, Vec2::ONE);
        println!("up to {largest}: {error:.2}/255 at {sigma}");
        assert!(error <= tolerance, "{error}/255 at sigma {sigma}");
    }
}

#[test]
fn so_it_does_where_one_axis_is_hardly_blurred() {
    let shares = (0..=20).map(|i| 0.5_f32.powi(i) * 0.97);
    for share in shares.chain([0.0]) {
        let (error, sigma) = worst(1e6, 0.0, Vec2::new(1.0, share));
        println!("aspect {share}: {error:.2}/255 at {sigma}");
        assert!(error <= 2.05, "aspect {share}: {error}/255 at sigma {sigma}");
    }
}
