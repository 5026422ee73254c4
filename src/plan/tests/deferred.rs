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
            assert!(matches!(deferred.source, TextureSlot::Intermediate(_)) && !deferred.program.computes());
            assert!(
                leaving
                    .passes
                    .iter()
                    .all(|pass| pass.target != TextureSlot::Destination)
            );
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
        let listed = stages(means(precision, way), Finish::Defer, false);
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

/// The largest error along an axis, for any picture, of a result that is moved by `shift`.
fn error_of_shift(sigma: f64, shift: f64, precision: Precision) -> f64 {
    let (reach, period) = ((6.0 * sigma) as i32 + 8, 1 << MAX_PERIOD);
    let middle = (reach / period + 1) * period;
    let length = 2 * middle + period;
    let request = PlanRequest {
        sigma: Vec2::new(sigma as f32, 0.0),
        region: URect::new(0, 0, length as u32, 1),
        edge: EdgeMode::Transparent,
        means: means(precision, WAYS[0]),
        finish: Finish::Defer,
    };
    let plan = BlurPlan::shifted(&request, Vec2::new(shift as f32, 0.0));
    let outputs = middle..middle + period;
    // What every input adds to every output.
    let responses = (0..length).map(|input| {
        let mut row = vec![0.0; length as usize];
        row[input as usize] = 1.0;
        plan.deferred[0].axes[0].apply(&run(&plan, &row), outputs.clone())
    });
    let responses: Vec<Vec<f64>> = responses.collect();
    let of_output = |(index, output): (usize, i32)| {
        let got: Vec<f64> = responses.iter().map(|response| response[index]).collect();
        let place = f64::from(output) - shift;
        let exact: Vec<f64> = (0..length)
            .map(|input| (-0.5 * ((f64::from(input) - place) / sigma).powi(2)).exp())
            .collect();
        let sum: f64 = exact.iter().sum();
        distance(&got, &exact.iter().map(|weight| weight / sum).collect::<Vec<f64>>())
    };
    outputs.clone().enumerate().map(of_output).fold(0.0, f64::max)
}

/// The octaves of the strongest blur of the next test.
const MAX_PERIOD: u32 = 4;

#[test]
fn a_result_is_moved_by_parts_of_a_texel() {
    for precision in PRECISIONS {
        let sigmas = [
            (1.0, 1.5),
            (1.25, 0.6),
            (1.5, 0.26),
            (2.0, 0.1),
            (2.9, 0.1),
            (3.1, 0.3),
            (5.9, 0.3),
            (7.0, 0.3),
            (30.0, 0.3),
        ];
        for (sigma, tolerance) in sigmas {
            for shift in [1.0 / 64.0, 0.25, 0.5, 0.640625, 63.0 / 64.0] {
                let error = error_of_shift(sigma, shift, precision);
                assert!(error <= tolerance, "{precision:?}, sigma {sigma}, {shift}: {error}/255");
            }
        }
    }
}
