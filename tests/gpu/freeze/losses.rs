//! Losses, and their messages.

use super::glass::assert_part;
use super::{Lost, assert_bits, record_losses, step};
use crate::backdrop::pane::Pane;
use crate::backdrop::stage::{BACKENDS, Stage};
use crate::support::logs;
use crate::support::scene::{Kind, SIZE};
use crate::support::twins::Twins;
use bevy::camera::CameraMainTextureUsages;
use bevy::prelude::*;
use bevy::render::render_resource::{TextureFormat, TextureUsages};
use bevy_gaussian_blur::prelude::*;

const LDR: TextureFormat = TextureFormat::Rgba8UnormSrgb;

#[test]
fn a_texture_that_cannot_be_copied_is_not_frozen() {
    let Some(mut twins) = Twins::with(Kind::Core2d, SIZE, LDR, record_losses) else {
        return;
    };
    twins.insert(without_copies());
    twins.blur((GaussianBlur::from_sigma(4.0), FreezeBlur));
    twins.headless.warm_up();
    step(&mut twins.headless, 1);
    // It continues, and reports this once.
    twins.assert_blurred("goes-on-unfrozen", [4.0; 2]);
    step(&mut twins.headless, 2);
    twins.assert_blurred("goes-on-unfrozen-2", [4.0; 2]);
    let camera = twins.blurred.camera;
    assert_eq!(twins.headless.app.world().resource::<Lost>().0, [camera]);
    let said = logs::all(&format!("the frozen blur of entity {camera} continues unfrozen"));
    assert!(said.len() <= 1, "{said:?}");
}

#[test]
fn what_freezes_nothing_is_said_once() {
    let Some(mut twins) = Twins::new(Kind::Core2d, SIZE, LDR) else {
        return;
    };
    let name = "frozen user interface";
    twins.blur((
        Name::new(name),
        GaussianBlur::from_sigma(4.0),
        BlurStage::AfterUi,
        FreezeBlur,
    ));
    twins.headless.warm_up();
    let frozen = twins.blurred.pixels(&twins.headless);
    step(&mut twins.headless, 1);
    assert_bits("after the user interface", &twins.blurred, &twins.headless, &frozen);
    assert!(logs::all(name).len() <= 1, "{:?}", logs::all(name));
}

/// The entities whose picture has been taken.
#[derive(Resource, Default)]
struct Taken(Vec<Entity>);

/// Starts recording them.
fn record_taken(app: &mut App) {
    app.init_resource::<Taken>()
        .add_observer(|taken: On<FreezeTaken>, mut all: ResMut<Taken>| all.0.push(taken.entity));
}

#[test]
fn a_picture_that_is_taken_is_reported_once() {
    let Some(mut twins) = Twins::with(Kind::Core2d, SIZE, LDR, record_taken) else {
        return;
    };
    twins.blur(GaussianBlur::from_sigma(4.0));
    twins.headless.warm_up();
    let camera = twins.blurred.camera;
    let taken = |twins: &Twins| twins.headless.app.world().resource::<Taken>().0.clone();
    twins.blur(FreezeBlur);
    twins.headless.frame();
    assert_eq!(taken(&twins), [], "the frame that takes it reports nothing yet");
    let frozen = twins.blurred.pixels(&twins.headless);
    for frame in 1..4 {
        // Inserting it again changes nothing.
        twins.blur(FreezeBlur);
        step(&mut twins.headless, frame);
        assert_eq!(taken(&twins), [camera]);
        assert_bits("inserted again", &twins.blurred, &twins.headless, &frozen);
    }
}

#[test]
fn glass_reports_that_its_picture_is_taken() {
    for backend in BACKENDS {
        let Some(mut stage) = Stage::with(backend, Kind::Core2d, LDR, record_taken) else {
            return;
        };
        let pane = Pane::new([30.0, 20.0, 60.0, 50.0], BackdropBlur::from_sigma(4.0));
        stage.show(|ui| ui.pane(&pane));
        let region = BackdropRegion::new(stage.glass.camera, Rect::new(100.0, 20.0, 150.0, 90.0));
        let mut frozen = vec![stage.spawn(region)];
        frozen.extend(&stage.panes);
        stage.headless.warm_up();
        for glass in &frozen {
            stage.headless.app.world_mut().entity_mut(*glass).insert(FreezeBlur);
        }
        let taken = |stage: &Stage| stage.headless.app.world().resource::<Taken>().0.clone();
        stage.headless.frame();
        assert_eq!(taken(&stage), [], "the frame that takes them reports nothing yet");
        frozen.sort();
        for frame in 1..4 {
            step(&mut stage.headless, frame);
            let mut found = taken(&stage);
            found.sort();
            assert_eq!(found, frozen, "each once");
        }
    }
}

/// Usages of a camera's textures that cannot be copied, and so are not frozen.
fn without_copies() -> CameraMainTextureUsages {
    CameraMainTextureUsages(TextureUsages::RENDER_ATTACHMENT | TextureUsages::TEXTURE_BINDING)
}

/// Starts recording losses in an app whose entities no other test has: their messages name entities.
fn record_own_losses(app: &mut App) {
    record_losses(app);
    for _ in 0..1000 {
        app.world_mut().spawn_empty();
    }
}

#[test]
fn glass_whose_picture_was_lost_is_frozen_again() {
    for backend in BACKENDS {
        let Some(mut stage) = Stage::with(backend, Kind::Core2d, LDR, record_own_losses) else {
            return;
        };
        stage.insert(without_copies());
        let rect = URect::new(30, 20, 150, 90);
        let region = BackdropRegion::new(stage.glass.camera, rect.as_rect());
        let glass = stage.spawn((region, BackdropBlur::from_sigma(4.0), FreezeBlur));
        stage.headless.warm_up();
        assert_eq!(stage.headless.app.world().resource::<Lost>().0, [glass]);
        stage.insert(CameraMainTextureUsages::default());
        stage.headless.app.world_mut().entity_mut(glass).insert(FreezeBlur);
        stage.headless.warm_up();
        let frozen = stage.glass.pixels(&stage.headless);
        for frame in 1..4 {
            step(&mut stage.headless, frame);
            let got = stage.glass.pixels(&stage.headless);
            assert!(got.bytes != frozen.bytes, "the scene moves");
            assert_part(&stage.name(&format!("frozen-again-{frame}")), &got, &frozen, rect);
        }
    }
}

#[test]
fn a_blur_whose_picture_was_lost_is_frozen_again() {
    let Some(mut twins) = Twins::with(Kind::Core2d, SIZE, LDR, record_own_losses) else {
        return;
    };
    let all = CameraMainTextureUsages::default();
    twins.insert(without_copies());
    twins.blur((GaussianBlur::from_sigma(4.0), FreezeBlur));
    twins.headless.warm_up();
    let camera = twins.blurred.camera;
    assert_eq!(twins.headless.app.world().resource::<Lost>().0, [camera]);
    twins.insert(all);
    twins.blur(FreezeBlur);
    twins.headless.warm_up();
    let frozen = twins.blurred.pixels(&twins.headless);
    for frame in 1..4 {
        step(&mut twins.headless, frame);
        assert_bits("frozen again", &twins.blurred, &twins.headless, &frozen);
    }
}
