//! The list of all stages, compared with the stages of plans.

#[path = "../../../tests/gpu/support/cases.rs"]
mod cases;

use super::*;
use crate::program::Cores;
use crate::program::workgroups::MAX_REACH;
use pass::Stage;
use std::collections::BTreeSet;

/// Sigmas in steps so small that every kernel of every level occurs, up to and beyond the largest scale.
fn every_kernel() -> impl Iterator<Item = f32> {
    let dense = (0..1200).map(|i| 0.03 * 1.006_f32.powi(i));
    let strong = (0..300).map(|i| 39.0 * 1.04_f32.powi(i));
    dense.chain(strong).chain([0.0, f32::MAX])
}

#[test]
fn the_list_of_stages_is_what_plans_ask_for() {
    let aspects = [1.0, 0.5, 0.3, 0.25, 0.125, 0.06, 0.01, 0.0].map(|less| [(1.0, less), (less, 1.0)]);
    for (precision, way) in PRECISIONS.into_iter().flat_map(|p| WAYS.map(|way| (p, way))) {
        let listed = stages(means(precision, way), Finish::Write, false);
        let mut asked_for = BTreeSet::new();
        for (i, sigma) in every_kernel().enumerate() {
            // `Clamp` and `Transparent` plan the same stages for regions of any size. The other edge modes limit sigma by the size,
            // and one texel gives the lowest limit.
            let side = if sigma < 3000.0 { 64 } else { 1 };
            for (j, (x, y)) in aspects.into_iter().flatten().enumerate() {
                let request = PlanRequest {
                    sigma: Vec2::new(sigma * x, sigma * y),
                    region: URect::new(3, 5, 3 + side, 5 + side),
                    edge: EdgeMode::ALL[(i + j) % EdgeMode::ALL.len()],
                    means: means(precision, way),
                    finish: Finish::Write,
                };
                // A region with three octaves in its first pass.
                let larger = PlanRequest {
                    region: URect::new(3, 5, 303, 305),
                    ..request
                };
                for request in [Some(request), (sigma < 40.0).then_some(larger)].into_iter().flatten() {
                    let plan = BlurPlan::new(&request);
                    asked_for.extend(plan.passes.iter().map(Pass::stage));
                }
            }
        }
        for stage in &asked_for {
            assert!(
                listed.contains(stage),
                "{precision:?}, {way:?}: {stage:?} is not listed"
            );
        }
        let missed: Vec<_> = listed.iter().filter(|stage| !asked_for.contains(stage)).collect();
        assert!(missed.is_empty(), "{precision:?}, {way:?}: no plan has {missed:?}");
    }
}

/// The images that the GPU tests compare with the Gaussian run every program that serves any kernel, for every kind of edge. Those whose
/// axes differ are blurred by compute passes alone.
#[test]
fn the_images_of_gpu_tests_run_every_program() {
    let sizes = cases::SIZES.map(|size| {
        let blurs = cases::blurs(size[0], false);
        blurs.map(move |(_, sigma, edge)| (size, Vec2::splat(sigma as f32), edge))
    });
    let sizes: Vec<_> = sizes.into_iter().flatten().collect();
    let axes = cases::blurs_of_axes(false);
    let axes = axes.map(|(sigma, aspect, edge)| (cases::SIZE_OF_AXES, sigma * Vec2::from(aspect), edge));
    let axes: Vec<_> = axes.collect();
    for way in WAYS {
        let means = means(Precision::Hdr, way);
        let axes = axes.iter().filter(|_| way.0 != Tiling::None);
        let run = sizes.iter().chain(axes).flat_map(|([width, height], sigma, edge)| {
            let plan = BlurPlan::new(&PlanRequest {
                sigma: *sigma,
                region: URect::new(0, 0, *width as u32, *height as u32),
                edge: EdgeMode::ALL[*edge],
                means,
                finish: Finish::Write,
            });
            plan.passes.into_iter().map(|pass| pass.program.for_any_kernel())
        });
        let run: BTreeSet<_> = run.collect();
        let listed = stages(means, Finish::Write, false);
        let missed = listed.iter().map(|stage| stage.program.for_any_kernel());
        let missed: BTreeSet<_> = missed.filter(|program| !run.contains(program)).collect();
        assert!(missed.is_empty(), "{way:?}: no image runs {missed:?}");
    }
}

