//! Extracts groups from the main world.

use super::clips::FilteredGroups;
use super::rects::FAR;
use crate::backdrop::extract::{BoundsWanted, picture_of};
use crate::backdrop::extracted::Picture;
use crate::backdrop::node_groups::{GLASS, cut_of_node};
use crate::formats::CameraFinish;
use crate::settings::{BlurProfile, ColorFunctions, UiFilter};
use bevy::camera::Camera;
use bevy::math::Affine2;
use bevy::prelude::*;
use bevy::render::Extract;
use bevy::render::sync_world::MainEntity;
use bevy::ui::{
    ComputedNode, ComputedStackIndex, ComputedUiRenderTargetInfo, ComputedUiTargetCamera, UiGlobalTransform,
};
use bevy::ui_render::{TransparentUi, UiCameraMap};
use core::cmp::Reverse;
use core::ops::Range;

/// The groups of this frame, by camera and then in Bevy's stacking order: a group comes before the groups inside it. Everything
/// else refers to them by index.
#[derive(Resource, Default)]
pub struct ExtractedFilters(pub Vec<ExtractedFilter>);

impl ExtractedFilters {
    /// The groups of each camera.
    pub fn of_cameras(&self) -> impl Iterator<Item = &[ExtractedFilter]> {
        self.0.chunk_by(|one, other| one.picture.camera == other.picture.camera)
    }
}

/// A group with its filter.
#[derive(Clone, Debug)]
pub struct ExtractedFilter {
    /// The main world's entity of the node.
    pub entity: Entity,
    /// What the camera paints into.
    pub picture: Picture,
    /// The places of its nodes in the stack of all nodes.
    pub nodes: Range<u32>,
    /// The clip by the node's ancestors, in the viewport. It applies to the result.
    pub clip: Option<Rect>,
    /// The render world's entity of the item in the phase. In the next frame it may be another filter's.
    pub item: Entity,
    /// The render world's entity of the view that the group is painted with. In the next frame it may be another filter's.
    pub view: Entity,
    /// The standard deviations of the blur along x and y, in pixels.
    pub sigma: Vec2,
    /// The share of sigma that each place gets, `None` if every place gets all of it.
    pub profile: Option<PlacedProfile>,
    /// The colour functions of the group.
    pub functions: ColorFunctions,
    /// The first one lies on top.
    pub shadows: Vec<Shadow>,
    /// Between 0 and 1.
    pub opacity: f32,
}

impl ExtractedFilter {
    /// The range of sort keys of the group's items. Its end lies outside the group: it is the key of the mark at which the backdrop
    /// of the next node's glass may end.
    pub fn keys(&self) -> Range<f32> {
        cut_of_node(self.nodes.start)..cut_of_node(self.nodes.end).next_down()
    }

    /// The sort key of the item that paints the result, over the node's own glass. Items with smaller keys lie below the group.
    pub fn result_key(&self) -> f32 {
        self.nodes.start as f32 + GLASS + 0.01
    }

    /// Whether an item is the one that paints the result.
    pub fn is_result(&self, item: &TransparentUi) -> bool {
        item.entity == (self.item, MainEntity::from(self.entity))
    }
}

/// A profile that varies, in a node's border box.
#[derive(Clone, Debug, PartialEq)]
pub struct PlacedProfile {
    /// The profile.
    pub profile: BlurProfile,
    /// The size of the box.
    pub size: Vec2,
    /// From the box, whose corner is the origin, to the viewport.
    pub placement: Affine2,
}

/// A shadow, in pixels of the viewport.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Shadow {
    /// The offset from the group.
    pub offset: IVec2,
    /// The standard deviation of its blur.
    pub sigma: f32,
    /// Its colour where the group is opaque: light multiplied by alpha, and alpha, which is 0 for a glow.
    pub color: [f32; 4],
}

type FilterNode = (
    &'static UiFilter,
    Option<&'static BlurProfile>,
    &'static ComputedNode,
    &'static ComputedStackIndex,
    &'static UiGlobalTransform,
    &'static ComputedUiTargetCamera,
    &'static ComputedUiRenderTargetInfo,
);

/// Extracts groups. Each has two entities, for its item and its view. Entities of the last frame are used again.
pub fn extract_filters(
    mut commands: Commands,
    (mut filters, mut wanted): (ResMut<ExtractedFilters>, ResMut<BoundsWanted>),
    mut entities: Local<Vec<[Entity; 2]>>,
    groups: Extract<Res<FilteredGroups>>,
    nodes: Extract<Query<FilterNode>>,
    cameras: Extract<Query<(&Camera, CameraFinish)>>,
    camera_map: Extract<UiCameraMap>,
) {
    filters.0.clear();
    let mut mapper = camera_map.get_mapper();
    for (entity, group) in &groups.0 {
        let Ok((filter, profile, node, stack_index, transform, target, info)) = nodes.get(*entity) else {
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
        let affine = transform.affine();
        let stretch = affine.matrix2.determinant().abs().sqrt();
        let stretch = if stretch.is_finite() { stretch } else { 1.0 };
        let (scale, height) = (info.scale_factor(), picture.viewport.height());
        // A radius out of range means no blur; `validation` reports it.
        let sigma = filter.blur.sigma_in_texels(scale, height).unwrap_or(Vec2::ZERO);
        let placement = affine * Affine2::from_translation(-0.5 * node.size());
        let profile = profile.filter(|profile| !profile.is_uniform());
        if entities.len() == filters.0.len() {
            entities.push([(); 2].map(|()| commands.spawn_empty().id()));
        }
        let [item, view] = entities[filters.0.len()];
        filters.0.push(ExtractedFilter {
            entity: *entity,
            picture,
            nodes: stack_index.0..stack_index.0 + group.nodes,
            clip: group.clip,
            item,
            view,
            sigma: (sigma * stretch).min(Vec2::splat(f32::MAX)),
            profile: profile.map(|profile| PlacedProfile {
                profile: profile.clone(),
                size: node.size(),
                placement,
            }),
            functions: filter.functions_in_range(),
            shadows: shadows_of(filter, scale * stretch),
            opacity: filter.opacity_in_range(),
        });
    }
    for entity in entities.drain(filters.0.len()..).flatten() {
        commands.entity(entity).despawn();
    }
    wanted.0 |= !filters.0.is_empty();
    filters
        .0
        .sort_by_key(|filter| (filter.picture.camera, filter.nodes.start, Reverse(filter.nodes.end)));
}

fn shadows_of(filter: &UiFilter, scale: f32) -> Vec<Shadow> {
    let far = Vec2::splat(FAR as f32);
    let seen = filter.shadows.iter().filter(|shadow| shadow.is_seen());
    let shadow = |shadow: &crate::settings::DropShadow| {
        let color = shadow.color.to_linear();
        let [red, green, blue] = [color.red, color.green, color.blue].map(|value| value * color.alpha);
        Shadow {
            offset: (shadow.offset * scale).round().clamp(-far, far).as_ivec2(),
            sigma: shadow.radius / crate::settings::RADIUS_IN_SIGMAS * scale,
            color: [red, green, blue, if shadow.is_glow { 0.0 } else { color.alpha }],
        }
    };
    seen.map(shadow).collect()
}
