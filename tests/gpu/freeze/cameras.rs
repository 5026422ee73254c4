//! Cameras.

use super::*;
use crate::random::number;
use crate::support::headless::FRAME_TIME;
use crate::support::scene::SIZE;
use crate::support::twins::assert_gaussian;
use bevy::time::TimeUpdateStrategy;
use core::time::Duration;

/// How long a scene moves while it is frozen. `BLUR_FREEZE_FRAMES` overrides it.
const FROZEN_FRAMES: u32 = 20;

/// A setup of a camera.
struct Case {
    kind: Kind,
    stage: BlurStage,
    hdr: bool,
    msaa: Msaa,
    viewport: Option<URect>,
}

const PLAIN: Case = Case {
    kind: Kind::Core2d,
    stage: BlurStage::AfterTonemapping,
    hdr: false,
    msaa: Msaa::Off,
    viewport: None,
};

fn cases() -> [Case; 5] {
    [
        PLAIN,
        Case {
            kind: Kind::Core3d,
            hdr: true,
            msaa: Msaa::Sample4,
            ..PLAIN
        },
        Case {
            stage: BlurStage::BeforeTonemapping,
            hdr: true,
            ..PLAIN
        },
        Case {
            stage: BlurStage::AfterUi,
            ..PLAIN
        },
        Case {
            viewport: Some(URect::new(37, 21, 181, 100)),
            ..PLAIN
        },
    ]
}

fn twins(case: &Case) -> Twins {
    let mut twins = Twins::with(case.kind, SIZE, if case.hdr { HDR } else { LDR }, |app| {
        app.add_plugins(GaussianBlurDiagnosticsPlugin);
    });
    twins.insert(case.msaa);
    if case.hdr {
        twins.insert(Hdr);
    }
    if let Some(viewport) = case.viewport {
        for camera in [twins.sharp.camera, twins.blurred.camera] {
            twins.headless.get_mut::<Camera>(camera).viewport = Some(scene::viewport(viewport.min, viewport.size()));
        }
    }
    twins.blur((GaussianBlur::from_sigma(5.0), case.stage));
    step(&mut twins.headless, 0);
    twins.headless.warm_up();
    twins
}

/// Asserts that the output is a blur of the kept picture.
fn assert_blur_of(name: &str, twins: &Twins, still: &Pixels, case: &Case, sigma: f64) {
    if case.viewport.is_none() {
        let got = twins.pixels();
        assert_gaussian(name, &got, &to_picture(still), [sigma; 2]);
    }
}

/// Shows a frame of the scene with this blur, in textures that are as large as needed. While a radius eases, they have room to grow, and
/// positions in them are rounded differently.
fn blur_from_rest(twins: &mut Twins, sigma: f32, frame: u32) {
    twins.blur(GaussianBlur::from_sigma(0.0));
    // In the second of two long frames, textures that are not used are released.
    let long = TimeUpdateStrategy::ManualDuration(Duration::from_secs(2));
    twins.headless.app.insert_resource(long);
    twins.headless.frames(2);
    let usual = TimeUpdateStrategy::ManualDuration(FRAME_TIME);
    twins.headless.app.insert_resource(usual);
    twins.blur(GaussianBlur::from_sigma(sigma));
    step(&mut twins.headless, frame);
}

