//! Takes the items that the schedules paint out of Bevy's hands.
//!
//! Bevy's pass draws a whole phase. So items that are painted elsewhere lose their batches, and the pass skips them. The phase keeps
//! them: some may be items of other crates that must stay in it. At the end of the frame all get their batches back. Until then they
//! are kept here with their batches, by the surface on which they are painted.

use super::inputs::{PaintInputs, PaintedCamera, SplitItem};
use crate::schedule::{SurfaceId, What};
use bevy::math::FloatOrd;
use bevy::prelude::*;
use bevy::render::render_phase::{DrawFunctions, PhaseItemExtraIndex, TrackedRenderPass, ViewSortedRenderPhases};
use bevy::ui_render::TransparentUi;
use core::ops::Range;

/// Empties the batches of all items that Bevy's passes must skip.
pub fn split_phases(mut inputs: ResMut<PaintInputs>, mut phases: ResMut<ViewSortedRenderPhases<TransparentUi>>) {
    let PaintInputs { cameras, own, .. } = &mut *inputs;
    for camera in cameras {
        let (schedule, surfaces) = (&camera.schedule, &mut camera.split);
        // Hidden items are kept like all others, on a surface that no step names.
        let hidden = SurfaceId(schedule.tree.surfaces.len());
        surfaces.resize_with(hidden.0 + 1, Vec::new);
        if let Some(phase) = camera.ui_view.and_then(|(_, view)| phases.get_mut(&view)) {
            for (index, item) in phase.items.values_mut().enumerate() {
                let what = own.what(item);
                let owner = schedule.tree.surface_of(&camera.filters, item.sort_key, what);
                let owner = owner.filter(|_| schedule.paints(what));
                let is_bevys = owner == Some(SurfaceId::CAMERA) && schedule.is_bevys(item.sort_key);
                if what == What::Mark || is_bevys {
                    continue;
                }
                let item = take(item);
                surfaces[owner.unwrap_or(hidden).0].push(SplitItem { index, item });
            }
        }
    }
}

/// Gives all items their batches back, so that other crates find them as they were.
pub fn restore_phases(mut inputs: ResMut<PaintInputs>, mut phases: ResMut<ViewSortedRenderPhases<TransparentUi>>) {
    for camera in &mut inputs.cameras {
        let mut phase = camera.ui_view.and_then(|(_, view)| phases.get_mut(&view));
        for split in camera.split.drain(..).flatten() {
            let kept = phase.as_mut().and_then(|phase| phase.items.get_index_mut(split.index));
            if let Some((_, kept)) = kept {
                kept.batch_range = split.item.batch_range;
            }
        }
    }
}

/// Takes an item with its batch, and leaves it without.
fn take(item: &mut TransparentUi) -> TransparentUi {
    TransparentUi {
        sort_key: item.sort_key,
        entity: item.entity,
        pipeline: item.pipeline,
        draw_function: item.draw_function,
        batch_range: core::mem::take(&mut item.batch_range),
        extra_index: match &item.extra_index {
            PhaseItemExtraIndex::DynamicOffset(offset) => PhaseItemExtraIndex::DynamicOffset(*offset),
            _ => PhaseItemExtraIndex::None,
        },
        index: item.index,
        indexed: item.indexed,
    }
}

impl PaintedCamera {
    /// The split items of a surface with these sort keys, in the order in which they are painted.
    fn split_items(&self, SurfaceId(surface): SurfaceId, keys: &Range<FloatOrd>) -> &[SplitItem] {
        let items = self.split.get(surface).map_or(&[][..], Vec::as_slice);
        let place = |end: FloatOrd| items.partition_point(|split| split.item.sort_key < end);
        &items[place(keys.start)..place(keys.end)]
    }

    /// Whether any of these items is drawn.
    pub fn draws_items(&self, on: SurfaceId, keys: &Range<FloatOrd>) -> bool {
        let mut items = self.split_items(on, keys).iter();
        items.any(|split| !split.item.batch_range.is_empty())
    }

    /// Draws items, as `SortedRenderPhase::render_range` does: an item with a batch is followed by those that the batch contains.
    pub fn draw_items<'w>(
        &self,
        on: SurfaceId,
        keys: &Range<FloatOrd>,
        world: &'w World,
        view: Entity,
        pass: &mut TrackedRenderPass<'w>,
    ) {
        let Some(functions) = world.get_resource::<DrawFunctions<TransparentUi>>() else {
            return;
        };
        let (items, mut functions) = (self.split_items(on, keys), functions.write());
        let mut next = 0;
        while let Some(SplitItem { item, .. }) = items.get(next) {
            next += item.batch_range.len().max(1);
            let function = functions.get_mut(item.draw_function);
            let Some(function) = function.filter(|_| !item.batch_range.is_empty()) else {
                continue;
            };
            if let Err(error) = function.draw(world, pass, view, item) {
                error!("the user interface below glass or in a group could not be drawn: {error:?}");
                return;
            }
        }
    }
}
