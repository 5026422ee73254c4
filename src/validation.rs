//! Logs what cannot work, once: a strength out of range, and a blur that has nothing to blur.

use crate::diagnostics::assign::label_blurs;
use crate::diagnostics::label::BlurLabel;
use crate::errors::{BlurError, Reported};
#[cfg(feature = "ui")]
use crate::settings::UiFilter;
use crate::settings::{BackdropBlur, BlurImage, BlurProfile, BlurStage, FreezeBlur, GaussianBlur};
use crate::systems::BlurSystems;
use bevy::asset::LoadState;
use bevy::camera::Camera;
use bevy::ecs::entity::{EntityHashMap, EntityHashSet};
use bevy::ecs::name::{NameOrEntity, NameOrEntityItem};
use bevy::platform::collections::HashMap;
use bevy::prelude::*;

/// Logs the fields of a component that are out of range, each once until it is back in range.
pub fn report_fields(
    component: &str,
    name: &NameOrEntityItem,
    found: Vec<(&'static str, String)>,
    reported: &mut EntityHashMap<Vec<&'static str>>,
) {
    let known = reported.get(&name.entity);
    for (field, problem) in &found {
        if known.is_none_or(|known| !known.contains(field)) {
            error!("the {component} of {name}: {problem}");
        }
    }
    if found.is_empty() {
        reported.remove(&name.entity);
    } else {
        let fields = found.into_iter().map(|(field, _)| field).collect();
        reported.insert(name.entity, fields);
    }
}

/// Logs invalid settings, and components that do nothing.
pub struct BlurValidationPlugin;

impl Plugin for BlurValidationPlugin {
    fn build(&self, app: &mut App) {
        app.add_systems(
            PostUpdate,
            (
                report_invalid_cameras,
                report_invalid_profiles,
                report_idle,
                report_frozen,
            )
                .after(label_blurs)
                .in_set(BlurSystems::Collect),
        );
    }
}

type ChangedCameras = (With<Camera>, Or<(Changed<GaussianBlur>, Added<Camera>)>);

/// Logs a camera's setting that is out of range, once, until it is back in range. Images report their own settings.
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

#[cfg(feature = "ui")]
type Profiled = Or<((With<Camera>, With<GaussianBlur>), With<BackdropBlur>, With<UiFilter>)>;
#[cfg(not(feature = "ui"))]
type Profiled = Or<((With<Camera>, With<GaussianBlur>), With<BackdropBlur>)>;

/// The same for the profiles of cameras, of glass and of filters, and for masks that could not be loaded.
fn report_invalid_profiles(
    profiles: Query<(NameOrEntity, &BlurProfile), Profiled>,
    assets: Res<AssetServer>,
    mut reported: Local<HashMap<Entity, Reported>>,
    mut removed: RemovedComponents<BlurProfile>,
) {
    for entity in removed.read() {
        reported.remove(&entity);
    }
    for (name, profile) in &profiles {
        let outcome = match profile {
            BlurProfile::Mask(mask) if matches!(assets.load_state(mask), LoadState::Failed(_)) => {
                Err(BlurError::MaskNotLoaded)
            }
            _ => profile.check(),
        };
        // Entries are made only for settings that fail.
        if (outcome.is_err() || reported.contains_key(&name.entity))
            && let Some(error) = reported.entry(name.entity).or_default().news(outcome)
        {
            error!("the BlurProfile of {name}: {error}");
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

type FrozenThing = (
    NameOrEntity,
    Has<GaussianBlur>,
    Has<Camera>,
    Has<BackdropBlur>,
    Has<BlurImage>,
    Option<&'static BlurStage>,
);

/// Warns where freezing does nothing, or more than intended. Once for each entity.
fn report_frozen(frozen: Query<FrozenThing, Added<FreezeBlur>>, mut reported: Local<EntityHashSet>) {
    for (name, has_blur, is_camera, is_glass, is_image, stage) in &frozen {
        let is_frozen = is_glass || has_blur && is_camera;
        let freezes_ui = has_blur && is_camera && stage == Some(&BlurStage::AfterUi);
        if is_frozen && !freezes_ui || !reported.insert(name.entity) {
            continue;
        }
        if freezes_ui {
            warn!(
                "{name} has a FreezeBlur and BlurStage::AfterUi: its user interface is frozen, too; put menus on another camera"
            );
        } else if is_image {
            warn!("{name} has a FreezeBlur beside a BlurImage, which it does not freeze: use BlurUpdate::Once");
        } else {
            warn!(
                "{name} has a FreezeBlur, but neither a BackdropBlur nor a camera with a GaussianBlur: nothing is frozen"
            );
        }
    }
}
