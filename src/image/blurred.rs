//! What the main world remembers of every image blur from frame to frame.
//!
//! A blur is due when what it wants differs from what was sent last; nothing sent: it is due. So it does not matter in which
//! order or frames its components came. The entity's components say what it wants, and nothing is copied from them but
//! what was sent.
//!
//! It allocates targets, fits them to their sources, and ensures that no two blurs write one image.

use super::request::{BlurId, Cut, ImageSpec};
use crate::errors::{BlurError, Reported};
use crate::formats::Capabilities;
use crate::gpu::ViewInfo;
use crate::image_changes::ImageChanges;
use crate::settings::{BlurImage, BlurProfile, BlurUpdate, GaussianBlur};
use bevy::ecs::entity::EntityIndexMap;
use bevy::platform::collections::HashMap;
use bevy::prelude::*;
use bevy::render::render_resource::{TextureFormat, TextureUsages};

/// All image blurs, also those that queries do not see because they are disabled. In the main world.
#[derive(Resource, Default)]
pub struct ImageBlurs {
    /// In the order in which queries find them, so that a look at one that rests is no search.
    all: EntityIndexMap<ImageBlur>,
    /// For each target, the blur that it belongs to, or belonged to when that was seen last.
    writers: HashMap<AssetId<Image>, Entity>,
    /// Counts blurs, and changes of what belongs to them.
    last: u64,
    /// The number of frames in which targets were fitted.
    frame: u64,
    /// The failures of this frame, which the next one reports.
    pub failed: Vec<(BlurId, BlurError)>,
}

/// What the main world remembers of a blur. It is small, because every frame looks at all of them: at thousands, what it costs is
/// memory.
#[derive(Default)]
pub struct ImageBlur {
    /// What tells it apart from an earlier blur of its entity.
    number: u64,
    /// The last frame in which it was seen. After an absence it starts over, but keeps its number and its image.
    seen: u64,
    /// Whether its target has yet to be found in this frame.
    pub is_unfitted: bool,
    /// The image that the plugin allocated for it.
    pub own: Option<AssetId<Image>>,
    /// The image that it writes, or why there cannot be one. `None` while there is none.
    pub target: Option<Result<AssetId<Image>, BlurError>>,
    /// What was requested last, unless it must be requested again, and whether that varies, or runs in every frame.
    pub sent: Option<Box<ImageSpec>>,
    pub varies: bool,
    pub runs_always: bool,
    /// The number of requests so far.
    pub revision: u64,
    /// The newest revision that was submitted to the GPU, and the newest that failed; 0 while there is none on this device.
    pub done: u64,
    pub refused: u64,
    /// Whether it may run in this frame.
    pub is_active: bool,
    /// The images that the settings name, and the first revision that reads and writes these.
    subject: Box<([Option<AssetId<Image>>; 3], u64)>,
    /// What has been reported about the strength, the profile, the images, and by the render world.
    pub strength: Reported,
    pub shape: Reported,
    pub failures: Reported,
    refusals: Reported,
}

/// When its component is removed, an image that the plugin allocated becomes an ordinary image.
pub fn forget_image(removed: On<Remove, BlurImage>, mut blurs: ResMut<ImageBlurs>) {
    let (blurs, entity) = (&mut *blurs, removed.entity);
    blurs.last += 1;
    if let Some(mut gone) = blurs.all.swap_remove(&entity) {
        gone.release(entity, &mut blurs.writers);
    }
}

/// A strength that is inserted again makes another blur, which has the image of the first. Until then, a clone gets another one.
pub fn forget_strength(removed: On<Remove, GaussianBlur>, mut blurs: ResMut<ImageBlurs>) {
    let (blurs, entity) = (&mut *blurs, removed.entity);
    blurs.last += 1;
    let number = blurs.last;
    if let Some(one) = blurs.all.get_mut(&entity) {
        let own = one.own;
        if own.is_none() || one.writes() != own {
            one.release(entity, &mut blurs.writers);
        }
        *one = ImageBlur {
            number,
            own,
            target: one.target.take(),
            ..default()
        };
    }
}

impl ImageBlurs {
    /// The blur of an entity that this frame has seen.
    pub fn get(&self, entity: Entity) -> Option<&ImageBlur> {
        self.all.get(&entity).filter(|one| one.seen == self.frame)
    }

    pub fn get_mut(&mut self, entity: Entity) -> Option<&mut ImageBlur> {
        let frame = self.frame;
        self.all.get_mut(&entity).filter(|one| one.seen == frame)
    }

