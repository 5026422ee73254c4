//! The main world: watches settings and images, and decides when a blur is due.
//!
//! A blur at rest costs a look at its change ticks. Only blurs that may run in a frame are requested from the render
//! world: those that changed, are pending, run in every frame, or read what a camera or such a blur writes.

use super::blurred::{ImageAssets, ImageBlurs};
use super::excerpt::Excerpt;
use super::order::{INPUTS, Order};
use super::request::{BlurId, Feeders, ImageRequest, ImageSpec, Inputs, Outcome, Outcomes, Requests, inputs_of};
use crate::diagnostics::label::BlurLabel;
use crate::errors::BlurError;
use crate::image_changes::ImageChanges;
use crate::settings::{
    BlurFailed, BlurFinished, BlurImage, BlurProfile, BlurRevision, BlurUpdate, GaussianBlur, WantsPixels,
};
use bevy::ecs::entity::EntityHashMap;
use bevy::ecs::query::QueryData;
use bevy::prelude::*;

/// A blurred image.
#[derive(QueryData)]
pub struct Blurred {
    entity: Entity,
    blur: Ref<'static, GaussianBlur>,
    image: Ref<'static, BlurImage>,
    profile: Option<Ref<'static, BlurProfile>>,
    label: Option<&'static BlurLabel>,
    wants_pixels: Has<WantsPixels>,
}

/// A blur that may run in this frame, or reads what another blur writes.
struct Node {
    id: BlurId,
    is_active: bool,
    /// The other blurs that write its inputs.
    writers: [Option<Entity>; INPUTS],
    /// Whether it has been requested, once that is decided.
    is_requested: Option<bool>,
    /// Whether it waits for a blur that has no result, and gets none.
    is_blocked: bool,
    /// Whether its result, or its failure, is on its way.
    is_awaited: bool,
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
    blurs: Query<Blurred>,
    mut revisions: Query<&mut BlurRevision>,
    images: ImageAssets,
    mut known: ResMut<ImageBlurs>,
    mut nodes: Local<Nodes>,
) {
    let known = &mut *known;
    let requests = &mut *requests;
    requests.ordered.clear();
    requests.are_awaited = false;
    if requests.set != known.set() {
        requests.set = known.set();
        requests.live.clear();
        requests.live.extend(known.ids());
    }
    let mut is_any_active = false;
    for one in &blurs {
        is_any_active |= known.watch(&one, &changes);
    }
    if !is_any_active {
        return;
    }
    nodes.collect(&blurs, known);
    for place in 0..nodes.order.sorted.len() {
        let index = nodes.order.sorted[place];
        let is_active = nodes.is_active(index);
        let feeders = nodes.feeders(index, known);
        let one = blurs.get(nodes.all[index].id.entity).ok().filter(|_| is_active);
        let request = one
            .as_ref()
            .and_then(|one| known.request(one, feeders, &changes, &images));
        let is_blocked = request
            .as_ref()
            .is_some_and(|request| !nodes.may_be_fed(&request.feeders, known));
        let is_awaited = match &request {
            Some(request) => known.awaits(request, &images) && !is_blocked,
            None => one.is_some_and(|one| images.load(one.inputs(), one.named(), &changes)),
        };
        requests.are_awaited |= is_awaited;
        let node = &mut nodes.all[index];
        node.is_active = is_active;
        (node.is_requested, node.is_blocked, node.is_awaited) = (Some(request.is_some()), is_blocked, is_awaited);
        if let Some(request) = request {
            changes.write(request.spec.target);
            if let Ok(mut revision) = revisions.get_mut(request.id.entity) {
                revision.set_if_neq(BlurRevision(request.revision));
            }
            requests.ordered.push(request);
        }
    }
    // The next frame reports the failures of this one.
    requests.are_awaited |= !known.failed.is_empty();
}

impl BlurredItem<'_, '_> {
    fn inputs(&self) -> Inputs {
        inputs_of(
            self.image.source.id(),
            self.profile.as_deref().unwrap_or(&BlurProfile::Uniform),
        )
    }

    /// The target, yours or the plugin's.
    fn named(&self) -> Option<AssetId<Image>> {
        self.image.target.as_ref().map(Handle::id)
    }
}

