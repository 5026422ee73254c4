//! The stage of a frozen camera, in apps of every kind.

use super::*;
use crate::support::scene::SIZE;
use bevy::core_pipeline::tonemapping::Tonemapping;

const STAGES: [BlurStage; 3] = [
    BlurStage::BeforeTonemapping,
    BlurStage::AfterTonemapping,
    BlurStage::AfterUi,
];

fn set_up(app: &mut App) {
    scene::add_plugins(app, Kind::Core3d);
}

/// A blurred camera whose stages differ: it tonemaps bright light, and has a user interface.
fn spawn(headless: &mut Headless, stage: BlurStage) -> View {
    scene::spawn(headless, Kind::Core3d, 20.0);
    let view = View::new(headless, Kind::Core3d, SIZE, LDR);
    let blur = GaussianBlur::from_sigma(5.0);
    view.insert(headless, (Hdr, Tonemapping::Reinhard, blur, stage));
    let node = node(Vec2::new(60.0, 30.0), Vec2::new(50.0, 40.0));
    let world = headless.app.world_mut();
    world.spawn((node, BackgroundColor(Color::WHITE), UiTargetCamera(view.camera)));
    view
}

/// What is frozen is what was shown last, and stays that: the picture does not move to another stage. Another stage in the settings
/// waits for the thaw.
#[test]
fn a_frozen_camera_shows_its_last_live_picture_at_every_stage() {
    for (backend, stage) in one_backend()
        .into_iter()
        .flat_map(|backend| STAGES.map(|stage| (backend, stage)))
    {
        let mut headless = gpu_with(backend, set_up);
        let view = spawn(&mut headless, stage);
        stir(&mut headless, 1);
        headless.warm_up();
        let live = view.pixels(&headless);
        view.insert(&mut headless, FreezeBlur);
        for frame in 1..8 {
            stir(&mut headless, frame);
            if frame == 5 {
                view.insert(&mut headless, STAGES[(stage as usize + 1) % 3]);
            }
            headless.frame();
            let got = view.pixels(&headless);
            assert_eq!(differing(&live, &got), 0, "{backend:?}, {stage:?}, frame {frame}");
        }
        // The other stage, of the same scene.
        stir(&mut headless, 1);
        headless.remove::<FreezeBlur>(view.camera);
        headless.frame();
        assert!(
            differing(&live, &view.pixels(&headless)) > 0,
            "{backend:?}, {stage:?}: stages differ"
        );
    }
}

/// The same while rendering is a frame behind.
#[test]
fn a_frozen_camera_keeps_its_stage_in_an_app_that_renders_a_frame_behind() {
    for (backend, stage) in one_backend()
        .into_iter()
        .flat_map(|backend| STAGES.map(|stage| (backend, stage)))
    {
        let mut live = Live::new(backend, set_up);
        let view = spawn(&mut live.headless, stage);
        live.watch(&view.target);
        stir(&mut live.headless, 1);
        live.wait_until_ready();
        live.wait_until_seen();
        let last = live.frame();
        view.insert(&mut live.headless, FreezeBlur);
        for frame in 1..8 {
            stir(&mut live.headless, frame);
            live.frame();
        }
        let shots = live.shots();
        let shots = shots.iter().filter(|shot| shot.frame >= last);
        let shots: Vec<(usize, &Pixels)> = shots
            .filter_map(|shot| Some((shot.frame, shot.images[0].as_ref()?)))
            .collect();
        assert!(
            shots.len() > 4,
            "{backend:?}, {stage:?}: {} frames were rendered",
            shots.len()
        );
        for (frame, got) in &shots {
            let frame = frame - last;
            // Once the pipelines of its kernels are compiled, a blur rounds otherwise: by a level.
            let pairs = got.bytes.iter().zip(&shots[0].1.bytes);
            let wrong = pairs.filter(|(got, first)| got.abs_diff(**first) > 1).count();
            assert_eq!(wrong, 0, "{backend:?}, {stage:?}, frame {frame}");
        }
    }
}
