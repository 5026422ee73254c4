//! Extracts groups from the main world.

use super::groups::FilteredGroups;
use crate::formats::CameraFinish;
use crate::paint::{PaintInputs, picture_of};
use crate::schedule::{FAR, Filter, PlacedProfile, Shadow, reach_of, scale_of};
use crate::settings::{BackdropBlur, BlurProfile, BlurSwitch, DropShadow, RADIUS_IN_SIGMAS, UiFilter};
use bevy::camera::Camera;
use bevy::math::Affine2;
use bevy::prelude::*;
use bevy::render::Extract;
use bevy::ui::{ComputedNode, ComputedUiRenderTargetInfo, ComputedUiTargetCamera, UiGlobalTransform};
use bevy::ui_render::UiCameraMap;
use core::cmp::Reverse;

type FilterNode = (
    &'static UiFilter,
    Option<&'static BlurProfile>,
    Has<BackdropBlur>,
    &'static ComputedNode,
    &'static UiGlobalTransform,
    &'static ComputedUiTargetCamera,
    &'static ComputedUiRenderTargetInfo,
);

/// Extracts groups.
pub fn extract_filters(
    mut inputs: ResMut<PaintInputs>,
    groups: Extract<Res<FilteredGroups>>,
    nodes: Extract<Query<FilterNode>>,
    cameras: Extract<Query<(&Camera, CameraFinish)>>,
    (camera_map, switch): (Extract<UiCameraMap>, Extract<Res<BlurSwitch>>),
) {
    let mut mapper = camera_map.get_mapper();
    for (entity, group) in &groups.0 {
        let Ok((filter, profile, has_glass, node, transform, target, info)) = nodes.get(*entity) else {
            continue;
        };
        let (Some(camera_entity), Some(seen)) = (mapper.map(target), target.get()) else {
            continue;
        };
        let Ok((camera, finish)) = cameras.get(seen) else {
            continue;
        };
        let Some(picture) = picture_of(camera_entity, camera, &finish) else {
            continue;
        };
        let placement = transform.affine() * Affine2::from_translation(-0.5 * node.size());
        // A profile beside glass is the profile of the glass.
        let profile = profile.filter(|profile| !profile.is_uniform() && !has_glass);
        inputs.of(picture).filters.push(Filter {
            entity: *entity,
            nodes: group.nodes.clone(),
            clip: group.clip,
            clips: group.clips,
            sigma: sigma_of(filter, info, transform, **switch),
            profile: profile.map(|profile| PlacedProfile {
                profile: profile.clone(),
                size: node.size(),
                placement,
            }),
            functions: filter.functions_in_range(),
            shadows: shadows_of(filter, info, transform, **switch).collect(),
            opacity: filter.opacity_in_range(),
        });
    }
    for camera in &mut inputs.cameras {
        camera
            .filters
            .sort_by_key(|filter| (filter.nodes.start, Reverse(filter.nodes.end)));
    }
}

/// The standard deviations of a group's blur, in physical pixels. A radius out of range means no blur; `validation` reports it.
fn sigma_of(
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
fn shadows_of<'a>(
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
            offset: (shadow.offset * scale).round().clamp(-far, far).as_ivec2(),
            sigma: shadow.radius / RADIUS_IN_SIGMAS * scale.x,
            color: [red, green, blue, if shadow.is_glow { 0.0 } else { color.alpha }],
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
    let reach = shadows.map(|shadow| reach_of(Vec2::splat(shadow.sigma)).as_vec2() + shadow.offset.abs().as_vec2());
    reach_of(sigma_of(filter, info, transform, switch)).as_vec2() + reach.fold(Vec2::ZERO, Vec2::max)
}
