//! Sigmas of many times a picture's length, up to the largest number.

use super::*;

/// The Gaussian of a row that begins black and ends white, in double precision: the weight of the white part.
fn exact(sigma: f64, length: usize, step: usize, edge: EdgeMode) -> Vec<f64> {
    let weight = |x: usize| (-0.5 * (x as f64 / sigma).powi(2)).exp() / (sigma * (2.0 * PI).sqrt());
    // The weight of all texels from the centre up to a distance, the centre's counted by half.
    let mut up_to = vec![0.0; length + 1];
    for distance in 1..=length {
        up_to[distance] = up_to[distance - 1] + 0.5 * (weight(distance - 1) + weight(distance));
    }
    // The same up to the border before the last texel, without its half.
    let between = |distance: usize| up_to[distance] - 0.5 * weight(distance);
    let beyond_step = |x: usize| {
        if x < step {
            -between(step - x)
        } else {
            between(x + 1 - step)
        }
    };
    let ahead = |x: usize| between(length - x);
    let behind = |x: usize| between(x + 1);
    let value = |x: usize| match edge {
        EdgeMode::Clamp => 0.5 + beyond_step(x),
        EdgeMode::Transparent => ahead(x) + beyond_step(x),
        _ => (ahead(x) + beyond_step(x)) / (ahead(x) + behind(x)),
    };
    (0..length).map(value).collect()
}

#[test]
fn a_sigma_may_be_as_large_as_numbers_are() {
    for edge in [EdgeMode::Clamp, EdgeMode::Transparent, EdgeMode::Renormalize] {
        for (start, length) in [(0, 1000), (7, 16_384), (0, 16_384)] {
            let step = length / 3;
            let row: Vec<f64> = (0..length).map(|x| f64::from(u8::from(x >= step))).collect();
            for sigma in [9e4, 1.1e5, 1.4e5, 2.1e5, 4e5, 1e6, 1e8, 1e30] {
                for precision in PRECISIONS {
                    let plan = row_plan(sigma, start, length as u32, edge, precision);
                    let (got, expected) = (run(&plan, &row), exact(sigma, length, step, edge));
                    let errors = got
                        .iter()
                        .zip(&expected)
                        .map(|(got, expected)| 255.0 * (got - expected).abs());
                    let worst = errors.fold(0.0, f64::max);
                    assert!(
                        worst <= 0.1,
                        "{edge:?}, {precision:?}, sigma {sigma}, {length} texels: {worst}/255"
                    );
                }
            }
        }
    }
}

/// Integers hold all positions in the atlas of the largest texture of usual GPUs.
#[test]
fn a_profile_may_vary_the_largest_sigma_of_the_largest_texture() {
    for (edge, sigma) in EdgeMode::ALL
        .into_iter()
        .flat_map(|edge| [98_304.0, 1e6, f32::MAX].map(|sigma| (edge, sigma)))
    {
        let region = URect::new(0, 0, 16_384, 16_384);
        let request = PlanRequest {
            sigma: Vec2::splat(sigma),
            region,
            edge,
            means: means(Precision::Standard, WAYS[0]),
            finish: Finish::Write,
        };
        let plan = BlurPlan::varying(&request);
        let sigma_levels = plan.sigma_levels.as_ref().expect("it varies");
        for sigma_level in &sigma_levels.levels {
            for (axis, spline) in sigma_level.axes.iter().enumerate() {
                for texel in [0, region.max[axis] as i32 - 1] {
                    let place = (2 * texel + spline.shift) >> (spline.octaves + 1);
                    let (first, end) = spline.bounds;
                    assert!(
                        (first..end).contains(&place),
                        "{edge:?}, {sigma}: {place} in {first}..{end}"
                    );
                }
            }
        }
    }
}
