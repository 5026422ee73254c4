//! Plans against the infinite Gaussian, without a GPU.

mod apply;
mod batch;
mod blends;
mod deferred;
mod edge_images;
pub(crate) mod fingerprint;
mod magnitudes;
mod profile;
mod random;
mod stages;
mod strong;

use super::pass::{AxisPass, MAX_WEIGHTS, Pass, TextureSlot};
use super::stages::stages;
use super::*;
use crate::kernel::Precision;
use crate::program::{Cores, Filtering};
use crate::settings::EdgeMode;
use ::reference::{Picture, gaussian_blur};
use core::f64::consts::PI;

const FILTERING: Filtering = Filtering {
    source: true,
    intermediates: true,
    spline: true,
};

const NO_FILTERING: Filtering = Filtering {
    source: false,
    intermediates: false,
    spline: false,
};

/// Compute passes that store to the destination, and compute passes that do not.
const STORES: Tiling = tiled(true, Cores::Software);
const STORES_NOT: Tiling = tiled(false, Cores::Software);

const fn tiled(stores: bool, cores: Cores) -> Tiling {
    Tiling::Tiled { stores, cores }
}

/// A way to execute a plan, in place or not.
type Way = (Tiling, Filtering, bool);

/// All ways.
const WAYS: [Way; 10] = [
    (Tiling::None, FILTERING, true),
    (Tiling::None, NO_FILTERING, true),
    (STORES, FILTERING, false),
    (STORES, FILTERING, true),
    (STORES_NOT, FILTERING, false),
    (STORES_NOT, FILTERING, true),
    (STORES_NOT, NO_FILTERING, true),
    (tiled(true, Cores::Gpu), FILTERING, false),
    (tiled(true, Cores::GpuWithHalves), NO_FILTERING, true),
    (tiled(false, Cores::GpuWithHalves), FILTERING, true),
];

fn means(precision: Precision, (tiling, filtering, in_place): Way) -> Means {
    Means {
        precision,
        tiling,
        filtering,
        opaque: false,
        in_place,
        converts: false,
    }
}

const PRECISIONS: [Precision; 2] = [Precision::Standard, Precision::Hdr];

/// A plan for one row of texels.
fn row_plan(sigma: f64, start: u32, length: u32, edge: EdgeMode, precision: Precision) -> BlurPlan {
    BlurPlan::new(&PlanRequest {
        sigma: Vec2::new(sigma as f32, 0.0),
        region: URect::new(start, 0, start + length, 1),
        edge,
        means: means(precision, WAYS[0]),
        finish: Finish::Write,
    })
}

/// Runs the horizontal half of every pass. The row is the region alone.
fn run(plan: &BlurPlan, row: &[f64]) -> Vec<f64> {
    plan.passes.iter().fold(row.to_vec(), |row, pass| {
        let first = pass.origin.x as i32;
        pass.axes[0].apply(&row, first..first + pass.size.x as i32)
    })
}

fn octaves(plan: &BlurPlan) -> u32 {
    plan.passes.last().expect("a plan that blurs").axes[0].octaves
}

/// The kernels of a plan: `kernels[phase]` holds the weights that an output of that phase gives to the inputs around
/// it. They are the responses to one impulse for each phase of the grid.
struct Kernels {
    radius: usize,
    phases: Vec<Vec<f64>>,
}

impl Kernels {
    fn new(sigma: f64, precision: Precision) -> Self {
        let radius = (6.0 * sigma).round() as usize + 3;
        let probe = row_plan(sigma, 0, 64, EdgeMode::Transparent, precision);
        let period = 1_usize << octaves(&probe);
        let centre = (radius / period + 2) * period;
        let length = 2 * centre + period;
        let plan = row_plan(sigma, 0, length as u32, EdgeMode::Transparent, precision);
        let mut phases = vec![vec![0.0; 2 * radius + 1]; period];
        for impulse in centre..centre + period {
            let mut row = vec![0.0; length];
            row[impulse] = 1.0;
            let response = run(&plan, &row);
            for (offset, slot) in (0..=2 * radius).rev().enumerate() {
                // The input lies `slot - radius` after an output, so the output lies as far before the input.
                let output = impulse + offset - radius;
                phases[output % period][slot] = response[output];
            }
        }
        Self { radius, phases }
    }

