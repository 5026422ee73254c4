//! Logs what cannot work, once: numbers out of range, and filters on entities without a node.

use crate::settings::UiFilter;
use crate::systems::BlurSystems;
use crate::validation::report_fields;
use bevy::ecs::entity::EntityHashMap;
use bevy::ecs::name::NameOrEntity;
use bevy::prelude::*;

/// Reports on all entities with a [`UiFilter`].
pub struct FilterValidationPlugin;

impl Plugin for FilterValidationPlugin {
    fn build(&self, app: &mut App) {
        app.add_systems(
            PostUpdate,
            (report_out_of_range, report_idle).in_set(BlurSystems::Collect),
        );
    }
}

/// Logs the fields that are out of range, each once until it is back in range.
fn report_out_of_range(
    changed: Query<(NameOrEntity, &UiFilter), Changed<UiFilter>>,
    mut reported: Local<EntityHashMap<Vec<&'static str>>>,
    mut removed: RemovedComponents<UiFilter>,
) {
    for entity in removed.read() {
        reported.remove(&entity);
    }
    for (name, filter) in &changed {
        report_fields("UiFilter", &name, filter.out_of_range(), &mut reported);
    }
}

/// Warns of filters on entities without a [`Node`].
fn report_idle(idle: Query<NameOrEntity, (Added<UiFilter>, Without<Node>)>) {
    for name in &idle {
        warn!("{name} has a UiFilter, but no Node: nothing is filtered");
    }
}
