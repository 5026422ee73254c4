//! The main world: allocates targets, fits them to their sources, and ensures that no two blurs write one image.

use super::excerpt::Excerpt;
use super::request::{Follow, Followed};
use crate::errors::BlurError;
use crate::formats::Capabilities;
use crate::gpu::{ChosenBackend, ViewInfo};
use crate::settings::{BlurImage, BlurUpdate};
use bevy::ecs::system::SystemParam;
use bevy::platform::collections::HashMap;
use bevy::prelude::*;
use bevy::render::renderer::{RenderAdapter, RenderDevice};

/// The image that a blur writes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Target {
    pub id: AssetId<Image>,
    /// Whether the plugin allocated it.
    pub is_own: bool,
    /// Whether it was created in this frame, and is empty.
    pub is_new: bool,
}

impl Target {
    /// A target that already existed.
    fn there(id: AssetId<Image>, is_own: bool) -> Self {
        let is_new = false;
        Self { id, is_own, is_new }
    }
}

/// The targets of all blurs, or why a blur has none.
#[derive(Resource, Default)]
pub struct Targets {
    held: HashMap<Entity, Result<Target, BlurError>>,
    /// Which blur writes an image.
    writers: HashMap<AssetId<Image>, Entity>,
    /// The image that the plugin allocated for each blur.
    own: HashMap<Entity, AssetId<Image>>,
}

/// What the main world knows of the GPU. Empty until there is one.
#[derive(SystemParam)]
pub struct Gpu<'w, 's> {
    device: Option<Res<'w, RenderDevice>>,
    adapter: Option<Res<'w, RenderAdapter>>,
    backend: Res<'w, ChosenBackend>,
    known: Local<'s, Option<Capabilities>>,
}

impl Gpu<'_, '_> {
    /// Forgets what another device was capable of. It must run in every frame.
    fn forget_lost(&mut self) {
        if self.device.as_ref().is_some_and(DetectChanges::is_changed) {
            *self.known = None;
        }
    }

    fn capabilities(&mut self) -> Option<&Capabilities> {
        let (device, adapter) = (self.device.as_ref()?, self.adapter.as_ref()?);
        if self.known.is_none() {
            *self.known = Some(Capabilities::new(self.backend.0, adapter, device));
        }
        self.known.as_ref()
    }
}

/// When its component is removed, an image that the plugin allocated becomes an ordinary image.
pub fn disown_target(removed: On<Remove, BlurImage>, mut targets: ResMut<Targets>) {
    targets.own.remove(&removed.entity);
}

/// Finds the target of every blur.
pub fn fit_targets(
    mut blurs: Query<(Entity, &mut BlurImage)>,
    mut images: ResMut<Assets<Image>>,
    mut targets: ResMut<Targets>,
    followed: Res<Followed>,
    mut gpu: Gpu,
) {
    let targets = &mut *targets;
    targets.forget(&blurs);
    gpu.forget_lost();
    // A target may be the source of another blur, which must be fitted after it.
    for _ in 0..=blurs.iter().len() {
        let mut is_changed = false;
        for (entity, mut image) in &mut blurs {
            let is_pending = followed.0.get(&entity).is_none_or(Follow::is_pending);
            let may_fit = image.update != BlurUpdate::Once || is_pending || image.is_changed();
            let found = targets.find(entity, &mut image, may_fit, &mut images, &mut gpu);
            is_changed |= targets.hold(entity, found);
        }
        if !is_changed {
            break;
        }
    }
}

impl Targets {
    /// The target of a blur, `None` while its source or the GPU is not ready.
    pub fn get(&self, entity: Entity) -> Result<Option<Target>, BlurError> {
        self.held.get(&entity).cloned().transpose()
    }

    /// The blur that writes an image.
    pub fn writer(&self, id: AssetId<Image>) -> Option<Entity> {
        self.writers.get(&id).copied()
    }

    /// Forgets blurs that no longer exist.
    fn forget(&mut self, blurs: &Query<(Entity, &mut BlurImage)>) {
        self.held.retain(|entity, _| blurs.contains(*entity));
        self.held
            .values_mut()
            .flatten()
            .for_each(|target| target.is_new = false);
        let writes = |writer: &Entity, id| {
            let image = blurs.get(*writer).ok()?.1;
            image.target.as_ref().map(|target| target.id() == id)
        };
        self.writers.retain(|id, writer| writes(writer, *id) == Some(true));
    }

