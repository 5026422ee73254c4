//! Filters of nodes.

use super::settings::{gaussian, hostile};
use super::*;
use proptest::prelude::*;

fn shadow() -> impl Strategy<Value = DropShadow> {
    let offset = prop_oneof![8 => [-9.0..9.0_f32, -9.0..9.0_f32], 1 => [hostile(), hostile()]];
    let alpha = prop_oneof![8 => 0.0..1.0_f32, 1 => hostile()];
    (offset, hostile(), alpha, any::<[bool; 2]>()).prop_map(|(offset, radius, alpha, [is_glow, is_inset])| DropShadow {
        offset: offset.into(),
        radius,
        color: Color::linear_rgba(0.4, 0.1, 0.0, alpha),
        is_glow,
        is_inset,
    })
}

/// A filter of a node, most of whose settings are often neutral.
pub fn filter() -> impl Strategy<Value = UiFilter> {
    let blur = prop_oneof![1 => Just(GaussianBlur::new(0.0)), 2 => gaussian()];
    let share = || prop_oneof![3 => Just(1.0_f32), 1 => 0.0..3.0_f32, 1 => hostile()];
    let opacity = prop_oneof![3 => Just(1.0_f32), 3 => 0.0..1.0_f32, 1 => hostile()];
    let shadows = prop_oneof![2 => Just(Vec::new()), 1 => proptest::collection::vec(shadow(), 1..3)];
    let is_rounded = proptest::bool::weighted(0.3);
    let length = prop_oneof![4 => Just(0.0_f32), 2 => 0.0..30.0_f32, 1 => hostile()];
    (blur, [share(), share(), share()], shadows, opacity, is_rounded, length).prop_map(
        |(blur, [saturation, brightness, contrast], shadows, opacity, is_rounded, length)| UiFilter {
            blur,
            is_rounded,
            outline: GroupOutline {
                width: length,
                color: Color::WHITE.with_alpha(opacity),
            },
            fade: UiRect::new(Val::Px(length), Val::Percent(length), Val::ZERO, Val::Auto),
            colors: vec![
                ColorStep::Contrast(contrast),
                ColorStep::Tint(Color::srgb(saturation, 1.0, contrast)),
                ColorStep::Saturate(saturation),
                ColorStep::Brightness(brightness),
            ],
            shadows,
            opacity,
        },
    )
}