#[test]
fn a_moving_scene_does_not_show() {
    for (index, case) in cases().iter().enumerate() {
        let mut twins = twins(case);
        let name = |what: &str| format!("frozen-{index}-{what}");
        // The last live frame, and the same scene frozen: no bit may differ.
        step(&mut twins.headless, 1);
        let live = twins.pixels();
        let still = twins.sharp.pixels(&twins.headless);
        twins.blur(FreezeBlur);
        twins.headless.frame();
        assert_bits(&name("first"), &twins, &live);
        for frame in 2..FROZEN_FRAMES.max(number("BLUR_FREEZE_FRAMES", 0) as u32) {
            step(&mut twins.headless, frame);
            assert_bits(&name(&frame.to_string()), &twins, &live);
        }
        assert!(
            twins.sharp.pixels(&twins.headless).bytes != still.bytes,
            "the scene moves"
        );
        let side = case.viewport.map_or(SIZE, |viewport| viewport.size());
        let texel = if case.hdr { 8 } else { 4 };
        let kept = u64::from(2 * texel * side.element_product());
        assert_eq!(
            bytes_held(&twins.headless),
            kept,
            "{}: picture and result, no more",
            name("bytes")
        );

        // The radius eases: the kept picture is blurred.
        for (frame, sigma) in [(20, 1.3), (21, 9.0), (22, 40.0), (23, 5.0)] {
            twins.blur(GaussianBlur::from_sigma(sigma));
            step(&mut twins.headless, frame);
            assert_blur_of(&name(&format!("{sigma}")), &twins, &still, case, f64::from(sigma));
        }
        twins.blur(GaussianBlur::from_sigma(0.0));
        step(&mut twins.headless, 24);
        assert_bits(&name("sharp"), &twins, &still);
        step(&mut twins.headless, 25);
        assert_bits(&name("sharp, again"), &twins, &still);
        let frozen = [1.3, 9.0, 40.0, 5.0].map(|sigma| {
            blur_from_rest(&mut twins, sigma, 26);
            (sigma, twins.pixels())
        });
        assert_bits(&name("back"), &twins, &live);

        // Unfrozen, it shows the current picture, with the same bits for the same scene.
        let camera = twins.blurred.camera;
        twins.headless.remove::<FreezeBlur>(camera);
        for (sigma, frozen) in frozen {
            blur_from_rest(&mut twins, sigma, 1);
            assert_bits(&name(&format!("thawed-{sigma}")), &twins, &frozen);
        }
        twins.blur(GaussianBlur::from_sigma(0.0));
        twins.headless.frames(6);
        assert_eq!(bytes_held(&twins.headless), 0, "{}: all is given back", name("end"));
    }
}

#[test]
fn it_may_be_frozen_sharp_and_in_any_frame() {
    let mut twins = twins(&PLAIN);
    // At radius 0, and together with the blur.
    twins.blur((GaussianBlur::from_sigma(0.0), FreezeBlur));
    step(&mut twins.headless, 1);
    let still = twins.sharp.pixels(&twins.headless);
    assert_bits("sharp", &twins, &still);
    twins.blur(GaussianBlur::from_sigma(6.0));
    step(&mut twins.headless, 2);
    assert_gaussian("frozen-then-blurred", &twins.pixels(), &to_picture(&still), [6.0; 2]);
    // Frozen again: the current picture.
    let camera = twins.blurred.camera;
    twins.headless.remove::<FreezeBlur>(camera);
    twins.blur(FreezeBlur);
    step(&mut twins.headless, 3);
    let still = twins.sharp.pixels(&twins.headless);
    step(&mut twins.headless, 4);
    assert_gaussian("frozen-anew", &twins.pixels(), &to_picture(&still), [6.0; 2]);
}

#[test]
fn an_inactive_camera_is_frozen_when_it_has_a_picture() {
    let mut twins = twins(&PLAIN);
    let camera = twins.blurred.camera;
    let set_active = |twins: &mut Twins, is_active: bool| {
        scene::set_active(&mut twins.headless, camera, is_active);
    };
    set_active(&mut twins, false);
    twins.blur(FreezeBlur);
    step(&mut twins.headless, 1);
    set_active(&mut twins, true);
    step(&mut twins.headless, 2);
    let still = twins.sharp.pixels(&twins.headless);
    step(&mut twins.headless, 3);
    assert_gaussian("frozen-when-active", &twins.pixels(), &to_picture(&still), [5.0; 2]);
    // After a while of being inactive, it comes back as it was.
    let frozen = twins.pixels();
    set_active(&mut twins, false);
    (4..8).for_each(|frame| step(&mut twins.headless, frame));
    set_active(&mut twins, true);
    step(&mut twins.headless, 8);
    assert_bits("active again", &twins, &frozen);
}