    /// The blur of an entity that this frame has seen, and of which a query has found so many others before it.
    pub fn found_at(&mut self, place: usize, entity: Entity) -> Option<&mut ImageBlur> {
        if !self.is_at(place, entity) {
            return self.get_mut(entity);
        }
        let one = &mut self.all[place];
        (one.seen == self.frame).then_some(one)
    }

    /// The blur that an outcome names, unless it is gone.
    pub fn with_id(&mut self, id: BlurId) -> Option<&mut ImageBlur> {
        self.get_mut(id.entity).filter(|one| one.number == id.number)
    }

    /// A number that changes with the set of blurs, seen or not, and of the images that the plugin allocated for them.
    pub fn set(&self) -> u64 {
        self.last
    }

    /// All blurs, seen or not, each with the image that the plugin allocated for it, unless it writes another one.
    pub fn ids(&self) -> impl Iterator<Item = (BlurId, Option<AssetId<Image>>)> {
        self.all.iter().map(|(entity, one)| {
            let is_written = |own: &AssetId<Image>| one.writes().is_none_or(|written| written == *own);
            (one.id(*entity), one.own.filter(is_written))
        })
    }

    /// The blur of an entity, seen or not.
    #[cfg(test)]
    pub fn any(&self, entity: Entity) -> Option<&ImageBlur> {
        self.all.get(&entity)
    }

    #[cfg(test)]
    pub fn len(&self) -> usize {
        self.all.len() + self.writers.len()
    }

    /// All results are lost with their render device.
    pub fn start_over(&mut self) {
        self.all.values_mut().for_each(|one| (one.done, one.refused) = (0, 0));
    }

    /// Begins a frame.
    pub fn begin(&mut self) {
        self.frame += 1;
    }

    /// Notes that this frame has seen a blur: the query has found so many others before it, and its component changed or not.
    pub fn see(&mut self, place: usize, entity: Entity, image: &BlurImage, is_changed: bool) -> &mut ImageBlur {
        if !self.is_at(place, entity) {
            self.put(place, entity);
        }
        let one = &mut self.all[place];
        let was_absent = core::mem::replace(&mut one.seen, self.frame) + 1 != self.frame;
        if was_absent {
            one.sent = None;
        }
        if was_absent || is_changed {
            self.name_target(place, entity, image.target.as_ref().map(Handle::id));
        }
        &mut self.all[place]
    }

    fn is_at(&self, place: usize, entity: Entity) -> bool {
        self.all.get_index(place).is_some_and(|(known, _)| *known == entity)
    }

    /// Moves what is known of a blur to its place, behind those that are in order.
    fn put(&mut self, place: usize, entity: Entity) {
        let found = self.all.get_index_of(&entity).unwrap_or_else(|| {
            self.last += 1;
            let number = self.last;
            self.all.insert_full(entity, ImageBlur { number, ..default() }).0
        });
        self.all.swap_indices(place, found);
    }

    /// Takes the target that a blur names. Its claim to another one ends.
    fn name_target(&mut self, place: usize, entity: Entity, named: Option<AssetId<Image>>) {
        let one = &mut self.all[place];
        if named.is_none() && one.own.take().is_some() {
            self.last += 1;
        }
        if one.writes().is_some_and(|written| Some(written) != named) {
            one.release(entity, &mut self.writers);
            self.last += 1;
        }
    }

    /// Notes that the plugin has allocated an image for a blur.
    pub fn set_own(&mut self, entity: Entity, id: AssetId<Image>) {
        self.last += 1;
        if let Some(one) = self.get_mut(entity) {
            // An empty target must not stay empty.
            (one.own, one.sent) = (Some(id), None);
        }
    }

    /// The blur of an entity that writes an image in this frame.
    pub fn writer(&self, id: AssetId<Image>) -> Option<Entity> {
        let writer = *self.writers.get(&id)?;
        self.get(writer).map(|_| writer)
    }

    /// The blur that an image belongs to, or belonged to when that blur was seen last.
    pub fn holder(&self, id: AssetId<Image>) -> Option<Entity> {
        self.writers.get(&id).copied()
    }

    /// Whether the plugin allocated an image for an entity.
    pub fn owns(&self, entity: Entity, id: AssetId<Image>) -> bool {
        self.all.get(&entity).is_some_and(|one| one.own == Some(id))
    }

    /// Whether the plugin allocated an image.
    pub fn is_own(&self, id: AssetId<Image>) -> bool {
        self.holder(id).is_some_and(|holder| self.owns(holder, id))
    }