    fn gaussian(&self, sigma: f64) -> Vec<f64> {
        let radius = self.radius as i32;
        let weights: Vec<f64> = (-radius..=radius)
            .map(|x| (-0.5 * (f64::from(x) / sigma).powi(2)).exp())
            .collect();
        let sum: f64 = weights.iter().sum();
        weights.iter().map(|w| w / sum).collect()
    }

    /// The phase that differs most from another kernel.
    fn worst_phase(&self, other: &[f64]) -> &[f64] {
        self.phases
            .iter()
            .max_by(|a, b| distance(a, other).total_cmp(&distance(b, other)))
            .expect("at least one phase")
    }
}

/// The largest error, in 1/255, of one kernel in place of the other, on any image in [0, 1].
fn distance(a: &[f64], b: &[f64]) -> f64 {
    255.0 * 0.5 * a.iter().zip(b).map(|(a, b)| (a - b).abs()).sum::<f64>()
}

/// The same in two dimensions, with the kernel along both axes.
fn distance_2d(a: &[f64], b: &[f64]) -> f64 {
    let rows = a.iter().zip(b).map(|(ay, by)| {
        let row = a.iter().zip(b);
        row.map(|(ax, bx)| (ax * ay - bx * by).abs()).sum::<f64>()
    });
    255.0 * 0.5 * rows.sum::<f64>()
}

/// Sigmas from 0.3 to 512, among them the last before and the first after every level change.
fn sweep(precision: Precision) -> Vec<f64> {
    let dense = (0..150).map(|i| 0.3 * (512.0_f64 / 0.3).powf(f64::from(i) / 149.0));
    let changes = (1..=8).map(|n| precision.rho() * f64::from(n).exp2());
    let mut sigmas: Vec<f64> = dense.chain(changes.flat_map(|s| [s * 0.99999, s * 1.00001])).collect();
    sigmas.retain(|&sigma| sigma <= 512.0);
    sigmas
}

#[test]
fn every_sigma_is_the_gaussian() {
    for (precision, tolerance) in [(Precision::Standard, 0.35), (Precision::Hdr, 0.1)] {
        for sigma in sweep(precision) {
            let kernels = Kernels::new(sigma, precision);
            let gaussian = kernels.gaussian(sigma);
            let worst = kernels.worst_phase(&gaussian);
            // The error of two axes is at most twice the error of one; the exact value is needed only if that is not
            // enough.
            let mut error = 2.0 * distance(worst, &gaussian);
            if error > tolerance {
                error = distance_2d(worst, &gaussian);
            }
            assert!(error <= tolerance, "{precision:?}, sigma {sigma}: {error}/255");
        }
    }
}

#[test]
fn every_phase_sums_to_one_and_keeps_sigma_and_centre() {
    for precision in [Precision::Standard, Precision::Hdr] {
        for sigma in sweep(precision) {
            let kernels = Kernels::new(sigma, precision);
            let moment = |kernel: &[f64], power: i32| -> f64 {
                let weighted = kernel.iter().enumerate();
                weighted
                    .map(|(i, w)| w * (i as f64 - kernels.radius as f64).powi(power))
                    .sum()
            };
            for kernel in &kernels.phases {
                let (sum, mean) = (moment(kernel, 0), moment(kernel, 1));
                let effective = moment(kernel, 2).sqrt();
                assert!((sum - 1.0).abs() < 1e-9, "sigma {sigma}: sum {sum}");
                assert!(mean.abs() < 1e-3 * sigma.max(1.0), "sigma {sigma}: centre {mean}");
                if sigma >= 0.8 {
                    let error = effective / sigma - 1.0;
                    assert!(error.abs() < 0.005, "{precision:?}, sigma {sigma}: {effective}");
                }
            }
            // The phases left and right of a coarse texel's centre are mirror images.
            let mirrored = kernels.phases.iter().rev();
            for (kernel, mirror) in kernels.phases.iter().zip(mirrored) {
                let same = kernel.iter().zip(mirror.iter().rev());
                assert!(same.into_iter().all(|(a, b)| (a - b).abs() < 1e-12), "sigma {sigma}");
            }
        }
    }
}

