//! Says in the log what cannot work, once: a strength out of range, and a blur that has nothing to blur.

use crate::diagnostics::assign::label_blurs;
use crate::diagnostics::label::BlurLabel;
use crate::errors::Reported;
use crate::settings::{BlurImage, GaussianBlur};
use crate::systems::BlurSystems;
use bevy::camera::Camera;
use bevy::platform::collections::HashMap;
use bevy::prelude::*;

/// Reports on all entities with a [`GaussianBlur`].
pub struct BlurReportPlugin;

impl Plugin for BlurReportPlugin {
    fn build(&self, app: &mut App) {
        app.add_systems(
            PostUpdate,
            (report_invalid_cameras, report_idle)
                .after(label_blurs)
                .in_set(BlurSystems::Collect),
        );
    }
}

type ChangedCameras = (With<Camera>, Or<(Changed<GaussianBlur>, Added<Camera>)>);

/// Logs a camera's setting out of range, until it is back in range. Images report theirs themselves.
fn report_invalid_cameras(
    cameras: Query<(Entity, &GaussianBlur, &BlurLabel), ChangedCameras>,
    mut reported: Local<HashMap<Entity, Reported>>,
    mut removed: RemovedComponents<GaussianBlur>,
) {
    for entity in removed.read() {
        reported.remove(&entity);
    }
    for (entity, blur, label) in &cameras {
        let outcome = blur.sigma_in_texels(1.0, 1).map(drop);
        if let Some(error) = reported.entry(entity).or_default().news(outcome) {
            error!("{}: {error}", label.as_str());
        }
    }
}

type Idle = (Added<GaussianBlur>, Without<Camera>, Without<BlurImage>);

/// Warns of blurs on entities that show nothing.
fn report_idle(idle: Query<(Entity, &BlurLabel), Idle>) {
    for (entity, label) in &idle {
        warn!(
            "{} (entity {entity}) has a GaussianBlur, but neither a camera nor a BlurImage: nothing is blurred",
            label.as_str()
        );
    }
}
