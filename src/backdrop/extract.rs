//! Extracts glass from the main world: regions, which are on no node, and nodes.
//!
//! It reads only the main world, so it may run before or after Bevy's own extraction.

use crate::formats::CameraFinish;
use crate::freeze::KeptPictures;
use crate::paint::ui_clip::{clip_of, radii_of};
use crate::paint::{PaintInputs, UiCameras, picture_of};
use crate::profiles::ShownProfiles;
use crate::schedule::{Glass, GlassOrder, Picture, Shape};
use crate::settings::{BackdropBlur, BackdropGroup, BackdropLayer, BackdropLens, BackdropRegion, BlurSwitch};
use bevy::camera::Camera;
use bevy::camera::visibility::InheritedVisibility;
use bevy::math::Affine2;
use bevy::prelude::*;
use bevy::render::Extract;
use bevy::render::sync_world::RenderEntity;
use bevy::ui::{
    CalculatedClip, ComputedNode, ComputedStackIndex, ComputedUiRenderTargetInfo, ComputedUiTargetCamera,
    UiGlobalTransform,
};
use core::iter::once;

type RegionData = (
    Entity,
    &'static BackdropRegion,
    &'static BackdropBlur,
    Option<&'static BackdropLens>,
);

/// Extracts regions.
pub fn extract_regions(
    mut inputs: ResMut<PaintInputs>,
    kept: Res<KeptPictures>,
    profiles: Res<ShownProfiles>,
    regions: Extract<Query<RegionData>>,
    cameras: Extract<Query<(RenderEntity, &'static Camera, CameraFinish)>>,
    switch: Extract<Res<BlurSwitch>>,
) {
    for (entity, region, settings, lens) in &regions {
        let Ok((camera_entity, camera, finish)) = cameras.get(region.camera) else {
            continue;
        };
        let Some(picture) = picture_of(camera_entity, camera, &finish) else {
            continue;
        };
        let scale = camera.target_scaling_factor().unwrap_or(1.0);
        let glass = Glass {
            entity,
            order: match region.layer {
                BackdropLayer::BelowUi => GlassOrder::BelowUi(region.order),
                BackdropLayer::AboveUi => GlassOrder::AboveUi(region.order),
            },
            shape: shape_of(region, scale),
            clip: None,
            settings,
            profile: profiles.get(entity),
            lens,
            scale,
            freeze: kept.glass(entity, picture.seen()),
            switch: **switch,
            shares: None,
            is_hidden: false,
        };
        add(&glass, picture, &mut inputs);
    }
}

/// Adds glass to a camera, if it may be visible.
fn add(glass: &Glass, picture: Picture, inputs: &mut PaintInputs) {
    if let Some(backdrop) = glass.backdrop(&picture) {
        inputs.camera(picture).backdrops.push(backdrop);
    }
}

/// A region in physical pixels.
fn shape_of(region: &BackdropRegion, scale: f32) -> Shape {
    let (min, max) = (region.rect.min * scale, region.rect.max * scale);
    let size = max - min;
    let largest = 0.5 * size.min_element();
    let radius = |corner: f32| {
        let radius = corner * scale;
        // NaN is not larger than 0 either.
        if radius > 0.0 { radius.min(largest) } else { 0.0 }
    };
    Shape {
        transform: Affine2::from_translation(0.5 * (min + max)),
        size,
        radii: [region.corners.to_array().map(radius); 2],
        is_soft: true,
    }
}

type BackdropNode = (
    Entity,
    &'static BackdropBlur,
    Option<&'static BackdropLens>,
    &'static ComputedNode,
    &'static ComputedStackIndex,
    &'static UiGlobalTransform,
    &'static InheritedVisibility,
    Option<&'static CalculatedClip>,
    &'static ComputedUiTargetCamera,
    &'static ComputedUiRenderTargetInfo,
);

/// Nodes with a `GlobalZIndex` leave the groups of their ancestors.
type Parents<'w, 's> = Query<'w, 's, &'static ChildOf, Without<GlobalZIndex>>;

/// Extracts nodes, after regions.
pub fn extract_nodes(
    mut inputs: ResMut<PaintInputs>,
    (kept, profiles): (Res<KeptPictures>, Res<ShownProfiles>),
    nodes: Extract<Query<BackdropNode, Without<BackdropRegion>>>,
    cameras: Extract<UiCameras>,
    switch: Extract<Res<BlurSwitch>>,
    groups: Extract<Query<(), With<BackdropGroup>>>,
    parents: Extract<Parents>,
) {
    let mut pictures = cameras.pictures();
    let has_groups = !groups.is_empty();
    for (entity, settings, lens, node, stack_index, transform, visibility, clip, target, info) in &nodes {
        let mut around = once(entity).chain(parents.iter_ancestors(entity));
        // The innermost group around it.
        let shares = has_groups.then(|| around.find(|node| groups.contains(*node))).flatten();
        // `Display::None` makes nodes empty, and clips their descendants to nothing.
        let is_hidden = !visibility.get() || node.is_empty();
        if is_hidden && shares.is_none() {
            continue;
        }
        let Some((picture, is_soft)) = pictures(target) else {
            continue;
        };
        let glass = Glass {
            entity,
            order: GlassOrder::Node(stack_index.0),
            shape: Shape {
                transform: transform.affine(),
                size: node.size(),
                radii: radii_of(node.border_radius()),
                is_soft,
            },
            clip: clip_of(clip),
            settings,
            profile: profiles.get(entity),
            lens,
            // The scale factor is the target's, times `UiScale`.
            scale: info.scale_factor(),
            freeze: kept.glass(entity, picture.seen()),
            switch: **switch,
            shares,
            is_hidden,
        };
        add(&glass, picture, &mut inputs);
    }
}
