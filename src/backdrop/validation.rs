//! Logs settings that cannot work, once each: numbers out of range, and glass without a place.

use crate::settings::{BackdropBlur, BackdropRegion};
use crate::systems::BlurSystems;
use crate::validation::report_fields;
use bevy::camera::Camera;
use bevy::ecs::entity::EntityHashMap;
use bevy::ecs::name::NameOrEntity;
use bevy::prelude::*;

/// Reports on all entities with a [`BackdropBlur`].
pub struct BackdropValidationPlugin;

impl Plugin for BackdropValidationPlugin {
    fn build(&self, app: &mut App) {
        app.add_systems(
            PostUpdate,
            (report_out_of_range, report_lost_regions, report_idle).in_set(BlurSystems::Collect),
        );
    }
}

/// Logs a field once when it is out of range, and again only after it was back in range.
fn report_out_of_range(
    changed: Query<(NameOrEntity, &BackdropBlur), Changed<BackdropBlur>>,
    mut reported: Local<EntityHashMap<Vec<&'static str>>>,
    mut removed: RemovedComponents<BackdropBlur>,
) {
    for entity in removed.read() {
        reported.remove(&entity);
    }
    for (name, glass) in &changed {
        report_fields("BackdropBlur", &name, glass.out_of_range(), &mut reported);
    }
}

/// Warns of regions on entities that are not cameras.
fn report_lost_regions(
    changed: Query<(NameOrEntity, &BackdropRegion), Changed<BackdropRegion>>,
    cameras: Query<(), With<Camera>>,
    mut reported: Local<EntityHashMap<Entity>>,
    mut removed: RemovedComponents<BackdropRegion>,
) {
    for entity in removed.read() {
        reported.remove(&entity);
    }
    for (name, region) in &changed {
        if cameras.contains(region.camera) {
            reported.remove(&name.entity);
        } else if reported.insert(name.entity, region.camera) != Some(region.camera) {
            let camera = region.camera;
            warn!(
                "the BackdropRegion of {name} is on entity {camera}, which is not a camera, so its glass is not drawn"
            );
        }
    }
}

#[cfg(feature = "ui")]
type HasNoPlace = (Without<BackdropRegion>, Without<Node>);
#[cfg(not(feature = "ui"))]
type HasNoPlace = Without<BackdropRegion>;

/// Warns of glass on entities that cannot show it.
fn report_idle(idle: Query<NameOrEntity, (Added<BackdropBlur>, HasNoPlace)>) {
    for name in &idle {
        if cfg!(feature = "ui") {
            warn!("{name} has a BackdropBlur, but neither a Node nor a BackdropRegion: there is no glass");
        } else {
            warn!(
                "{name} has a BackdropBlur, but no BackdropRegion, and nodes need the feature `ui`: there is no glass"
            );
        }
    }
}
