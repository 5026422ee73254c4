//! Losses, and their messages.

use super::{Lost, assert_bits, record_losses, step};
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
    let usages = TextureUsages::RENDER_ATTACHMENT | TextureUsages::TEXTURE_BINDING;
    twins.insert(CameraMainTextureUsages(usages));
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

#[test]
fn a_picture_that_is_taken_is_reported_once() {
    let setup = |app: &mut App| {
        app.init_resource::<Taken>()
            .add_observer(|taken: On<FreezeTaken>, mut all: ResMut<Taken>| all.0.push(taken.entity));
    };
    let Some(mut twins) = Twins::with(Kind::Core2d, SIZE, LDR, setup) else {
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
fn a_blur_whose_picture_was_lost_is_frozen_again() {
    // The messages of all tests name entities: these are no other test's.
    let setup = |app: &mut App| {
        record_losses(app);
        for _ in 0..1000 {
            app.world_mut().spawn_empty();
        }
    };
    let Some(mut twins) = Twins::with(Kind::Core2d, SIZE, LDR, setup) else {
        return;
    };
    let all = CameraMainTextureUsages::default();
    let usages = TextureUsages::RENDER_ATTACHMENT | TextureUsages::TEXTURE_BINDING;
    twins.insert(CameraMainTextureUsages(usages));
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
