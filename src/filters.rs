//! Front end: filters of the user interface.
//!
//! Glass blurs the picture below a node. A filter changes the picture of the node itself and its descendants, the *group*.
//! [`groups`] finds the groups in the main world and clips their nodes, and [`paint`](crate::paint) paints them.

mod groups;
mod strength;

use crate::paint::{PaintInputs, PaintSystems, UiCameras};
use crate::settings::UiFilter;
use bevy::camera::visibility::VisibilitySystems;
use bevy::prelude::*;
use bevy::render::{Extract, ExtractSchedule, RenderApp};
use bevy::ui::UiSystems;

/// Adds filters of the user interface to an app.
pub fn plugin(app: &mut App) {
    app.register_type::<UiFilter>()
        .init_resource::<groups::FilteredGroups>();
    // Without a renderer, nothing may be clipped for it.
    if app.get_sub_app(RenderApp).is_none() {
        return;
    }
    app.add_systems(
        PostUpdate,
        groups::find_groups
            .after(UiSystems::PostLayout)
            .after(UiSystems::Stack)
            .after(VisibilitySystems::VisibilityPropagate),
    );
    if let Some(render_app) = app.get_sub_app_mut(RenderApp) {
        render_app.add_systems(ExtractSchedule, extract_filters.in_set(PaintSystems::Extract));
    }
}

/// Extracts groups as they were found: everything about a group is read once in a frame.
pub fn extract_filters(
    mut inputs: ResMut<PaintInputs>,
    groups: Extract<Res<groups::FilteredGroups>>,
    cameras: Extract<UiCameras>,
) {
    let mut pictures = cameras.pictures();
    for (target, filter) in &groups.0 {
        let Some((picture, is_soft)) = pictures(target) else {
            continue;
        };
        let mut filter = filter.clone();
        for shape in filter.outline.iter_mut().chain(&mut filter.border) {
            shape.is_soft = is_soft;
        }
        inputs.camera(picture).filters.push(filter);
    }
    for camera in &mut inputs.cameras {
        camera.filters.sort_by_key(|filter| (filter.node, filter.nodes.start));
    }
}

#[cfg(test)]
mod tests;
