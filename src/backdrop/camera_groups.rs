//! The groups of every camera, and how regions form them.

use super::extract::ExtractedBackdrops;
use super::groups::{Group, Reader, Sight, group};
use super::paint_order::PaintOrder;
use bevy::math::FloatOrd;
use bevy::platform::collections::HashMap;
use bevy::prelude::*;

/// The groups of a camera, in the order in which they are blurred.
#[derive(Clone, Debug, Default)]
pub struct Groups {
    /// Regions under the user interface.
    pub below: Vec<Group>,
    /// Nodes.
    pub among: Vec<Group>,
    /// Nodes inside filtered groups, each in its own group.
    pub nested: Vec<Group>,
    /// Regions over the user interface.
    pub above: Vec<Group>,
}

impl Groups {
    /// The groups that see what the camera has painted.
    pub fn on_camera(&self) -> impl Iterator<Item = &Group> {
        [&self.below, &self.among, &self.above].into_iter().flatten()
    }

    /// The indices of all backdrops.
    pub fn backdrops(&self) -> impl Iterator<Item = usize> {
        self.on_camera()
            .chain(&self.nested)
            .flat_map(|group| group.backdrops.iter().copied())
    }
}

/// The groups of this frame, by the render world's entity of the camera.
#[derive(Resource, Default)]
pub struct CameraGroups(pub HashMap<Entity, Groups>);

/// Groups the regions of every camera, as the first groups of a frame.
pub fn group_regions(backdrops: Res<ExtractedBackdrops>, mut grouped: ResMut<CameraGroups>) {
    grouped.0.clear();
    let below = |layer: PaintOrder| match layer {
        PaintOrder::BelowUi(order) => Some(order),
        _ => None,
    };
    for (camera, groups) in group_layer(&backdrops, below) {
        grouped.0.entry(camera).or_default().below = groups;
    }
    let above = |layer: PaintOrder| match layer {
        PaintOrder::AboveUi(order) => Some(order),
        _ => None,
    };
    for (camera, groups) in group_layer(&backdrops, above) {
        grouped.0.entry(camera).or_default().above = groups;
    }
}

/// Groups the regions of one layer, in their order.
fn group_layer(backdrops: &ExtractedBackdrops, order: impl Fn(PaintOrder) -> Option<i32>) -> Vec<(Entity, Vec<Group>)> {
    let of_layer = backdrops.0.iter().enumerate();
    let keyed = of_layer.filter_map(|(index, backdrop)| {
        let order = order(backdrop.layer)?;
        Some((backdrop.picture.camera, order, backdrop.entity, index))
    });
    let mut regions: Vec<(Entity, i32, Entity, usize)> = keyed.collect();
    regions.sort_unstable();
    let cameras = regions.chunk_by(|one, other| one.0 == other.0);
    let grouped = cameras.map(|of_camera| {
        let indices: Vec<usize> = of_camera.iter().map(|(.., index)| *index).collect();
        (of_camera[0].0, group_in_order(backdrops, &indices))
    });
    grouped.collect()
}

/// Regions have no sort keys, so their places in the list are their cuts. Only their own glass is painted between them, right
/// after each cut.
fn group_in_order(backdrops: &ExtractedBackdrops, indices: &[usize]) -> Vec<Group> {
    let placed = || indices.iter().enumerate().map(|(place, index)| (place as f32, *index));
    let reader = |(cut, index): (f32, usize)| Reader {
        sight: Sight::Backdrop(index),
        cut,
        reads: backdrops.0[index].sees(),
    };
    let glass = |(key, index): (f32, usize)| {
        let region = backdrops.0[index].in_viewport(backdrops.0[index].region);
        (FloatOrd(key + 0.5), Some(region))
    };
    let readers: Vec<_> = placed().map(reader).collect();
    let painted: Vec<_> = placed().map(glass).collect();
    group(&readers, &painted)
}
