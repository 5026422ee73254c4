//! The main world: allocates targets, fits them to their sources, and sees to it that no two blurs write one image.

use super::request::Followed;
use super::view::Viewed;
use crate::errors::BlurError;
use crate::formats::Capabilities;
use crate::gpu::ChosenBackend;
use crate::settings::{BlurImage, BlurUpdate};
use bevy::asset::RenderAssetUsages;
use bevy::ecs::system::SystemParam;
use bevy::image::ToExtents;
use bevy::platform::collections::HashMap;
use bevy::prelude::*;
use bevy::render::render_resource::TextureDimension;
use bevy::render::renderer::{RenderAdapter, RenderDevice};

/// The image that a blur writes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Target {
    pub id: AssetId<Image>,
    /// Whether the plugin allocated it.
    pub is_own: bool,
}

/// The targets of all blurs, or why one has none.
#[derive(Resource, Default)]
pub struct Targets {
    held: HashMap<Entity, Result<Target, BlurError>>,
    /// Who writes an image. May be out of date: only `held` counts.
    writers: HashMap<AssetId<Image>, Entity>,
}

/// What the main world knows of the GPU. Nothing until there is one.
#[derive(SystemParam)]
pub struct Gpu<'w> {
    device: Option<Res<'w, RenderDevice>>,
    adapter: Option<Res<'w, RenderAdapter>>,
    backend: Res<'w, ChosenBackend>,
}

impl Gpu<'_> {
    fn capabilities(&self) -> Option<Capabilities> {
        let (device, adapter) = (self.device.as_ref()?, self.adapter.as_ref()?);
        Some(Capabilities::new(self.backend.0, adapter, device))
    }
}

/// Finds the target of every blur.
pub fn fit_targets(
    mut blurs: Query<(Entity, &mut BlurImage)>,
    mut images: ResMut<Assets<Image>>,
    mut targets: ResMut<Targets>,
    followed: Res<Followed>,
    gpu: Gpu,
) {
    let targets = &mut *targets;
    targets.held.retain(|entity, _| blurs.contains(*entity));
    let held = &targets.held;
    targets
        .writers
        .retain(|id, writer| matches!(held.get(writer), Some(Ok(target)) if target.id == *id));
    for (entity, mut image) in &mut blurs {
        let is_pending = followed.0.get(&entity).is_none_or(|follow| follow.is_pending());
        let may_fit = image.update != BlurUpdate::Once || is_pending || image.is_changed();
        match targets.find(entity, &mut image, may_fit, &mut images, &gpu) {
            Ok(None) => targets.held.remove(&entity),
            Ok(Some(target)) => {
                targets.writers.insert(target.id, entity);
                targets.held.insert(entity, Ok(target))
            }
            Err(error) => targets.held.insert(entity, Err(error)),
        };
    }
}

impl Targets {
    /// What a blur writes, `None` while its source or the GPU is not there yet.
    pub fn get(&self, entity: Entity) -> Result<Option<Target>, BlurError> {
        self.held.get(&entity).cloned().transpose()
    }

    fn find(
        &self,
        entity: Entity,
        image: &mut Mut<BlurImage>,
        may_fit: bool,
        images: &mut ResMut<Assets<Image>>,
        gpu: &Gpu,
    ) -> Result<Option<Target>, BlurError> {
        let own = match self.held.get(&entity) {
            Some(Ok(target)) if target.is_own => Some(target.id),
            _ => None,
        };
        if let Some(id) = image.target.as_ref().map(Handle::id).filter(|id| own != Some(*id)) {
            match self.writer_but(entity, id) {
                None => return Ok(Some(Target { id, is_own: false })),
                // A clone of the component has the handle of the plugin's image too. It gets one of its own.
                Some((_, true)) if image.source.id() != id => {}
                Some((other, _)) => return Err(BlurError::SharedTarget { other }),
            }
        }
        let kept = own.filter(|id| image.target.as_ref().map(Handle::id) == Some(*id));
        let target = |id| Target { id, is_own: true };
        if kept.is_some() && !may_fit {
            return Ok(kept.map(target));
        }
        let Some(source) = images.get(&image.source) else {
            return Ok(kept.map(target));
        };
        if let Some(id) = kept {
            if let Some(old) = images.get(id)
                && is_alike(old, source)?
            {
                return Ok(Some(target(id)));
            }
            let Some(wanted) = image_for(source, gpu)? else {
                return Ok(None);
            };
            // The handle keeps the asset's place, so nothing else can be there.
            let _ = images.insert(id, wanted);
            return Ok(Some(target(id)));
        }
        let Some(wanted) = image_for(source, gpu)? else {
            return Ok(None);
        };
        let handle = images.add(wanted);
        let id = handle.id();
        // Filling the handle in is no change of the settings.
        image.bypass_change_detection().target = Some(handle);
        Ok(Some(target(id)))
    }

    /// The blur other than `entity` that writes an image, and whether the plugin allocated the image for it.
    fn writer_but(&self, entity: Entity, id: AssetId<Image>) -> Option<(Entity, bool)> {
        let writer = *self.writers.get(&id).filter(|writer| **writer != entity)?;
        match self.held.get(&writer) {
            Some(Ok(target)) if target.id == id => Some((writer, target.is_own)),
            _ => None,
        }
    }
}

/// An image of the size and format of what `source` shows that a blur can be written to, by compute passes too if the GPU
/// has them. `None` while there is no GPU.
fn image_for(source: &Image, gpu: &Gpu) -> Result<Option<Image>, BlurError> {
    let Some(capabilities) = gpu.capabilities() else {
        return Ok(None);
    };
    let Viewed { format, size } = Viewed::of_asset(source)?;
    let usages = capabilities.image_usages(format)?;
    let mut target = Image::new_uninit(
        size.to_extents(),
        TextureDimension::D2,
        format,
        RenderAssetUsages::default(),
    );
    target.texture_descriptor.usage |= usages;
    target.sampler = source.sampler.clone();
    Ok(Some(target))
}

fn is_alike(target: &Image, source: &Image) -> Result<bool, BlurError> {
    Ok(Viewed::of_asset(target)? == Viewed::of_asset(source)?)
}
