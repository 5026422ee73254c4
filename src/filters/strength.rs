//! How strong filters are, in physical pixels.

use crate::schedule::{FAR, Shadow, reach_of, scale_of};
use crate::settings::{BlurSwitch, DropShadow, RADIUS_IN_SIGMAS, UiFilter};
use bevy::prelude::*;
use bevy::ui::{ComputedUiRenderTargetInfo, UiGlobalTransform};

/// The standard deviations of a group's blur, in physical pixels. A radius out of range means no blur; `validation` reports it.
pub fn sigma_of(
    filter: &UiFilter,
    info: &ComputedUiRenderTargetInfo,
    transform: &UiGlobalTransform,
    switch: BlurSwitch,
) -> Vec2 {
    if !switch.is_on() {
        return Vec2::ZERO;
    }
    let sigma = filter.blur.sigma_in_texels(info.scale_factor(), info.physical_size().y);
    (sigma.unwrap_or(Vec2::ZERO) * stretch_of(transform)).min(Vec2::splat(f32::MAX))
}

/// How a node's transform scales lengths.
fn stretch_of(transform: &UiGlobalTransform) -> Vec2 {
    let stretch = scale_of(transform.affine().matrix2);
    if stretch.is_finite() { stretch } else { Vec2::ONE }
}

/// The visible shadows of a group.
pub fn shadows_of<'a>(
    filter: &'a UiFilter,
    info: &ComputedUiRenderTargetInfo,
    transform: &UiGlobalTransform,
    switch: BlurSwitch,
) -> impl Iterator<Item = Shadow> + use<'a> {
    let far = Vec2::splat(FAR as f32);
    let scale = info.scale_factor() * stretch_of(transform);
    let seen = filter
        .shadows
        .iter()
        .filter(move |shadow| shadow.is_seen() && switch.is_on());
    seen.map(move |shadow: &DropShadow| {
        let color = shadow.color.to_linear();
        let [red, green, blue] = [color.red, color.green, color.blue].map(|value| value * color.alpha);
        Shadow {
            offset: (shadow.offset * scale).clamp(-far, far),
            sigma: (shadow.radius / RADIUS_IN_SIGMAS * scale).min(Vec2::splat(f32::MAX)),
            color: [red, green, blue, if shadow.is_glow { 0.0 } else { color.alpha }],
            is_inset: shadow.is_inset,
        }
    })
}

/// How far a filter moves colours, in physical pixels.
pub fn reach_of_filter(
    filter: &UiFilter,
    info: &ComputedUiRenderTargetInfo,
    transform: &UiGlobalTransform,
    switch: BlurSwitch,
) -> Vec2 {
    let shadows = shadows_of(filter, info, transform, switch);
    let reach = shadows.map(|shadow| reach_of(shadow.sigma).as_vec2() + shadow.offset.abs().ceil());
    reach_of(sigma_of(filter, info, transform, switch)).as_vec2() + reach.fold(Vec2::ZERO, Vec2::max)
}
