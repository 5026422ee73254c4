//! The main world: allocates targets, fits them to their sources, and ensures that no two blurs write one image.

use super::excerpt::Excerpt;
use super::follow::{Follow, Target};
use super::order::Order;
use crate::errors::BlurError;
use crate::formats::Capabilities;
use crate::gpu::{ChosenBackend, ViewInfo};
use crate::settings::{BlurImage, BlurProfile, BlurUpdate, GaussianBlur};
use bevy::ecs::entity::EntityHashMap;
use bevy::ecs::entity_disabling::Disabled;
use bevy::ecs::query::{Allow, QueryData};
use bevy::ecs::system::SystemParam;
use bevy::platform::collections::HashMap;
use bevy::prelude::*;
use bevy::render::renderer::{RenderAdapter, RenderDevice};

/// Who writes which image.
#[derive(Resource, Default)]
pub struct Targets {
    /// Which blur writes an image.
    writers: HashMap<AssetId<Image>, Entity>,
    /// The image that the plugin allocated for each blur.
    own: EntityHashMap<AssetId<Image>>,
    /// The entities whose blur was removed in this frame.
    pub gone: Vec<Entity>,
    /// The targets whose assets the plugin has marked as modified in this frame.
    pub shown: Vec<AssetId<Image>>,
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

/// Forgets a blur of which a component is removed.
pub fn forget_blur(
    removed: On<Remove, (BlurImage, GaussianBlur)>,
    mut follows: Query<&mut Follow>,
    mut targets: ResMut<Targets>,
) {
    if let Ok(mut follow) = follows.get_mut(removed.entity) {
        let written = core::mem::take(&mut *follow).writes();
        targets.release(removed.entity, written);
        targets.gone.push(removed.entity);
    }
}

/// A blur that is no longer disabled starts over, but keeps its target.
pub fn start_over(enabled: On<Remove, Disabled>, mut follows: Query<&mut Follow, Allow<Disabled>>) {
    if let Ok(mut follow) = follows.get_mut(enabled.entity) {
        follow.start_over();
    }
}

/// A blur whose target is fitted.
#[derive(QueryData)]
#[query_data(mutable)]
pub struct Fitted {
    entity: Entity,
    image: &'static mut BlurImage,
    follow: &'static mut Follow,
    profile: Option<&'static BlurProfile>,
}

/// The blurs whose sources other blurs write, each with that blur. It keeps its memory.
#[derive(Default)]
pub struct Fed {
    pairs: Vec<(Entity, Entity)>,
    order: Order,
}

/// Finds the target of every blur. Blurs at rest keep theirs while their images look the same.
pub fn fit_targets(
    mut blurs: Query<Fitted, With<GaussianBlur>>,
    mut images: ResMut<Assets<Image>>,
    mut targets: ResMut<Targets>,
    mut gpu: Gpu,
    mut fed: Local<Fed>,
) {
    gpu.forget_lost();
    let Fed { pairs, order } = &mut *fed;
    pairs.clear();
    // All images that are no longer named are free before any is taken.
    for mut one in blurs.iter_mut().filter(|one| one.image.is_changed()) {
        let (written, named) = (one.follow.writes(), one.image.target.as_ref().map(Handle::id));
        if written.is_some() && written != named {
            targets.release(one.entity, written);
            one.follow.target = Ok(None);
        }
    }
    let are_images_changed = images.is_changed();
    for mut one in &mut blurs {
        let (entity, image) = (one.entity, &one.image);
        if one.follow.rests() && !image.is_changed() && (!are_images_changed || image.update == BlurUpdate::Once) {
            one.follow.keep_target();
            continue;
        }
        let writer = targets.writer(image.source.id()).filter(|writer| *writer != entity);
        match writer {
            // The source may be fitted in this frame, too.
            Some(writer) => pairs.push((entity, writer)),
            None => targets.fit(one, &mut images, &mut gpu),
        }
    }
    if pairs.is_empty() {
        return;
    }
    let places: EntityHashMap<usize> = pairs.iter().enumerate().map(|(i, (entity, _))| (*entity, i)).collect();
    let writer = |index: usize, input: usize| places.get(&pairs[index].1).copied().filter(|_| input == 0);
    order.sort(pairs.len(), writer, |index| pairs[index].0.index_u32());
    for index in &order.sorted {
        if let Ok(one) = blurs.get_mut(pairs[*index].0) {
            targets.fit(one, &mut images, &mut gpu);
        }
    }
}

impl Targets {
    /// The blur that writes an image.
    pub fn writer(&self, id: AssetId<Image>) -> Option<Entity> {
        self.writers.get(&id).copied()
    }

    /// Another blur may write the image.
    fn release(&mut self, entity: Entity, written: Option<AssetId<Image>>) {
        if let Some(id) = written.filter(|id| self.writer(*id) == Some(entity)) {
            self.writers.remove(&id);
        }
    }

    fn fit(&mut self, one: FittedItem, images: &mut ResMut<Assets<Image>>, gpu: &mut Gpu) {
        let FittedItem {
            entity,
            mut image,
            mut follow,
            profile,
        } = one;
        let (image, follow) = (&mut image, &mut *follow);
        follow.keep_target();
        let look = |id: AssetId<Image>| images.get(id).and_then(|image| ViewInfo::of_asset(image).ok());
        let looks = |follow: &Follow| [Some(image.source.id()), follow.writes()].map(|id| id.and_then(look));
        if follow.rests() && !image.is_changed() && follow.fitted == looks(follow) {
            return;
        }
        let is_there = |id: &AssetId<Image>| images.contains(*id) || follow.known.contains(&Some(*id));
        let has_mask = profile.and_then(BlurProfile::mask).as_ref().is_none_or(is_there);
        let may_fit = has_mask && (image.update != BlurUpdate::Once || follow.is_pending() || image.is_changed());
        let before = follow.writes();
        follow.target = self.find(entity, image, may_fit, images, gpu);
        let written = follow.writes();
        if before != written {
            self.release(entity, before);
        }
        if let Some(id) = written {
            self.writers.insert(id, entity);
        }
        let look = |id: AssetId<Image>| images.get(id).and_then(|image| ViewInfo::of_asset(image).ok());
        follow.fitted = [Some(image.source.id()), written].map(|id| id.and_then(look));
    }

    /// The target of a blur, `None` while its source or the GPU is not ready.
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
        BlurError::check_reach("source", source.asset_usage)?;
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
        world.add_observer(forget_blur);
        let blur = || (BlurImage::default(), Follow::default());
        let blurs: Vec<Entity> = (0..100).map(|_| world.spawn(blur()).id()).collect();
        for entity in &blurs {
            let id = AssetId::Uuid {
                uuid: bevy::asset::uuid::Uuid::from_u128(entity.to_bits().into()),
            };
            let mut targets = world.resource_mut::<Targets>();
            targets.own.insert(*entity, id);
            targets.writers.insert(id, *entity);
            world.get_mut::<Follow>(*entity).expect("it was spawned with it").target =
                Ok(Some(Target::there(id, true)));
        }
        for (index, entity) in blurs.into_iter().enumerate() {
            if index.is_multiple_of(2) {
                world.despawn(entity);
            } else {
                world.entity_mut(entity).remove::<BlurImage>();
            }
            let targets = world.resource::<Targets>();
            assert_eq!([targets.own.len(), targets.writers.len()], [99 - index; 2]);
        }
    }
}
