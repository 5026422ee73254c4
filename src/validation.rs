//! Logs what cannot work, once: settings out of range, and components that do nothing or too much.

use crate::errors::BlurError;
use crate::settings::{
    BackdropBlur, BackdropLens, BackdropRegion, BlurImage, BlurProfile, BlurStage, BlurUpdate, FreezeBlur,
    GaussianBlur, HasRange, UiFilter,
};
use crate::systems::BlurSystems;
use bevy::asset::LoadState;
use bevy::camera::{Camera, RenderTarget};
use bevy::ecs::entity::{EntityHashMap, EntityHashSet};
use bevy::ecs::name::NameOrEntity;
use bevy::ecs::query::QueryData;
use bevy::ecs::system::SystemParam;
use bevy::prelude::*;

/// Logs invalid settings, and components that do nothing.
pub fn plugin(app: &mut App) {
    app.add_systems(PostUpdate, (report, report_painted).in_set(BlurSystems::Collect));
}

/// What rules know of an entity.
#[derive(QueryData)]
pub struct Subject {
    name: NameOrEntity,
    camera: Option<Ref<'static, Camera>>,
    stage: Option<&'static BlurStage>,
    blur: Option<Ref<'static, GaussianBlur>>,
    image: Option<Ref<'static, BlurImage>>,
    profile: Option<Ref<'static, BlurProfile>>,
    freeze: Option<Ref<'static, FreezeBlur>>,
    glass: Option<Ref<'static, BackdropBlur>>,
    lens: Option<Ref<'static, BackdropLens>>,
    region: Option<Ref<'static, BackdropRegion>>,
    filter: Option<Ref<'static, UiFilter>>,
    #[cfg(feature = "ui")]
    is_node: Has<Node>,
}

impl SubjectItem<'_, '_> {
    /// Whether a rule may decide otherwise than in the last frame. Masks load whenever they do.
    fn is_news(&self) -> bool {
        fn changed<C: Component>(component: Option<&Ref<C>>) -> bool {
            component.is_some_and(Ref::is_changed)
        }
        self.camera.as_ref().is_some_and(Ref::is_added)
            || changed(self.blur.as_ref())
            || changed(self.image.as_ref())
            || changed(self.profile.as_ref())
            || changed(self.freeze.as_ref())
            || changed(self.glass.as_ref())
            || changed(self.lens.as_ref())
            || changed(self.region.as_ref())
            || changed(self.filter.as_ref())
            || matches!(self.profile.as_deref(), Some(BlurProfile::Mask(_)))
    }

    /// Whether its `GaussianBlur` is that of a camera.
    fn is_blurred_camera(&self) -> bool {
        self.camera.is_some() && self.blur.is_some()
    }
}

/// Images without anything else report their own settings.
type Subjects = (
    Or<(
        With<GaussianBlur>,
        With<BlurImage>,
        With<FreezeBlur>,
        With<BackdropBlur>,
        With<BackdropLens>,
        With<BackdropRegion>,
        With<UiFilter>,
    )>,
    Or<(Without<BlurImage>, With<Camera>, With<FreezeBlur>)>,
);

/// What rules know beside the entity.
#[derive(SystemParam)]
pub struct Around<'w, 's> {
    assets: Res<'w, AssetServer>,
    images: Res<'w, Assets<Image>>,
    cameras: Query<'w, 's, (), With<Camera>>,
}

/// A component, and which of its fields are out of range: an error, which is said again only after the field was in range.
type Range = (&'static str, fn(&SubjectItem, &Around) -> Vec<(&'static str, String)>);

/// What a setup has that does nothing, or more than intended: a warning, once for each entity.
type Setup = fn(&SubjectItem) -> Option<&'static str>;

const RANGES: [Range; 6] = [
    ("GaussianBlur", |subject, _| {
        let blur = subject.blur.as_ref().filter(|_| subject.camera.is_some());
        let error = blur.and_then(|blur| blur.check().err());
        error.map(|error| ("blur", error.to_string())).into_iter().collect()
    }),
    ("BlurProfile", |subject, around| {
        let is_read = subject.is_blurred_camera() || subject.glass.is_some() || subject.filter.is_some();
        let profile = subject.profile.as_deref().filter(|_| is_read);
        let error = profile.and_then(|profile| around.check(profile).err());
        error
            .map(|error| (kind_of(&error), error.to_string()))
            .into_iter()
            .collect()
    }),
    ("BackdropRegion", |subject, around| {
        let region = subject.region.as_ref();
        let lost = region.filter(|region| !around.cameras.contains(region.camera));
        let problem = |camera| format!("entity {camera} is not a camera, so its glass is not drawn");
        lost.map(|region| ("camera", problem(region.camera)))
            .into_iter()
            .collect()
    }),
    ("BackdropBlur", |subject, _| out_of_range(subject.glass.as_deref())),
    ("BackdropLens", |subject, _| out_of_range(subject.lens.as_deref())),
    ("UiFilter", |subject, _| out_of_range(subject.filter.as_deref())),
];

