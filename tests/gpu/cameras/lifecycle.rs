//! Blurs of cameras that appear, disappear and change: each frame shows its own settings, and nothing leaks.

use super::*;
use crate::support::difference::minus;
use crate::support::twins::assert_gaussian;

#[test]
fn a_removed_blur_leaves_nothing_and_can_come_back() {
    for kind in [Kind::Core2d, Kind::Core3d] {
        let mut twins = Twins::new(kind, SIZE, LDR);
        twins.headless.warm_up();
        twins.assert_identical("never blurred");
        for round in 0..2 {
            twins.blur(sigma(4.0));
            twins.headless.warm_up();
            twins.assert_blurred(&format!("added-{kind:?}-{round}"), [4.0; 2]);
            twins.headless.remove::<GaussianBlur>(twins.blurred.camera);
            twins.headless.frame();
            twins.assert_identical("removed");
        }
        // Before the render world forgets the camera.
        for frame in 0..12 {
            let mut camera = twins.headless.app.world_mut().entity_mut(twins.blurred.camera);
            if frame % 2 == 0 {
                camera.insert(sigma(9.0));
                twins.headless.frame();
                twins.assert_blurred("toggled", [9.0; 2]);
            } else {
                camera.remove::<GaussianBlur>();
                twins.headless.frame();
                twins.assert_identical("toggled");
            }
        }
    }
}

#[test]
fn a_despawned_camera_disturbs_no_other() {
    let mut twins = Twins::new(Kind::Core3d, SIZE, LDR);
    twins.blur(sigma(5.0));
    let mut doomed = Vec::new();
    for radius in [3.0, 30.0, 90.0] {
        let view = View::new(&mut twins.headless, Kind::Core3d, UVec2::new(60, 40), LDR);
        view.insert(&mut twins.headless, GaussianBlur::new(radius));
        doomed.push(view);
    }
    twins.headless.warm_up();
    for view in doomed {
        twins.headless.despawn(view.camera);
        twins.headless.frame();
        twins.assert_blurred("despawned", [5.0; 2]);
    }
    frames(&mut twins, 6);
    twins.assert_blurred("despawned", [5.0; 2]);
}

#[test]
fn an_inactive_camera_resumes() {
    let mut twins = Twins::new(Kind::Core2d, SIZE, LDR);
    twins.blur(sigma(6.0));
    twins.headless.warm_up();
    for pause in [1, 2, 7] {
        set_active(&mut twins.headless, twins.blurred.camera, false);
        frames(&mut twins, pause);
        twins.blur(sigma(pause as f32 + 2.0));
        frames(&mut twins, 1);
        set_active(&mut twins.headless, twins.blurred.camera, true);
        twins.headless.frame();
        let name = format!("resumed-{pause}");
        twins.assert_blurred(&name, [pause as f64 + 2.0; 2]);
    }
}

#[test]
fn ten_cameras_have_ten_blurs() {
    let size = UVec2::new(96, 54);
    let mut twins = Twins::new(Kind::Core2d, size, LDR);
    let sigmas: Vec<f64> = (1..=10).map(|i| 0.3 * f64::from(i * i)).collect();
    let mut views = Vec::new();
    for sigma in &sigmas {
        let view = View::new(&mut twins.headless, Kind::Core2d, size, LDR);
        view.insert(&mut twins.headless, GaussianBlur::from_sigma(*sigma as f32));
        views.push(view);
    }
    twins.headless.warm_up();
    let sharp = twins.sharp.picture(&twins.headless);
    for (view, sigma) in views.iter().zip(sigmas) {
        let got = view.pixels(&twins.headless);
        assert_gaussian(&format!("ten-{sigma}"), &got, &sharp, [sigma; 2]);
    }
    twins.assert_identical("next to ten blurred cameras");
}

#[test]
fn what_is_no_blur_changes_nothing() {
    for (kind, format) in [(Kind::Core2d, LDR), (Kind::Core3d, HDR)] {
        let size = UVec2::new(80, 45);
        let mut twins = Twins::new(kind, size, format);
        let radius = |radius: f32| GaussianBlur::new(radius);
        let none = [
            radius(0.0),
            sigma(0.0299),
            radius(f32::NAN),
            radius(f32::INFINITY),
            radius(-1.0),
            radius(20.0).with_aspect(Vec2::ZERO),
            radius(20.0).with_aspect(Vec2::new(f32::NAN, 1.0)),
            radius(20.0).with_aspect(Vec2::new(1.0, -1.0)),
        ];
        // New, and after another blur has run.
        for previous in [None, Some(sigma(4.0))] {
            for blur in none {
                if let Some(previous) = previous {
                    twins.blur(previous);
                    frames(&mut twins, 1);
                }
                twins.blur(blur);
                frames(&mut twins, 2);
                twins.assert_identical(&format!("{kind:?} {format:?} {blur:?}"));
            }
            twins.headless.warm_up();
        }
    }
}

/// The sweep starts without a blur and crosses every level up to a standard deviation of 20.
#[test]
fn a_swept_radius_never_pops() {
    let unorm = (TextureFormat::Rgba8Unorm, 1.0 / 255.0);
    for (format, rounding) in [unorm, (HDR, 0.0)] {
        let mut twins = Twins::new(Kind::Core2d, UVec2::new(96, 54), format);
        twins.headless.warm_up();
        twins.blur(sigma(2.0));
        twins.headless.warm_up();
        let sharp = twins.sharp.picture(&twins.headless);
        let (mut before, mut worst) = (None, 0.0_f64);
        for step in 0..=160 {
            let blur = GaussianBlur::new(step as f32 * 0.375);
            twins.blur(blur);
            twins.headless.frame();
            let got = twins.blurred.picture(&twins.headless);
            let expected = gaussian_blur(&sharp, [f64::from(blur.sigma()); 2], EdgeMode::Clamp);
            if let Some((last_got, last_expected)) = &before {
                let pop = worst_difference(&minus(&got, last_got), &minus(&expected, last_expected));
                let most = 0.5 / 255.0 + rounding;
                assert!(pop.value <= most, "{format:?}, {blur:?}: {pop:?} is a pop");
                worst = worst.max(pop.value);
            }
            before = Some((got, expected));
        }
        println!("largest pop with {format:?}: {:.3}/255", worst * 255.0);
    }
}
