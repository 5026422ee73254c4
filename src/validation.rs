//! Logs what cannot work, once: settings out of range, and components that do nothing or too much.

#[cfg(feature = "ui")]
pub mod ui;

use crate::errors::BlurError;
use crate::settings::{BackdropBlur, BlurImage, BlurProfile, BlurStage, BlurUpdate, FreezeBlur, GaussianBlur, Problem};
use crate::systems::BlurSystems;
use bevy::asset::LoadState;
use bevy::camera::{Camera, RenderTarget};
use bevy::ecs::entity::{EntityHashMap, EntityHashSet};
use bevy::ecs::name::{NameOrEntity, NameOrEntityItem};
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
    is_glass: Has<BackdropBlur>,
}

fn changed<C: Component>(component: Option<&Ref<C>>) -> bool {
    component.is_some_and(Ref::is_changed)
}

/// Whether a profile may become wrong at any time.
fn loads(profile: &BlurProfile) -> bool {
    matches!(profile, BlurProfile::Mask(_))
}

impl SubjectItem<'_, '_> {
    /// Whether a rule may decide otherwise than in the last frame. Masks load whenever they do.
    fn is_news(&self) -> bool {
        self.camera.as_ref().is_some_and(Ref::is_added)
            || changed(self.blur.as_ref())
            || changed(self.image.as_ref())
            || changed(self.profile.as_ref())
            || changed(self.freeze.as_ref())
            || self.profile.as_deref().is_some_and(loads)
    }

    /// Whether its `GaussianBlur` is that of a camera.
    fn is_blurred_camera(&self) -> bool {
        self.camera.is_some() && self.blur.is_some()
    }
}

/// Images without anything else report their own settings.
type Subjects = (
    Or<(With<GaussianBlur>, With<BlurImage>, With<FreezeBlur>)>,
    Or<(Without<BlurImage>, With<Camera>, With<FreezeBlur>)>,
);

/// What rules know beside the entity.
#[derive(SystemParam)]
pub struct Around<'w, 's> {
    assets: Res<'w, AssetServer>,
    images: Res<'w, Assets<Image>>,
    cameras: Query<'w, 's, (), With<Camera>>,
}

/// A component, and what of it is out of range: errors, which are said again only after that was in range.
type Range = (&'static str, fn(&SubjectItem, &Around) -> Vec<Problem>);

/// What a setup has that does nothing, or more than intended: a warning, once for each entity.
type Setup = fn(&SubjectItem) -> Option<&'static str>;

const RANGES: [Range; 2] = [
    ("GaussianBlur", |subject, _| {
        let blur = subject.blur.as_ref().filter(|_| subject.camera.is_some());
        blur.and_then(|blur| blur.problem()).into_iter().collect()
    }),
    ("BlurProfile", |subject, around| {
        around.problems(subject.profile.as_deref().filter(|_| subject.is_blurred_camera()))
    }),
];

const SETUPS: [Setup; 3] = [
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
        let is_frozen = subject.is_blurred_camera() || subject.is_glass;
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
];

impl Around<'_, '_> {
    /// Why a profile that is read cannot be, as far as the main world knows.
    fn problems(&self, profile: Option<&BlurProfile>) -> Vec<Problem> {
        let outcome = match profile {
            None => Ok(()),
            Some(BlurProfile::Mask(mask)) if matches!(self.assets.load_state(mask), LoadState::Failed(_)) => {
                Err(BlurError::MaskNotLoaded)
            }
            Some(BlurProfile::Mask(mask)) => match self.images.get(mask) {
                Some(mask) => BlurError::check_reach("mask", mask.asset_usage),
                None => Ok(()),
            },
            Some(profile) => profile.check(),
        };
        let kind = |error: &BlurError| match error {
            BlurError::InvalidProfile => "shares",
            BlurError::MaskNotLoaded => "file",
            _ => "mask",
        };
        outcome
            .err()
            .map(|error| (kind(&error), error.to_string()))
            .into_iter()
            .collect()
    }
}

/// What was said of each entity: components with a field, or texts.
type Said = EntityHashMap<Vec<(&'static str, &'static str)>>;

/// Says what the rules find, unless it was said before.
fn say(
    name: &NameOrEntityItem,
    ranges: impl Iterator<Item = (&'static str, Vec<Problem>)>,
    setups: impl Iterator<Item = &'static str>,
    said: &mut Said,
) {
    let before = said.remove(&name.entity).unwrap_or_default();
    // A warning is known as long as the entity is.
    let mut now: Vec<_> = before.iter().copied().filter(|(_, field)| field.is_empty()).collect();
    for (component, problems) in ranges {
        for (field, problem) in problems {
            if !before.contains(&(component, field)) {
                error!("the {component} of {name}: {problem}");
            }
            now.push((component, field));
        }
    }
    for problem in setups {
        if !now.contains(&(problem, "")) {
            warn!("{name} {problem}");
            now.push((problem, ""));
        }
    }
    if !now.is_empty() {
        said.insert(name.entity, now);
    }
}

fn report(subjects: Query<Subject, Subjects>, around: Around, mut said: Local<Said>) {
    said.retain(|entity, _| subjects.contains(*entity));
    for subject in &subjects {
        if subject.is_news() || said.contains_key(&subject.name.entity) {
            let ranges = RANGES
                .iter()
                .map(|(component, rule)| (*component, rule(&subject, &around)));
            let setups = SETUPS.iter().filter_map(|rule| rule(&subject));
            say(&subject.name, ranges, setups, &mut said);
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
    reported.retain(|entity| blurs.contains(*entity));
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
