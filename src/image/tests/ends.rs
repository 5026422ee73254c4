//! What image blurs must be at the end of a [history](super::walk), whatever happened in it.

use super::super::blurred::ImageBlur;
use super::renderer::{Content, UNREADABLE, Verdict};
use super::walk::Walk;
use crate::errors::BlurError;
use crate::settings::{BlurImage, BlurProfile, BlurUpdate, GaussianBlur};
use bevy::ecs::entity::EntityHashSet;
use bevy::prelude::*;

impl Walk {
    /// Whether the target of a blur may be older than its source: something upstream has no input, or reads what is written
    /// after it.
    fn may_wait(&self, entity: Entity) -> bool {
        let (upstream, _) = self.upstream(entity);
        let is_old = |one: &Entity| !self.has_inputs(*one) || self.cyclic.contains(one);
        upstream.iter().any(is_old)
    }

    /// A blur and those that it reads from, directly or not, and whether it is among the latter.
    fn upstream(&self, entity: Entity) -> (Vec<Entity>, bool) {
        let (mut found, mut is_cycle) = (vec![entity], false);
        let mut next = 0;
        while next < found.len() {
            let reader = found[next];
            next += 1;
            let inputs = self.inputs_of(reader).into_iter();
            for writer in inputs.filter_map(|input| self.known().writer(input)) {
                is_cycle |= writer == entity && reader != entity;
                if !found.contains(&writer) {
                    found.push(writer);
                }
            }
        }
        (found, is_cycle)
    }

    pub fn note_cycles(&mut self) {
        let all: Vec<Entity> = self.slots.iter().flatten().copied().collect();
        let now: EntityHashSet = all.iter().copied().filter(|entity| self.upstream(*entity).1).collect();
        let before = core::mem::replace(&mut self.in_cycles, now);
        for entity in all {
            let rendered = if self.is_pipelined { &before } else { &self.in_cycles };
            if rendered.contains(&entity) {
                self.cyclic.insert(entity);
            } else if self.ran(entity) {
                self.cyclic.remove(&entity);
            }
        }
    }

    fn ran(&self, entity: Entity) -> bool {
        let id = self.known().get(entity).map(|blur| blur.id(entity));
        id.is_some_and(|id| self.renderer.verdicts.get(&id) == Some(&Verdict::Ran))
    }

    fn inputs_of(&self, entity: Entity) -> Vec<AssetId<Image>> {
        let world = self.app.world();
        let source = world.get::<BlurImage>(entity).map(|image| image.source.id());
        let mask = world.get::<BlurProfile>(entity).and_then(BlurProfile::mask);
        source.into_iter().chain(mask).collect()
    }

    /// Whether the inputs of a blur exist, or will, and the size of its source is known to the main world if it has to be.
    fn has_inputs(&self, entity: Entity) -> bool {
        let is_there = |id: &AssetId<Image>| self.renderer.shown(*id).is_some();
        let image = self.app.world().get::<BlurImage>(entity);
        let images = self.app.world().resource::<Assets<Image>>();
        let is_fitted = image.is_none_or(|image| {
            let target = image.target.as_ref().map(Handle::id);
            let is_yours = self.handles.iter().any(|handle| Some(handle.id()) == target);
            let size = |id: AssetId<Image>| self.renderer.shown(id).map(|(size, _)| size);
            let fits = |id| self.known().owns(entity, id) && size(id) == size(image.source.id());
            is_yours || target.is_some_and(fits) || images.contains(&image.source)
        });
        is_fitted && self.inputs_of(entity).iter().all(is_there)
    }

    /// What must hold at the end of a blur: its target shows what its components say.
    pub fn check(&mut self, slot: usize) -> Result<(), String> {
        let Some(entity) = self.slots[slot] else {
            return Ok(());
        };
        let world = self.app.world_mut();
        let mut seen = world.query_filtered::<(&GaussianBlur, &BlurImage), With<GaussianBlur>>();
        let Ok((blur, image)) = seen.get(world, entity).map(|(blur, image)| (*blur, image.clone())) else {
            return match self.known().get(entity) {
                Some(_) => Err("it is not there, and is blurred".to_owned()),
                None => Ok(()),
            };
        };
        let one = self.known().get(entity).ok_or("it is not followed")?;
        match &one.target {
            Some(Err(BlurError::SharedTarget { other })) => {
                let named = image.target.as_ref().map(Handle::id);
                let is_shared = *other != entity && named.is_some_and(|id| self.known().writer(id) == Some(*other));
                is_shared
                    .then_some(())
                    .ok_or_else(|| format!("it shares nothing with {other}"))
            }
            Some(Err(error)) => Err(format!("it fails: {error}")),
            _ if self.may_wait(entity) => Ok(()),
            _ => self.check_target(entity, one, blur, &image),
        }
    }

    fn check_target(
        &self,
        entity: Entity,
        one: &ImageBlur,
        blur: GaussianBlur,
        image: &BlurImage,
    ) -> Result<(), String> {
        let id = one.id(entity);
        let show = |id: Option<AssetId<Image>>| self.renderer.shown(id?);
        let named = image.target.as_ref().map(Handle::id);
        let is_own = named.is_some() && one.own == named;
        let (Some((target_size, target)), Some((size, source))) = (show(named), show(Some(image.source.id()))) else {
            // One of yours may not exist.
            let is_missing = named.is_some() && !is_own;
            return is_missing.then_some(()).ok_or_else(|| "it has no target".to_owned());
        };
        let profile = self.app.world().get::<BlurProfile>(entity);
        let mask = show(profile.and_then(BlurProfile::mask));
        let fails = !is_own && target_size != size
            || mask.is_some_and(|(size, _)| size == UNREADABLE)
            || mask.is_some() && profile.and_then(BlurProfile::mask) == named;
        if fails {
            return one
                .is_settled()
                .then_some(())
                .ok_or_else(|| "it waits in vain".to_owned());
        }
        if !one.is_done() || self.renderer.done(id) != Some(one.revision) {
            return Err(format!("it is not done: {:?} of {}", one.done, one.revision));
        }
        // A single result may be covered by your pixels.
        let is_yours = !is_own && image.update == BlurUpdate::Once;
        let is_in_place = named == Some(image.source.id());
        let is_right = match target {
            // The renderer says whether it is as it was.
            _ if is_in_place && blur.radius == 0.0 => true,
            Content::Blurred(shown) if shown.by == id => match image.update {
                // It stays as it was when it ran.
                BlurUpdate::Once => true,
                BlurUpdate::EveryFrame if is_in_place => true,
                _ if shown.radius != blur.radius as u32 || shown.mask.as_ref() != mask.map(|(_, mask)| mask) => false,
                _ => is_in_place || target_size == size && shown.of == *source,
            },
            _ => is_yours,
        };
        is_right
            .then_some(())
            .ok_or_else(|| format!("it shows {target:?}, source {source:?}, mask {mask:?}, {blur:?}"))
    }
}
