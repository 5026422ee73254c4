//! Plans with a deferred last step.

use super::*;
use pass::Stage;

/// A plan, and the same plan with a deferred last step, for one region and strength.
fn both(sigma: f64, edge: EdgeMode, precision: Precision, way: Way) -> [BlurPlan; 2] {
    [Finish::Write, Finish::Defer].map(|finish| {
        BlurPlan::new(&PlanRequest {
            sigma: Vec2::new(sigma as f32, 0.4 * sigma as f32),
            region: URect::new(101, 7, 101 + 77, 7 + 9),
            edge,
            means: means(precision, way),
            finish,
        })
    })
}

#[test]
fn what_is_left_completes_the_blur() {
    let row: Vec<f64> = (0..77_u32)
        .map(|i| f64::from(i.wrapping_mul(2_654_435_761) >> 31))
        .collect();
    for (edge, precision) in EdgeMode::ALL.into_iter().flat_map(|edge| PRECISIONS.map(|p| (edge, p))) {
        for (sigma, way) in [0.8, 2.9, 4.1, 13.0, 47.0]
            .into_iter()
            .flat_map(|s| WAYS.map(|way| (s, way)))
        {
            let [written, leaving] = both(sigma, edge, precision, way);
            assert!(written.deferred.is_empty());
            let deferred = leaving.deferred.first().expect("it was requested");
            assert!(matches!(deferred.source, Surface::Intermediate(_)) && !deferred.program.computes());
            assert!(leaving.passes.iter().all(|pass| pass.target != Surface::Destination));
            let level = run(&leaving, &row);
            let first = deferred.origin.x as i32;
            let got = deferred.axes[0].apply(&level, first..first + deferred.size.x as i32);
            for (got, expected) in got.iter().zip(run(&written, &row)) {
                assert!((got - expected).abs() < 1e-9, "{way:?}, {edge:?}, sigma {sigma}");
            }
        }
    }
}

#[test]
fn nothing_to_blur_is_a_copy_to_go_on_with() {
    let row: Vec<f64> = (0..77).map(f64::from).collect();
    let [_, plan] = both(0.0, EdgeMode::Mirror, Precision::Standard, WAYS[0]);
    let deferred = plan.deferred.first().expect("it was requested");
    let first = deferred.origin.x as i32;
    assert_eq!(deferred.axes[0].apply(&run(&plan, &row), first..first + 77), row);
}

#[test]
fn their_stages_are_listed() {
    for (precision, way) in PRECISIONS.into_iter().flat_map(|p| WAYS.map(|way| (p, way))) {
        let listed = stages(means(precision, way), Finish::Defer);
        for (sigma, edge) in sweep(precision)
            .into_iter()
            .flat_map(|s| EdgeMode::ALL.map(|edge| (s, edge)))
        {
            let [_, plan] = both(sigma, edge, precision, way);
            let missing = plan
                .passes
                .iter()
                .map(Pass::stage)
                .find(|stage: &Stage| !listed.contains(stage));
            assert!(missing.is_none(), "{precision:?}, {way:?}, sigma {sigma}: {missing:?}");
        }
    }
}
