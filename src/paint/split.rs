//! Takes the items that the schedules paint out of Bevy's hands.
//!
//! Bevy's pass draws a whole phase. So items that are painted elsewhere lose their batches, and the pass skips them. The phase keeps
//! them: some may be items of other crates that must stay in it. At the end of the frame all get their batches back. Until then the
//! batches are kept here, by the surface on which the items are painted.

use super::inputs::PaintInputs;
use super::own_items::OwnItems;
use crate::schedule::{Owners, SurfaceId, What};
use bevy::math::FloatOrd;
use bevy::prelude::*;
use bevy::render::render_phase::{DrawFunctions, PhaseItemExtraIndex, TrackedRenderPass, ViewSortedRenderPhases};
use bevy::render::view::RetainedViewEntity;
use bevy::ui_render::TransparentUi;
use core::ops::Range;

/// The items that the schedules paint, by the index of the camera and then by surface.
#[derive(Resource, Default)]
pub struct SplitPhases(Vec<Vec<Vec<SplitItem>>>);

/// An item that a schedule paints.
pub struct SplitItem {
    /// Its sort key.
    pub key: FloatOrd,
    /// Its place in the phase.
    pub index: usize,
    /// Its batch.
    pub batch_range: Range<u32>,
}

impl SplitPhases {
    /// The items of a surface with these sort keys, in the order in which they are painted.
    pub fn items(&self, camera: usize, SurfaceId(surface): SurfaceId, keys: &Range<FloatOrd>) -> &[SplitItem] {
        let items = self.0.get(camera).and_then(|surfaces| surfaces.get(surface));
        let items = items.map_or(&[][..], Vec::as_slice);
        let place = |end: FloatOrd| items.partition_point(|item| item.key < end);
        &items[place(keys.start)..place(keys.end)]
    }
}

/// Empties the batches of all items that Bevy's passes must skip.
pub fn split_phases(
    inputs: Res<PaintInputs>,
    own: Res<OwnItems>,
    mut phases: ResMut<ViewSortedRenderPhases<TransparentUi>>,
    mut split: ResMut<SplitPhases>,
) {
    split.0.resize_with(inputs.cameras.len(), Vec::new);
    for (camera, surfaces) in inputs.cameras.iter().zip(&mut split.0) {
        let schedule = &camera.schedule;
        // Hidden items are kept like all others, on a surface that no step names.
        let hidden = SurfaceId(schedule.tree.surfaces.len());
        surfaces.resize_with(hidden.0 + 1, Vec::new);
        if let Some(phase) = camera.ui_view.and_then(|(_, view)| phases.get_mut(&view)) {
            let mut owners = Owners::new(&camera.filters);
            for (index, item) in phase.items.values_mut().enumerate() {
                let what = own.what(item);
                let owner = owners.surface(item.sort_key, what, &schedule.tree);
                let owner = owner.filter(|_| schedule.paints(what));
                let is_bevys = owner == Some(SurfaceId::CAMERA) && schedule.is_bevys(item.sort_key);
                if what == What::Mark || is_bevys {
                    continue;
                }
                surfaces[owner.unwrap_or(hidden).0].push(SplitItem {
                    key: item.sort_key,
                    index,
                    batch_range: core::mem::take(&mut item.batch_range),
                });
            }
        }
    }
}

/// Gives all items their batches back, so that other crates find them as they were.
pub fn restore_phases(
    inputs: Res<PaintInputs>,
    mut phases: ResMut<ViewSortedRenderPhases<TransparentUi>>,
    mut split: ResMut<SplitPhases>,
) {
    for (surfaces, camera) in split.0.iter_mut().zip(&inputs.cameras) {
        let mut phase = camera.ui_view.and_then(|(_, view)| phases.get_mut(&view));
        for item in surfaces.iter_mut().flat_map(|items| items.drain(..)) {
            let kept = phase.as_mut().and_then(|phase| phase.items.get_index_mut(item.index));
            if let Some((_, kept)) = kept {
                kept.batch_range = item.batch_range;
            }
        }
    }
}

/// Draws items of phases.
pub struct ItemPainter<'w> {
    world: &'w World,
    /// The index of the camera.
    camera: usize,
    phases: &'w ViewSortedRenderPhases<TransparentUi>,
    functions: &'w DrawFunctions<TransparentUi>,
    split: &'w SplitPhases,
}

impl<'w> ItemPainter<'w> {
    /// `None` without a user interface.
    pub fn new(world: &'w World, camera: usize) -> Option<Self> {
        let functions: &DrawFunctions<TransparentUi> = world.get_resource()?;
        functions.write().prepare(world);
        Some(Self {
            world,
            camera,
            phases: world.get_resource()?,
            functions,
            split: world.get_resource()?,
        })
    }

    /// Whether any of these items is drawn.
    pub fn has_any(&self, on: SurfaceId, keys: &Range<FloatOrd>) -> bool {
        let mut items = self.split.items(self.camera, on, keys).iter();
        items.any(|item| !item.batch_range.is_empty())
    }

    /// Draws items, as `SortedRenderPhase::render_range` does: an item with a batch is followed by those that the batch contains. Each
    /// is drawn with its own batch, which the phase does not hold now.
    pub fn draw<'a>(
        &'a self,
        on: SurfaceId,
        keys: &Range<FloatOrd>,
        phase: &RetainedViewEntity,
        view: Entity,
        pass: &mut TrackedRenderPass<'a>,
    ) {
        let Some(phase) = self.phases.get(phase) else {
            return;
        };
        let items = self.split.items(self.camera, on, keys);
        let mut functions = self.functions.write();
        let mut next = 0;
        while let Some(split) = items.get(next) {
            next += split.batch_range.len().max(1);
            let Some((_, item)) = phase
                .items
                .get_index(split.index)
                .filter(|_| !split.batch_range.is_empty())
            else {
                continue;
            };
            let item = TransparentUi {
                batch_range: split.batch_range.clone(),
                ..copy_of(item)
            };
            let Some(function) = functions.get_mut(item.draw_function) else {
                continue;
            };
            if let Err(error) = function.draw(self.world, pass, view, &item) {
                error!("the user interface below glass or in a group could not be drawn: {error:?}");
                return;
            }
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
