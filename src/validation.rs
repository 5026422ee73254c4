//! Logs what cannot work, once: a strength out of range, and a blur that has nothing to blur.

#[cfg(feature = "ui")]
pub mod ui;

use crate::diagnostics::assign::label_blurs;
use crate::diagnostics::label::BlurLabel;
use crate::errors::{BlurError, Reported};
use crate::settings::{
    BackdropBlur, BlurImage, BlurProfile, BlurStage, BlurUpdate, FreezeBlur, GaussianBlur, UiFilter,
};
use crate::systems::BlurSystems;
use bevy::asset::LoadState;
use bevy::camera::{Camera, RenderTarget};
use bevy::ecs::entity::EntityHashSet;
use bevy::ecs::name::NameOrEntity;
use bevy::platform::collections::HashMap;
use bevy::prelude::*;

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
                report_painted,
                report_doubled,
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
        let outcome = blur.check();
        if let Some(error) = reported.entry(entity).or_default().news(outcome) {
            error!("{}: {error}", label.as_str());
        }
    }
}

type Profiled = Or<((With<Camera>, With<GaussianBlur>), With<BackdropBlur>, With<UiFilter>)>;

/// The same for the profiles of cameras, of glass and of filters, and for masks that could not be loaded.
fn report_invalid_profiles(
    profiles: Query<(NameOrEntity, &BlurProfile), Profiled>,
    assets: Res<AssetServer>,
    images: Res<Assets<Image>>,
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
            BlurProfile::Mask(mask) => match images.get(mask) {
                Some(mask) => BlurError::check_reach("mask", mask.asset_usage),
                None => Ok(()),
            },
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

type Repainted = (With<Camera>, Changed<RenderTarget>);

/// Warns of blurs in place that run only once, because a camera paints their image. Once for each entity.
fn report_painted(
    blurs: Query<(NameOrEntity, Ref<BlurImage>)>,
    cameras: Query<&RenderTarget, With<Camera>>,
    repainted: Query<(), Repainted>,
    changed: Query<(), Changed<BlurImage>>,
    mut reported: Local<EntityHashSet>,
) {
    let are_cameras_new = !repainted.is_empty();
    if !are_cameras_new && changed.is_empty() {
        return;
    }
    for (name, image) in &blurs {
        let is_new = are_cameras_new || image.is_changed();
        let waits = image.update == BlurUpdate::OnChange && image.target.as_ref() == Some(&image.source);
        let paints =
            |target: &RenderTarget| matches!(target, RenderTarget::Image(painted) if painted.handle == image.source);
        if is_new && waits && cameras.iter().any(paints) && reported.insert(name.entity) {
            warn!(
                "{name} blurs an image in place that a camera paints, but only when its settings change: use \
                 BlurUpdate::EveryFrame"
            );
        }
    }
}

type Doubled = (With<Camera>, With<BlurImage>, Or<(Added<Camera>, Added<BlurImage>)>);

/// Warns of entities whose strength belongs to two blurs.
fn report_doubled(doubled: Query<NameOrEntity, Doubled>) {
    for name in &doubled {
        warn!(
            "{name} has a BlurImage beside a camera, so its GaussianBlur blurs both: put the BlurImage on another entity"
        );
    }
}
