//! Glass among the items of Bevy's user interface (feature `ui`).

use super::extract::ExtractedBackdrops;
use super::node_groups::{GLASS, backdrop_index, cut_of_node, mark};
use super::paint_order::PaintOrder;
use super::prepare_draws::Paints;
use bevy::ecs::system::SystemParamItem;
use bevy::ecs::system::lifetimeless::SRes;
use bevy::math::FloatOrd;
use bevy::prelude::*;
use bevy::render::render_phase::{
    DrawFunctions, PhaseItemExtraIndex, RenderCommand, RenderCommandResult, TrackedRenderPass, ViewSortedRenderPhases,
};
use bevy::render::render_resource::{CachedRenderPipelineId, PipelineCache};
use bevy::render::sync_world::MainEntity;
use bevy::render::view::ExtractedView;
use bevy::ui_render::{TransparentUi, UiCameraView};
use core::ops::Range;

/// The draw function of glass. It sets its own pipelines, not the item's.
pub type PaintBackdrop = PaintGlass<false>;

/// The draw function of a hole in the picture of a filtered node, in the shape of the node's own glass.
pub type PaintHole = PaintGlass<true>;

/// Paints glass, or its hole.
pub struct PaintGlass<const IS_HOLE: bool>;

impl<const IS_HOLE: bool> RenderCommand<TransparentUi> for PaintGlass<IS_HOLE> {
    type Param = (SRes<Paints>, SRes<PipelineCache>);
    type ViewQuery = ();
    type ItemQuery = ();

    fn render<'w>(
        item: &TransparentUi,
        _view: (),
        _entity: Option<()>,
        (paints, cache): SystemParamItem<'w, '_, Self::Param>,
        pass: &mut TrackedRenderPass<'w>,
    ) -> RenderCommandResult {
        let (paints, cache) = (paints.into_inner(), cache.into_inner());
        let is_drawn = backdrop_index(item).is_some_and(|backdrop| {
            if IS_HOLE {
                paints.draw_hole(backdrop, cache, pass)
            } else {
                paints.draw(backdrop, cache, pass)
            }
        });
        match is_drawn {
            true => RenderCommandResult::Success,
            false => RenderCommandResult::Skip,
        }
    }
}

/// Puts the glass of nodes among the items of the user interface: two items for each.
///
/// One is the glass. The other one paints nothing and lies right before the cut: Bevy ends its batches at foreign
/// items, so no batch crosses a cut. (Only a material with its own `stack_z_offset` could.)
pub fn queue_backdrops(
    backdrops: Res<ExtractedBackdrops>,
    functions: Res<DrawFunctions<TransparentUi>>,
    cameras: Query<&UiCameraView, With<ExtractedView>>,
    ui_views: Query<&ExtractedView>,
    mut phases: ResMut<ViewSortedRenderPhases<TransparentUi>>,
) {
    let draw_function = functions.read().id::<PaintBackdrop>();
    for (index, backdrop) in backdrops.0.iter().enumerate() {
        let PaintOrder::Ui { stack_index, item } = backdrop.layer else {
            continue;
        };
        let Ok(ui_view) = cameras
            .get(backdrop.picture.camera)
            .and_then(|view| ui_views.get(view.0))
        else {
            continue;
        };
        let Some(phase) = phases.get_mut(&ui_view.retained_view_entity) else {
            continue;
        };
        for (sort_key, entity, batch_range) in items(item, backdrop.entity, stack_index) {
            phase.add_transient(TransparentUi {
                sort_key: FloatOrd(sort_key),
                entity,
                pipeline: CachedRenderPipelineId::INVALID,
                draw_function,
                batch_range,
                extra_index: PhaseItemExtraIndex::DynamicOffset(index as u32),
                index: usize::MAX,
                indexed: false,
            });
        }
    }
}

/// The sort keys of a backdrop's items, their entities, and their batches: an item with an empty batch is not drawn.
fn items(item: Entity, node: Entity, stack_index: u32) -> [(f32, (Entity, MainEntity), Range<u32>); 2] {
    let cut = (cut_of_node(stack_index).next_down(), mark(item), 0..0);
    let glass = (stack_index as f32 + GLASS, (item, MainEntity::from(node)), 0..1);
    [cut, glass]
}
