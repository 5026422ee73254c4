//! The main world: watches settings and assets, and decides when a blur is due.

use super::request::{Follow, Followed, Outcome, Outcomes, Request, Requests};
use super::targets::{Target, Targets};
use crate::diagnostics::label::BlurLabel;
use crate::errors::BlurError;
use crate::settings::{BlurFailed, BlurFinished, BlurImage, BlurProfile, BlurRevision, BlurUpdate, GaussianBlur};
use bevy::asset::LoadState;
use bevy::platform::collections::HashSet;
use bevy::prelude::*;

type Blurred = (
    Entity,
    Ref<'static, GaussianBlur>,
    Ref<'static, BlurImage>,
    Option<&'static BlurProfile>,
    &'static mut BlurRevision,
    &'static BlurLabel,
);

/// Collects the image blurs of this frame.
pub fn follow_images(
    mut requests: ResMut<Requests>,
    mut followed: ResMut<Followed>,
    mut blurs: Query<Blurred>,
    mut events: MessageReader<AssetEvent<Image>>,
    (images, assets): (Res<Assets<Image>>, Res<AssetServer>),
    (targets, outcomes): (Res<Targets>, Res<Outcomes>),
) {
    let changed: HashSet<AssetId<Image>> = events
        .read()
        .filter_map(|event| match event {
            AssetEvent::Added { id } | AssetEvent::Modified { id } => Some(*id),
            _ => None,
        })
        .collect();
    let changes = Changes {
        changed,
        images: &images,
    };
    followed.0.retain(|entity, _| blurs.contains(*entity));
    let Requests { ordered, alive } = &mut *requests;
    ordered.clear();
    alive.clear();
    for (entity, blur, image, profile, mut revision, label) in &mut blurs {
        alive.insert(entity);
        let follow = followed.0.entry(entity).or_default();
        follow.image_changed |= image.is_changed();
        let is_other_profile = follow.take_profile(profile);
        follow.settings_changed |= blur.is_changed() || is_other_profile;
        // An asset that was removed to save memory may still be on the GPU.
        let is_known = follow.images.is_some_and(|(source, _)| source == image.source.id());
        let is_there = is_known || images.contains(&image.source);
        let target = target_of(entity, &image, is_there, &targets, &assets);
        let mask = follow.mask(&images, &assets);
        let target = match mask.and_then(|is_there| Ok(target?.filter(|_| is_there))) {
            Ok(Some(target)) => target,
            Ok(None) => continue,
            Err(error) => {
                if let Some(news) = follow.failures.news(Err(error)) {
                    outcomes.fail(entity, news);
                }
                continue;
            }
        };
        let _ = follow.failures.news(Ok(()));
        if let Some(news) = follow.strength.news(blur.sigma_in_texels(1.0, 1).map(drop)) {
            outcomes.fail(entity, news);
        }
        if let Some(news) = follow.shape.news(follow.profile.check()) {
            outcomes.fail(entity, news);
        }
        follow.update(image.update, image.source.id(), target, &changes);
        revision.set_if_neq(BlurRevision(follow.revision));
        ordered.push(Request {
            entity,
            label: label.clone(),
            blur: *blur,
            profile: follow.profile.clone(),
            source: image.source.id(),
            target: target.id,
            owns_target: target.is_own,
            alpha: image.alpha,
            dither: image.dither,
            update: image.update,
            revision: follow.revision,
            uploads: follow.uploads,
            feeder: None,
        });
    }
    order_by_dependency(ordered, &targets);
    find_feeders(ordered, &targets, &followed);
}

/// The target of a blur whose source is there, `None` while one of them is not.
fn target_of(
    entity: Entity,
    image: &BlurImage,
    is_there: bool,
    targets: &Targets,
    assets: &AssetServer,
) -> Result<Option<Target>, BlurError> {
    if is_there {
        targets.get(entity)
    } else if matches!(assets.load_state(&image.source), LoadState::Failed(_)) {
        Err(BlurError::SourceNotLoaded)
    } else {
        Ok(None)
    }
}

/// What has become of images since the last frame.
struct Changes<'a> {
    changed: HashSet<AssetId<Image>>,
    images: &'a Assets<Image>,
}

impl Changes<'_> {
    fn is_changed(&self, id: AssetId<Image>) -> bool {
        self.changed.contains(&id)
    }

    /// Whether pixels are on their way to the GPU.
    fn is_uploaded(&self, id: AssetId<Image>) -> bool {
        self.is_changed(id) && self.images.get(id).is_some_and(|image| image.data.is_some())
    }
}

