//! Copies the items of groups, and makes the camera's phase skip them.
//!
//! The phase keeps these items, with empty batches, which are not drawn: some may be items of other crates that must stay in it. At
//! the end of the frame all items get their batches back.
//!
//! If pipelines of a camera are missing, the phase draws its groups unfiltered. But their nodes are no longer clipped by the
//! ancestors of the group, so where groups begin and end, the marks set a scissor instead.

use super::arrange::{ArrangedFilters, Owner, Owners};
use super::extract::{ExtractedFilter, ExtractedFilters};
use super::rects::{as_texels, common, moved, pixels};
use super::stages::viewport;
use crate::backdrop::extract::ExtractedBackdrops;
use crate::backdrop::node_groups::{backdrop_index, backdrop_of, is_mark};
use crate::backdrop::queue::PaintHole;
use crate::backdrop::{Skip, skip};
use bevy::math::{FloatOrd, URect};
use bevy::platform::collections::HashMap;
use bevy::prelude::*;
use bevy::render::render_phase::{DrawFunctions, PhaseItemExtraIndex, SortedRenderPhase, ViewSortedRenderPhases};
use bevy::render::sync_world::MainEntity;
use bevy::render::view::ExtractedView;
use bevy::ui_render::{TransparentUi, UiCameraView};

/// The items of every group, by the index of the filter, and the batches that the cameras' phases get back.
#[derive(Resource, Default)]
pub struct GroupItems {
    items: Vec<Vec<TransparentUi>>,
    skipped: Vec<Skip>,
    /// The texels to which items limit drawing, where groups are painted unfiltered.
    scissors: HashMap<(Entity, MainEntity), URect>,
}

impl GroupItems {
    /// The items of a group, in the order in which they are painted.
    pub fn of(&self, filter: usize) -> &[TransparentUi] {
        self.items.get(filter).map_or(&[], Vec::as_slice)
    }

    /// The texels to which an item limits what is drawn after it.
    pub fn scissor(&self, item: &TransparentUi) -> Option<URect> {
        self.scissors.get(&item.entity).copied()
    }
}

/// Copies the items of groups that can be drawn, and makes the phases skip them. Items and results of invisible groups are only
/// skipped.
pub fn split_phases(
    (filters, backdrops): (Res<ExtractedFilters>, Res<ExtractedBackdrops>),
    arranged: Res<ArrangedFilters>,
    cameras: Query<&UiCameraView>,
    ui_views: Query<&ExtractedView>,
    functions: Res<DrawFunctions<TransparentUi>>,
    mut phases: ResMut<ViewSortedRenderPhases<TransparentUi>>,
    mut groups: ResMut<GroupItems>,
) {
    let draw_hole = functions.read().id::<PaintHole>();
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
        if !camera.is_ready {
            clip_groups(filters, phase, &mut groups.scissors);
        }
        let mut owners = Owners::new(filters, &backdrops);
        for item in phase.items.values_mut() {
            let Owner {
                group,
                result_of,
                glass_of,
            } = owners.of(item);
            if let Some(filter) = glass_of.filter(|filter| camera.is_ready && camera.arranged.is_seen(*filter)) {
                groups.items[camera.first + filter].push(TransparentUi {
                    draw_function: draw_hole,
                    ..copy_of(item)
                });
            }
            if camera.is_ready && result_of.is_some_and(|filter| !camera.arranged.is_seen(filter)) {
                groups.skipped.extend(skip(view, item));
                continue;
            }
            let Some(owner) = group else {
                continue;
            };
            if camera.arranged.result_of(owner).is_some() {
                if camera.is_ready {
                    groups.items[camera.first + owner].push(copy_of(item));
                } else if backdrop_of(item, &backdrops).is_none() {
                    // It is painted unfiltered. Only glass is not: it has a backdrop only if its group is painted.
                    continue;
                }
            }
            groups.skipped.extend(skip(view, item));
        }
    }
}

/// Makes the marks and results of groups limit what is drawn after them to the clips of the groups around it.
fn clip_groups(
    filters: &[ExtractedFilter],
    phase: &mut SortedRenderPhase<TransparentUi>,
    scissors: &mut HashMap<(Entity, MainEntity), URect>,
) {
    let picture = &filters[0].picture;
    for item in phase.items.values_mut() {
        let is_own_mark = is_mark(item) && backdrop_index(item).is_none();
        // Glass may split the pass between the mark and the result, so the result sets the same scissor again.
        let is_result = !is_own_mark && filters.iter().any(|filter| filter.is_result(item));
        if !is_own_mark && !is_result {
            continue;
        }
        let FloatOrd(key) = item.sort_key;
        let around = filters.iter().filter(|filter| filter.keys().contains(&key));
        let shown = around.fold(viewport(picture), |shown, filter| common(shown, pixels(filter.clip)));
        let offset = picture.viewport.min.as_ivec2();
        scissors.insert(item.entity, as_texels(moved(shown, offset)));
        item.batch_range = 0..1;
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
    groups.scissors.clear();
}
