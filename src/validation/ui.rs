//! Glass and filters of the user interface.

use crate::settings::{BackdropBlur, BackdropLens, BackdropRegion, BlurProfile, HasRange, UiFilter};
use crate::systems::BlurSystems;
use bevy::camera::Camera;
use bevy::ecs::entity::EntityHashMap;
use bevy::ecs::name::NameOrEntity;
use bevy::prelude::*;

/// Logs invalid settings of glass and filters, and components that do nothing.
pub struct UiValidationPlugin;

impl Plugin for UiValidationPlugin {
    fn build(&self, app: &mut App) {
        app.add_systems(
            PostUpdate,
            (
                report_out_of_range::<BackdropBlur>,
                report_out_of_range::<BackdropLens>,
                report_out_of_range::<UiFilter>,
                report_lost_regions,
                report_idle_glass,
                report_idle_lenses,
                report_idle_filters,
                report_profiles,
            )
                .in_set(BlurSystems::Collect),
        );
    }
}

/// Logs a field once when it is out of range, and again only after it was back in range.
fn report_out_of_range<C: Component + HasRange + TypePath>(
    changed: Query<(NameOrEntity, &C), Changed<C>>,
    mut reported: Local<EntityHashMap<Vec<&'static str>>>,
    mut removed: RemovedComponents<C>,
) {
    for entity in removed.read() {
        reported.remove(&entity);
    }
    for (name, settings) in &changed {
        let found = settings.out_of_range();
        let known = reported.remove(&name.entity).unwrap_or_default();
        for (_, problem) in found.iter().filter(|(field, _)| !known.contains(field)) {
            error!("the {} of {name}: {problem}", C::short_type_path());
        }
        if !found.is_empty() {
            let fields = found.into_iter().map(|(field, _)| field);
            reported.insert(name.entity, fields.collect());
        }
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

type HasNoPlace = (Without<BackdropRegion>, Without<Node>);

/// Warns of glass on entities that cannot show it.
fn report_idle_glass(idle: Query<NameOrEntity, (Added<BackdropBlur>, HasNoPlace)>) {
    for name in &idle {
        warn!("{name} has a BackdropBlur, but neither a Node nor a BackdropRegion: there is no glass");
    }
}

/// Warns of lenses without glass.
fn report_idle_lenses(idle: Query<NameOrEntity, (Added<BackdropLens>, Without<BackdropBlur>)>) {
    for name in &idle {
        warn!("{name} has a BackdropLens, but no BackdropBlur: there is no glass; a radius of 0 makes clear glass");
    }
}

/// Warns of filters on entities without a [`Node`].
fn report_idle_filters(idle: Query<NameOrEntity, (Added<UiFilter>, Without<Node>)>) {
    for name in &idle {
        warn!("{name} has a UiFilter, but no Node: nothing is filtered");
    }
}

type HasTwoReaders = (
    With<UiFilter>,
    With<BackdropBlur>,
    With<BlurProfile>,
    Or<(Added<UiFilter>, Added<BackdropBlur>, Added<BlurProfile>)>,
);

/// Warns of profiles that a filter leaves to the glass beside it.
fn report_profiles(nodes: Query<(NameOrEntity, &UiFilter), HasTwoReaders>) {
    for (name, filter) in &nodes {
        if filter.blur.radius > 0.0 {
            warn!(
                "{name} has a BlurProfile, a BackdropBlur and a UiFilter: the profile varies the glass; to vary the filter, too, put \
                 it on a parent with a profile of its own"
            );
        }
    }
}
