//! The main world: allocates targets, fits them to their sources, and sees to it that no two blurs write one image.

use super::request::{Follow, Followed};
use super::view::Viewed;
use crate::errors::BlurError;
use crate::formats::Capabilities;
use crate::gpu::ChosenBackend;
use crate::settings::{BlurImage, BlurUpdate};
use bevy::asset::RenderAssetUsages;
use bevy::ecs::system::SystemParam;
use bevy::image::ToExtents;
use bevy::platform::collections::{HashMap, HashSet};
use bevy::prelude::*;
use bevy::render::render_resource::TextureDimension;
use bevy::render::renderer::{RenderAdapter, RenderDevice};

/// The image that a blur writes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Target {
    pub id: AssetId<Image>,
    /// Whether the plugin allocated it.
    pub is_own: bool,
    /// Whether it has been made anew in this frame, and holds nothing.
    pub is_new: bool,
}

/// The targets of all blurs, or why one has none.
#[derive(Resource, Default)]
pub struct Targets {
    held: HashMap<Entity, Result<Target, BlurError>>,
    /// Who writes an image.
    writers: HashMap<AssetId<Image>, Entity>,
    /// The images that the plugin has allocated.
    allocated: HashSet<AssetId<Image>>,
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
    targets.forget(&blurs, &images);
    // A target may be the source of another blur, which has to be fitted after it.
    for _ in 0..=blurs.iter().len() {
        let mut is_changed = false;
        for (entity, mut image) in &mut blurs {
            let is_pending = followed.0.get(&entity).is_none_or(Follow::is_pending);
            let may_fit = image.update != BlurUpdate::Once || is_pending || image.is_changed();
            let found = targets.find(entity, &mut image, may_fit, &mut images, &gpu);
            is_changed |= targets.hold(entity, found);
        }
        if !is_changed {
            break;
        }
    }
}

impl Targets {
    /// What a blur writes, `None` while its source or the GPU is not there yet.
    pub fn get(&self, entity: Entity) -> Result<Option<Target>, BlurError> {
        self.held.get(&entity).cloned().transpose()
    }

    /// The blur that writes an image.
    pub fn writer(&self, id: AssetId<Image>) -> Option<Entity> {
        self.writers.get(&id).copied()
    }

    /// Forgets what is no more.
    fn forget(&mut self, blurs: &Query<(Entity, &mut BlurImage)>, images: &Assets<Image>) {
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
        if self.allocated.len() > 2 * self.held.len() {
            self.allocated.retain(|id| images.contains(*id));
        }
    }

    /// Remembers what has been found. Returns whether a target has been made.
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
        // What has been made in this frame stays new in this frame.
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
        gpu: &Gpu,
    ) -> Result<Option<Target>, BlurError> {
        let named = image.target.as_ref().map(Handle::id);
        let other = named.and_then(|id| self.writer(id)).filter(|writer| *writer != entity);
        let is_allocated = named.is_some_and(|id| self.allocated.contains(&id));
        let own = match (named, other) {
            (None, _) => None,
            // A clone of the component has the handle of the plugin's image too. It gets one of its own.
            (Some(id), Some(_)) if is_allocated && image.source.id() != id => None,
            (Some(_), Some(other)) => return Err(BlurError::SharedTarget { other }),
            (Some(id), None) if is_allocated => Some(id),
            (Some(id), None) => {
                return Ok(Some(Target {
                    id,
                    is_own: false,
                    is_new: false,
                }));
            }
        };
        let kept = own.map(|id| Target {
            id,
            is_own: true,
            is_new: false,
        });
        let Some(source) = images.get(&image.source).filter(|_| may_fit || kept.is_none()) else {
            return Ok(kept);
        };
        if let Some(old) = own.and_then(|id| images.get(id))
            && Viewed::of_asset(old)? == Viewed::of_asset(source)?
        {
            return Ok(kept);
        }
        let Some(wanted) = image_for(source, gpu)? else {
            return Ok(None);
        };
        let id = self.make(own, wanted, image, images);
        Ok(Some(Target {
            id,
            is_own: true,
            is_new: true,
        }))
    }

    /// Puts an image behind the handle of an own target, or behind a new one.
    fn make(
        &mut self,
        own: Option<AssetId<Image>>,
        wanted: Image,
        image: &mut Mut<BlurImage>,
        images: &mut ResMut<Assets<Image>>,
    ) -> AssetId<Image> {
        if let Some(id) = own {
            // The handle keeps the asset's place, so nothing else can be there.
            let _ = images.insert(id, wanted);
            return id;
        }
        let handle = images.add(wanted);
        let id = handle.id();
        self.allocated.insert(id);
        // Filling the handle in is no change of the settings.
        image.bypass_change_detection().target = Some(handle);
        id
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
