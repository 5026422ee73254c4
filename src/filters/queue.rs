//! The items of groups in the phase of Bevy's user interface.

use super::extract::{ExtractedFilter, ExtractedFilters};
use super::prepare_draws::FilterDraws;
use crate::backdrop::node_groups::mark;
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
    type Param = (SRes<FilterDraws>, SRes<PipelineCache>);
    type ViewQuery = ();
    type ItemQuery = ();

    fn render<'w>(
        item: &TransparentUi,
        _view: (),
        _entity: Option<()>,
        (draws, cache): SystemParamItem<'w, '_, Self::Param>,
        pass: &mut TrackedRenderPass<'w>,
    ) -> RenderCommandResult {
        let (draws, cache) = (draws.into_inner(), cache.into_inner());
        match draws.draw_filter(item.entity(), cache, pass) {
            true => RenderCommandResult::Success,
            false => RenderCommandResult::Skip,
        }
    }
}

/// Puts groups among the items of the user interface: three items for each.
///
/// One is the group. The others paint nothing and lie at both ends of its nodes: Bevy ends its batches at foreign items, so none
/// reaches from inside of the group to its outside.
pub fn queue_filters(
    filters: Res<ExtractedFilters>,
    functions: Res<DrawFunctions<TransparentUi>>,
    cameras: Query<&UiCameraView, With<ExtractedView>>,
    ui_views: Query<&ExtractedView>,
    mut phases: ResMut<ViewSortedRenderPhases<TransparentUi>>,
) {
    let draw_function = functions.read().id::<PaintFilter>();
    for filter in &filters.0 {
        let ui_view = cameras.get(filter.picture.camera).and_then(|view| ui_views.get(view.0));
        let phase = ui_view.ok().map(|view| view.retained_view_entity);
        let Some(phase) = phase.and_then(|view| phases.get_mut(&view)) else {
            continue;
        };
        for (sort_key, entity, batch_range) in items(filter) {
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

/// The keys of a group's items, the entities that tell them apart, and their batches: what has none is not drawn.
pub(super) fn items(filter: &ExtractedFilter) -> [(f32, (Entity, MainEntity), Range<u32>); 3] {
    let keys = filter.keys();
    let group = filter.result_key();
    [
        (keys.start.next_down(), mark(filter.item), 0..0),
        (group, (filter.item, MainEntity::from(filter.entity)), 0..1),
        (keys.end.next_down(), mark(filter.view), 0..0),
    ]
}
