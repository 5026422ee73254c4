//! One filter at a time, and all of them.

use super::content::boxes;
use super::group::{Group, on_one};
use crate::backdrop::stage::{HDR, LDR};
use crate::support::scene::Kind;
use bevy::prelude::*;
use bevy_gaussian_blur::prelude::*;

fn filters() -> Vec<(&'static str, UiFilter)> {
    let shadow = UiFilter::shadow(Vec2::new(5.0, 6.0), 9.0, Color::linear_rgba(0.0, 0.02, 0.1, 0.8));
    let glow = DropShadow::glow(12.0, Color::linear_rgba(0.1, 0.6, 0.3, 0.9));
    let (sepia, hue) = (ColorStep::Sepia(0.6), ColorStep::HueRotate(140.0));
    let bright = ColorStep::Brightness(1.05);
    let eight = [sepia, hue, bright, hue, sepia, bright, hue, bright]
        .into_iter()
        .fold(UiFilter::default(), UiFilter::with_color);
    vec![
        ("blur", UiFilter::blur(9.0)),
        ("weak", UiFilter::from_sigma(0.7)),
        ("strong", UiFilter::from_sigma(6.0)),
        ("along-x", UiFilter::from_sigma(4.0).with_aspect(Vec2::X)),
        ("opacity", UiFilter::opacity(0.5)),
        ("saturation", UiFilter::default().with_color(ColorStep::Saturate(0.3))),
        ("brightness", UiFilter::default().with_color(ColorStep::Brightness(1.4))),
        ("contrast", UiFilter::default().with_color(ColorStep::Contrast(1.7))),
        ("invert", UiFilter::default().with_color(ColorStep::Invert(0.8))),
        ("hue", UiFilter::default().with_color(ColorStep::HueRotate(120.0))),
        ("sepia", UiFilter::default().with_color(ColorStep::Sepia(0.7))),
        (
            "tint",
            UiFilter::default().with_color(ColorStep::Tint(Color::srgb(0.9, 0.5, 1.3))),
        ),
        (
            "cover",
            UiFilter::default().with_color(ColorStep::Cover(Color::srgba(1.0, 0.9, 0.2, 0.4))),
        ),
        (
            "matrix",
            UiFilter::default().with_color(ColorStep::Matrix([
                Vec4::ZERO.with_y(0.8).with_w(0.1),
                Vec4::Z,
                Vec4::X,
            ])),
        ),
        ("sepia-hue", UiFilter::default().with_color(sepia).with_color(hue)),
        ("hue-sepia", UiFilter::default().with_color(hue).with_color(sepia)),
        ("eight", eight),
        ("shadow", shadow.clone()),
        ("glow", UiFilter::default().with_shadow(glow)),
        ("faded-shadow", shadow.clone().with_opacity(0.6)),
        (
            "all",
            shadow
                .with_radius(4.0)
                .with_shadow(glow)
                .with_color(ColorStep::Saturate(1.5))
                .with_color(ColorStep::Contrast(0.8))
                .with_color(ColorStep::HueRotate(-40.0))
                .with_opacity(0.9),
        ),
    ]
}

fn check_all(group: &mut Group) {
    for (name, filter) in filters() {
        group.check(name, &filter, boxes);
    }
}

#[test]
fn every_filter() {
    on_one(Kind::Core2d, LDR, check_all);
}

#[test]
fn every_filter_with_a_high_dynamic_range() {
    on_one(Kind::Core3d, HDR, check_all);
}

/// A neutral filter changes no bit.
#[test]
fn neutral_filters() {
    on_one(Kind::Core2d, LDR, |group| {
        group.show((), boxes);
        let [_, unfiltered, _] = group.pictures();
        let without_length = UiRect::new(Val::Auto, Val::Percent(0.0), Val::Px(-1.0), Val::Px(f32::NAN));
        let shadow = DropShadow::new(Vec2::ONE, 3.0, Color::NONE);
        for (width, color) in [
            (0.0, Color::BLACK),
            (-2.0, Color::BLACK),
            (f32::NAN, Color::WHITE),
            (3.0, Color::NONE),
        ] {
            let neutral = UiFilter::fade(without_length)
                .with_shadow(shadow)
                .with_outline(width, color);
            group.show(neutral, boxes);
            let [_, filtered, _] = group.pictures();
            assert!(unfiltered == filtered, "a neutral filter changes the picture");
        }
    });
}