    /// Notes which image a blur writes. A blur that is not seen, to which the image belonged, has none any more.
    pub fn set_target(&mut self, entity: Entity, target: Option<Result<AssetId<Image>, BlurError>>) {
        let Some(one) = self.all.get_mut(&entity) else {
            return;
        };
        one.release(entity, &mut self.writers);
        one.target = target;
        if let Some(written) = one.writes()
            && let Some(absent) = self.writers.insert(written, entity)
            && let Some(absent) = self.all.get_mut(&absent)
        {
            absent.target = None;
        }
    }
}

impl ImageBlur {
    /// Another blur may write its image.
    fn release(&mut self, entity: Entity, writers: &mut HashMap<AssetId<Image>, Entity>) {
        if let Some(Ok(written)) = self.target.take()
            && writers.get(&written) == Some(&entity)
        {
            writers.remove(&written);
        }
    }

    /// How requests and outcomes name it.
    pub fn id(&self, entity: Entity) -> BlurId {
        let number = self.number;
        BlurId { entity, number }
    }

    /// The image that is written.
    pub fn writes(&self) -> Option<AssetId<Image>> {
        self.target.as_ref()?.as_ref().ok().copied()
    }

    /// Whether the last request has been submitted.
    pub fn is_done(&self) -> bool {
        self.sent.is_some() && self.done == self.revision
    }

    /// Whether there is nothing to do until something changes.
    pub fn rests(&self) -> bool {
        self.is_done() && !self.failures.is_failing()
    }

    /// Whether the outcome of the last request is known.
    pub fn is_settled(&self) -> bool {
        self.sent.is_some() && [self.done, self.refused].contains(&self.revision)
    }

    /// Whether the last request has a result, and nothing of it has failed.
    pub fn has_result(&self) -> bool {
        self.is_done() && self.refused != self.done
    }

    /// Whether it has no result yet, and may get one: blurs that read its target wait for it.
    pub fn starts(&self) -> bool {
        self.done == 0 && !self.failures.is_failing()
    }

    /// Takes the images that the settings name. The failure of a blur of other images is new.
    pub fn name_images(&mut self, [source, mask, target]: [Option<AssetId<Image>>; 3]) {
        let images = [source, mask, target.filter(|id| self.own != Some(*id))];
        if self.subject.0 != images {
            *self.subject = (images, self.revision + 1);
            (self.failures, self.refusals) = Default::default();
            if self.refused == self.revision {
                self.sent = None;
            }
        }
    }

    /// Notes that the render world has carried out a request.
    pub fn finish(&mut self, revision: u64) {
        self.done = revision;
        let _ = self.refusals.news(Ok(()));
    }

    /// Notes that the render world cannot carry out a request. Returns the failure if it is new.
    pub fn refuse(&mut self, revision: u64, error: BlurError) -> Option<BlurError> {
        self.refused = revision;
        let is_of_subject = revision >= self.subject.1;
        is_of_subject.then(|| self.refusals.news(Err(error))).flatten()
    }

    /// Counts a request, unless it has been sent before.
    pub fn send(&mut self, spec: &ImageSpec) {
        if !self.has_sent(spec) {
            self.revision += 1;
            let mut sent = spec.clone();
            if spec.is_single() {
                // It is not compared any more, and must not hold the mask.
                sent.profile = BlurProfile::Uniform;
            }
            self.varies = !sent.profile.is_uniform();
            self.runs_always = sent.update == BlurUpdate::EveryFrame;
            self.sent = Some(Box::new(sent));
        }
    }

    /// Whether a blur that wants this is not due. A single result is due only if nothing was sent.
    pub fn has_sent(&self, spec: &ImageSpec) -> bool {
        self.sent
            .as_ref()
            .is_some_and(|sent| spec.is_single() || sent.is_same(spec))
    }

    /// Notes that a blur cannot be requested now. What differs from what was sent is due until it is sent, whatever images come or go.
    pub fn put_off(&mut self, spec: Option<&ImageSpec>) {
        if spec.is_none_or(|spec| !self.has_sent(spec)) {
            self.sent = None;
        }
    }
}

/// Tells the format and the usages of a texture for a view. `None` while there is no GPU.
pub type Allowed<'a> = dyn Fn(ViewInfo) -> Result<Option<(TextureFormat, TextureUsages)>, BlurError> + 'a;

/// A blur whose target is fitted.
pub type Fitted = (Entity, &'static mut BlurImage, Option<&'static BlurProfile>);