#[test]
fn a_level_change_does_not_pop() {
    for (precision, tolerance) in [(Precision::Standard, 0.4), (Precision::Hdr, 0.2)] {
        for n in 1..=8 {
            let change = precision.rho() * f64::from(n).exp2();
            if change > 512.0 {
                continue;
            }
            let below = Kernels::new(change * 0.99999, precision);
            let above = Kernels::new(change * 1.00001, precision);
            assert_eq!(above.phases.len(), 2 * below.phases.len());
            for (phase, kernel) in above.phases.iter().enumerate() {
                let before = &below.phases[phase % below.phases.len()];
                let mut pop = 2.0 * distance(kernel, before);
                if pop > tolerance {
                    pop = distance_2d(kernel, before);
                }
                assert!(pop <= tolerance, "{precision:?}, sigma {change}: {pop}/255");
            }
        }
    }
}

/// The blur of a row in float64.
fn reference(row: &[f64], sigma: f64, edge: EdgeMode) -> Vec<f64> {
    // The reference depends on this crate without its tests, whose `EdgeMode` is another type.
    let same_name = |other: &::reference::EdgeMode| other.name() == edge.name();
    let edge = ::reference::EdgeMode::ALL
        .into_iter()
        .find(same_name)
        .expect("the same enum");
    let texels = row.iter().map(|value| [*value; 4]).collect();
    let blurred = gaussian_blur(&Picture::new(row.len(), 1, texels), [sigma, 0.0], edge);
    blurred.texels.iter().map(|texel| texel[0]).collect()
}

#[test]
fn borders_are_as_exact_as_the_interior() {
    let lengths = [1, 2, 3, 5, 16, 17, 47, 64, 101, 333];
    let sigmas = [0.3, 0.8, 2.9, 3.1, 5.9, 6.1, 13.0, 24.1, 47.0, 200.0, 1024.0];
    for (edge, length, start) in EdgeMode::ALL
        .into_iter()
        .flat_map(|edge| lengths.map(|length| (edge, length)))
        .flat_map(|(edge, length)| [0, 1, 6, 101].map(|start| (edge, length, start)))
    {
        let chirp = |i: u32| 0.5 + 0.5 * (PI * f64::from(i * i) / (2.0 * f64::from(length))).cos();
        let noise = |i: u32| f64::from((i + 7).wrapping_mul(2_654_435_761) >> 31);
        let step = |i: u32| f64::from(u8::from(i >= length / 3));
        let rows: [Vec<f64>; 3] = [
            (0..length).map(chirp).collect(),
            (0..length).map(noise).collect(),
            (0..length).map(step).collect(),
        ];
        for sigma in sigmas {
            let plan = row_plan(sigma, start, length, edge, Precision::Standard);
            for row in &rows {
                let (got, expected) = (run(&plan, row), reference(row, sigma, edge));
                for (x, (got, expected)) in got.iter().zip(&expected).enumerate() {
                    let error = (got - expected).abs() * 255.0;
                    // One axis: half of what two may err.
                    assert!(
                        error <= 0.25,
                        "{edge:?}, sigma {sigma}, texel {x} of {length} from {start}: {error}/255"
                    );
                }
            }
        }
    }
}

#[test]
fn renormalisation_is_one_between_the_stored_borders() {
    for precision in [Precision::Standard, Precision::Hdr] {
        for sigma in sweep(precision).into_iter().filter(|&s| s > 4.0 && s < 70.0) {
            let plan = row_plan(sigma, 5, 4000, EdgeMode::Renormalize, precision);
            let got = run(&plan, &vec![1.0; 4000]);
            let worst = got.iter().map(|w| (w - 1.0).abs()).fold(0.0, f64::max);
            assert!(worst < 1e-6, "{precision:?}, sigma {sigma}: {worst}");
        }
    }
}

