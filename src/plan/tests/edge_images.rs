//! Periodic edges: their cost, and their exactness for any picture, length and start.

use super::*;
use crate::program::workgroups::MAX_REACH;

const PERIODIC: [EdgeMode; 2] = [EdgeMode::Mirror, EdgeMode::Wrap];

/// Sigmas from 0.3 to 2000 in this many steps.
fn sigmas(steps: u32) -> impl Iterator<Item = f64> {
    (0..=steps).map(move |i| 0.3 * (2000.0_f64 / 0.3).powf(f64::from(i) / f64::from(steps)))
}

fn square(sigma: f64, region: URect, edge: EdgeMode, precision: Precision, way: Way) -> BlurPlan {
    BlurPlan::new(&PlanRequest {
        sigma: Vec2::splat(sigma as f32),
        region,
        edge,
        means: means(precision, way),
        finish: Finish::Write,
    })
}

#[test]
fn they_need_no_more_texels() {
    let texels = |plan: &BlurPlan| -> u64 {
        let area = |size: &UVec2| u64::from(size.x) * u64::from(size.y);
        plan.intermediates.iter().map(area).sum()
    };
    let sizes = [64, 65, 100, 257, 540, 1023, 1080, 1920, 4097, 8192];
    for (precision, way) in PRECISIONS
        .into_iter()
        .flat_map(|p| [WAYS[0], WAYS[2]].map(|way| (p, way)))
    {
        for (width, height) in sizes.into_iter().flat_map(|w| sizes.map(|h| (w, h))) {
            let region = URect::new(3, 5, 3 + width, 5 + height);
            for sigma in sigmas(60) {
                let clamped = texels(&square(sigma, region, EdgeMode::Clamp, precision, way));
                for edge in PERIODIC {
                    let periodic = texels(&square(sigma, region, edge, precision, way));
                    assert!(
                        10 * periodic <= 13 * clamped,
                        "{precision:?}, {edge:?}, {width}x{height}, sigma {sigma}: {periodic} against {clamped}"
                    );
                }
            }
        }
    }
}

#[test]
fn their_programs_are_listed_and_their_tables_fit() {
    for (precision, way) in PRECISIONS.into_iter().flat_map(|p| WAYS.map(|way| (p, way))) {
        let listed = stages(means(precision, way), Finish::Write, false);
        for (edge, sigma) in PERIODIC
            .into_iter()
            .flat_map(|edge| sigmas(50).chain([15.8, 31.9, 120.0]).map(move |sigma| (edge, sigma)))
        {
            // The last ones have as many images inside the region as there can be.
            for (start, length) in [0, 1, 5, 16, 23]
                .into_iter()
                .flat_map(|start| [1, 2, 3, 5, 8, 13, 21, 34, 89, 233, 610].map(move |l| (start, l)))
                .chain([(3, 82), (7, 165), (7, 170), (31, 642)])
            {
                let region = URect::new(start, 0, start + length, 1 + length / 3);
                let plan = square(sigma, region, edge, precision, way);
                for pass in &plan.passes {
                    assert!(
                        is_in_bounds(pass),
                        "{edge:?}, sigma {sigma}, {length} from {start}: {pass:?}"
                    );
                    assert!(
                        listed.contains(&pass.stage()),
                        "{edge:?}, sigma {sigma}: {:?}",
                        pass.program
                    );
                    if pass.program.convolves_both() {
                        assert!(
                            pass.axes.iter().all(|axis| axis.reach.1 <= MAX_REACH as i32),
                            "{edge:?}, sigma {sigma}, {length} from {start}: {:?}",
                            pass.axes
                        );
                    }
                    let room = if pass.program.computes() {
                        crate::program::workgroups::IMAGE_MARGIN as i32
                    } else {
                        i32::MAX
                    };
                    let margin = |axis: &AxisPass| axis.images.map_or(0, |images| images.margin);
                    assert!(pass.axes.iter().all(|axis| margin(axis) <= room), "{pass:?}");
                }
            }
        }
    }
}