/// Finds the target of every blur. Blurs at rest keep theirs while their images look the same.
pub fn fit_targets(
    blurs: Query<Fitted, With<GaussianBlur>>,
    known: ResMut<ImageBlurs>,
    images: ResMut<Assets<Image>>,
    changes: Res<ImageChanges>,
    gpu: Option<Res<Capabilities>>,
    unfitted: Local<[Vec<Entity>; 2]>,
) {
    let allowed = |ViewInfo { size, format, .. }: ViewInfo| match gpu.as_ref().map(|gpu| (gpu, gpu.largest_side())) {
        None => Ok(None),
        Some((_, limit)) if size.max_element() > limit => Err(BlurError::TooLarge { size, limit }),
        Some((gpu, _)) => gpu.own_target(format).map(Some),
    };
    fit(blurs, known, images, &changes, &allowed, unfitted);
}

pub fn fit(
    mut blurs: Query<Fitted, With<GaussianBlur>>,
    mut known: ResMut<ImageBlurs>,
    mut images: ResMut<Assets<Image>>,
    changes: &ImageChanges,
    allowed: &Allowed,
    mut unfitted: Local<[Vec<Entity>; 2]>,
) {
    let [waiting, chain] = &mut *unfitted;
    let are_images_changed = images.is_changed();
    known.begin();
    // All images that are no longer named are free before any is taken.
    for (place, (entity, image, _)) in blurs.iter_mut().enumerate() {
        let is_changed = image.is_changed();
        let one = known.see(place, entity, &image, is_changed);
        let rests = one.rests() && !is_changed;
        one.is_unfitted = !rests || are_images_changed && image.update != BlurUpdate::Once;
        if one.is_unfitted {
            waiting.push(entity);
        }
    }
    for entity in waiting.drain(..) {
        // The blur that writes the source comes first, if that may be fitted in this frame, too.
        let mut next = Some(entity);
        while let Some((entity, image, _)) = next.and_then(|entity| blurs.get(entity).ok())
            && known
                .get_mut(entity)
                .is_some_and(|one| core::mem::take(&mut one.is_unfitted))
        {
            chain.push(entity);
            next = known.writer(image.source.id());
        }
        for entity in chain.drain(..).rev() {
            if let Ok(one) = blurs.get_mut(entity) {
                known.fit(one, &mut images, changes, allowed);
            }
        }
    }
}

impl ImageBlurs {
    fn fit(
        &mut self,
        (entity, mut image, profile): (Entity, Mut<BlurImage>, Option<&BlurProfile>),
        images: &mut ResMut<Assets<Image>>,
        changes: &ImageChanges,
        allowed: &Allowed,
    ) {
        let Some(blur) = self.get(entity) else {
            return;
        };
        let has_mask = profile
            .and_then(BlurProfile::mask)
            .is_none_or(|mask| changes.know(mask, images));
        let is_due = image.update != BlurUpdate::Once || !blur.is_done() || image.is_changed();
        let target = self
            .find(entity, &mut image, has_mask && is_due, images, allowed)
            .transpose();
        if self.get(entity).is_some_and(|blur| blur.target != target) {
            self.set_target(entity, target);
        }
    }

