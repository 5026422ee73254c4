//! The main world: watches settings and assets, and decides when a blur is due.

use super::excerpt::Excerpt;
use super::request::{Feeders, Follow, Followed, ImageRequest, Outcome, Outcomes, Requests, inputs_of};
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
        let written = image.target.as_ref().map(Handle::id);
        let mut images_of = [Some(image.source.id()), written].into_iter().flatten();
        follow.uploaded |= images_of.any(|id| changes.is_uploaded(id));
        let target = match follow.look_for_inputs(image.source.id(), &images, &assets) {
            Ok(true) => targets.get(entity),
            Ok(false) => Ok(None),
            Err(error) => Err(error),
        };
        let target = match target {
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
        ordered.push(ImageRequest {
            entity,
            label: label.clone(),
            blur: *blur,
            profile: follow.profile.clone(),
            source: image.source.id(),
            target: target.id,
            owns_target: target.is_own,
            excerpt: Excerpt::new(&image),
            alpha: image.alpha,
            dither: image.dither,
            update: image.update,
            revision: follow.revision,
            uploads: follow.uploads,
            feeders: Feeders::default(),
        });
    }
    order_by_dependency(ordered, &targets);
    find_feeders(ordered, &targets, &followed);
}

/// What has changed about images since the last frame.
struct Changes<'a> {
    changed: HashSet<AssetId<Image>>,
    images: &'a Assets<Image>,
}

impl Changes<'_> {
    fn is_changed(&self, id: AssetId<Image>) -> bool {
        self.changed.contains(&id)
    }

    /// Whether pixels are being uploaded to the GPU.
    fn is_uploaded(&self, id: AssetId<Image>) -> bool {
        self.is_changed(id) && self.images.get(id).is_some_and(|image| image.data.is_some())
    }
}

impl Follow {
    /// Copies a profile. Returns whether it has changed.
    fn take_profile(&mut self, profile: Option<&BlurProfile>) -> bool {
        const UNIFORM: &BlurProfile = &BlurProfile::Uniform;
        let profile = profile.unwrap_or(UNIFORM);
        let is_new = self.profile != *profile;
        if is_new {
            self.profile = profile.clone();
        }
        is_new
    }

    /// Whether all inputs exist, on the GPU or on their way.
    fn look_for_inputs(
        &mut self,
        source: AssetId<Image>,
        images: &Assets<Image>,
        assets: &AssetServer,
    ) -> Result<bool, BlurError> {
        let inputs = inputs_of(source, &self.profile);
        // An asset that was removed to save memory may still exist on the GPU.
        let is_there = |id: &AssetId<Image>| images.contains(*id) || self.known.contains(&Some(*id));
        let found = inputs.map(|input| input.filter(is_there));
        self.known = found;
        let errors = [BlurError::SourceNotLoaded, BlurError::MaskNotLoaded];
        for ((input, found), error) in inputs.into_iter().zip(found).zip(errors) {
            let missing = input.filter(|_| found.is_none());
            if missing.is_some_and(|id| matches!(assets.get_load_state(id), Some(LoadState::Failed(_)))) {
                return Err(error);
            }
        }
        Ok(found == inputs)
    }

    /// Increments the counters as the changes of a frame require.
    fn update(&mut self, update: BlurUpdate, source: AssetId<Image>, target: Target, changes: &Changes) {
        let ids = (source, target.id);
        let is_new = self.images != Some(ids);
        let mut images = inputs_of(source, &self.profile)
            .into_iter()
            .flatten()
            .chain([target.id]);
        let textures_changed = is_new || images.any(|id| changes.is_changed(id));
        let is_due = match update {
            BlurUpdate::EveryFrame | BlurUpdate::OnChange => {
                self.image_changed || self.settings_changed || textures_changed
            }
            // An empty target must not stay empty.
            BlurUpdate::Once => self.image_changed || self.revision == 0 || target.is_new,
        };
        let uploads = core::mem::take(&mut self.uploaded) || is_new;
        self.revision += u64::from(is_due);
        self.uploads += u64::from(uploads);
        self.images = Some(ids);
        (self.image_changed, self.settings_changed) = (false, false);
    }
}

/// Moves every blur behind the blurs that write its inputs. A cycle keeps its order.
fn order_by_dependency(requests: &mut Vec<ImageRequest>, targets: &Targets) {
    let is_fed = |request: &ImageRequest| other_writers(request, targets).next().is_some();
    if !requests.iter().any(is_fed) {
        return;
    }
    let mut waiting = core::mem::take(requests);
    while !waiting.is_empty() {
        let still: HashSet<Entity> = waiting.iter().map(|request| request.entity).collect();
        let is_ready = |request: &mut ImageRequest| !other_writers(request, targets).any(|it| still.contains(&it));
        let before = waiting.len();
        requests.extend(waiting.extract_if(.., is_ready));
        if waiting.len() == before {
            requests.append(&mut waiting);
        }
    }
}

/// The other blurs that write the inputs of a blur.
fn other_writers(request: &ImageRequest, targets: &Targets) -> impl Iterator<Item = Entity> {
    let writers = request.inputs().filter_map(|input| targets.writer(input));
    writers.filter(|writer| *writer != request.entity)
}

/// Finds the blurs that others must wait for: those before them, and those whose own inputs do not exist yet.
fn find_feeders(ordered: &mut [ImageRequest], targets: &Targets, followed: &Followed) {
    for index in 0..ordered.len() {
        let starts = |follow: &Follow| follow.carried_out == 0 && !follow.failures.is_failing();
        let is_first = |writer: &Entity| match ordered.iter().position(|other| other.entity == *writer) {
            Some(place) => place < index,
            None => followed.0.get(writer).is_some_and(starts),
        };
        let inputs = inputs_of(ordered[index].source, &ordered[index].profile);
        let feeders = inputs.map(|input| targets.writer(input?).filter(is_first));
        ordered[index].feeders = feeders;
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
