//! The main world: watches settings and images, and decides when a blur is due.
//!
//! A blur at rest costs a look at its change ticks. Only blurs that may run in a frame are requested from the render
//! world: those that changed, are pending, run in every frame, or read what a camera or such a blur writes.

use super::blurred::{ImageBlur, ImageBlurs};
use super::order::{INPUTS, Order};
use super::pixels;
use super::request::{BlurId, Feeders, ImageRequest, ImageSpec, Outcome, Outcomes, Requests, Time};
use crate::diagnostics::label::BlurLabel;
use crate::errors::BlurError;
use crate::image_changes::ImageChanges;
use crate::settings::{
    BlurFailed, BlurFinished, BlurImage, BlurProfile, BlurRevision, BlurUpdate, GaussianBlur, WantsPixels,
};
use bevy::asset::LoadState;
use bevy::ecs::entity::EntityHashMap;
use bevy::ecs::query::QueryData;
use bevy::ecs::system::SystemParam;
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

/// The images of an app, and those that are on their way.
#[derive(SystemParam)]
pub struct ImageAssets<'w> {
    assets: Res<'w, Assets<Image>>,
    server: Res<'w, AssetServer>,
}

/// A blur that may run in this frame, or reads what another blur writes.
struct Node {
    entity: Entity,
    /// The other blurs that write its inputs.
    writers: [Option<Entity>; INPUTS],
    fate: Fate,
}

/// What is decided of a blur in this frame. From `Sent` on, it is requested.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Fate {
    Undecided,
    /// It is not requested.
    Rests,
    /// It is requested as soon as an image is loaded.
    Loads,
    /// Its outcome is known, or nothing can wait for it.
    Sent,
    /// Its outcome is on its way.
    Awaited,
    /// It waits for a blur that has no result, and gets none.
    Blocked,
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
    let (known, requests) = (&mut *known, &mut *requests);
    requests.ordered.clear();
    requests.are_awaited = false;
    if requests.set != known.set() {
        requests.set = known.set();
        requests.live.clear();
        requests.owned.clear();
        for (id, own) in known.ids() {
            requests.live.insert(id);
            requests.owned.extend(own);
        }
    }
    let mut is_any_active = false;
    for (place, one) in blurs.iter().enumerate() {
        is_any_active |= known.watch(place, &one, &changes);
        requests.are_awaited |= one.wants_pixels && known.get(one.entity).is_some_and(ImageBlur::has_result);
    }
    if !is_any_active {
        return;
    }
    nodes.collect(&blurs, known);
    for place in 0..nodes.order.sorted.len() {
        let index = nodes.order.sorted[place];
        let one = blurs.get(nodes.all[index].entity).ok();
        let one = one.filter(|one| nodes.is_fed(index) || known.get(one.entity).is_some_and(|known| known.is_active));
        let feeders = nodes.feeders(index, known);
        let request = one.ok_or(Fate::Rests);
        let request = request.and_then(|one| known.request(&one, feeders, &changes, &images));
        let fate = match &request {
            Ok(request) if !nodes.may_be_fed(&request.feeders, known) => Fate::Blocked,
            Ok(request) if known.awaits(request, &images) => Fate::Awaited,
            Ok(_) => Fate::Sent,
            Err(fate) => *fate,
        };
        nodes.all[index].fate = fate;
        requests.are_awaited |= matches!(fate, Fate::Loads | Fate::Awaited);
        if let Ok(request) = request {
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
    fn profile(&self) -> &BlurProfile {
        self.profile.as_deref().unwrap_or(&BlurProfile::Uniform)
    }

    /// The images to read, the source and the mask, and the target, yours or the plugin's.
    fn named(&self) -> [Option<AssetId<Image>>; 3] {
        let target = self.image.target.as_ref().map(Handle::id);
        [Some(self.image.source.id()), self.profile().mask(), target]
    }
}

impl ImageAssets<'_> {
    /// What becomes of a blur that names these images. `None`: they exist, on the GPU or on their way.
    ///
    /// # Errors
    /// An input cannot be loaded.
    fn missing(&self, named: [Option<AssetId<Image>>; 3], changes: &ImageChanges) -> Result<Option<Fate>, BlurError> {
        let mut missing = None;
        let failures = [Some(BlurError::SourceNotLoaded), Some(BlurError::MaskNotLoaded), None];
        for (id, failure) in named.into_iter().zip(failures) {
            let Some(id) = id.filter(|id| !changes.know(*id, &self.assets)) else {
                continue;
            };
            let fate = match (self.server.get_load_state(id), failure) {
                (Some(LoadState::Failed(_)), Some(failure)) => return Err(failure),
                (Some(LoadState::Loading), _) => Fate::Loads,
                _ => Fate::Rests,
            };
            missing = missing.max(Some(fate));
        }
        Ok(missing)
    }

    /// Checks that the images that a blur names reach the GPU.
    ///
    /// # Errors
    /// One does not.
    fn check_reach(&self, named: [Option<AssetId<Image>>; 3]) -> Result<(), BlurError> {
        let mut named = named.into_iter().zip(["source", "mask", "target"]);
        named.try_for_each(|(id, name)| match id.and_then(|id| self.assets.get(id)) {
            Some(image) => BlurError::check_reach(name, image.asset_usage),
            None => Ok(()),
        })
    }
}