    /// The target of a blur, `None` while its source or the GPU is not ready.
    fn find(
        &mut self,
        entity: Entity,
        image: &mut Mut<BlurImage>,
        may_fit: bool,
        images: &mut ResMut<Assets<Image>>,
        allowed: &Allowed,
    ) -> Result<Option<AssetId<Image>>, BlurError> {
        let named = image.target.as_ref().map(Handle::id);
        let other = named.and_then(|id| self.holder(id)).filter(|holder| *holder != entity);
        let own = match (named, other) {
            (None, _) => None,
            // A clone of the component has the handle of the plugin's image too. It gets its own image.
            (Some(id), Some(other)) if self.owns(other, id) && image.source.id() != id => None,
            (Some(id), Some(other)) if self.get(other).is_some() => {
                // Another blur took the image while this one was disabled.
                if !self.owns(entity, id) {
                    return Err(BlurError::SharedTarget { other });
                }
                None
            }
            (Some(id), _) if self.owns(entity, id) => Some(id),
            (Some(id), _) => return Ok(Some(id)),
        };
        let Some(source) = images.get(&image.source).filter(|_| may_fit || own.is_none()) else {
            return Ok(own);
        };
        let shown = Cut::target_of((image.region, image.padding), ViewInfo::of_asset(source)?)?;
        let there = own
            .and_then(|id| images.get(id))
            .and_then(|own| ViewInfo::of_asset(own).ok());
        if there == Some(shown) {
            return Ok(own);
        }
        let Some((format, usages)) = allowed(shown)? else {
            return Ok(None);
        };
        BlurError::check_reach("source", source.asset_usage)?;
        let wanted = ViewInfo { format, ..shown };
        if there == Some(wanted) {
            return Ok(own);
        }
        let mut target = wanted.image("gaussian_blur_target");
        target.texture_descriptor.usage |= usages;
        target.sampler = source.sampler.clone();
        // The handle reserves the asset's slot, so the slot is free.
        if let Some(id) = own {
            let _ = images.insert(id, target);
            self.set_own(entity, id);
            return Ok(own);
        }
        let handle = images.add(target);
        self.set_own(entity, handle.id());
        // Filling in the handle does not count as a change of the settings.
        let named = &mut image.bypass_change_detection().target;
        Ok(Some(named.insert(handle).id()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bevy::asset::uuid::Uuid;
    use bevy::ecs::entity::EntityHashMap;
    use bevy::ecs::entity_disabling::Disabled;

    #[test]
    fn nothing_is_remembered_of_blurs_that_are_gone() {
        let mut world = World::new();
        world.init_resource::<ImageBlurs>();
        world.add_observer(forget_image);
        world.add_observer(forget_strength);
        let entities: Vec<Entity> = (0..99).map(|_| world.spawn(BlurImage::default()).id()).collect();
        let mut blurs = world.resource_mut::<ImageBlurs>();
        blurs.begin();
        for (place, entity) in entities.iter().enumerate() {
            let id = AssetId::Uuid {
                uuid: Uuid::from_u128(entity.to_bits().into()),
            };
            blurs.see(place, *entity, &BlurImage::default(), true);
            blurs.set_target(*entity, Some(Ok(id)));
        }
        for (index, entity) in entities.into_iter().enumerate() {
            match index % 3 {
                0 => assert!(world.despawn(entity)),
                1 => _ = world.entity_mut(entity).remove::<BlurImage>(),
                _ => {
                    world.entity_mut(entity).insert(Disabled);
                    assert!(world.despawn(entity));
                }
            }
            let blurs = world.resource::<ImageBlurs>();
            assert_eq!([blurs.all.len(), blurs.writers.len()], [98 - index; 2]);
        }
    }

    /// Whatever queries find, and in which order, what is known stays with its entity.
    #[test]
    fn what_is_known_follows_the_order_of_queries() {
        let entities: Vec<Entity> = (1..6).filter_map(Entity::from_raw_u32).collect();
        let (mut blurs, mut numbers) = (ImageBlurs::default(), EntityHashMap::<u64>::default());
        for order in [
            vec![0, 1, 2],
            vec![2, 0, 1],
            vec![1],
            vec![3, 1, 4, 0],
            vec![0, 1, 2, 3, 4],
        ] {
            blurs.begin();
            for (place, index) in order.iter().enumerate() {
                let number = blurs.see(place, entities[*index], &BlurImage::default(), false).number;
                assert_eq!(*numbers.entry(entities[*index]).or_insert(number), number, "{order:?}");
            }
            for (index, entity) in entities.iter().enumerate() {
                let known = numbers.get(entity).copied().filter(|_| order.contains(&index));
                assert_eq!(blurs.get(*entity).map(|one| one.number), known, "{order:?}");
                for place in 0..6 {
                    let found = blurs.found_at(place, *entity).map(|one| one.number);
                    assert_eq!(found, known, "{order:?}");
                }
            }
            let mut places = order.iter().enumerate();
            assert!(
                places.all(|(place, index)| blurs.is_at(place, entities[*index])),
                "{order:?}"
            );
        }
        assert_eq!(blurs.all.len(), entities.len());
    }

    #[test]
    fn an_own_image_is_kept_until_another_one_is_named() {
        let (mut blurs, mut images) = (ImageBlurs::default(), Assets::<Image>::default());
        let entity = Entity::PLACEHOLDER;
        let [own, other] = [(); 2].map(|()| images.add(Image::default()));
        let see = |blurs: &mut ImageBlurs, image: &Handle<Image>| {
            blurs.begin();
            blurs.see(0, entity, &BlurImage::default().with_target(image.clone()), true);
            blurs.set_target(entity, Some(Ok(image.id())));
        };
        let kept = |blurs: &ImageBlurs| blurs.ids().find_map(|(_, own)| own);
        see(&mut blurs, &own);
        blurs.set_own(entity, own.id());
        assert_eq!(kept(&blurs), Some(own.id()));
        let set = blurs.set();
        see(&mut blurs, &other);
        assert!(kept(&blurs).is_none() && blurs.set() != set, "it writes another image");
        see(&mut blurs, &own);
        assert_eq!(kept(&blurs), Some(own.id()), "it writes its own image again");
    }
}
