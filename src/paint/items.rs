//! The crate's own items in the phases of Bevy's user interface: glass, groups, and marks.

use super::draws::Draws;
use super::inputs::{PaintInputs, PaintedCamera};
use crate::schedule::{Slot, What};
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
fn items(camera: &PaintedCamera) -> impl Iterator<Item = (FloatOrd, What)> {
    let nodes = camera.backdrops.iter().map(|backdrop| backdrop.node()).enumerate();
    let glass = nodes.filter_map(|(index, node)| Some((index, node?)));
    let ends = camera
        .filters
        .iter()
        .flat_map(|filter| [filter.nodes.start, filter.nodes.end]);
    let mut marks: Vec<u32> = glass.clone().map(|(_, node)| node).chain(ends).collect();
    marks.sort_unstable();
    marks.dedup();
    let marks = marks.into_iter().map(|node| (Slot::Cut.key(node), What::Mark));
    let with_node = camera.filters.iter().filter(|filter| filter.nodes.start == filter.node);
    let filtered: Vec<u32> = with_node.map(|filter| filter.node).collect();
    let holes = glass
        .clone()
        .filter(move |(_, node)| filtered.binary_search(node).is_ok());
    let holes = holes.map(|(index, node)| (Slot::Glass.key(node), What::Hole(index)));
    let glass = glass.map(|(index, node)| (Slot::Glass.key(node), What::Glass(index)));
    let results = camera.filters.iter().enumerate();
    let results = results.map(|(index, filter)| (filter.key(), What::Result(index)));
    marks.chain(glass).chain(holes).chain(results)
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
            items(&camera).filter(|(_, what)| *what == What::Mark).count()
        };
        assert_eq!(count(&[(0, 1)]), 2);
        assert_eq!(count(&[(0, 1), (1, 2), (2, 3)]), 4, "side by side");
        assert_eq!(count(&[(0, 9), (4, 9)]), 3, "two end together");
        assert_eq!(count(&[(0, 9), (2, 4), (5, 6)]), 6, "apart");
    }
}