#[test]
fn no_blur_is_no_pass() {
    for sigma in [0.0, 0.01, 0.0299] {
        let plan = row_plan(sigma, 0, 64, EdgeMode::Clamp, Precision::Standard);
        assert_eq!(plan, BlurPlan::default());
    }
}

#[test]
fn copies_are_exact() {
    let plan = BlurPlan::copy(URect::new(3, 5, 40, 60), Finish::Write);
    let row: Vec<f64> = (0..37).map(f64::from).collect();
    assert_eq!(run(&plan, &row), row);
}

#[test]
fn plans_hold_for_every_size_and_sigma() {
    let sizes = [1, 2, 3, 61, 1023, 16_384];
    for (width, height) in sizes.into_iter().flat_map(|w| sizes.map(|h| (w, h))) {
        for (sigma, edge) in [0.05, 0.8, 3.0, 47.0, 1024.0, 1e6]
            .into_iter()
            .flat_map(|sigma| EdgeMode::ALL.map(|edge| (sigma, edge)))
        {
            let plan = BlurPlan::new(&PlanRequest {
                sigma: Vec2::new(sigma, sigma / 7.0),
                region: URect::new(0, 0, width, height),
                edge,
                means: means(Precision::Hdr, WAYS[0]),
                finish: Finish::Write,
            });
            assert_well_formed(&plan);
        }
    }
}

/// Every pass reads what was written before it, never its own target, and the destination comes last.
fn assert_well_formed(plan: &BlurPlan) {
    let mut written = vec![TextureSlot::Source];
    for pass in &plan.passes {
        assert!(written.contains(&pass.source), "{pass:?}");
        assert_ne!(pass.source, pass.target, "{pass:?}");
        assert!(pass.source == TextureSlot::Source || pass.target != TextureSlot::Source);
        assert!(is_in_bounds(pass), "{pass:?}");
        written.push(pass.target);
    }
    assert_eq!(
        plan.passes.last().map(|pass| pass.target),
        Some(TextureSlot::Destination)
    );
    let direct = |pass: &Pass| pass.source == TextureSlot::Source && pass.target == TextureSlot::Destination;
    assert!(!plan.passes.iter().any(direct), "a blur must work in place");
}

#[test]
fn animating_within_a_level_keeps_the_textures() {
    for edge in EdgeMode::ALL {
        let sizes = |sigma| row_plan(sigma, 0, 640, edge, Precision::Standard).intermediates;
        for (a, b) in [(3.1, 5.99), (6.1, 11.9), (12.2, 23.9), (0.5, 2.9)] {
            assert_eq!(sizes(a), sizes(b), "{edge:?}");
        }
    }
}

#[test]
fn tiled_and_filtered_passes_compute_the_same() {
    let row: Vec<f64> = (0..333_u32)
        .map(|i| f64::from(i.wrapping_mul(2_654_435_761) >> 31))
        .collect();
    for (edge, precision) in EdgeMode::ALL.into_iter().flat_map(|edge| PRECISIONS.map(|p| (edge, p))) {
        for sigma in [0.8, 2.9, 4.1, 7.0, 13.0, 29.0, 47.0, 100.0, 200.0, 500.0] {
            let rows = WAYS.map(|way| {
                let plan = BlurPlan::new(&PlanRequest {
                    sigma: Vec2::splat(sigma as f32),
                    region: URect::new(101, 101, 101 + 333, 101 + 5),
                    edge,
                    means: means(precision, way),
                    finish: Finish::Write,
                });
                assert!(
                    plan.passes.iter().all(is_in_bounds),
                    "{edge:?}, sigma {sigma}: {plan:?}"
                );
                run(&plan, &row)
            });
            for (way, row) in WAYS.iter().zip(&rows) {
                for (value, expected) in row.iter().zip(&rows[0]) {
                    let same = (value - expected).abs() < 1e-9;
                    assert!(same, "{way:?}, {edge:?}, sigma {sigma}: {value} {expected}");
                }
            }
        }
    }
}

/// Whether the numbers of a pass fit into its uniform.
fn is_in_bounds(pass: &Pass) -> bool {
    let fits = |axis: &AxisPass| axis.table.len() <= MAX_WEIGHTS;
    pass.axes.iter().all(fits)
}