impl Follow {
    /// Takes a profile over. Returns whether it is another one.
    fn take_profile(&mut self, profile: Option<&BlurProfile>) -> bool {
        const UNIFORM: &BlurProfile = &BlurProfile::Uniform;
        let profile = profile.unwrap_or(UNIFORM);
        let is_new = self.profile != *profile;
        if is_new {
            self.profile = profile.clone();
            self.mask_is_there = false;
        }
        is_new
    }

    /// Whether all that the profile needs is there.
    fn mask(&mut self, images: &Assets<Image>, assets: &AssetServer) -> Result<bool, BlurError> {
        let BlurProfile::Mask(mask) = &self.profile else {
            return Ok(true);
        };
        // An asset that was removed to save memory may still be on the GPU.
        self.mask_is_there |= images.contains(mask);
        if !self.mask_is_there && matches!(assets.load_state(mask), LoadState::Failed(_)) {
            return Err(BlurError::MaskNotLoaded);
        }
        Ok(self.mask_is_there)
    }

    /// Counts what the changes of a frame ask for.
    fn update(&mut self, update: BlurUpdate, source: AssetId<Image>, target: Target, changes: &Changes) {
        let ids = (source, target.id);
        let is_new = self.images != Some(ids);
        let mask_changed = matches!(&self.profile, BlurProfile::Mask(mask) if changes.is_changed(mask.id()));
        let textures_changed = is_new || mask_changed || changes.is_changed(ids.0) || changes.is_changed(ids.1);
        let is_due = match update {
            BlurUpdate::EveryFrame | BlurUpdate::OnChange => {
                self.image_changed || self.settings_changed || textures_changed
            }
            // A target that holds nothing must not stay empty.
            BlurUpdate::Once => self.image_changed || self.revision == 0 || target.is_new,
        };
        let uploads = is_new || changes.is_uploaded(ids.0) || changes.is_uploaded(ids.1);
        self.revision += u64::from(is_due);
        self.uploads += u64::from(uploads);
        self.images = Some(ids);
        (self.image_changed, self.settings_changed) = (false, false);
    }
}

/// Moves every blur behind the blurs that write its source. A cycle keeps its order.
fn order_by_dependency(requests: &mut Vec<Request>, targets: &Targets) {
    let feeder = |request: &Request| targets.writer(request.source).filter(|it| *it != request.entity);
    if !requests.iter().any(|request| feeder(request).is_some()) {
        return;
    }
    let mut waiting = core::mem::take(requests);
    while !waiting.is_empty() {
        let still: HashSet<Entity> = waiting.iter().map(|request| request.entity).collect();
        let is_ready = |request: &mut Request| feeder(request).is_none_or(|feeder| !still.contains(&feeder));
        let before = waiting.len();
        requests.extend(waiting.extract_if(.., is_ready));
        if waiting.len() == before {
            requests.append(&mut waiting);
        }
    }
}

/// Finds the blurs that others have to wait for: those before them, and those whose own source is not there yet.
fn find_feeders(ordered: &mut [Request], targets: &Targets, followed: &Followed) {
    for index in 0..ordered.len() {
        let Some(writer) = targets.writer(ordered[index].source) else {
            continue;
        };
        let place = ordered.iter().position(|other| other.entity == writer);
        let starts = |follow: &Follow| follow.carried_out == 0 && !follow.failures.is_failing();
        let is_first = match place {
            Some(place) => place < index,
            None => followed.0.get(&writer).is_some_and(starts),
        };
        ordered[index].feeder = Some(writer).filter(|_| is_first);
    }
}

/// Turns outcomes into events.
pub fn report_outcomes(
    mut commands: Commands,
    outcomes: Res<Outcomes>,
    mut followed: ResMut<Followed>,
    blurs: Query<&BlurLabel, With<BlurImage>>,
    mut taken: Local<Vec<Outcome>>,
) {
    if outcomes.has_started_over() {
        followed.0.values_mut().for_each(|follow| follow.carried_out = 0);
    }
    outcomes.take(&mut taken);
    for outcome in taken.drain(..) {
        let entity = outcome.entity;
        let Ok(label) = blurs.get(entity) else {
            continue;
        };
        match outcome.result {
            Ok((revision, blur)) => {
                if let Some(follow) = followed.0.get_mut(&entity) {
                    follow.carried_out = revision;
                }
                commands.trigger(BlurFinished { entity, revision, blur });
            }
            Err(error) => {
                error!("{}: {error}", label.as_str());
                commands.trigger(BlurFailed { entity, error });
            }
        }
    }
}
