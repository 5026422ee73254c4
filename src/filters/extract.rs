//! Extracts groups from the main world.

use super::groups::FilteredGroups;
use crate::paint::{PaintInputs, UiCameras};
use bevy::prelude::*;
use bevy::render::Extract;

/// Extracts groups as they were found: everything about a group is read once in a frame.
pub fn extract_filters(
    mut inputs: ResMut<PaintInputs>,
    groups: Extract<Res<FilteredGroups>>,
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
