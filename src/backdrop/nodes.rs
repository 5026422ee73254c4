//! Extracts glass from the main world: nodes of Bevy's user interface (feature `ui`).
//!
//! It reads only the main world, so it may run before or after Bevy's own extraction.

use super::canvas::Hole;
use super::clip::clip_of;
use super::extract::{BoundsWanted, ExtractedBackdrops, picture_of};
use super::extracted::{ExtractedBackdrop, Shape};
use super::freeze::FrozenBackdrops;
use super::paint_order::PaintOrder;
use crate::formats::CameraFinish;
use crate::settings::{BackdropBlur, BackdropRegion, BlurProfile};
use bevy::camera::Camera;
use bevy::camera::visibility::InheritedVisibility;
use bevy::ecs::entity::EntityHashMap;
use bevy::math::Affine2;
use bevy::prelude::*;
use bevy::render::Extract;
use bevy::render::sync_world::TemporaryRenderEntity;
use bevy::ui::{
    BackgroundGradient, BorderGradient, CalculatedClip, ComputedNode, ComputedStackIndex, ComputedUiRenderTargetInfo,
    ComputedUiTargetCamera, UiGlobalTransform,
};
use bevy::ui_render::{UiAntiAlias, UiCameraMap};

type BackdropNode = (
    Entity,
    &'static BackdropBlur,
    Option<&'static BlurProfile>,
    &'static ComputedNode,
    &'static ComputedStackIndex,
    &'static UiGlobalTransform,
    &'static InheritedVisibility,
    Option<&'static CalculatedClip>,
    &'static ComputedUiTargetCamera,
    &'static ComputedUiRenderTargetInfo,
);

/// How filters of the user interface change the glass of their own nodes, which they do not filter. By the node's entity in
/// the main world.
#[derive(Resource, Default)]
pub struct FilteredNodes(pub EntityHashMap<FilteredNode>);

/// A node whose group is filtered.
#[derive(Clone, Copy, Debug)]
pub struct FilteredNode {
    /// The clip by its ancestors, in the viewport. Its `CalculatedClip` is the clip of the group.
    pub clip: Option<Rect>,
    /// The opacity of the group.
    pub opacity: f32,
}

type UiCamera = (&'static Camera, CameraFinish, Option<&'static UiAntiAlias>);

/// Extracts nodes, after regions. Each backdrop has its own entity for its item in the phase.
pub fn extract_nodes(
    mut commands: Commands,
    (mut backdrops, mut wanted): (ResMut<ExtractedBackdrops>, ResMut<BoundsWanted>),
    frozen: Res<FrozenBackdrops>,
    nodes: Extract<Query<BackdropNode, Without<BackdropRegion>>>,
    cameras: Extract<Query<UiCamera>>,
    (camera_map, filtered): (Extract<UiCameraMap>, Extract<Res<FilteredNodes>>),
) {
    let mut mapper = camera_map.get_mapper();
    for (entity, glass, profile, node, stack_index, transform, visibility, clip, target, info) in &nodes {
        // `Display::None` makes nodes empty, and clips their descendants to nothing.
        if !visibility.get() || node.is_empty() {
            continue;
        }
        let (Some(camera_entity), Some(seen)) = (mapper.map(target), target.get()) else {
            continue;
        };
        let Ok((camera, finish, anti_alias)) = cameras.get(seen) else {
            continue;
        };
        let Some(picture) = picture_of(camera_entity, camera, &finish) else {
            continue;
        };
        let filtered = filtered.0.get(&entity);
        let shape = Shape {
            transform: transform.affine(),
            size: node.size(),
            radii: node.border_radius().into(),
            clip: filtered.map_or(clip_of(clip), |node| node.clip),
            is_soft: anti_alias != Some(&UiAntiAlias::Off),
        };
        // The scale factor is the target's, times `UiScale`. A radius out of range means no blur; `validation` reports
        // it.
        let (scale, height) = (info.scale_factor(), picture.viewport.height());
        let sigma = glass.blur.sigma_in_texels(scale, height).unwrap_or(Vec2::ZERO);
        let layer = || {
            wanted.0 = true;
            PaintOrder::Ui {
                stack_index: stack_index.0,
                item: commands.spawn::<TemporaryRenderEntity>(default()).id(),
            }
        };
        let hole = filtered.map(|_| Hole {
            opacity: glass.tint().opacity,
            canvas: None,
        });
        let faded = filtered.map(|node| glass.with_opacity(glass.tint().opacity * node.opacity));
        let glass = faded.as_ref().unwrap_or(glass);
        let backdrop = ExtractedBackdrop::new(entity, picture, shape, glass, sigma, frozen.get(entity), layer);
        backdrops.0.extend(backdrop.map(|backdrop| ExtractedBackdrop {
            hole,
            ..backdrop.with_profile(profile)
        }));
    }
}

/// The box of a node with a gradient.
#[derive(Clone, Copy, Debug)]
pub struct GradientBox {
    /// Its place in the stack of all nodes.
    pub stack_index: u32,
    /// From the box, centred on the origin, to the viewport.
    pub transform: Affine2,
    /// In physical pixels.
    pub size: Vec2,
    /// In the viewport.
    pub clip: Option<Rect>,
}

/// The boxes of all nodes with gradients, by the main world's entity: Bevy's own list of gradients is private.
#[derive(Resource, Default)]
pub struct GradientBoxes(pub EntityHashMap<GradientBox>);

type GradientNode = (
    Entity,
    &'static ComputedNode,
    &'static ComputedStackIndex,
    &'static UiGlobalTransform,
    Option<&'static CalculatedClip>,
);

type HasGradient = Or<(With<BackgroundGradient>, With<BorderGradient>)>;

/// Extracts the boxes of gradients.
pub fn extract_gradient_boxes(
    mut boxes: ResMut<GradientBoxes>,
    wanted: Res<BoundsWanted>,
    nodes: Extract<Query<GradientNode, HasGradient>>,
) {
    boxes.0.clear();
    if !wanted.0 {
        return;
    }
    for (entity, node, stack_index, transform, clip) in &nodes {
        let gradient = GradientBox {
            stack_index: stack_index.0,
            transform: transform.affine(),
            size: node.size(),
            clip: clip_of(clip),
        };
        boxes.0.insert(entity, gradient);
    }
}
