//! Front end: filters of the user interface.
//!
//! Glass blurs the picture below a node. A filter changes the picture of the node itself and its descendants, the *group*.
//! [`groups`] finds the groups in the main world and clips their nodes, [`extract`] extracts them, and [`paint`](crate::paint) paints
//! them.

mod extract;
mod groups;
mod strength;

use crate::paint::PaintSystems;
use crate::settings::UiFilter;
use bevy::camera::visibility::VisibilitySystems;
use bevy::prelude::*;
use bevy::render::{ExtractSchedule, RenderApp};
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
        render_app.add_systems(ExtractSchedule, extract::extract_filters.in_set(PaintSystems::Extract));
    }
}

#[cfg(test)]
mod tests;
