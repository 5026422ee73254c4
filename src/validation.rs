//! Logs what cannot work, once: settings out of range, and components that do nothing or too much.

mod subject;
#[cfg(feature = "ui")]
mod ui;

use crate::settings::{BlurImage, BlurStage, BlurUpdate};
use crate::systems::BlurSystems;
use bevy::camera::RenderTarget;
use bevy::ecs::entity::{EntityHashMap, EntityHashSet};
use bevy::ecs::name::NameOrEntity;
use bevy::prelude::*;
use subject::{Around, Range, Setup, Subject, Subjects};
#[cfg(feature = "ui")]
use ui::{RANGES as UI_RANGES, SETUPS as UI_SETUPS};

#[cfg(not(feature = "ui"))]
const UI_RANGES: [Range; 0] = [];
#[cfg(not(feature = "ui"))]
const UI_SETUPS: [Setup; 0] = [];

/// Logs invalid settings, and components that do nothing.
pub fn plugin(app: &mut App) {
    app.add_systems(PostUpdate, (report, report_painted).in_set(BlurSystems::Collect));
}

/// What is out of range, of all but glass and filters.
const RANGES: [Range; 2] = [
    ("GaussianBlur", |subject, _| {
        let blur = subject.blur.as_ref().filter(|_| subject.camera.is_some());
        blur.and_then(|blur| blur.problem()).into_iter().collect()
    }),
    ("BlurProfile", |subject, around| {
        around.problems(subject.profile.as_deref().filter(|_| subject.is_blurred_camera()))
    }),
];

/// What does nothing, or more than intended, of all but glass and filters.
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
];

/// What was said of each entity: components with a field, or texts.
type Said = EntityHashMap<Vec<(&'static str, &'static str)>>;

/// Says what the rules find, unless it was said before.
fn report(subjects: Query<Subject, Subjects>, around: Around, mut said: Local<Said>) {
    said.retain(|entity, _| subjects.contains(*entity));
    for subject in &subjects {
        let name = &subject.name;
        if !subject.is_news() && !said.contains_key(&name.entity) {
            continue;
        }
        let before = said.remove(&name.entity).unwrap_or_default();
        // A warning is known as long as the entity is.
        let mut now: Vec<_> = before.iter().copied().filter(|(_, field)| field.is_empty()).collect();
        for (component, rule) in RANGES.iter().chain(&UI_RANGES) {
            for (field, problem) in rule(&subject, &around) {
                if !before.contains(&(*component, field)) {
                    error!("the {component} of {name}: {problem}");
                }
                now.push((*component, field));
            }
        }
        for problem in SETUPS.iter().chain(&UI_SETUPS).filter_map(|rule| rule(&subject)) {
            if !now.contains(&(problem, "")) {
                warn!("{name} {problem}");
                now.push((problem, ""));
            }
        }
        if !now.is_empty() {
            said.insert(name.entity, now);
        }
    }
}

/// Warns of blurs in place that run only once, because a camera paints their image. Once for each entity.
fn report_painted(
    blurs: Query<(NameOrEntity, Ref<BlurImage>)>,
    cameras: Query<&RenderTarget, With<Camera>>,
    repainted: Query<(), (With<Camera>, Changed<RenderTarget>)>,
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