/// The weight of every input in every output: `rows[output][input]`.
fn operator(plan: &BlurPlan, length: usize) -> Vec<Vec<f64>> {
    let mut rows = vec![vec![0.0; length]; length];
    for input in 0..length {
        let mut impulse = vec![0.0; length];
        impulse[input] = 1.0;
        for (row, value) in rows.iter_mut().zip(run(plan, &impulse)) {
            row[input] = value;
        }
    }
    rows
}

/// The same for the infinite Gaussian of the infinitely continued row.
fn exact_operator(sigma: f64, length: usize, edge: EdgeMode) -> Vec<Vec<f64>> {
    // Beyond this sigma the picture is its mean.
    let sigma = sigma.min(4.0 * length as f64 + 10.0);
    let radius = (7.0 * sigma).ceil() as i64;
    let gaussian: Vec<f64> = (0..=radius)
        .map(|x| (-0.5 * (x as f64 / sigma).powi(2)).exp())
        .collect();
    let total = gaussian[0] + 2.0 * gaussian[1..].iter().sum::<f64>();
    let fold = |at: i64| {
        let length = length as i64;
        match edge {
            EdgeMode::Mirror => {
                let folded = at.rem_euclid(2 * length);
                folded.min(2 * length - 1 - folded) as usize
            }
            _ => at.rem_euclid(length) as usize,
        }
    };
    let row = |output: usize| {
        let mut row = vec![0.0; length];
        for x in -radius..=radius {
            row[fold(output as i64 + x)] += gaussian[x.unsigned_abs() as usize] / total;
        }
        row
    };
    (0..length).map(row).collect()
}

#[test]
fn they_are_exact_for_any_picture() {
    for (precision, tolerance, of_both) in [(Precision::Standard, 0.25, 0.35), (Precision::Hdr, 0.06, 0.1)] {
        let mut worst = [0.0_f64; 2];
        for (edge, length) in PERIODIC
            .into_iter()
            .flat_map(|edge| [1, 2, 3, 5, 8, 13, 33, 64, 101].map(|l| (edge, l)))
        {
            for (start, sigma) in [0, 3, 7, 12]
                .into_iter()
                .flat_map(|s| sigmas(30).map(move |sigma| (s, sigma)))
            {
                let plan = row_plan(sigma, start, length as u32, edge, precision);
                let (got, exact) = (operator(&plan, length), exact_operator(sigma, length, edge));
                let rows = got.iter().zip(&exact);
                let (a, b) = rows
                    .max_by(|x, y| distance(x.0, x.1).total_cmp(&distance(y.0, y.1)))
                    .expect("a row has a texel");
                let errors = [distance(a, b), distance_2d(a, b)];
                worst = [worst[0].max(errors[0]), worst[1].max(errors[1])];
                assert!(
                    errors[0] <= tolerance && errors[1] <= of_both,
                    "{precision:?}, {edge:?}, sigma {sigma}, {length} from {start}: {errors:?}/255"
                );
            }
        }
        println!("{precision:?}: {worst:.3?}/255 along an axis and in both");
    }
}

/// A level is used only for sigmas at which it is exact enough, also for repeated pictures whose period is not a
/// multiple of its texels.
#[test]
fn they_are_exact_where_a_level_begins() {
    for (edge, length) in [(EdgeMode::Wrap, 233), (EdgeMode::Wrap, 211), (EdgeMode::Mirror, 117)] {
        for sigma in [12.0, 12.13, 24.0, 24.12, 24.25, 24.4, 48.0, 48.49] {
            for start in [0, 3] {
                let plan = row_plan(sigma, start, length, edge, Precision::Standard);
                let length = length as usize;
                let (got, exact) = (operator(&plan, length), exact_operator(sigma, length, edge));
                let rows = got.iter().zip(&exact);
                let error = rows.map(|(a, b)| distance_2d(a, b)).fold(0.0, f64::max);
                println!("{edge:?}, sigma {sigma}, {length} from {start}: {error}/255");
                assert!(
                    error <= 0.35,
                    "{edge:?}, sigma {sigma}, {length} from {start}: {error}/255"
                );
            }
        }
    }
}
