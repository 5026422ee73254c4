//! Strengths out of range: the picture is copied.

use super::{SIGMA, assert_is_blurred, good_image};
use crate::support::gpu;
use crate::support::headless::Headless;
use crate::support::images::{plain, set_blur, spawn, target_of};
use crate::support::outcomes::{frames, record};
use bevy::prelude::*;
use bevy_gaussian_blur::prelude::*;

/// The failures reported in some frames.
fn failed(headless: &mut Headless, count: usize) -> Vec<BlurError> {
    let outcomes = frames(headless, count).into_iter();
    outcomes.filter_map(|(_, outcome)| outcome.err()).collect()
}

#[test]
fn strengths_out_of_range_copy() {
    let Some(mut headless) = gpu(record) else {
        return;
    };
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
        headless.app.world_mut().despawn(entity);
    }
}