impl ImageBlurs {
    /// Decides whether a blur may run in this frame, apart from other blurs.
    fn watch(&mut self, place: usize, one: &BlurredItem, changes: &ImageChanges) -> bool {
        // One that appeared after targets were fitted begins in the next frame.
        let Some(known) = self.found_at(place, one.entity) else {
            return false;
        };
        if one.image.is_changed() {
            known.sent = None;
        }
        let is_like_before = !one.blur.is_changed()
            && one
                .profile
                .as_ref()
                .map_or(!known.varies, |profile| !profile.is_changed())
            && changes.are_none();
        known.is_active = !known.rests() || known.runs_always;
        if known.is_active || is_like_before || one.image.update == BlurUpdate::Once {
            return known.is_active;
        }
        let [source, mask, _] = one.named();
        let is_painted = [source, mask].into_iter().flatten().any(|id| changes.is_painted(id));
        let spec = self.spec(one, changes);
        let Some(known) = self.get_mut(one.entity) else {
            return false;
        };
        known.is_active = is_painted || spec.is_none_or(|spec| !known.has_sent(&spec));
        known.is_active
    }

    /// What a blur wants, unless it has no target.
    fn spec(&self, one: &BlurredItem, changes: &ImageChanges) -> Option<ImageSpec> {
        let (known, image) = (self.get(one.entity)?, &one.image);
        let (source, target) = (image.source.id(), known.writes()?);
        let profile = one.profile().clone();
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
            excerpt: (image.region, image.padding),
            alpha: image.alpha,
            dither: image.dither,
            update: image.update,
        })
    }

    /// Requests a blur.
    ///
    /// # Errors
    /// What becomes of it if an input or the target is missing.
    fn request(
        &mut self,
        one: &BlurredItem,
        feeders: Feeders,
        changes: &ImageChanges,
        images: &ImageAssets,
    ) -> Result<ImageRequest, Fate> {
        let spec = self.spec(one, changes);
        let known = self.get_mut(one.entity).ok_or(Fate::Rests)?;
        known.name_images(one.named());
        let named = one.named();
        let found = match images.missing(named, changes) {
            Ok(Some(fate)) => {
                known.put_off(spec.as_ref());
                return Err(fate);
            }
            Ok(None) => known.target.clone().transpose(),
            Err(error) => Err(error),
        };
        // A format that no GPU here can read is also why an image does not reach it.
        let found = found.and_then(|target| images.check_reach(named).map(|()| target));
        if found == Ok(None) {
            known.put_off(spec.as_ref());
            return Err(Fate::Rests);
        }
        let spec = spec.filter(|_| found.is_ok());
        let mut news = [known.failures.news(found.map(drop)), None, None];
        if let Some(spec) = &spec {
            news[1] = known.strength.news(spec.blur.check());
            news[2] = known.shape.news(spec.profile.check());
            known.send(spec);
        }
        let (id, revision) = (known.id(one.entity), known.revision);
        self.failed.extend(news.into_iter().flatten().map(|error| (id, error)));
        Ok(ImageRequest {
            id,
            label: one.label.cloned().unwrap_or_else(|| BlurLabel::of_entity(id.entity)),
            spec: spec.ok_or(Fate::Rests)?,
            revision,
            feeders,
            wants_pixels: one.wants_pixels,
            time: Time::default(),
            is_painted: false,
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

impl Nodes {
    /// Collects the blurs that may run or read what others write, in an order in which each comes after its writers.
    fn collect(&mut self, blurs: &Query<Blurred>, known: &ImageBlurs) {
        self.all.clear();
        self.places.clear();
        for one in blurs {
            let Some(blur) = known.get(one.entity) else {
                continue;
            };
            let [source, mask, _] = one.named();
            let writers = [source, mask].map(|input| known.writer(input?).filter(|writer| *writer != one.entity));
            let may_be_fed = one.image.update != BlurUpdate::Once && writers != [None; INPUTS];
            if blur.is_active || may_be_fed {
                self.places.insert(one.entity, self.all.len());
                self.all.push(Node {
                    entity: one.entity,
                    writers,
                    fate: Fate::Undecided,
                });
            }
        }
        let writer = |index: usize, input: usize| self.places.get(&self.all[index].writers[input]?).copied();
        let rank = |index: usize| self.all[index].entity.index_u32();
        self.order.sort(self.all.len(), writer, rank);
    }

    fn fate(&self, entity: Entity) -> Option<Fate> {
        self.places.get(&entity).map(|index| self.all[*index].fate)
    }

    /// Whether a blur before this one is requested.
    fn is_fed(&self, index: usize) -> bool {
        let mut writers = self.all[index].writers.into_iter().flatten();
        writers.any(|writer| self.fate(writer) >= Some(Fate::Sent))
    }

    /// The blurs that another one must wait for: those before it, and those whose own inputs do not exist yet.
    fn feeders(&self, index: usize, known: &ImageBlurs) -> Feeders {
        self.all[index].writers.map(|writer| {
            let feeder = known.get(writer?)?;
            let comes_before = match self.fate(writer?) {
                // It closes a cycle.
                Some(Fate::Undecided) => false,
                fate => fate >= Some(Fate::Sent) || feeder.starts(),
            };
            comes_before.then_some(feeder.id(writer?))
        })
    }

    /// Whether the blurs that another one waits for have results, or get them.
    fn may_be_fed(&self, feeders: &Feeders, known: &ImageBlurs) -> bool {
        let may_feed = |feeder: &BlurId| match self.fate(feeder.entity) {
            Some(Fate::Loads | Fate::Awaited) => true,
            Some(Fate::Blocked) => false,
            _ => known.get(feeder.entity).is_some_and(ImageBlur::is_settled),
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
    readers: Query<&BlurImage, With<WantsPixels>>,
    mut images: ResMut<Assets<Image>>,
    mut taken: Local<Vec<Outcome>>,
) {
    let known = &mut *known;
    let fail = |commands: &mut Commands, entity: Entity, error: BlurError| {
        let label = labels.get(entity).cloned();
        error!(
            "{}: {error}",
            label.unwrap_or_else(|_| BlurLabel::of_entity(entity)).as_str()
        );
        commands.trigger(BlurFailed { entity, error });
    };
    for (id, error) in core::mem::take(&mut known.failed) {
        if known.with_id(id).is_some() {
            fail(&mut commands, id.entity, error);
        }
    }
    outcomes.take(&mut taken);
    for outcome in taken.drain(..) {
        match outcome {
            Outcome::Done { id, revision, result } => {
                let (Some(known), entity) = (known.with_id(id), id.entity) else {
                    continue;
                };
                match result {
                    Ok(blur) => {
                        known.finish(revision);
                        commands.trigger(BlurFinished { entity, revision, blur });
                    }
                    Err(error) => {
                        if let Some(news) = known.refuse(revision, error) {
                            fail(&mut commands, entity, news);
                        }
                    }
                }
            }
            Outcome::Read(pixels) => {
                if known.with_id(pixels.id).is_some() {
                    pixels::hand_over(pixels, &readers, &images, &mut commands);
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
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::image_changes;
    use bevy::asset::AssetPlugin;

    #[test]
    fn pixels_on_their_way_are_awaited() {
        let mut app = App::new();
        app.add_plugins((TaskPoolPlugin::default(), AssetPlugin::default(), image_changes::plugin))
            .init_asset::<Image>()
            .init_resource::<Requests>()
            .init_resource::<ImageBlurs>()
            .add_systems(Update, follow_images);
        let image = app.world_mut().resource_mut::<Assets<Image>>().add(Image::default());
        let mut settings = BlurImage::in_place(image.clone());
        settings.update = BlurUpdate::Once;
        let reader = app.world_mut().spawn((settings.clone(), WantsPixels)).id();
        app.update();
        let mut are_awaited = |change: &dyn Fn(&mut ImageBlur)| {
            app.world_mut().clear_trackers();
            let mut known = app.world_mut().resource_mut::<ImageBlurs>();
            known.begin();
            change(known.see(0, reader, &settings, false));
            app.world_mut().run_schedule(Update);
            app.world().resource::<Requests>().are_awaited
        };
        let target = image.id();
        let finish = move |blur: &mut ImageBlur| {
            blur.target = Some(Ok(target));
            blur.send(&ImageSpec::default());
            blur.finish(1);
        };
        assert!(are_awaited(&finish), "it is blurred, and its pixels are on their way");
        let refuse = |blur: &mut ImageBlur| _ = blur.refuse(1, BlurError::SourceNotLoaded);
        assert!(!are_awaited(&refuse), "they never come");
        app.world_mut().despawn(reader);
        app.world_mut().run_schedule(Update);
        assert!(!app.world().resource::<Requests>().are_awaited);
    }
}