#[test]
fn few_programs_serve_any_kernel() {
    for (precision, way) in PRECISIONS.into_iter().flat_map(|p| WAYS.map(|way| (p, way))) {
        let general = |stage: Stage| Stage {
            program: stage.program.for_any_kernel(),
            ..stage
        };
        let few: BTreeSet<Stage> = stages(means(precision, way), Finish::Write, false)
            .into_iter()
            .map(general)
            .collect();
        assert!(few.len() <= 7, "{precision:?}, {way:?}: {few:?}");
    }
}

#[test]
fn no_kernel_reaches_farther_than_its_program() {
    for precision in PRECISIONS {
        let reach = (2.0 * precision.rho() * precision.cutoff()).ceil() as usize;
        assert!(reach <= MAX_REACH as usize, "{precision:?}: {reach}");
    }
}

/// The compute programs of a plan for a large picture, without their numbers.
fn names(sigma: f32, edge: EdgeMode, cores: Cores) -> Vec<&'static str> {
    let plan = BlurPlan::new(&PlanRequest {
        sigma: Vec2::splat(sigma),
        region: URect::new(0, 0, 1920, 1080),
        edge,
        means: means(Precision::Hdr, (tiled(true, cores), FILTERING, false)),
        finish: Finish::Write,
    });
    plan.passes.iter().map(|pass| pass.program.name()).collect()
}

/// A picture that is not large takes one pass less where three octaves in the first one save it.
#[test]
fn three_octaves_save_a_pass() {
    let downs = |sigma: f32, (size, edge): (UVec2, EdgeMode), finish, cores| {
        let plan = BlurPlan::new(&PlanRequest {
            sigma: Vec2::splat(sigma),
            region: URect::from_corners(UVec2::ZERO, size),
            edge,
            means: means(Precision::Hdr, (tiled(true, cores), FILTERING, false)),
            finish,
        });
        let downs = plan.passes.iter().filter(|pass| pass.kind == PassKind::Downsample);
        downs.count()
    };
    let [small, full, large] =
        [[255, 255], [1920, 1080], [3840, 2160]].map(|size| (UVec2::from(size), EdgeMode::Clamp));
    for (sigma, few, many) in [(8.0, 1, 1), (16.0, 1, 2), (32.0, 2, 2), (64.0, 2, 2), (128.0, 2, 3)] {
        for cores in [Cores::Gpu, Cores::GpuWithHalves] {
            assert_eq!(downs(sigma, full, Finish::Write, cores), few, "sigma {sigma}");
            assert_eq!(downs(sigma, small, Finish::Write, cores), many, "sigma {sigma}");
            assert_eq!(downs(sigma, large, Finish::Write, cores), many, "sigma {sigma}");
            let folded = (full.0, EdgeMode::Mirror);
            assert_eq!(downs(sigma, folded, Finish::Write, cores), many, "sigma {sigma}");
            // Blurs of one batch agree on their first octaves, to share them.
            assert_eq!(downs(sigma, full, Finish::Defer, cores), many, "sigma {sigma}");
        }
        let software = downs(sigma, full, Finish::Write, Cores::Software);
        assert_eq!(software, many, "sigma {sigma}");
    }
}

#[test]
fn every_device_runs_the_programs_that_are_the_fastest_there() {
    let [down, convolve, halves] = ["downsample_compute", "convolve_compute", "convolve_halves_compute"];
    let [up, both] = ["upsample_compute", "blur_upsample_compute"];
    for cores in [Cores::Software, Cores::Gpu, Cores::GpuWithHalves] {
        let is_software = cores == Cores::Software;
        let clamped = if cores == Cores::GpuWithHalves {
            halves
        } else {
            convolve
        };
        assert_eq!(names(2.0, EdgeMode::Clamp, cores), [clamped]);
        assert_eq!(names(2.0, EdgeMode::Mirror, cores), [convolve]);
        assert_eq!(names(6.0, EdgeMode::Clamp, cores), [down, clamped, up]);
        assert_eq!(names(6.0, EdgeMode::Wrap, cores), [down, convolve, up]);
        assert_eq!(names(8.0, EdgeMode::Clamp, cores), [down, clamped, up]);
        let strong = names(60.0, EdgeMode::Clamp, cores);
        let end: &[&str] = if is_software { &[convolve, up] } else { &[both] };
        assert!(strong.ends_with(end), "{cores:?}: {strong:?}");
        let renormalized = names(60.0, EdgeMode::Renormalize, cores);
        assert!(renormalized.ends_with(&[convolve, up]), "{cores:?}: {renormalized:?}");
    }
}
