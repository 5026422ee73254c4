//! Strengths out of range: the picture is copied.

use super::*;

/// The failures reported in some frames.
fn failed(headless: &mut Headless, count: usize) -> Vec<BlurError> {
    let outcomes = frames(headless, count).into_iter();
    outcomes.filter_map(|(_, outcome)| outcome.err()).collect()
}

#[test]
fn strengths_out_of_range_copy() {
    let mut headless = warm(BlurBackend::Compute);
    let invalid = |radius: f32, aspect: Vec2| GaussianBlur::new(radius).with_aspect(aspect);
    for blur in [
        invalid(f32::NAN, Vec2::ONE),
        invalid(f32::INFINITY, Vec2::ONE),
        invalid(-1.0, Vec2::ONE),
        invalid(9.0, Vec2::new(1.0, f32::NAN)),
        invalid(9.0, Vec2::new(-1.0, 1.0)),
    ] {
        let source = headless.add_image(good_image());
        let entity = spawn(&mut headless, blur, plain(source.clone()));
        let failures = failed(&mut headless, 30);
        match failures[..] {
            [BlurError::InvalidRadius(radius)] => assert_eq!(radius.to_bits(), blur.radius.to_bits()),
            [BlurError::InvalidAspect(aspect)] => assert_eq!(aspect.to_string(), blur.aspect.to_string()),
            _ => panic!("{blur:?}: {failures:?}"),
        }
        let target = target_of(&headless, entity);
        assert_eq!(
            headless.read_image(&target).bytes,
            headless.read_image(&source).bytes,
            "{blur:?}"
        );
        set_blur(&mut headless, entity, GaussianBlur::from_sigma(SIGMA));
        assert_is_blurred(&mut headless, entity, &format!("{failures:?}"));
        set_blur(&mut headless, entity, blur);
        assert_eq!(failed(&mut headless, 10).len(), 1, "a new failure is a new report");
        headless.despawn(entity);
    }
}

#[test]
fn a_failure_of_other_settings_is_reported_too() {
    let mut headless = warm(BlurBackend::Compute);
    let source = headless.add_image(good_image());
    let entity = spawn(&mut headless, GaussianBlur::from_sigma(SIGMA), plain(source));
    frames(&mut headless, 10);
    let outside = [URect::new(0, 0, 41, 30), URect::new(0, 0, 40, 31)];
    for region in outside {
        image_of(&mut headless, entity).region = Some(region);
        let source = UVec2::new(40, 30);
        assert_eq!(
            failed(&mut headless, 10),
            [BlurError::InvalidRegion { region, source }],
            "each names its region"
        );
    }
    image_of(&mut headless, entity).region = None;
    let mut reported = 0;
    for padding in [1_000_000, 2_000_000] {
        image_of(&mut headless, entity).padding = padding;
        let found = failed(&mut headless, 10);
        assert!(
            found.iter().all(|error| matches!(error, BlurError::TooLarge { .. })),
            "{found:?}"
        );
        reported += found.len();
    }
    assert_eq!(reported, 1, "once: padding may be eased");
}
