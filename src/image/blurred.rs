//! What the main world remembers of every image blur from frame to frame.
//!
//! A blur is due when what it wants differs from what was sent last; nothing sent: it is due. So it does not matter in which
//! order or frames its components came. The entity's components say what it wants, and nothing is copied from them but
//! what was sent.

use super::request::{BlurId, ImageSpec, Inputs};
use crate::errors::{BlurError, Reported};
use crate::image_changes::ImageChanges;
use crate::settings::{BlurImage, BlurProfile, GaussianBlur};
use bevy::asset::LoadState;
use bevy::ecs::entity::EntityHashMap;
use bevy::ecs::system::SystemParam;
use bevy::platform::collections::HashMap;
use bevy::prelude::*;

/// All image blurs, also those that queries do not see because they are disabled. In the main world.
#[derive(Resource, Default)]
pub struct ImageBlurs {
    all: EntityHashMap<ImageBlur>,
    /// For each target, the blur that it belongs to, or belonged to when that was seen last.
    writers: HashMap<AssetId<Image>, Entity>,
    /// The number of the last blur. It changes with the set of blurs.
    last: u64,
    /// The number of frames in which targets were fitted.
    frame: u64,
    /// The failures of this frame, which the next one reports.
    pub failed: Vec<(BlurId, BlurError)>,
}

/// What the main world remembers of a blur.
pub struct ImageBlur {
    pub id: BlurId,
    /// The last frame in which it was seen. After an absence it starts over, but keeps its id and its image.
    seen: u64,
    /// The image that the plugin allocated for it.
    pub own: Option<AssetId<Image>>,
    /// The image that it writes, `None` while there is none, or why there cannot be one.
    pub target: Result<Option<AssetId<Image>>, BlurError>,
    /// What was requested last, unless it must be requested again.
    pub sent: Option<ImageSpec>,
    /// The number of requests so far.
    pub revision: u64,
    /// The newest revision that was submitted to the GPU, and the newest that failed; 0 while there is none on this device.
    pub done: u64,
    pub refused: u64,
    /// Whether it may run in this frame.
    pub is_active: bool,
    /// The images that the settings name, and the first revision that reads and writes these.
    subject: ([Option<AssetId<Image>>; 3], u64),
    /// What has been reported about the strength, the profile, the images, and by the render world.
    pub strength: Reported,
    pub shape: Reported,
    pub failures: Reported,
    refusals: Reported,
}

/// The images of an app, and those that are on their way.
#[derive(SystemParam)]
pub struct ImageAssets<'w> {
    pub assets: Res<'w, Assets<Image>>,
    server: Res<'w, AssetServer>,
}

impl ImageAssets<'_> {
    /// Whether all images exist that a blur reads and writes, on the GPU or on their way.
    ///
    /// # Errors
    /// An input cannot be loaded.
    pub fn have(
        &self,
        [source, mask]: Inputs,
        target: Option<AssetId<Image>>,
        changes: &ImageChanges,
    ) -> Result<bool, BlurError> {
        let mut have_all = true;
        let errors = [Some(BlurError::SourceNotLoaded), Some(BlurError::MaskNotLoaded), None];
        for (id, error) in [source, mask, target].into_iter().zip(errors) {
            if let Some(id) = id.filter(|id| !exists(*id, &self.assets, changes)) {
                have_all = false;
                let has_failed = matches!(self.server.get_load_state(id), Some(LoadState::Failed(_)));
                error.filter(|_| has_failed).map_or(Ok(()), Err)?;
            }
        }
        Ok(have_all)
    }

    /// Whether a missing image is loading.
    pub fn load(&self, [source, mask]: Inputs, target: Option<AssetId<Image>>, changes: &ImageChanges) -> bool {
        let is_loading = |id| matches!(self.server.get_load_state(id), Some(LoadState::Loading));
        let mut named = [source, mask, target].into_iter().flatten();
        named.any(|id| !exists(id, &self.assets, changes) && is_loading(id))
    }
}

/// Whether an image exists. An asset that was removed to save memory may still exist on the GPU.
pub fn exists(id: AssetId<Image>, images: &Assets<Image>, changes: &ImageChanges) -> bool {
    images.contains(id) || changes.has_existed(id)
}

