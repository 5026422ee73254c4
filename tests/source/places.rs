//! Profiles and regions follow positions in the world.

use bevy::camera::{Camera, CameraProjection, PerspectiveProjection, RenderTargetInfo, Viewport};
use bevy::prelude::*;
use bevy_gaussian_blur::prelude::*;

/// A camera at (1, 2, 3) that looks along x, in the right half of a target of 800x300 logical pixels at a scale of 2.
fn camera() -> (Camera, GlobalTransform) {
    let mut camera = Camera {
        viewport: Some(Viewport {
            physical_position: UVec2::new(800, 0),
            physical_size: UVec2::new(800, 600),
            ..default()
        }),
        ..default()
    };
    camera.computed.target_info = Some(RenderTargetInfo {
        physical_size: UVec2::new(1600, 600),
        scale_factor: 2.0,
    });
    let projection = PerspectiveProjection {
        fov: core::f32::consts::FRAC_PI_2,
        aspect_ratio: 800.0 / 600.0,
        ..default()
    };
    camera.computed.clip_from_view = projection.get_clip_from_view();
    let transform = Transform::from_xyz(1.0, 2.0, 3.0).looking_to(Vec3::X, Vec3::Y);
    (camera, transform.into())
}

/// Ten units ahead, 2.5 up and 5 to the right: with a right angle of view, that is a quarter of the way up from the middle,
/// and 3/8 of the way to the right border.
const POSITION: Vec3 = Vec3::new(11.0, 4.5, 8.0);
const SHARE: Vec2 = Vec2::new(0.5 + 0.5 * 0.375, 0.5 - 0.5 * 0.25);

fn assert_near(got: Vec2, expected: Vec2) {
    assert!((got - expected).length() < 1e-3, "{got} instead of {expected}");
}

#[test]
fn profiles_follow_a_position_of_the_world() -> Result {
    let (camera, transform) = camera();
    let mut band = BlurProfile::Band {
        center: Vec2::ZERO,
        direction: Vec2::X,
        sharp: 0.1,
        soft: 0.4,
    };
    band.center_on(&camera, &transform, POSITION)?;
    let BlurProfile::Band {
        center,
        direction,
        sharp,
        soft,
    } = band
    else {
        panic!("it is still a band")
    };
    assert_near(center, SHARE);
    assert_eq!((direction, sharp, soft), (Vec2::X, 0.1, 0.4));

    let mut circles = BlurProfile::Radial {
        center: Vec2::ZERO,
        inner: 0.1,
        outer: 0.3,
        from: 0.0,
        to: 1.0,
    };
    circles.center_on(&camera, &transform, POSITION)?;
    assert!(matches!(circles, BlurProfile::Radial { center, .. } if center == center_of(&band)));

    let mut line = BlurProfile::Linear {
        start: Vec2::new(0.1, 0.2),
        end: Vec2::new(0.3, 0.8),
        from: 0.0,
        to: 1.0,
    };
    line.center_on(&camera, &transform, POSITION)?;
    let BlurProfile::Linear { start, end, .. } = line else {
        panic!("it is still a line")
    };
    assert_near(start.midpoint(end), SHARE);
    assert_near(end - start, Vec2::new(0.2, 0.6));

    let mut uniform = BlurProfile::Uniform;
    uniform.center_on(&camera, &transform, POSITION)?;
    assert_eq!(uniform, BlurProfile::Uniform);
    Ok(())
}

fn center_of(profile: &BlurProfile) -> Vec2 {
    match profile {
        BlurProfile::Band { center, .. } => *center,
        _ => panic!("it is a band"),
    }
}

#[test]
fn regions_follow_a_position_of_the_world() -> Result {
    let (camera, transform) = camera();
    let mut region = BackdropRegion::new(Entity::PLACEHOLDER, Rect::new(0.0, 0.0, 60.0, 40.0));
    region.center_on(&camera, &transform, POSITION)?;
    // In the viewport, which has 400x300 logical pixels, and not in the whole target.
    assert_near(region.rect.center(), SHARE * Vec2::new(400.0, 300.0));
    assert_near(region.rect.size(), Vec2::new(60.0, 40.0));
    Ok(())
}

#[test]
fn what_the_camera_cannot_see_moves_nothing() {
    let (camera, transform) = camera();
    let behind = Vec3::new(-9.0, 2.0, 3.0);
    let mut region = BackdropRegion::new(Entity::PLACEHOLDER, Rect::new(0.0, 0.0, 60.0, 40.0));
    let before = region;
    assert!(region.center_on(&camera, &transform, behind).is_err());
    assert!(region.center_on(&Camera::default(), &transform, POSITION).is_err());
    assert_eq!(region, before);
    let mut profile = BlurProfile::Band {
        center: Vec2::splat(0.5),
        direction: Vec2::X,
        sharp: 0.1,
        soft: 0.4,
    };
    let before = profile.clone();
    assert!(profile.center_on(&camera, &transform, behind).is_err());
    assert_eq!(profile, before);
}