impl ImageBlurs {
    /// Decides whether a blur may run in this frame, apart from other blurs.
    fn watch(&mut self, one: &BlurredItem, changes: &ImageChanges) -> bool {
        // One that appeared after targets were fitted begins in the next frame.
        let Some(known) = self.get_mut(one.entity) else {
            return false;
        };
        let is_single = one.image.update == BlurUpdate::Once;
        if one.image.is_changed() {
            known.sent = None;
        }
        let rests = known.rests();
        let has_profile = known.sent.as_ref().is_some_and(|sent| !sent.profile.is_uniform());
        let is_like_before = !one.blur.is_changed()
            && one
                .profile
                .as_ref()
                .map_or(!has_profile, |profile| !profile.is_changed())
            && changes.are_none();
        known.is_active = !rests || one.image.update == BlurUpdate::EveryFrame;
        if known.is_active || is_single || is_like_before {
            return known.is_active;
        }
        let is_painted = one.inputs().iter().flatten().any(|id| changes.is_painted(*id));
        let is_active = is_painted
            || self
                .spec(one, changes)
                .is_none_or(|spec| self.get(one.entity).is_some_and(|known| !known.has_sent(&spec)));
        if let Some(known) = self.get_mut(one.entity) {
            known.is_active = is_active;
        }
        is_active
    }

    /// What a blur wants, unless it has no target.
    fn spec(&self, one: &BlurredItem, changes: &ImageChanges) -> Option<ImageSpec> {
        let (known, image) = (self.get(one.entity)?, &one.image);
        let (source, target) = (image.source.id(), known.writes()?);
        let profile = one.profile.as_deref().unwrap_or(&BlurProfile::Uniform).clone();
        let number = |id: AssetId<Image>| {
            let numbers = changes.numbers(id);
            // All else about a target of the plugin's own is its blur's doing.
            if self.is_own(id) { numbers.pixels } else { numbers.asset }
        };
        Some(ImageSpec {
            blur: *one.blur,
            contents: [Some(source), profile.mask(), Some(target)].map(|id| id.map_or(0, number)),
            pixels: changes.numbers(source).pixels,
            profile,
            source,
            target,
            owns_target: known.own == Some(target),
            excerpt: Excerpt::new(image),
            alpha: image.alpha,
            dither: image.dither,
            update: image.update,
        })
    }

    /// Requests a blur, unless an input or the target is missing.
    fn request(
        &mut self,
        one: &BlurredItem,
        feeders: Feeders,
        changes: &ImageChanges,
        images: &ImageAssets,
    ) -> Option<ImageRequest> {
        let (inputs, named) = (one.inputs(), one.named());
        let known = self.get_mut(one.entity)?;
        known.name_images(inputs, named);
        let found = match images.have(inputs, named, changes) {
            Ok(true) => known.target.clone(),
            Ok(false) => Ok(None),
            Err(error) => Err(error),
        };
        let found = found.and_then(|target| check_reach(inputs, target, &images.assets).map(|()| target));
        let (id, failures) = (known.id, &mut known.failures);
        match found {
            Ok(target) => {
                target?;
                let _ = failures.news(Ok(()));
            }
            Err(error) => {
                let news = failures.news(Err(error));
                self.failed.extend(news.map(|news| (id, news)));
                return None;
            }
        }
        let spec = self.spec(one, changes)?;
        let known = self.get_mut(one.entity)?;
        let strength = known.strength.news(spec.blur.check());
        let shape = known.shape.news(spec.profile.check());
        known.send(&spec);
        let revision = known.revision;
        self.failed
            .extend(strength.into_iter().chain(shape).map(|news| (id, news)));
        Some(ImageRequest {
            id,
            label: one.label.cloned().unwrap_or_else(|| BlurLabel::of_entity(id.entity)),
            spec,
            revision,
            feeders,
            wants_pixels: one.wants_pixels,
        })
    }

    /// Whether the outcome of a request is on its way, once its feeders have theirs. What only the GPU has may be lost with
    /// its device: nothing waits for it.
    fn awaits(&self, request: &ImageRequest, images: &ImageAssets) -> bool {
        let mut named = request.spec.inputs().chain([request.spec.target]);
        named.all(|id| images.assets.contains(id))
            && self.get(request.id.entity).is_some_and(|known| !known.is_settled())
    }
}