    /// Remembers the targets. Returns whether one was created.
    fn hold(&mut self, entity: Entity, found: Result<Option<Target>, BlurError>) -> bool {
        let Some(found) = found.transpose() else {
            self.held.remove(&entity);
            return false;
        };
        let mut is_new = false;
        if let Ok(target) = &found {
            self.writers.insert(target.id, entity);
            is_new = target.is_new;
        }
        let before = self.held.insert(entity, found);
        // A target that was created in this frame stays new in this frame.
        if let (Some(Ok(before)), Some(Ok(target))) = (before, self.held.get_mut(&entity)) {
            target.is_new |= before.is_new && before.id == target.id;
        }
        is_new
    }

    fn find(
        &mut self,
        entity: Entity,
        image: &mut Mut<BlurImage>,
        may_fit: bool,
        images: &mut ResMut<Assets<Image>>,
        gpu: &mut Gpu,
    ) -> Result<Option<Target>, BlurError> {
        let named = image.target.as_ref().map(Handle::id);
        let other = named.and_then(|id| self.writer(id)).filter(|writer| *writer != entity);
        let owns = |entity: Entity, id: AssetId<Image>| self.own.get(&entity) == Some(&id);
        let own = match (named, other) {
            (None, _) => None,
            // A clone of the component has the handle of the plugin's image too. It gets its own image.
            (Some(id), Some(other)) if owns(other, id) && image.source.id() != id => None,
            (Some(_), Some(other)) => return Err(BlurError::SharedTarget { other }),
            (Some(id), None) if owns(entity, id) => Some(id),
            (Some(id), None) => return Ok(Some(Target::there(id, false))),
        };
        let kept = own.map(|id| Target::there(id, true));
        let Some(source) = images.get(&image.source).filter(|_| may_fit || kept.is_none()) else {
            return Ok(kept);
        };
        let source_shown = ViewInfo::of_asset(source)?;
        let shown = ViewInfo {
            size: Excerpt::new(image).of(source_shown.size, false)?.size(),
            ..source_shown
        }
        .with_possible_levels();
        let there = own
            .and_then(|id| images.get(id))
            .and_then(|own| ViewInfo::of_asset(own).ok());
        if there == Some(shown) {
            return Ok(kept);
        }
        let Some(capabilities) = gpu.capabilities() else {
            return Ok(None);
        };
        let limit = capabilities.largest_side();
        if shown.size.max_element() > limit {
            return Err(BlurError::TooLarge {
                size: shown.size,
                limit,
            });
        }
        let (format, usages) = capabilities.own_target(shown.format)?;
        let wanted = ViewInfo { format, ..shown };
        if there == Some(wanted) {
            return Ok(kept);
        }
        let mut target = wanted.image("gaussian_blur_target");
        target.texture_descriptor.usage |= usages;
        target.sampler = source.sampler.clone();
        let id = make(own, target, image, images);
        self.own.insert(entity, id);
        let (is_own, is_new) = (true, true);
        Ok(Some(Target { id, is_own, is_new }))
    }
}

/// Stores an image under the handle of an own target, or under a new handle.
fn make(
    own: Option<AssetId<Image>>,
    wanted: Image,
    image: &mut Mut<BlurImage>,
    images: &mut ResMut<Assets<Image>>,
) -> AssetId<Image> {
    if let Some(id) = own {
        // The handle reserves the asset's slot, so the slot is free.
        let _ = images.insert(id, wanted);
        return id;
    }
    let handle = images.add(wanted);
    let id = handle.id();
    // Filling in the handle does not count as a change of the settings.
    image.bypass_change_detection().target = Some(handle);
    id
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn targets_of_blurs_that_are_gone_are_not_remembered() {
        let mut world = World::new();
        world.init_resource::<Targets>();
        world.add_observer(disown_target);
        let blurs: Vec<Entity> = (0..100).map(|_| world.spawn(BlurImage::default()).id()).collect();
        let of_each = blurs.iter().map(|entity| (*entity, AssetId::invalid()));
        world.resource_mut::<Targets>().own.extend(of_each);
        for (index, entity) in blurs.into_iter().enumerate() {
            if index.is_multiple_of(2) {
                world.despawn(entity);
            } else {
                world.entity_mut(entity).remove::<BlurImage>();
            }
            assert_eq!(world.resource::<Targets>().own.len(), 99 - index);
        }
    }
}
