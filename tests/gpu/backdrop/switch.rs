//! The switch that turns blurs off, and the colour that glass has then.

use super::glass;
use super::pane::{Pane, Square};
use super::stage::{LDR, on_both};
use crate::support::compositor::{assert_painted, compose};
use crate::support::difference::worst_difference;
use crate::support::scene::Kind;
use bevy::diagnostic::DiagnosticsStore;
use bevy::prelude::*;
use bevy_gaussian_blur::BlurSwitch;
use bevy_gaussian_blur::diagnostics::TEXTURE_BYTES;
use bevy_gaussian_blur::prelude::*;

/// Off, glass is its fallback in its shape; on again, every bit is as before.
#[test]
fn glass_is_its_fallback_while_blurs_are_off() {
    on_both(Kind::Core2d, LDR, |stage| {
        let colour = [0.6, 0.1, 0.3, 0.5];
        let [red, green, blue, alpha] = colour;
        let glass = glass(4.0).with_fallback(Color::linear_rgba(red, green, blue, alpha));
        let pane = Pane::new([20.0, 15.0, 70.0, 50.0], glass);
        let plain = Pane::new([110.0, 15.0, 60.0, 50.0], super::glass(4.0));
        let build = |ui: &mut super::stage::Ui| {
            ui.pane(&pane);
            ui.pane(&plain);
        };
        let [scene, on] = stage.shown(build);
        stage.headless.app.insert_resource(BlurSwitch::Off);
        stage.headless.frame();
        stage.headless.frame();
        let [_, off] = stage.pictures();
        let square = || Square::new([20.0, 15.0, 70.0, 50.0], colour).layer();
        let expected = compose(&scene, &[square()], LDR);
        assert_painted(&stage.name("off"), &off, &expected, &[square()], LDR);
        stage.headless.app.insert_resource(BlurSwitch::On);
        stage.headless.frame();
        stage.headless.frame();
        let [_, again] = stage.pictures();
        assert_eq!(worst_difference(&again, &on).value, 0.0, "it is as it was");
    });
}

/// Off, a blurred camera is sharp and no texture is held.
#[test]
fn nothing_is_held_while_blurs_are_off() {
    let stage = super::stage::Stage::with(BlurBackend::Compute, Kind::Core2d, LDR, |app| {
        app.add_plugins(GaussianBlurDiagnosticsPlugin);
    });
    let Some(mut stage) = stage else {
        return;
    };
    let [scene, _] = stage.shown(|_| {});
    let camera = stage.glass.camera;
    stage
        .headless
        .app
        .world_mut()
        .entity_mut(camera)
        .insert(GaussianBlur::new(20.0));
    stage.headless.warm_up();
    let bytes = |stage: &super::stage::Stage| {
        let store = stage.headless.app.world().resource::<DiagnosticsStore>();
        store.get(&TEXTURE_BYTES)?.measurement().map(|bytes| bytes.value)
    };
    (0..12).for_each(|_| stage.headless.frame());
    assert!(bytes(&stage) > Some(0.0), "{:?} bytes", bytes(&stage));
    stage.headless.app.insert_resource(BlurSwitch::Off);
    (0..12).for_each(|_| stage.headless.frame());
    let [_, off] = stage.pictures();
    assert_eq!(worst_difference(&off, &scene).value, 0.0, "the camera is sharp");
    assert_eq!(bytes(&stage), Some(0.0));
}