const SETUPS: &[Setup] = &[
    |subject| {
        let is_idle = subject.blur.is_some() && subject.camera.is_none() && subject.image.is_none();
        is_idle.then_some("has a GaussianBlur, but neither a camera nor a BlurImage: nothing is blurred")
    },
    |subject| {
        let is_double = subject.image.is_some() && subject.camera.is_some();
        is_double.then_some(
            "has a BlurImage beside a camera, so its GaussianBlur blurs both: put the BlurImage on another entity",
        )
    },
    |subject| {
        let is_frozen = subject.is_blurred_camera() || subject.glass.is_some();
        let freezes_ui = subject.is_blurred_camera() && subject.stage == Some(&BlurStage::AfterUi);
        let problem = match subject.image {
            _ if freezes_ui => {
                "has a FreezeBlur and BlurStage::AfterUi: its user interface is frozen, too; put menus on another camera"
            }
            _ if is_frozen => return None,
            Some(_) => "has a FreezeBlur beside a BlurImage, which it does not freeze: use BlurUpdate::Once",
            None => "has a FreezeBlur, but neither a BackdropBlur nor a camera with a GaussianBlur: nothing is frozen",
        };
        subject.freeze.as_ref().map(|_| problem)
    },
    |subject| {
        let is_idle = subject.lens.is_some() && subject.glass.is_none();
        is_idle.then_some("has a BackdropLens, but no BackdropBlur: there is no glass; a radius of 0 makes clear glass")
    },
    |subject| {
        let is_blurred = subject.filter.as_ref().is_some_and(|filter| filter.blur.radius > 0.0);
        let has_two_readers = is_blurred && subject.glass.is_some() && subject.profile.is_some();
        has_two_readers.then_some(
            "has a BlurProfile, a BackdropBlur and a UiFilter: the profile varies the glass; to vary the filter, too, put it on a \
             parent with a profile of its own",
        )
    },
    #[cfg(feature = "ui")]
    |subject| {
        let is_idle = subject.glass.is_some() && subject.region.is_none() && !subject.is_node;
        is_idle.then_some("has a BackdropBlur, but neither a Node nor a BackdropRegion: there is no glass")
    },
    #[cfg(feature = "ui")]
    |subject| {
        let is_idle = subject.filter.is_some() && !subject.is_node;
        is_idle.then_some("has a UiFilter, but no Node: nothing is filtered")
    },
];

fn out_of_range<C: HasRange>(settings: Option<&C>) -> Vec<(&'static str, String)> {
    settings.map(C::out_of_range).unwrap_or_default()
}

/// Failures of one profile that are different.
fn kind_of(error: &BlurError) -> &'static str {
    match error {
        BlurError::InvalidProfile => "shares",
        BlurError::MaskNotLoaded => "file",
        _ => "mask",
    }
}

impl Around<'_, '_> {
    /// Whether a profile can be read, as far as the main world knows.
    fn check(&self, profile: &BlurProfile) -> Result<(), BlurError> {
        match profile {
            BlurProfile::Mask(mask) if matches!(self.assets.load_state(mask), LoadState::Failed(_)) => {
                Err(BlurError::MaskNotLoaded)
            }
            BlurProfile::Mask(mask) => match self.images.get(mask) {
                Some(mask) => BlurError::check_reach("mask", mask.asset_usage),
                None => Ok(()),
            },
            _ => profile.check(),
        }
    }
}

/// Says what the rules find, unless it was said before.
fn report(
    subjects: Query<Subject, Subjects>,
    around: Around,
    mut said: Local<EntityHashMap<Vec<(&'static str, &'static str)>>>,
) {
    said.retain(|entity, _| subjects.contains(*entity));
    for subject in &subjects {
        let (entity, name) = (subject.name.entity, &subject.name);
        if !subject.is_news() && !said.contains_key(&entity) {
            continue;
        }
        let before = said.remove(&entity).unwrap_or_default();
        let mut now = Vec::new();
        for (component, rule) in RANGES {
            for (field, problem) in rule(&subject, &around) {
                if !before.contains(&(component, field)) {
                    error!("the {component} of {name}: {problem}");
                }
                now.push((component, field));
            }
        }
        // A warning is known as long as the entity is.
        now.extend(before.iter().filter(|(_, field)| field.is_empty()));
        for problem in SETUPS.iter().filter_map(|rule| rule(&subject)) {
            if !now.contains(&(problem, "")) {
                warn!("{name} {problem}");
                now.push((problem, ""));
            }
        }
        if !now.is_empty() {
            said.insert(entity, now);
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