/// Checks that the images which exist reach the GPU.
fn check_reach(
    [source, mask]: Inputs,
    target: Option<AssetId<Image>>,
    images: &Assets<Image>,
) -> Result<(), BlurError> {
    for (id, name) in [source, mask, target].into_iter().zip(["source", "mask", "target"]) {
        if let Some(image) = id.and_then(|id| images.get(id)) {
            BlurError::check_reach(name, image.asset_usage)?;
        }
    }
    Ok(())
}

impl Nodes {
    /// Collects the blurs that may run or read what others write, in an order in which each comes after its writers.
    fn collect(&mut self, blurs: &Query<Blurred>, known: &ImageBlurs) {
        self.all.clear();
        self.places.clear();
        for one in blurs {
            let Some(blur) = known.get(one.entity) else {
                continue;
            };
            let writer = |input| known.writer(input).filter(|writer| *writer != one.entity);
            let writers = one.inputs().map(|input| input.and_then(writer));
            let may_be_fed = one.image.update != BlurUpdate::Once && writers != [None; INPUTS];
            if blur.is_active || may_be_fed {
                self.places.insert(one.entity, self.all.len());
                self.all.push(Node {
                    id: blur.id,
                    is_active: blur.is_active,
                    writers,
                    is_requested: None,
                    is_blocked: false,
                    is_awaited: false,
                });
            }
        }
        let writer = |index: usize, input: usize| self.places.get(&self.all[index].writers[input]?).copied();
        let rank = |index: usize| self.all[index].id.entity.index_u32();
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
    fn feeders(&self, index: usize, known: &ImageBlurs) -> Feeders {
        self.all[index].writers.map(|writer| {
            let feeder = known.get(writer?)?;
            let comes_before = match self.node(writer?) {
                // It closes a cycle.
                Some(node) if node.is_requested.is_none() => false,
                Some(node) if node.is_requested == Some(true) => true,
                _ => feeder.starts(),
            };
            comes_before.then_some(feeder.id)
        })
    }

    /// Whether the blurs that another one waits for have results, or get them.
    fn may_be_fed(&self, feeders: &Feeders, known: &ImageBlurs) -> bool {
        let may_feed = |feeder: &BlurId| match self.node(feeder.entity) {
            Some(node) if node.is_awaited => true,
            Some(node) if node.is_blocked => false,
            _ => known.get(feeder.entity).is_some_and(|blur| blur.is_settled()),
        };
        feeders.iter().flatten().all(may_feed)
    }
}

/// Turns outcomes into events.
pub fn report_outcomes(
    mut commands: Commands,
    outcomes: Res<Outcomes>,
    mut known: ResMut<ImageBlurs>,
    labels: Query<&BlurLabel>,
    mut images: ResMut<Assets<Image>>,
    mut taken: Local<Vec<Outcome>>,
) {
    outcomes.take(&mut taken);
    let mut failed = core::mem::take(&mut known.failed);
    failed.retain(|(id, _)| known.with_id(*id).is_some());
    let fail = |commands: &mut Commands, entity: Entity, error: BlurError| {
        let label = labels.get(entity).cloned();
        error!(
            "{}: {error}",
            label.unwrap_or_else(|_| BlurLabel::of_entity(entity)).as_str()
        );
        commands.trigger(BlurFailed { entity, error });
    };
    for (BlurId { entity, .. }, error) in failed.drain(..) {
        fail(&mut commands, entity, error);
    }
    for outcome in taken.drain(..) {
        match outcome {
            Outcome::Done { id, revision, blur } => {
                if let Some(known) = known.with_id(id) {
                    known.finish(revision);
                    let entity = id.entity;
                    commands.trigger(BlurFinished { entity, revision, blur });
                }
            }
            Outcome::Failed { id, revision, error } => {
                let known = known.with_id(id);
                if let Some(news) = known.and_then(|known| known.refuse(revision, error)) {
                    fail(&mut commands, id.entity, news);
                }
            }
            Outcome::DeviceLost => known.start_over(),
            Outcome::Shown(id) => {
                // Sprites and UI nodes bind the texture again.
                if let Some(image) = images.get_mut(id) {
                    image.into_inner();
                }
            }
        }
    }
    // It keeps its memory.
    known.failed = failed;
}
