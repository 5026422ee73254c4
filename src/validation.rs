//! Logs what cannot work, once: a strength out of range, and a blur that has nothing to blur.

use crate::diagnostics::assign::label_blurs;
use crate::diagnostics::label::BlurLabel;
use crate::errors::{BlurError, Reported};
#[cfg(feature = "ui")]
use crate::settings::UiFilter;
use crate::settings::{
    BackdropBlur, BackdropLens, BackdropRegion, BlurImage, BlurProfile, BlurStage, BlurUpdate, FreezeBlur,
    GaussianBlur, HasRange,
};
use crate::systems::BlurSystems;
use bevy::asset::LoadState;
use bevy::camera::{Camera, RenderTarget};
use bevy::ecs::entity::{EntityHashMap, EntityHashSet};
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
                report_out_of_range::<BackdropBlur>,
                report_out_of_range::<BackdropLens>,
                report_lost_regions,
                report_idle_glass,
                report_idle_lenses,
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
        #[cfg(feature = "ui")]
        app.add_systems(
            PostUpdate,
            (report_out_of_range::<UiFilter>, report_idle_filters, report_profiles).in_set(BlurSystems::Collect),
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

#[cfg(feature = "ui")]
type HasNoPlace = (Without<BackdropRegion>, Without<Node>);
#[cfg(not(feature = "ui"))]
type HasNoPlace = Without<BackdropRegion>;

/// Warns of glass on entities that cannot show it.
fn report_idle_glass(idle: Query<NameOrEntity, (Added<BackdropBlur>, HasNoPlace)>) {
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

/// Warns of lenses without glass.
fn report_idle_lenses(idle: Query<NameOrEntity, (Added<BackdropLens>, Without<BackdropBlur>)>) {
    for name in &idle {
        warn!("{name} has a BackdropLens, but no BackdropBlur: there is no glass; a radius of 0 makes clear glass");
    }
}

/// Warns of filters on entities without a [`Node`].
#[cfg(feature = "ui")]
fn report_idle_filters(idle: Query<NameOrEntity, (Added<UiFilter>, Without<Node>)>) {
    for name in &idle {
        warn!("{name} has a UiFilter, but no Node: nothing is filtered");
    }
}

#[cfg(feature = "ui")]
type HasTwoReaders = (
    With<UiFilter>,
    With<BackdropBlur>,
    With<BlurProfile>,
    Or<(Added<UiFilter>, Added<BackdropBlur>, Added<BlurProfile>)>,
);

/// Warns of profiles that a filter leaves to the glass beside it.
#[cfg(feature = "ui")]
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

#[cfg(feature = "ui")]
type Profiled = Or<((With<Camera>, With<GaussianBlur>), With<BackdropBlur>, With<UiFilter>)>;
#[cfg(not(feature = "ui"))]
type Profiled = Or<((With<Camera>, With<GaussianBlur>), With<BackdropBlur>)>;

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
