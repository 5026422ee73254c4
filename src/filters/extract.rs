//! Extracts groups from the main world.

use super::groups::FilteredGroups;
use super::strength::NodeFilter;
use crate::paint::ui_clip::radii_of;
use crate::paint::{PaintInputs, UiCameras};
use crate::plan::blurs;
use crate::schedule::{Border, Filter, PlacedProfile, Shape};
use crate::settings::{BackdropBlur, BlurProfile, BlurSwitch, UiFilter};
use bevy::math::Affine2;
use bevy::prelude::*;
use bevy::render::Extract;
use bevy::ui::{ComputedNode, ComputedUiRenderTargetInfo, ComputedUiTargetCamera, UiGlobalTransform};
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
    cameras: Extract<UiCameras>,
    switch: Extract<Res<BlurSwitch>>,
) {
    let mut pictures = cameras.pictures();
    for (entity, group) in &groups.0 {
        let Ok((filter, profile, has_glass, node, transform, target, info)) = nodes.get(*entity) else {
            continue;
        };
        let Some((picture, is_soft)) = pictures(target) else {
            continue;
        };
        let placement = transform.affine() * Affine2::from_translation(-0.5 * node.size());
        let outline = filter.is_rounded.then(|| outline_of(node, transform, is_soft));
        let on_node = NodeFilter {
            filter,
            info,
            transform,
            switch: **switch,
        };
        let sigma = on_node.sigma();
        let edge = filter.blur.edge;
        let has_border = !edge.spreads() && blurs(sigma);
        let border = has_border.then(|| Border {
            rect: outline.unwrap_or_else(|| border_box(node, transform)).bounds(),
            edge,
        });
        // A profile beside glass is the profile of the glass.
        let profile = profile.filter(|profile| !profile.is_uniform() && !has_glass);
        inputs.of(picture).filters.push(Filter {
            entity: *entity,
            nodes: group.nodes.clone(),
            clip: group.clip,
            clips: group.clips,
            sigma,
            border,
            profile: profile.map(|profile| PlacedProfile {
                profile: profile.clone(),
                size: node.size(),
                placement,
            }),
            outline,
            colors: filter.matrices(),
            shadows: on_node.shadows().collect(),
            opacity: filter.opacity_in_range(),
        });
    }
    for camera in &mut inputs.cameras {
        camera
            .filters
            .sort_by_key(|filter| (filter.nodes.start, Reverse(filter.nodes.end)));
    }
}

/// The border box of a node, without its corners.
fn border_box(node: &ComputedNode, transform: &UiGlobalTransform) -> Shape {
    Shape {
        transform: transform.affine(),
        ..Shape::of_rect(Rect::from_center_size(Vec2::ZERO, node.size()))
    }
}

/// The rounded padding box of a node.
fn outline_of(node: &ComputedNode, transform: &UiGlobalTransform, is_soft: bool) -> Shape {
    let border = node.border();
    let size = (node.size() - border.min_inset - border.max_inset).max(Vec2::ZERO);
    let center = 0.5 * (border.min_inset - border.max_inset);
    Shape {
        transform: transform.affine() * Affine2::from_translation(center),
        size,
        radii: radii_of(node.inner_radius()),
        is_soft,
    }
}
