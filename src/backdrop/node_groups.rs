//! How nodes form groups (feature `ui`), and where glass lies among the items of Bevy's user interface.
//!
//! The sort key of an item is the place of its node in the stack of all nodes, plus an offset. Glass is painted right
//! below its node's background, and above its shadow. But its cut lies halfway to the node before it: the node's own
//! shadow fills the box, and the glass must not see it.

use super::bounds::ItemBounds;
use super::camera_groups::CameraGroups;
use super::canvas::PaintedOn;
use super::extract::ExtractedBackdrops;
use super::extracted::ExtractedBackdrop;
use super::groups::{Group, Painted, Reader, Sight, group};
use super::nested::{OutermostGroup, OutermostGroups};
use bevy::math::FloatOrd;
use bevy::prelude::*;
use bevy::render::render_phase::{PhaseItem, PhaseItemExtraIndex, SortedRenderPhase, ViewSortedRenderPhases};
use bevy::render::sync_world::MainEntity;
use bevy::render::view::ExtractedView;
use bevy::ui_render::{TransparentUi, UiCameraView};

/// The sort key of glass, relative to its node's.
pub const GLASS: f32 = -0.05;

/// The first sort key that the glass of a node does not see.
pub fn cut_of_node(stack_index: u32) -> f32 {
    stack_index as f32 - 0.5
}

/// Groups the glass of the nodes of every camera.
///
/// It runs after items are sorted, and before `RenderSystems::PrepareBindGroups`, in which Bevy clears the lists that hold
/// their sizes.
pub fn group_nodes(
    backdrops: Res<ExtractedBackdrops>,
    cameras: Query<(Entity, &UiCameraView)>,
    ui_views: Query<&ExtractedView>,
    phases: Res<ViewSortedRenderPhases<TransparentUi>>,
    bounds: ItemBounds,
    filtered: Res<OutermostGroups>,
    mut grouped: ResMut<CameraGroups>,
) {
    for (camera, ui_view) in &cameras {
        let is_on_it =
            |backdrop: &ExtractedBackdrop| backdrop.picture.camera == camera && backdrop.layer.stack_index().is_some();
        if !backdrops.0.iter().any(is_on_it) {
            continue;
        }
        // The view may belong to an earlier frame and no longer exist.
        let Ok(ui_view) = ui_views.get(ui_view.0) else {
            continue;
        };
        if let Some(phase) = phases.get(&ui_view.retained_view_entity) {
            let groups = grouped.0.entry(camera).or_default();
            groups.among = group_phase((camera, phase), &backdrops, &bounds, &filtered);
            groups.nested = nested_of(camera, &backdrops);
        }
    }
}

fn group_phase(
    (camera, phase): (Entity, &SortedRenderPhase<TransparentUi>),
    backdrops: &ExtractedBackdrops,
    bounds: &ItemBounds,
    filtered: &OutermostGroups,
) -> Vec<Group> {
    let of_camera = |group: &&OutermostGroup| group.camera == camera;
    let mut groups = filtered.0.iter().filter(of_camera).peekable();
    let mut readers: Vec<Reader> = Vec::new();
    let mut painted: Vec<Painted> = Vec::with_capacity(phase.items.len());
    for item in phase.items.values() {
        if is_mark(item) {
            continue;
        }
        let Some((index, backdrop, stack_index)) = backdrop_of(item, backdrops) else {
            while groups
                .next_if(|group| FloatOrd(group.keys.end) <= item.sort_key)
                .is_some()
            {}
            // Of a filtered group, the camera's picture shows only the result.
            if !groups.peek().is_some_and(|group| group.hides(item.sort_key)) {
                painted.push((item.sort_key, bounds.of(item)));
            }
            continue;
        };
        // The group around it paints it.
        if backdrop.is_nested() {
            continue;
        }
        readers.push(Reader {
            sight: Sight::Backdrop(index),
            cut: cut_of_node(stack_index),
            reads: backdrop.sees(),
        });
        painted.push((item.sort_key, Some(backdrop.in_viewport(backdrop.region))));
    }
    let turns = filtered.0.iter().filter(of_camera).filter(|group| group.has_turn);
    readers.extend(turns.map(|group| Reader {
        sight: Sight::Filter(group.filter),
        cut: group.result,
        reads: None,
    }));
    readers.sort_by(|one, other| one.cut.total_cmp(&other.cut));
    group(&readers, &painted)
}

/// The glass inside filtered groups. Each backdrop sees a different picture.
fn nested_of(camera: Entity, backdrops: &ExtractedBackdrops) -> Vec<Group> {
    let all = backdrops.0.iter().enumerate();
    let nested =
        all.filter(|(_, backdrop)| backdrop.picture.camera == camera && matches!(backdrop.on, PaintedOn::Group(_)));
    nested.map(|(index, _)| Group::of_backdrop(index)).collect()
}

/// The backdrop whose item this is, with its index and its place in the stack.
pub fn backdrop_of<'a>(
    item: &TransparentUi,
    backdrops: &'a ExtractedBackdrops,
) -> Option<(usize, &'a ExtractedBackdrop, u32)> {
    let index = backdrop_index(item)?;
    let backdrop = backdrops.0.get(index)?;
    let stack_index = backdrop.layer.stack_index()?;
    let entity = if is_mark(item) {
        item.main_entity().id()
    } else {
        item.entity()
    };
    (backdrop.layer.item() == Some(entity)).then_some((index, backdrop, stack_index))
}

/// The first entity of items that only mark a place: a placeholder.
const MARK: Entity = Entity::PLACEHOLDER;

/// The entities of an item that only marks a place among others, and paints nothing. `of` identifies the mark. It comes last
/// because phases hash only the last entity: if all marks shared it, every look-up would compare them one by one.
pub fn mark(of: Entity) -> (Entity, MainEntity) {
    (MARK, MainEntity::from(of))
}

/// Whether an item only marks a place.
pub fn is_mark(item: &TransparentUi) -> bool {
    item.entity() == MARK
}

/// What an item of glass carries: the index of its backdrop and of the backdrop's uniform.
pub fn backdrop_index(item: &TransparentUi) -> Option<usize> {
    match item.extra_index {
        PhaseItemExtraIndex::DynamicOffset(index) => Some(index as usize),
        _ => None,
    }
}
