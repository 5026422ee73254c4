//! How nodes form groups (feature `ui`), and where glass lies among the items of Bevy's user interface.
//!
//! The sort key of an item is the place of its node in the stack of all nodes, plus an offset. Glass is painted right
//! below its node's background, and above its shadow. But its backdrop ends halfway to the node before it: a shadow of
//! its own would fill the box, and the glass must not see it.

use super::bounds::ItemBounds;
use super::extract::Panels;
use super::groups::{Group, Painted, Reader, group};
use super::panel::Panel;
use super::views::Views;
use bevy::prelude::*;
use bevy::render::render_phase::{PhaseItem, PhaseItemExtraIndex, SortedRenderPhase, ViewSortedRenderPhases};
use bevy::render::view::ExtractedView;
use bevy::ui_render::{TransparentUi, UiCameraView};

/// The sort key of glass, from that of its node.
pub const GLASS: f32 = -0.05;

/// The first sort key that the glass of a node does not see.
pub fn cut_of_node(stack_index: u32) -> f32 {
    stack_index as f32 - 0.5
}

/// Groups the glass of the nodes of every camera.
///
/// It runs when items are sorted, and before `RenderSystems::PrepareBindGroups`, in which Bevy forgets how large they
/// are.
pub fn group_nodes(
    panels: Res<Panels>,
    cameras: Query<(Entity, &UiCameraView)>,
    ui_views: Query<&ExtractedView>,
    phases: Res<ViewSortedRenderPhases<TransparentUi>>,
    bounds: ItemBounds,
    mut views: ResMut<Views>,
) {
    for (camera, ui_view) in &cameras {
        let is_on_it = |panel: &Panel| panel.picture.camera == camera && panel.layer.stack_index().is_some();
        if !panels.0.iter().any(is_on_it) {
            continue;
        }
        // The view may be of an earlier frame, and gone.
        let Ok(ui_view) = ui_views.get(ui_view.0) else {
            continue;
        };
        if let Some(phase) = phases.get(&ui_view.retained_view_entity) {
            views.0.entry(camera).or_default().among = group_phase(phase, &panels, &bounds);
        }
    }
}

fn group_phase(phase: &SortedRenderPhase<TransparentUi>, panels: &Panels, bounds: &ItemBounds) -> Vec<Group> {
    let mut readers: Vec<Reader> = Vec::new();
    let mut painted: Vec<Painted> = Vec::with_capacity(phase.items.len());
    for item in phase.items.values() {
        let Some((index, panel, stack_index)) = panel_of(item, panels) else {
            painted.push((item.sort_key, bounds.of(item)));
            continue;
        };
        // The panel's other item marks its cut, and paints nothing.
        if item.main_entity().id() == panel.entity {
            readers.push(Reader {
                panel: index,
                cut: cut_of_node(stack_index),
                reads: panel.in_viewport(panel.reads),
            });
            painted.push((item.sort_key, Some(panel.in_viewport(panel.region))));
        }
    }
    group(&readers, &painted)
}

/// The panel whose item this is, with its index and its place in the stack.
fn panel_of<'a>(item: &TransparentUi, panels: &'a Panels) -> Option<(usize, &'a Panel, u32)> {
    let index = panel_index(item)?;
    let panel = panels.0.get(index)?;
    let stack_index = panel.layer.stack_index()?;
    (panel.layer.item() == Some(item.entity())).then_some((index, panel, stack_index))
}

/// What an item of glass carries as the index of its panel, which is that of the panel's uniform too.
pub fn panel_index(item: &TransparentUi) -> Option<usize> {
    match item.extra_index {
        PhaseItemExtraIndex::DynamicOffset(index) => Some(index as usize),
        _ => None,
    }
}
