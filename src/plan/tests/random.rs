//! Plans for arbitrary bits: no panic, no overflow, and every promise of a plan holds.
//!
//! `BLUR_PLAN_CASES` sets the number of cases; `scripts/soak` uses it. A failure is shrunk and printed with its
//! request.

use super::*;
use pass::{Stage, Weighting};
use proptest::prelude::*;
use proptest::sample::select;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

/// The longest side of a region, and the largest texture of any GPU.
const LONGEST: u32 = 65_535;

/// The most passes of a plan: all octaves of both axes, the residual blur and the upsampling.
const MOST_PASSES: usize = 2 * 16 + 6;

/// The passes of a plan with a varying sigma: two for each sigma level, and all octaves of either axis.
const MOST_PASSES_OF_SIGMA_LEVELS: usize = 2 * SIGMA_LEVELS + 2 * 16 + 6;

/// How many plans the suite makes.
const FEW: u32 = 1500;

/// Special sigmas, and all others.
fn sigma() -> impl Strategy<Value = f32> {
    prop_oneof![
        2 => 0.0..8.0_f32,
        2 => 0.0..2000.0_f32,
        1 => select(vec![0.0, f32::MIN_POSITIVE, MIN_SIGMA, 1e5, 1e9, 1e30, f32::MAX, f32::INFINITY, f32::NAN]),
        2 => any::<u32>().prop_map(f32::from_bits),
    ]
}

/// A start and an end, mostly of a short side.
fn side() -> impl Strategy<Value = (u32, u32)> {
    let length = prop_oneof![4 => 1..9_u32, 6 => 1..700_u32, 1 => 1..LONGEST + 1, 1 => Just(LONGEST)];
    (0..LONGEST, length).prop_map(|(start, length)| {
        let start = start.min(LONGEST - length);
        (start, start + length)
    })
}

pub(super) fn request() -> impl Strategy<Value = PlanRequest> {
    let sigma = prop_oneof![sigma().prop_map(Vec2::splat), [sigma(), sigma()].prop_map(Vec2::from)];
    let how = (
        select(EdgeMode::ALL.to_vec()),
        select(PRECISIONS.to_vec()),
        select(WAYS.to_vec()),
        select(vec![Finish::Write, Finish::Defer]),
    );
    (sigma, side(), side(), how).prop_map(|(sigma, x, y, (edge, precision, way, finish))| PlanRequest {
        sigma,
        region: URect::new(x.0, y.0, x.1, y.1),
        edge,
        means: means(precision, way),
        finish,
    })
}

/// Whether the weights of an axis add up to one, if they should: a renormalised Gaussian is divided at the end.
fn is_normal(axis: &AxisPass, edge: EdgeMode) -> bool {
    let sum: f64 = match axis.filter {
        _ if edge == EdgeMode::Renormalize => 1.0,
        Weighting::Taps => axis.table.chunks(2).map(|tap| tap[1]).sum(),
        Weighting::Weights if axis.images.is_none() => {
            let count = (axis.reach.1 - axis.reach.0 + 1) as usize;
            axis.table.iter().take(count).sum()
        }
        _ => 1.0,
    };
    (sum - 1.0).abs() < 1e-9 && axis.table.iter().all(|number| number.is_finite())
}

/// A pass writes only requested texels, and reads only existing ones.
fn assert_sound(plan: &BlurPlan, request: &PlanRequest) {
    let mut written = vec![TextureSlot::Source];
    let steps = plan.passes.iter().chain(&plan.deferred);
    for (index, pass) in steps.enumerate() {
        assert!(
            written.contains(&pass.source),
            "it reads what no pass has written: {pass:?}"
        );
        assert_ne!(pass.source, pass.target, "{pass:?}");
        assert!(pass.size.min_element() > 0, "nothing is written: {pass:?}");
        match pass.target {
            TextureSlot::Intermediate(index) => {
                let fits = (pass.origin + pass.size).cmple(plan.intermediates[index]).all();
                assert!(fits, "{pass:?} does not fit into {}", plan.intermediates[index]);
            }
            TextureSlot::Destination => {
                assert_eq!((pass.origin, pass.size), (request.region.min, request.region.size()));
            }
            TextureSlot::Source => panic!("{pass:?} writes the source"),
        }
        let are_normal = pass.axes.iter().all(|axis| is_normal(axis, request.edge));
        assert!(is_in_bounds(pass) && are_normal, "{pass:?}");
        let most = plan
            .sigma_levels
            .as_ref()
            .map_or(MOST_PASSES, |_| MOST_PASSES_OF_SIGMA_LEVELS);
        assert!(index < most, "more and more passes");
        written.push(pass.target);
    }
    let side = plan.largest_intermediate().max_element();
    // The apron of the finest level.
    let longest = request.region.size().max_element() + 2 * 3 + 2;
    let fits = side <= longest || plan.sigma_levels.is_some();
    assert!(fits, "an intermediate of {side} texels for {longest}");
    let is_complete = match request.finish {
        Finish::Write => plan
            .passes
            .last()
            .is_none_or(|pass| pass.target == TextureSlot::Destination),
        Finish::Defer => plan.deferred.len() == 1,
    };
    assert!(is_complete, "{plan:?}");
}

/// Every program of a plan has been announced.
fn assert_listed(plan: &BlurPlan, request: &PlanRequest) {
    let general = |stage: Stage| Stage {
        program: stage.program.for_any_kernel(),
        ..stage
    };
    let copies = |stage: &Stage| stage.program == Program::CopyFragment;
    let listed: Vec<Stage> = stages(request.means, request.finish, false)
        .into_iter()
        .map(general)
        .collect();
    for stage in plan.passes.iter().map(Pass::stage).filter(|stage| !copies(stage)) {
        assert!(listed.contains(&general(stage)), "{stage:?} is not announced");
    }
}

#[test]
fn plans_for_arbitrary_bits_are_sound() {
    let cases = std::env::var("BLUR_PLAN_CASES").map_or(FEW, |text| text.parse().expect("a number"));
    let config = Config {
        cases,
        failure_persistence: None,
        ..Config::default()
    };
    // In the suite the cases are always the same.
    let mut runner = match cases {
        FEW => TestRunner::new_with_rng(config, TestRng::deterministic_rng(RngAlgorithm::ChaCha)),
        _ => TestRunner::new(config),
    };
    let outcome = runner.run(&request(), |request| {
        let plan = BlurPlan::new(&request);
        assert_sound(&plan, &request);
        assert_listed(&plan, &request);
        assert_sound(&BlurPlan::copy(request.region, request.finish), &request);
        if request.sigma.is_finite() {
            let varying = PlanRequest {
                means: Means {
                    in_place: request.region.min.x % 2 == 0,
                    converts: request.region.min.y % 2 == 0,
                    ..request.means
                },
                sigma: request.sigma.max(Vec2::ZERO),
                ..request
            };
            assert_sound(&BlurPlan::varying(&varying), &varying);
        }
        Ok(())
    });
    outcome.unwrap_or_else(|failure| panic!("{failure}"));
    println!("{cases} plans");
}
