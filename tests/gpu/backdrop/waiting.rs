//! Which frames wait for the pipelines of glass, and for how long, if the threads that compile them are busy with other
//! tasks.

use super::glass;
use super::pane::Pane;
use super::show::{SIZE, Show};
use super::stage::{BACKENDS, LDR};
use crate::profiles;
use crate::support::difference::worst_difference;
use crate::support::formats::to_picture;
use crate::support::live::Shot;
use crate::support::scene::{Kind, set_active};
use crate::support::twins::View;
use crate::support::{assert_close, within_rounding};
use bevy::prelude::*;
use bevy::render::render_resource::TextureFormat;
use bevy_gaussian_blur::BlurCompilation;
use bevy_gaussian_blur::prelude::*;
use std::time::{Duration, Instant};

const SIGMA: f32 = 5.0;
const ORIGIN: [usize; 2] = [9, 6];
const EXTENT: [usize; 2] = [44, 29];

fn pane() -> Pane {
    Pane::new([9.0, 6.0, 44.0, 29.0], glass(SIGMA))
}

fn profile() -> BlurProfile {
    BlurProfile::Linear {
        start: Vec2::new(0.0, 0.5),
        end: Vec2::new(1.0, 0.5),
        from: 0.3,
        to: 1.0,
    }
}

impl Show {
    /// Limits the wait of frames to the default. Returns that limit.
    pub fn wait_as_usual(&mut self) -> Duration {
        let usual = BlurCompilation::default();
        self.live.headless.app.insert_resource(usual);
        // The render world receives it a frame later.
        self.frames(3);
        usual.longest_wait
    }

    /// Simulates some frames. Returns their shots, and the time of the slowest frame.
    pub fn frames(&mut self, count: usize) -> (Vec<Shot>, Duration) {
        let mut slowest = Duration::ZERO;
        let mut first = None;
        for _ in 0..count {
            let start = Instant::now();
            let frame = self.live.frame();
            first.get_or_insert(frame);
            slowest = slowest.max(start.elapsed());
        }
        let mut shots = self.live.shots();
        shots.retain(|shot| Some(shot.frame) >= first);
        assert!(shots.len() + 2 >= count, "{} of {count} frames were shown", shots.len());
        (shots, slowest)
    }
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
    assert_close(&name, &got, &expected, &[0, 1, 2], 6.0 / 255.0);
}

/// The pipelines of glass with a profile compile while the glass is hidden.
#[test]
fn hidden_glass_with_a_profile_is_ready_when_it_appears() {
    for backend in BACKENDS {
        let Some(mut show) = Show::alone(backend) else {
            return;
        };
        show.spawn(&pane(), (profile(), Visibility::Hidden));
        show.settle();
        let held = show.live.hold_compiler();
        show.change(Visibility::Inherited);
        let (shots, _) = show.frames(4);
        held.release();
        shots.iter().for_each(check_profile);
    }
}

/// The first profile of glass that exists already.
#[test]
fn the_first_frame_of_the_first_profile_is_blurred() {
    for backend in BACKENDS {
        let Some(mut show) = Show::alone(backend) else {
            return;
        };
        show.spawn(&pane(), ());
        show.settle();
        show.live.hold_compiler().release_after(Duration::from_millis(60));
        show.change(profile());
        let (shots, slowest) = show.frames(4);
        println!("{backend:?}: a frame took {slowest:?}");
        shots.iter().for_each(check_profile);
    }
}

/// Rendering goes on if no pipeline compiles for long. Glass is invisible meanwhile.
#[test]
fn tasks_that_fill_the_pool_hold_a_frame_up_once() {
    for backend in BACKENDS {
        let Some(mut show) = Show::alone(backend) else {
            return;
        };
        let longest = show.wait_as_usual();
        let held = show.live.hold_compiler();
        show.spawn(&pane(), ());
        let start = Instant::now();
        let (shots, slowest) = show.frames(20);
        let all = start.elapsed();
        held.release();
        for shot in &shots {
            let [plain, got] = [0, 1].map(|index| to_picture(shot.images[index].as_ref().expect("a target")));
            assert_eq!(worst_difference(&got, &plain).value, 0.0, "frame {}", shot.frame);
        }
        assert!(slowest >= longest, "the frame waits for {slowest:?}");
        assert!(all < 10 * longest, "20 frames take {all:?}");
        show.settle();
        for _ in 0..8 {
            show.frame(pane());
        }
        assert!(show.blurred >= 4, "{} pictures were blurred", show.blurred);
    }
}

/// No frame waits for the glass pipelines of a camera without glass. Glass on other cameras stays visible meanwhile.
#[test]
fn cameras_without_glass_are_not_waited_for() {
    for backend in BACKENDS {
        let Some(mut show) = Show::alone(backend) else {
            return;
        };
        // Compile Bevy's pipelines for this format first: Bevy waits for some of them, too.
        let other = View::new(&mut show.live.headless, Kind::Core2d, SIZE, TextureFormat::Rgba8Unorm);
        show.wait_until_seen();
        set_active(&mut show.live.headless, other.camera, false);
        show.spawn(&pane(), ());
        show.settle();
        let longest = show.wait_as_usual();
        let held = show.live.hold_compiler();
        set_active(&mut show.live.headless, other.camera, true);
        // On a busy machine some frames are slow, but not all.
        let mut fastest = Duration::MAX;
        for _ in 0..12 {
            let start = Instant::now();
            show.frame(pane());
            fastest = fastest.min(start.elapsed());
        }
        assert!(fastest < longest, "every frame takes {fastest:?}");
        held.release();
        assert!(show.blurred >= 8, "{} pictures were blurred", show.blurred);
    }
}