/// When its component is removed, an image that the plugin allocated becomes an ordinary image.
pub fn forget_image(removed: On<Remove, BlurImage>, mut blurs: ResMut<ImageBlurs>) {
    blurs.release(removed.entity);
    blurs.last += 1;
    blurs.all.remove(&removed.entity);
}

/// A strength that is inserted again makes another blur, which has the image of the first.
pub fn forget_strength(removed: On<Remove, GaussianBlur>, mut blurs: ResMut<ImageBlurs>) {
    blurs.release(removed.entity);
    if blurs.all.contains_key(&removed.entity) {
        let own = blurs.all[&removed.entity].own;
        let new = blurs.new_blur(removed.entity);
        blurs.all.insert(removed.entity, ImageBlur { own, ..new });
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

    /// The blur that an outcome names, unless it is gone.
    pub fn with_id(&mut self, id: BlurId) -> Option<&mut ImageBlur> {
        self.get_mut(id.entity).filter(|one| one.id == id)
    }

    /// A number that changes with the set of blurs, seen or not.
    pub fn set(&self) -> u64 {
        self.last
    }

    /// All blurs, seen or not.
    pub fn ids(&self) -> impl Iterator<Item = BlurId> {
        self.all.values().map(|one| one.id)
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

    /// Notes that this frame has seen a blur. Its claim to an image that it no longer names ends.
    pub fn see(&mut self, entity: Entity, image: &BlurImage) -> &ImageBlur {
        if !self.all.contains_key(&entity) {
            let new = self.new_blur(entity);
            self.all.insert(entity, new);
        }
        let named = image.target.as_ref().map(Handle::id);
        let written = self.all[&entity].writes();
        if written.is_some() && written != named {
            self.release(entity);
        }
        let frame = self.frame;
        let one = self.all.get_mut(&entity).expect("it was inserted");
        if core::mem::replace(&mut one.seen, frame) + 1 != frame {
            one.sent = None;
        }
        if named.is_none() {
            one.own = None;
        }
        one
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
    pub fn set_target(&mut self, entity: Entity, target: Result<Option<AssetId<Image>>, BlurError>) {
        self.release(entity);
        let Some(one) = self.all.get_mut(&entity) else {
            return;
        };
        one.target = target;
        if let Some(written) = one.writes()
            && let Some(absent) = self.writers.insert(written, entity)
            && let Some(absent) = self.all.get_mut(&absent)
        {
            absent.target = Ok(None);
        }
    }

    /// Another blur may write the image of this one.
    fn release(&mut self, entity: Entity) {
        let Some(one) = self.all.get_mut(&entity) else {
            return;
        };
        let written = one.writes();
        one.target = Ok(None);
        if let Some(written) = written
            && self.writers.get(&written) == Some(&entity)
        {
            self.writers.remove(&written);
        }
    }

    fn new_blur(&mut self, entity: Entity) -> ImageBlur {
        self.last += 1;
        let number = self.last;
        ImageBlur {
            id: BlurId { entity, number },
            seen: 0,
            own: None,
            target: Ok(None),
            sent: None,
            revision: 0,
            done: 0,
            refused: 0,
            is_active: false,
            subject: ([None; 3], 0),
            strength: Reported::default(),
            shape: Reported::default(),
            failures: Reported::default(),
            refusals: Reported::default(),
        }
    }
}

impl ImageBlur {
    /// The image that is written.
    pub fn writes(&self) -> Option<AssetId<Image>> {
        self.target.as_ref().ok().copied().flatten()
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
    pub fn name_images(&mut self, [source, mask]: Inputs, target: Option<AssetId<Image>>) {
        let images = [source, mask, target.filter(|id| self.own != Some(*id))];
        if self.subject.0 != images {
            self.subject = (images, self.revision + 1);
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
            self.sent = Some(sent);
        }
    }

    /// Whether a blur that wants this is not due. A single result is due only if nothing was sent.
    pub fn has_sent(&self, spec: &ImageSpec) -> bool {
        self.sent
            .as_ref()
            .is_some_and(|sent| spec.is_single() || sent.is_same(spec))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bevy::asset::uuid::Uuid;
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
        for entity in &entities {
            let id = AssetId::Uuid {
                uuid: Uuid::from_u128(entity.to_bits().into()),
            };
            blurs.see(*entity, &BlurImage::default());
            blurs.set_target(*entity, Ok(Some(id)));
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
}
