//! Front end: glass, which blurs what lies behind a node of Bevy's user interface or a region of a camera's viewport.
//!
//! Both become the same plain values, which [`paint`](crate::paint) paints. [`stacks`] reports pictures that glass should see but does
//! not.

mod extract;
mod stacks;

use crate::paint::{PaintSystems, start_extraction};
use bevy::prelude::*;
use bevy::render::{ExtractSchedule, RenderApp};

/// Adds backdrop blurs to an app.
pub fn plugin(app: &mut App) {
    let Some(render_app) = app.get_sub_app_mut(RenderApp) else {
        return;
    };
    render_app.add_systems(
        ExtractSchedule,
        (
            (extract::extract_regions, extract::extract_nodes)
                .chain()
                .in_set(PaintSystems::Extract),
            stacks::report_unseen.before(start_extraction),
        ),
    );
}
