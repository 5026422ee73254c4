//! The items in the phases of Bevy's user interface: the crate's own among them, and those that the schedules paint.
//!
//! Bevy's pass draws a whole phase. So items that are painted elsewhere lose their batches, and the pass skips them. The phase keeps
//! them: some may be items of other crates that must stay in it. At the end of the frame all get their batches back. Until then they
//! are kept with their batches, by the surface on which they are painted.

use super::draws::Draws;
use super::inputs::{PaintInputs, PaintedCamera, SplitItem};
use crate::schedule::{Slot, SurfaceId, What};
use bevy::ecs::system::SystemParamItem;
use bevy::ecs::system::lifetimeless::SRes;
use bevy::math::FloatOrd;
use bevy::prelude::*;
use bevy::render::render_phase::{
    DrawFunctions, PhaseItemExtraIndex, RenderCommand, RenderCommandResult, TrackedRenderPass, ViewSortedRenderPhases,
};
use bevy::render::render_resource::CachedRenderPipelineId;
use bevy::render::sync_world::MainEntity;
use bevy::render::view::ExtractedView;
use bevy::ui_render::{TransparentUi, UiCameraView};
use core::ops::Range;

/// The draw function of all own items. It sets its own pipelines, not the item's.
pub struct PaintItem;

impl RenderCommand<TransparentUi> for PaintItem {
    type Param = (SRes<Draws>, SRes<PaintInputs>);
    type ViewQuery = ();
    type ItemQuery = ();

    fn render<'w>(
        item: &TransparentUi,
        _view: (),
        _entity: Option<()>,
        (draws, inputs): SystemParamItem<'w, '_, Self::Param>,
        pass: &mut TrackedRenderPass<'w>,
    ) -> RenderCommandResult {
        match draws.into_inner().draw(inputs.calls(item), pass) {
            true => RenderCommandResult::Success,
            false => RenderCommandResult::Skip,
        }
    }
}

/// Puts glass and groups among the items of the user interface.
///
/// Bevy ends its batches at foreign items, so marks, which paint nothing, make sure that no batch crosses the cut of glass or the
/// border of a group. (Only a material with its own `stack_z_offset` could.)
pub fn queue_items(
    mut inputs: ResMut<PaintInputs>,
    functions: Res<DrawFunctions<TransparentUi>>,
    cameras: Query<&UiCameraView, With<ExtractedView>>,
    ui_views: Query<&ExtractedView>,
    mut phases: ResMut<ViewSortedRenderPhases<TransparentUi>>,
) {
    let draw_function = functions.read().id::<PaintItem>();
    let PaintInputs {
        cameras: painted, own, ..
    } = &mut *inputs;
    for (index, camera) in painted.iter().enumerate().filter(|(_, camera)| camera.has_nodes()) {
        let ui_view = cameras.get(camera.picture.camera);
        let ui_view = ui_view.and_then(|view| ui_views.get(view.0));
        let phase = ui_view.ok().map(|view| view.retained_view_entity);
        let Some(phase) = phase.and_then(|view| phases.get_mut(&view)) else {
            continue;
        };
        for (sort_key, what) in items(camera) {
            let number = own.add(index, what, draw_function);
            phase.add_transient(TransparentUi {
                sort_key,
                entity: entities(number),
                pipeline: CachedRenderPipelineId::INVALID,
                draw_function,
                // An item with an empty batch is not drawn.
                batch_range: if what == What::Mark { 0..0 } else { 0..1 },
                extra_index: PhaseItemExtraIndex::DynamicOffset(number),
                index: usize::MAX,
                indexed: false,
            });
        }
    }
}

/// The entities that identify an item. Phases hash only the second one, so it has the number.
fn entities(number: u32) -> (Entity, MainEntity) {
    let number = Entity::from_raw_u32(number).unwrap_or(Entity::PLACEHOLDER);
    (Entity::PLACEHOLDER, MainEntity::from(number))
}

