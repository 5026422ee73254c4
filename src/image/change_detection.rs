//! The main world: watches settings and images, and decides when a blur is due.
//!
//! A blur at rest costs a look at its change ticks. Only blurs that may run in a frame are requested from the render
//! world: those that changed, are pending, run in every frame, or read what a camera or such a blur writes.

use super::excerpt::Excerpt;
use super::follow::{Follow, Images};
use super::order::{INPUTS, Order};
use super::request::{Feeders, ImageRequest, Outcome, Outcomes, Requests};
use super::targets::Targets;
use crate::diagnostics::label::BlurLabel;
use crate::image_changes::ImageChanges;
use crate::settings::{BlurFailed, BlurFinished, BlurImage, BlurProfile, BlurRevision, BlurUpdate, GaussianBlur};
use bevy::ecs::entity::EntityHashMap;
use bevy::ecs::query::QueryData;
use bevy::prelude::*;

/// A blurred image.
#[derive(QueryData)]
#[query_data(mutable)]
pub struct Blurred {
    entity: Entity,
    blur: Ref<'static, GaussianBlur>,
    image: Ref<'static, BlurImage>,
    profile: Option<Ref<'static, BlurProfile>>,
    follow: &'static mut Follow,
    revision: &'static mut BlurRevision,
    label: &'static BlurLabel,
}

/// A blur that may run in this frame, or reads what another blur writes.
struct Node {
    entity: Entity,
    is_active: bool,
    /// The other blurs that write its inputs.
    writers: [Option<Entity>; INPUTS],
    /// Whether it has been requested, once that is decided.
    is_requested: Option<bool>,
}

/// Memory that is kept from frame to frame.
#[derive(Default)]
pub struct Nodes {
    all: Vec<Node>,
    places: EntityHashMap<usize>,
    order: Order,
}

/// Requests the image blurs of this frame.
pub fn follow_images(
    mut requests: ResMut<Requests>,
    mut changes: ResMut<ImageChanges>,
    mut blurs: Query<Blurred>,
    images: Images,
    mut targets: ResMut<Targets>,
    outcomes: Res<Outcomes>,
    mut nodes: Local<Nodes>,
) {
    let Requests {
        ordered,
        gone,
        are_awaited,
    } = &mut *requests;
    ordered.clear();
    *are_awaited = false;
    gone.clear();
    // A component that was removed and inserted again is a new blur.
    gone.append(&mut targets.gone);
    targets.shown.drain(..).for_each(|id| changes.forget_modified(id));
    let mut is_any_active = false;
    for mut one in &mut blurs {
        one.follow
            .watch(&one.blur, &one.image, one.profile.as_ref(), &changes, &images);
        is_any_active |= one.follow.is_active;
    }
    if !is_any_active {
        return;
    }
    nodes.collect(&blurs, &targets);
    for place in 0..nodes.order.sorted.len() {
        let index = nodes.order.sorted[place];
        let is_active = nodes.is_active(index);
        let feeders = nodes.feeders(index, &blurs);
        let node = &mut nodes.all[index];
        node.is_active = is_active;
        let request = match blurs.get_mut(node.entity) {
            Ok(blur) if is_active => request(blur, feeders, &changes, &images, &outcomes),
            _ => None,
        };
        node.is_requested = Some(request.is_some());
        if let Ok(BlurredReadOnlyItem { follow, .. }) = blurs.get(node.entity) {
            *are_awaited |= match request {
                Some(_) => follow.is_awaited(),
                None => is_active && follow.loads(&images),
            };
        }
        if let Some(request) = request {
            changes.write(request.target);
            ordered.push(request);
        }
    }
    // The next frame reports the failures of this one.
    *are_awaited |= outcomes.has_failures();
}

impl Nodes {
    /// Collects the blurs that may run or read what others write, in an order in which each comes after its writers.
    fn collect(&mut self, blurs: &Query<Blurred>, targets: &Targets) {
        self.all.clear();
        self.places.clear();
        for BlurredReadOnlyItem {
            entity, image, follow, ..
        } in blurs
        {
            let writer = |input| targets.writer(input).filter(|writer| *writer != entity);
            let writers = follow.inputs.map(|input| input.and_then(writer));
            let may_be_fed = image.update != BlurUpdate::Once && writers != [None; INPUTS];
            if follow.is_active || may_be_fed {
                self.places.insert(entity, self.all.len());
                self.all.push(Node {
                    entity,
                    is_active: follow.is_active,
                    writers,
                    is_requested: None,
                });
            }
        }
        let writer = |index: usize, input: usize| self.places.get(&self.all[index].writers[input]?).copied();
        let rank = |index: usize| self.all[index].entity.index_u32();
        self.order.sort(self.all.len(), writer, rank);
    }

