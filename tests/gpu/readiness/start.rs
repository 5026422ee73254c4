//! The first frames of an app: pipelines for the usual cameras compile before any camera exists.

use super::*;
use bevy::core_pipeline::tonemapping::{DebandDither, Tonemapping};

/// Whether the main world knows that blurs are ready.
#[derive(Resource, Default)]
struct WasReady(Vec<bool>);

/// Without a camera, and in the very frames in which cameras of both dynamic ranges appear, dithered or not, tonemapped
/// or not, nothing is missing once blurs are ready.
#[test]
fn the_usual_cameras_find_everything_compiled() {
    for backend in one_backend() {
        let record = |mut was_ready: ResMut<WasReady>, readiness: Res<BlurReadiness>| {
            was_ready.0.push(readiness.is_ready());
        };
        let mut headless = gpu_with(backend, |app| {
            app.init_resource::<WasReady>().add_systems(Last, record);
        });
        let is_ready = |world: &mut World| world.resource::<BlurReadiness>().is_ready();
        assert!(headless.frames_until(50, is_ready), "{backend:?}: blurs are not ready");
        let before = pipelines(&headless);
        assert!(
            !before.is_empty(),
            "{backend:?}: nothing is compiled, and blurs are ready"
        );
        headless.app.insert_resource(WasReady::default());
        for is_hdr in [false, true] {
            for (tonemapping, dither) in [
                (Tonemapping::None, DebandDither::Disabled),
                (Tonemapping::Reinhard, DebandDither::Enabled),
            ] {
                let view = View::new(&mut headless, Kind::Core2d, SIZE, LDR);
                view.insert(&mut headless, (GaussianBlur::new(24.0), tonemapping, dither));
                headless.set(view.camera, Hdr, is_hdr);
                headless.frame();
                assert!(readiness(&headless).is_ready(), "{backend:?}: HDR {is_hdr}, {dither:?}");
            }
        }
        let after = pipelines(&headless);
        assert_eq!(after.len(), before.len(), "{backend:?}: {before:?}, then {after:?}");
        let was_ready = &headless.app.world().resource::<WasReady>().0;
        assert!(was_ready.iter().all(|is_ready| *is_ready), "{was_ready:?}");
    }
}

/// As in games: the first camera is spawned with its blur as soon as blurs are ready. Its picture is never sharp.
#[test]
fn the_first_camera_is_blurred_when_it_is_first_seen() {
    for backend in one_backend() {
        let mut live = Live::new(backend, |_| {});
        live.wait_until_ready();
        scene::spawn(&mut live.headless, Kind::Core2d, 1.0);
        let views = [(); 2].map(|()| View::new(&mut live.headless, Kind::Core2d, SIZE, LDR));
        views.iter().for_each(|view| live.watch(&view.target));
        let blur = GaussianBlur::new(24.0);
        views[1].insert(&mut live.headless, blur);
        let pair = Pair {
            name: "first camera",
            sharp: 0,
            blurred: 1,
        };
        let mut seen = 0;
        for _ in 0..10_000 {
            live.frame();
            let shots = live.shots();
            let is_seen = |shot: &&Shot| matches!(shot.images.first(), Some(Some(sharp)) if !sharp.is_flat());
            for shot in shots.iter().filter(is_seen) {
                seen += usize::from(check_pair(&format!("{backend:?}-{}", shot.frame), shot, &pair, &blur));
            }
            if seen >= 10 {
                break;
            }
        }
        assert!(seen >= 10, "the scene is not seen");
    }
}
