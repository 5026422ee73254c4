//! In an app that runs as games do: a recorded blur leaves its target alone until its pipelines are compiled. From then
//! on every frame has its own settings.

use super::*;
use crate::support::recording::{WantedRecordings, follow_recordings};
use bevy::render::{Render, RenderSystems};
use bevy_gaussian_blur::recorder::{TextureBlurKind, TextureBlurs};

/// A format of no camera and no image.
const FORMAT: TextureFormat = TextureFormat::R16Float;

fn want(live: &mut Live, ends: [&Handle<Image>; 2], sigma: f32) {
    let [source, target] = ends.map(Shown::from);
    let world = live.headless.app.world_mut();
    world.resource_mut::<WantedRecordings>().0 = vec![(source, target, Settings::new(sigma))];
}

fn frames(live: &mut Live, count: usize) -> Vec<Shot> {
    for _ in 0..count {
        live.frame();
        sleep(Duration::from_millis(2));
    }
    live.shots()
}

fn shown(shot: &Shot) -> Option<Picture> {
    shot.images[0].as_ref().map(to_picture)
}

#[test]
fn nothing_but_the_blur_is_ever_seen() {
    for backend in one_backend() {
        let mut live = Live::alone(backend, follow_recordings);
        let picture = inputs::patterns(60, 50)[0].clone();
        let stored = formats::quantised(&picture, FORMAT);
        let grey = Picture::from_fn(60, 50, |_, _| [0.25, 0.0, 0.0, 1.0]);
        let source = live.headless.add_image(to_image(&picture, FORMAT));
        let target = live.headless.add_image(to_image(&grey, FORMAT));
        live.watch(&target);
        live.wait_until_ready();
        frames(&mut live, 4);
        let held = live.hold_compiler();
        want(&mut live, [&source, &target], 5.0);
        for got in frames(&mut live, 12).iter().filter_map(shown) {
            assert_close("held", &got, &grey, &[0], 0.0);
        }
        assert!(!live.is_ready(), "{backend:?}: a blur that is asked for is compiled");
        held.release();
        live.wait_until_ready();
        frames(&mut live, 3);
        let expected = |sigma: f64| gaussian_blur(&stored, [sigma; 2], EdgeMode::Clamp);
        let shots = frames(&mut live, 3);
        let got = shots.last().and_then(shown).expect("the target is there");
        assert_close("released", &got, &expected(5.0), &[0], 0.6 / 255.0);
        // Any other strength is drawn at once.
        let held = live.hold_compiler();
        for sigma in [1.3, 9.0, 30.0] {
            let first = live.frame() + 1;
            want(&mut live, [&source, &target], sigma);
            let shots = frames(&mut live, 5);
            for shot in shots.iter().filter(|shot| shot.frame >= first) {
                let got = shown(shot).expect("the target is there");
                let name = format!("frame-{}-{sigma}", shot.frame - first);
                assert_close(&name, &got, &expected(sigma.into()), &[0], 0.6 / 255.0);
            }
        }
        held.release();
    }
}

#[test]
fn what_is_announced_is_counted_and_compiled() {
    for backend in one_backend() {
        let announce = |mut blurs: TextureBlurs| {
            let kind = TextureBlurKind {
                varies: true,
                ..default()
            };
            blurs.announce(FORMAT, FORMAT, kind);
        };
        let mut headless = gpu_with(backend, |app| {
            add_recorder(app);
            app.sub_app_mut(RenderApp)
                .add_systems(Render, announce.in_set(RenderSystems::PrepareResources));
        });
        let is_ready = |world: &mut World| world.resource::<BlurReadiness>().is_ready();
        headless.frame();
        assert!(headless.frames_until(100, is_ready), "{backend:?}: not ready");
        let picture = inputs::patterns(40, 30)[0].clone();
        let source = headless.add_image(to_image(&picture, FORMAT));
        let target = headless.add_image(to_image(&picture, FORMAT));
        headless.frame();
        for profile in [None, Some((BlurProfile::default(), None))] {
            let settings = Settings {
                profile,
                ..Settings::new(7.0)
            };
            headless.record_one(&source, &target, settings);
            assert!(is_ready(headless.app.world_mut()), "{backend:?}: something was missing");
        }
    }
}