    fn node(&self, entity: Entity) -> Option<&Node> {
        self.places.get(&entity).map(|index| &self.all[*index])
    }

    /// Whether a blur may run: on its own account, or because a blur before it does.
    fn is_active(&self, index: usize) -> bool {
        let is_requested = |writer: &Entity| self.node(*writer).is_some_and(|node| node.is_requested == Some(true));
        self.all[index].is_active || self.all[index].writers.iter().flatten().any(is_requested)
    }

    /// The blurs that another one must wait for: those before it, and those whose own inputs do not exist yet.
    fn feeders(&self, index: usize, blurs: &Query<Blurred>) -> Feeders {
        let starts = |writer: Entity| blurs.get(writer).is_ok_and(|writer| writer.follow.starts());
        let comes_before = |writer: &Entity| match self.node(*writer) {
            // It closes a cycle.
            Some(node) if node.is_requested.is_none() => false,
            Some(node) if node.is_requested == Some(true) => true,
            _ => starts(*writer),
        };
        self.all[index].writers.map(|writer| writer.filter(comes_before))
    }
}

/// Requests a blur, unless an input or the target is missing.
fn request(
    one: BlurredItem,
    feeders: Feeders,
    changes: &ImageChanges,
    images: &Images,
    outcomes: &Outcomes,
) -> Option<ImageRequest> {
    let BlurredItem {
        entity,
        blur,
        image,
        mut follow,
        mut revision,
        label,
        ..
    } = one;
    let found = match follow.look_for_inputs(images) {
        Ok(true) => follow.target.clone(),
        Ok(false) => Ok(None),
        Err(error) => Err(error),
    };
    let found = found.and_then(|target| follow.check_reach(&images.assets).map(|()| target));
    let target = match found {
        Ok(target) => target?,
        Err(error) => {
            if let Some(news) = follow.failures.news(Err(error)) {
                outcomes.fail(entity, news);
            }
            return None;
        }
    };
    let follow = &mut *follow;
    let _ = follow.failures.news(Ok(()));
    let strength = follow.strength.news(blur.check());
    let shape = follow.shape.news(follow.profile.check());
    strength
        .into_iter()
        .chain(shape)
        .for_each(|news| outcomes.fail(entity, news));
    follow.update(image.update, target, changes);
    revision.set_if_neq(BlurRevision(follow.revision));
    Some(ImageRequest {
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
        subject: follow.subject,
        feeders,
    })
}

/// Turns outcomes into events.
pub fn report_outcomes(
    mut commands: Commands,
    outcomes: Res<Outcomes>,
    mut blurs: Query<(&BlurLabel, &mut Follow), With<BlurImage>>,
    mut images: ResMut<Assets<Image>>,
    mut targets: ResMut<Targets>,
    mut taken: Local<Vec<Outcome>>,
) {
    if outcomes.has_started_over() {
        blurs.iter_mut().for_each(|(_, mut follow)| follow.carried_out = 0);
    }
    outcomes.take(&mut taken);
    for outcome in taken.drain(..) {
        match outcome {
            Outcome::Done(entity, revision, blur) => {
                if let Ok((_, mut follow)) = blurs.get_mut(entity) {
                    follow.carried_out = revision;
                    commands.trigger(BlurFinished { entity, revision, blur });
                }
            }
            Outcome::Failed(entity, error) => {
                if let Ok((label, mut follow)) = blurs.get_mut(entity) {
                    follow.failed = follow.revision;
                    error!("{}: {error}", label.as_str());
                    commands.trigger(BlurFailed { entity, error });
                }
            }
            Outcome::Shown(id) => {
                // Sprites and UI nodes bind the texture again.
                if let Some(image) = images.get_mut(id) {
                    image.into_inner();
                    targets.shown.push(id);
                }
            }
        }
    }
}
