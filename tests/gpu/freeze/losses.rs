//! Losses, and their messages.

use super::glass::assert_part;
use super::*;
use crate::backdrop::pane::Pane;
use crate::backdrop::stage::Stage;
use crate::support::events::{heard, listen};
use crate::support::scene::SIZE;

#[test]
fn a_texture_that_cannot_be_copied_is_not_frozen() {
    let mut twins = Twins::with(Kind::Core2d, SIZE, LDR, listen::<FreezeLost>);
    twins.insert(without_copies());
    twins.blur((GaussianBlur::from_sigma(4.0), FreezeBlur));
    twins.headless.warm_up();
    step(&mut twins.headless, 1);
    // It continues, and reports this once.
    twins.assert_blurred("goes-on-unfrozen", [4.0; 2]);
    step(&mut twins.headless, 2);
    twins.assert_blurred("goes-on-unfrozen-2", [4.0; 2]);
    let camera = twins.blurred.camera;
    assert_eq!(heard::<FreezeLost>(&twins.headless), [camera]);
    let said = logs::all(&format!("the frozen blur of entity {camera} continues unfrozen"));
    assert!(said.len() <= 1, "{said:?}");
}

#[test]
fn what_freezes_nothing_is_said_once() {
    let mut twins = Twins::new(Kind::Core2d, SIZE, LDR);
    let name = "frozen user interface";
    twins.blur((
        Name::new(name),
        GaussianBlur::from_sigma(4.0),
        BlurStage::AfterUi,
        FreezeBlur,
    ));
    twins.headless.warm_up();
    let frozen = twins.pixels();
    step(&mut twins.headless, 1);
    assert_bits("after the user interface", &twins, &frozen);
    assert!(logs::all(name).len() <= 1, "{:?}", logs::all(name));
}

#[test]
fn a_picture_that_is_taken_is_reported_once() {
    let mut twins = Twins::with(Kind::Core2d, SIZE, LDR, listen::<FreezeTaken>);
    twins.blur(GaussianBlur::from_sigma(4.0));
    twins.headless.warm_up();
    let camera = twins.blurred.camera;
    twins.blur(FreezeBlur);
    twins.headless.frame();
    assert_eq!(
        heard::<FreezeTaken>(&twins.headless),
        [],
        "the frame that takes it reports nothing yet"
    );
    let frozen = twins.pixels();
    for frame in 1..4 {
        // Inserting it again changes nothing.
        twins.blur(FreezeBlur);
        step(&mut twins.headless, frame);
        assert_eq!(heard::<FreezeTaken>(&twins.headless), [camera]);
        assert_bits("inserted again", &twins, &frozen);
    }
}

#[test]
fn glass_reports_that_its_picture_is_taken() {
    for backend in BACKENDS {
        let mut stage = Stage::with(backend, Kind::Core2d, LDR, listen::<FreezeTaken>);
        let pane = Pane::new([30.0, 20.0, 60.0, 50.0], BackdropBlur::from_sigma(4.0));
        stage.show(|ui| ui.pane(&pane));
        let region = BackdropRegion::new(stage.glass.camera, Rect::new(100.0, 20.0, 150.0, 90.0));
        let mut frozen = vec![stage.spawn(region)];
        frozen.extend(&stage.panes);
        stage.headless.warm_up();
        freeze(&mut stage.headless, &frozen);
        stage.headless.frame();
        assert_eq!(
            heard::<FreezeTaken>(&stage.headless),
            [],
            "the frame that takes them reports nothing yet"
        );
        frozen.sort();
        for frame in 1..4 {
            step(&mut stage.headless, frame);
            assert_eq!(heard::<FreezeTaken>(&stage.headless), frozen, "each once");
        }
    }
}

/// Starts recording losses in an app whose entities no other test has: their messages name entities.
fn record_own_losses(app: &mut App) {
    listen::<FreezeLost>(app);
    for _ in 0..1000 {
        app.world_mut().spawn_empty();
    }
}

#[test]
fn glass_whose_picture_was_lost_is_frozen_again() {
    for backend in BACKENDS {
        let mut stage = Stage::with(backend, Kind::Core2d, LDR, record_own_losses);
        stage.insert(without_copies());
        let rect = URect::new(30, 20, 150, 90);
        let region = BackdropRegion::new(stage.glass.camera, rect.as_rect());
        let glass = stage.spawn((region, BackdropBlur::from_sigma(4.0), FreezeBlur));
        stage.headless.warm_up();
        assert_eq!(heard::<FreezeLost>(&stage.headless), [glass]);
        stage.insert(CameraMainTextureUsages::default());
        stage.headless.insert(glass, FreezeBlur);
        stage.headless.warm_up();
        let frozen = stage.pixels();
        for frame in 1..4 {
            step(&mut stage.headless, frame);
            let got = stage.pixels();
            assert!(got.bytes != frozen.bytes, "the scene moves");
            assert_part(&stage.name(&format!("frozen-again-{frame}")), &got, &frozen, rect);
        }
    }
}

#[test]
fn a_blur_whose_picture_was_lost_is_frozen_again() {
    let mut twins = Twins::with(Kind::Core2d, SIZE, LDR, record_own_losses);
    let all = CameraMainTextureUsages::default();
    twins.insert(without_copies());
    twins.blur((GaussianBlur::from_sigma(4.0), FreezeBlur));
    twins.headless.warm_up();
    let camera = twins.blurred.camera;
    assert_eq!(heard::<FreezeLost>(&twins.headless), [camera]);
    twins.insert(all);
    twins.blur(FreezeBlur);
    twins.headless.warm_up();
    let frozen = twins.pixels();
    for frame in 1..4 {
        step(&mut twins.headless, frame);
        assert_bits("frozen again", &twins, &frozen);
    }
}
