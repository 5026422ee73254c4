//! The switch that turns blurs off, and the colour that glass has then.

use super::*;
use crate::support::counters::latest;
use bevy_gaussian_blur::BlurSwitch;
use bevy_gaussian_blur::diagnostics::TEXTURE_BYTES;

/// Off, a blurred camera is sharp and no texture is held.
#[test]
fn nothing_is_held_while_blurs_are_off() {
    let mut stage = super::stage::Stage::with_figures(BlurBackend::Compute, LDR);
    let [scene, _] = stage.shown(|_| {});
    let camera = stage.glass.camera;
    stage.headless.insert(camera, GaussianBlur::new(20.0));
    stage.headless.warm_up();
    let bytes = |stage: &super::stage::Stage| latest(stage.headless.app.world(), &TEXTURE_BYTES);
    stage.headless.frames(12);
    assert!(bytes(&stage) > Some(0.0), "{:?} bytes", bytes(&stage));
    stage.headless.app.insert_resource(BlurSwitch::Off);
    stage.headless.frames(12);
    let [_, off] = stage.pictures();
    assert_eq!(worst_difference(&off, &scene).value, 0.0, "the camera is sharp");
    assert_eq!(bytes(&stage), Some(0.0));
}

/// Off, glass makes a hole in the picture of its own group only as far as its fallback covers it. A fallback with an alpha of 0.01 made a
/// hole for the whole glass: what a shadow darkens to .12 was .60.
#[test]
fn a_faint_fallback_makes_a_faint_hole() {
    on_one(Kind::Core2d, LDR, |stage| {
        stage.headless.app.insert_resource(BlurSwitch::Off);
        let mut shown = |alpha: f32| {
            let glass = glass(4.0).with_fallback(Color::linear_rgba(1.0, 1.0, 1.0, alpha));
            let shadow = BoxShadow::new(
                Color::BLACK.with_alpha(0.85),
                Val::ZERO,
                Val::ZERO,
                Val::ZERO,
                Val::ZERO,
            );
            let card = node(Vec2::new(40.0, 25.0), Vec2::new(80.0, 60.0));
            let [_, got] = stage.shown(|ui| {
                ui.paint(Square::new([0.0, 0.0, 203.0, 117.0], [0.8, 0.8, 0.8, 1.0]).bundle());
                ui.paint((card.clone(), shadow.clone(), UiFilter::opacity(0.98), glass.clone()));
            });
            got
        };
        let (without, faint) = (shown(0.0), shown(0.01));
        stage.headless.app.insert_resource(BlurSwitch::On);
        assert!(
            without.at(80, 55)[0] < 0.2,
            "the shadow darkens {:?}",
            without.at(80, 55)
        );
        let off = worst_difference(&faint, &without).value;
        assert!(off < 0.02, "a hole of one hundredth changes by {off}");
    });
}
