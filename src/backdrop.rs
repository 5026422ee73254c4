//! Front end: glass, which blurs what lies behind a node of Bevy's user interface or a region of a camera's viewport.
//!
//! Both become the same plain values, which [`paint`](crate::paint) paints. Their extraction reads only the main world, so it may run
//! before or after Bevy's own. [`stacks`] reports pictures that glass should see but does not.

mod stacks;

use crate::formats::CameraFinish;
use crate::freeze::KeptPictures;
use crate::paint::ui_clip::{clip_of, radii_of};
use crate::paint::{PaintInputs, PaintSystems, UiCameras, picture_of, start_extraction};
use crate::profiles::ShownProfiles;
use crate::schedule::{Backdrop, GlassOrder, Shape};
use crate::settings::{BackdropBlur, BackdropGroup, BackdropLayer, BackdropLens, BackdropRegion, BlurSwitch};
use bevy::math::Affine2;
use bevy::prelude::*;
use bevy::render::sync_world::RenderEntity;
use bevy::render::{Extract, ExtractSchedule, RenderApp};
use bevy::ui::{
    CalculatedClip, ComputedNode, ComputedStackIndex, ComputedUiRenderTargetInfo, ComputedUiTargetCamera,
    UiGlobalTransform,
};
use core::iter::once;

/// Adds backdrop blurs to an app.
pub fn plugin(app: &mut App) {
    let Some(render_app) = app.get_sub_app_mut(RenderApp) else {
        return;
    };
    render_app.add_systems(
        ExtractSchedule,
        (
            (extract_regions, extract_nodes).chain().in_set(PaintSystems::Extract),
            stacks::report_unseen.before(start_extraction),
        ),
    );
}

type GlassSettings = (&'static BackdropBlur, Option<&'static BackdropLens>);

/// Extracts regions.
pub fn extract_regions(
    mut inputs: ResMut<PaintInputs>,
    kept: Res<KeptPictures>,
    profiles: Res<ShownProfiles>,
    regions: Extract<Query<(Entity, &'static BackdropRegion, GlassSettings)>>,
    cameras: Extract<Query<(RenderEntity, &'static Camera, CameraFinish)>>,
    switch: Extract<Res<BlurSwitch>>,
) {
    for (entity, region, settings) in &regions {
        let Ok((camera_entity, camera, finish)) = cameras.get(region.camera) else {
            continue;
        };
        let Some(picture) = picture_of(camera_entity, camera, &finish) else {
            continue;
        };
        let scale = camera.target_scaling_factor().unwrap_or(1.0);
        let shape = shape_of(region, scale);
        let glass = Backdrop {
            order: match region.layer {
                BackdropLayer::BelowUi => GlassOrder::BelowUi(region.order),
                BackdropLayer::AboveUi => GlassOrder::AboveUi(region.order),
            },
            freeze: kept.glass(entity, picture.seen()),
            is_plain: !switch.is_on(),
            ..Backdrop::new(entity, settings, profiles.get(entity), (shape, scale), &picture)
        };
        if let Some(glass) = glass.if_seen(false) {
            inputs.camera(picture).backdrops.push(glass);
        }
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
    GlassSettings,
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
    for (entity, settings, node, stack_index, transform, visibility, clip, target, info) in &nodes {
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
        let shape = Shape {
            transform: transform.affine(),
            size: node.size(),
            radii: radii_of(node.border_radius()),
            is_soft,
        };
        // The scale factor is the target's, times `UiScale`.
        let (profile, scale) = (profiles.get(entity), info.scale_factor());
        let glass = Backdrop {
            order: GlassOrder::Node(stack_index.0),
            clip: clip_of(clip),
            freeze: kept.glass(entity, picture.seen()),
            is_plain: !switch.is_on(),
            shares,
            ..Backdrop::new(entity, settings, profile, (shape, scale), &picture)
        };
        if let Some(glass) = glass.if_seen(is_hidden) {
            inputs.camera(picture).backdrops.push(glass);
        }
    }
}