/// The own items of a camera, with their sort keys.
fn items(camera: &PaintedCamera) -> Vec<(FloatOrd, What)> {
    let with_node = camera.filters.iter().filter(|filter| filter.nodes.start == filter.node);
    let filtered: Vec<u32> = with_node.map(|filter| filter.node).collect();
    let mark = |node| (Slot::Cut.key(node), What::Mark);
    let mut items = Vec::new();
    for (index, backdrop) in camera.backdrops.iter().enumerate() {
        let Some(node) = backdrop.node() else {
            continue;
        };
        items.extend([mark(node), (Slot::Glass.key(node), What::Glass(index))]);
        if filtered.binary_search(&node).is_ok() {
            items.push((Slot::Glass.key(node), What::Hole(index)));
        }
    }
    for (index, filter) in camera.filters.iter().enumerate() {
        let ends = [filter.nodes.start, filter.nodes.end].map(mark);
        items.extend(ends);
        items.push((filter.key(), What::Result(index)));
    }
    items.sort_by_key(|(key, _)| *key);
    // One mark ends what several begin with.
    items.dedup();
    items
}

/// Empties the batches of all items that Bevy's passes must skip.
pub fn split_phases(mut inputs: ResMut<PaintInputs>, mut phases: ResMut<ViewSortedRenderPhases<TransparentUi>>) {
    let PaintInputs { cameras, own, .. } = &mut *inputs;
    for camera in cameras {
        let (schedule, split) = (&camera.schedule, &mut camera.split);
        // Hidden items are kept like all others, on a surface that no step names.
        let hidden = SurfaceId(schedule.tree.surfaces.len());
        if let Some(phase) = camera.ui_view.and_then(|(_, view)| phases.get_mut(&view)) {
            for (index, item) in phase.items.values_mut().enumerate() {
                let what = own.what(item);
                let owner = schedule.tree.surface_of(&camera.filters, item.sort_key, what);
                let owner = owner.filter(|_| schedule.paints(what));
                let is_bevys = owner == Some(SurfaceId::CAMERA) && schedule.is_bevys(item.sort_key);
                if what == What::Mark || is_bevys {
                    continue;
                }
                split.push((owner.unwrap_or(hidden), index, take(item)));
            }
            // In the order of the phase on each surface.
            split.sort_by_key(|(on, ..)| *on);
        }
    }
}

/// Gives all items their batches back, so that other crates find them as they were.
pub fn restore_phases(mut inputs: ResMut<PaintInputs>, mut phases: ResMut<ViewSortedRenderPhases<TransparentUi>>) {
    for camera in &mut inputs.cameras {
        let mut phase = camera.ui_view.and_then(|(_, view)| phases.get_mut(&view));
        for (_, index, item) in camera.split.drain(..) {
            let kept = phase.as_mut().and_then(|phase| phase.items.get_index_mut(index));
            if let Some((_, kept)) = kept {
                kept.batch_range = item.batch_range;
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
    fn split_items(&self, surface: SurfaceId, keys: &Range<FloatOrd>) -> &[SplitItem] {
        let place = |end: FloatOrd| {
            let is_before = |(on, _, item): &SplitItem| (*on, item.sort_key) < (surface, end);
            self.split.partition_point(is_before)
        };
        &self.split[place(keys.start)..place(keys.end)]
    }

    /// Whether any of these items is drawn.
    pub fn draws_items(&self, on: SurfaceId, keys: &Range<FloatOrd>) -> bool {
        let mut items = self.split_items(on, keys).iter();
        items.any(|(.., item)| !item.batch_range.is_empty())
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
        while let Some((.., item)) = items.get(next) {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schedule::{Filter, Picture};

    /// Groups that begin or end at the same place share one mark.
    #[test]
    fn there_is_one_mark_at_a_place() {
        let count = |nodes: &[(u32, u32)]| {
            let filters = nodes.iter().map(|(start, end)| Filter {
                node: *start,
                nodes: *start..*end,
                ..Filter::neutral(Entity::PLACEHOLDER)
            });
            let mut camera = PaintedCamera::new(Picture {
                camera: Entity::PLACEHOLDER,
                size: UVec2::ONE,
                viewport: URect::new(0, 0, 1, 1),
                is_light: false,
                dithers: false,
            });
            camera.filters = filters.collect();
            let items = items(&camera).into_iter();
            items.filter(|(_, what)| *what == What::Mark).count()
        };
        assert_eq!(count(&[(0, 1)]), 2);
        assert_eq!(count(&[(0, 1), (1, 2), (2, 3)]), 4, "side by side");
        assert_eq!(count(&[(0, 9), (4, 9)]), 3, "two end together");
        assert_eq!(count(&[(0, 9), (2, 4), (5, 6)]), 6, "apart");
    }
}
