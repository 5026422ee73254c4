//! The items of groups in the phase of Bevy's user interface.

use super::extract::{ExtractedFilter, ExtractedFilters};
use super::prepare_draws::FilterDraws;
use super::split_phases::GroupItems;
use crate::backdrop::node_groups::{cut_of_node, mark};
use bevy::ecs::system::SystemParamItem;
use bevy::ecs::system::lifetimeless::SRes;
use bevy::math::FloatOrd;
use bevy::prelude::*;
use bevy::render::render_phase::{
    DrawFunctions, PhaseItem, PhaseItemExtraIndex, RenderCommand, RenderCommandResult, TrackedRenderPass,
    ViewSortedRenderPhases,
};
use bevy::render::render_resource::{CachedRenderPipelineId, PipelineCache};
use bevy::render::sync_world::MainEntity;
use bevy::render::view::ExtractedView;
use bevy::ui_render::{TransparentUi, UiCameraView};
use core::ops::Range;

/// The draw function of groups.
pub struct PaintFilter;

impl RenderCommand<TransparentUi> for PaintFilter {
    type Param = (SRes<FilterDraws>, SRes<GroupItems>, SRes<PipelineCache>);
    type ViewQuery = ();
    type ItemQuery = ();

    fn render<'w>(
        item: &TransparentUi,
        _view: (),
        _entity: Option<()>,
        (draws, groups, cache): SystemParamItem<'w, '_, Self::Param>,
        pass: &mut TrackedRenderPass<'w>,
    ) -> RenderCommandResult {
        if let Some(scissor) = groups.scissor(item) {
            let (first, size) = (scissor.min, scissor.size());
            pass.set_scissor_rect(first.x, first.y, size.x, size.y);
            return RenderCommandResult::Success;
        }
        let (draws, cache) = (draws.into_inner(), cache.into_inner());
        match draws.draw_filter(item.entity(), cache, pass) {
            true => RenderCommandResult::Success,
            false => RenderCommandResult::Skip,
        }
    }
}

/// Puts groups among the items of the user interface: one item for each, which paints its result.
///
/// Other items mark where groups begin and end: Bevy ends its batches at foreign items, so no batch crosses the border of a group.
/// They paint nothing.
pub fn queue_filters(
    filters: Res<ExtractedFilters>,
    functions: Res<DrawFunctions<TransparentUi>>,
    cameras: Query<&UiCameraView, With<ExtractedView>>,
    ui_views: Query<&ExtractedView>,
    mut phases: ResMut<ViewSortedRenderPhases<TransparentUi>>,
) {
    let draw_function = functions.read().id::<PaintFilter>();
    for filters in filters.of_cameras() {
        let ui_view = cameras.get(filters[0].picture.camera);
        let ui_view = ui_view.and_then(|view| ui_views.get(view.0));
        let phase = ui_view.ok().map(|view| view.retained_view_entity);
        let Some(phase) = phase.and_then(|view| phases.get_mut(&view)) else {
            continue;
        };
        for (sort_key, entity, batch_range) in items(filters) {
            phase.add_transient(TransparentUi {
                sort_key: FloatOrd(sort_key),
                entity,
                pipeline: CachedRenderPipelineId::INVALID,
                draw_function,
                batch_range,
                extra_index: PhaseItemExtraIndex::None,
                index: usize::MAX,
                indexed: false,
            });
        }
    }
}

/// An item's sort key, the entities that identify it, and its batch, which is empty if the item draws nothing.
type Item = (f32, (Entity, MainEntity), Range<u32>);

/// The items of a camera's groups: the marks, and then the results.
pub(super) fn items(filters: &[ExtractedFilter]) -> impl Iterator<Item = Item> {
    let mut ends: Vec<u32> = filters
        .iter()
        .flat_map(|filter| [filter.nodes.start, filter.nodes.end])
        .collect();
    ends.sort_unstable();
    ends.dedup();
    // A group has at most two marks, and two entities to identify them.
    let entities = filters.iter().flat_map(|filter| [filter.item, filter.view]);
    let marks = ends.into_iter().zip(entities);
    // Inside the groups that begin here and the groups around them, outside the groups that end here, and not below the cut of
    // the node's glass, after which there may be another pass.
    let marks = marks.map(|(node, entity)| (cut_of_node(node), mark(entity), 0..0));
    let result = |filter: &ExtractedFilter| {
        let entities = (filter.item, MainEntity::from(filter.entity));
        (filter.result_key(), entities, 0..1)
    };
    marks.chain(filters.iter().map(result))
}
