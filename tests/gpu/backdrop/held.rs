//! What glass shows while the threads that compile its pipelines are busy with other tasks. No frame waits for them.

use super::show::{SIZE, Show};
use super::*;
use crate::profiles;

const SIGMA: f32 = 5.0;
const ORIGIN: [usize; 2] = [9, 6];
const EXTENT: [usize; 2] = [44, 29];

fn pane() -> Pane {
    Pane::new([9.0, 6.0, 44.0, 29.0], glass(SIGMA))
}

fn profile() -> BlurProfile {
    linear([Vec2::new(0.0, 0.5), Vec2::new(1.0, 0.5)], [0.3, 1.0])
}

/// Panics unless the pane varies as its profile says.
fn check_profile(shot: &Shot) {
    let [plain, got] = [0, 1].map(|index| to_picture(shot.images[index].as_ref().expect("a target")));
    let sigmas = profiles::sigmas(&profile(), EXTENT, f64::from(SIGMA));
    let [plain, got] = [plain, got].map(|picture| picture.crop(ORIGIN, EXTENT));
    let expected = profiles::expected(&plain, &sigmas, [1.0; 2], EdgeMode::Mirror);
    assert!(
        worst_difference(&expected, &plain).value > 0.1,
        "there is something to blur"
    );
    let expected = within_rounding(&got, &expected, LDR);
    let name = format!("waiting-profile-{}", shot.frame);
    assert_close(&name, &got, &expected, &RGB, 6.0 / 255.0);
}

/// The pipelines of glass with a profile compile while the glass is hidden.
#[test]
fn hidden_glass_with_a_profile_is_ready_when_it_appears() {
    for backend in one_backend() {
        let mut show = Show::alone(backend);
        show.spawn(&pane(), (profile(), Visibility::Hidden));
        show.settle();
        let held = show.live.hold_compiler();
        show.change(Visibility::Inherited);
        let shots = show.live.shots_of(4);
        held.release();
        shots.iter().for_each(check_profile);
    }
}

/// The pictures of a shot: without glass, and with it.
fn pictures(shot: &Shot) -> [Picture; 2] {
    [0, 1].map(|index| to_picture(shot.images[index].as_ref().expect("a target")))
}

/// The first profile of glass that exists already: the glass is as it was until the new pipelines are compiled.
#[test]
fn the_first_profile_of_visible_glass_changes_nothing_until_it_is_ready() {
    for backend in one_backend() {
        let mut show = Show::alone(backend);
        show.spawn(&pane(), ());
        show.settle();
        let before = show.live.shots_of(3).pop().expect("there are shots");
        let held = show.live.hold_compiler();
        show.change(profile());
        for shot in show.live.shots_of(8) {
            let worst = worst_difference(&pictures(&shot)[1], &pictures(&before)[1]);
            // Faster pipelines may round differently.
            assert!(worst.value < 2.5 / 255.0, "frame {}: {worst:?}", shot.frame);
        }
        held.release();
        show.settle();
        check_profile(show.live.shots_of(4).last().expect("there are shots"));
    }
}

/// Where everything was compiled when the app started, the first glass is complete in its first frame.
#[test]
fn the_first_frame_of_the_first_glass_is_blurred() {
    for backend in one_backend() {
        let mut show = Show::alone(backend);
        let held = show.live.hold_compiler();
        for _ in 0..12 {
            show.frame(pane());
        }
        held.release();
        assert!(show.blurred >= 8, "{} pictures were blurred", show.blurred);
    }
}

/// Without pipelines, glass without a fallback is invisible, and with one it is the colour in its shape. Then it is glass.
#[test]
fn glass_without_pipelines_shows_its_fallback() {
    for backend in one_backend() {
        let mut show = Show::late(backend);
        let held = show.live.hold_compiler();
        show.spawn(&pane(), ());
        for shot in show.live.shots_of(20) {
            let [plain, got] = pictures(&shot);
            assert_eq!(worst_difference(&got, &plain).value, 0.0, "frame {}", shot.frame);
        }
        held.release();
        show.settle();
        for _ in 0..8 {
            show.frame(pane());
        }
        assert!(show.blurred >= 4, "{} pictures were blurred", show.blurred);
    }
}

/// A new camera, whose pipelines are missing, changes nothing on the others.
#[test]
fn glass_on_other_cameras_stays_visible() {
    for backend in one_backend() {
        let mut show = Show::alone(backend);
        // Compile Bevy's pipelines for this format first: Bevy waits for some of them.
        let other = View::new(&mut show.live.headless, Kind::Core2d, SIZE, TextureFormat::Rgba8Unorm);
        show.live.wait_until_seen();
        set_active(&mut show.live.headless, other.camera, false);
        show.spawn(&pane(), ());
        show.settle();
        let held = show.live.hold_compiler();
        set_active(&mut show.live.headless, other.camera, true);
        for _ in 0..12 {
            show.frame(pane());
        }
        held.release();
        assert!(show.blurred >= 8, "{} pictures were blurred", show.blurred);
    }
}
