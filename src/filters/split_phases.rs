//! Copies the items of groups, and makes the camera's phase skip them.
//!
//! The phase keeps these items, with empty batches, which are not drawn: some may be items of other crates that must stay in it. At
//! the end of the frame all items get their batches back.

use super::arrange::{ArrangedFilters, Owners};
use super::extract::ExtractedFilters;
use crate::backdrop::extract::ExtractedBackdrops;
use crate::backdrop::node_groups::backdrop_of;
use crate::backdrop::{Skip, skip};
use bevy::prelude::*;
use bevy::render::render_phase::{PhaseItemExtraIndex, ViewSortedRenderPhases};
use bevy::render::view::ExtractedView;
use bevy::ui_render::{TransparentUi, UiCameraView};

/// The items of every group, by the index of the filter, and the batches that the cameras' phases get back.
#[derive(Resource, Default)]
pub struct GroupItems {
    items: Vec<Vec<TransparentUi>>,
    skipped: Vec<Skip>,
}

impl GroupItems {
    /// The items of a group, in the order in which they are painted.
    pub fn of(&self, filter: usize) -> &[TransparentUi] {
        self.items.get(filter).map_or(&[], Vec::as_slice)
    }
}

/// Copies the items of groups that can be drawn, and makes the phases skip them. Items of invisible groups are only skipped.
pub fn split_phases(
    (filters, backdrops): (Res<ExtractedFilters>, Res<ExtractedBackdrops>),
    arranged: Res<ArrangedFilters>,
    cameras: Query<&UiCameraView>,
    ui_views: Query<&ExtractedView>,
    mut phases: ResMut<ViewSortedRenderPhases<TransparentUi>>,
    mut groups: ResMut<GroupItems>,
) {
    let groups = &mut *groups;
    groups.items.resize_with(filters.0.len(), default);
    for camera in &arranged.0 {
        let view = cameras.get(camera.camera).and_then(|view| ui_views.get(view.0));
        let Ok(view) = view.map(|view| view.retained_view_entity) else {
            continue;
        };
        let Some(phase) = phases.get_mut(&view) else {
            continue;
        };
        let filters = camera.filters(&filters);
        let mut owners = Owners::new(filters, &backdrops);
        for item in phase.items.values_mut() {
            let Some(owner) = owners.of(item) else {
                continue;
            };
            let has_stages = camera.arranged.result_of(owner).is_some();
            // Glass inside a group has a backdrop only if the group is painted.
            let is_glass = backdrop_of(item, &backdrops).is_some();
            if has_stages && !camera.is_ready && !is_glass {
                continue;
            }
            if has_stages && camera.is_ready {
                groups.items[camera.first + owner].push(copy_of(item));
            }
            groups.skipped.extend(skip(view, item));
        }
    }
}

fn copy_of(item: &TransparentUi) -> TransparentUi {
    TransparentUi {
        sort_key: item.sort_key,
        entity: item.entity,
        pipeline: item.pipeline,
        draw_function: item.draw_function,
        batch_range: item.batch_range.clone(),
        extra_index: match &item.extra_index {
            PhaseItemExtraIndex::DynamicOffset(offset) => PhaseItemExtraIndex::DynamicOffset(*offset),
            _ => PhaseItemExtraIndex::None,
        },
        index: item.index,
        indexed: item.indexed,
    }
}

/// Gives all items their batches back.
pub fn restore_items(mut phases: ResMut<ViewSortedRenderPhases<TransparentUi>>, mut groups: ResMut<GroupItems>) {
    for skip in groups.skipped.drain(..) {
        skip.restore(&mut phases);
    }
    groups.items.iter_mut().for_each(Vec::clear);
}
