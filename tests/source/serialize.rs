//! With the feature `serialize`, settings survive a round trip.

use bevy::color::Color;
use bevy::math::Vec2;
use bevy::ui::{UiRect, Val};
use bevy::utils::default;
use bevy_gaussian_blur::prelude::*;
use core::fmt::Debug;
use serde::Serialize;
use serde::de::DeserializeOwned;

fn assert_survives<T: Serialize + DeserializeOwned + PartialEq + Debug>(settings: &T) {
    let text = serde_json::to_string(settings).expect("settings can be written");
    let read: T = serde_json::from_str(&text).expect("and read");
    assert_eq!(read, *settings, "{text}");
}

#[test]
fn settings_survive_being_written_and_read() {
    let blur = GaussianBlur::new(12.5)
        .with_unit(BlurUnit::ViewportHeight)
        .with_aspect(Vec2::new(1.0, 0.25))
        .with_edge(EdgeMode::Mirror);
    assert_survives(&blur);
    let stages = [
        BlurStage::BeforeTonemapping,
        BlurStage::AfterTonemapping,
        BlurStage::AfterUi,
    ];
    assert_survives(&stages);
    assert_survives(&(BlurAlpha::Opaque, BlurUpdate::Once, BlurBackend::Compute));
}

#[test]
fn profiles_survive_but_for_masks() {
    let profiles = [
        BlurProfile::Uniform,
        BlurProfile::Linear {
            start: Vec2::ZERO,
            end: Vec2::Y,
            from: 0.25,
            to: 1.0,
        },
        BlurProfile::Band {
            center: Vec2::splat(0.5),
            direction: Vec2::X,
            sharp: 0.125,
            soft: 0.5,
        },
        BlurProfile::Radial {
            center: Vec2::splat(0.5),
            inner: 0.25,
            outer: 0.75,
            from: 0.0,
            to: 1.0,
        },
    ];
    assert_survives(&profiles);
    assert!(serde_json::to_string(&BlurProfile::Mask(default())).is_err());
}

#[test]
fn filters_survive_with_everything_in_them() {
    let filter = UiFilter::from_sigma(2.0)
        .with_color(ColorStep::Sepia(0.5))
        .with_color(ColorStep::Tint(Color::BLACK))
        .with_outline(2.5, Color::WHITE)
        .with_shadow(DropShadow::default().inset())
        .with_fade(UiRect::axes(Val::Percent(10.0), Val::Px(24.0)))
        .with_opacity(0.5)
        .with_rounded(true);
    assert_survives(&filter);
}
