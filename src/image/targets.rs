//! The main world: allocates targets, fits them to their sources, and ensures that no two blurs write one image.

use super::blurred::{ImageBlurs, exists};
use super::excerpt::Excerpt;
use super::order::Order;
use crate::errors::BlurError;
use crate::formats::Capabilities;
use crate::gpu::{ChosenBackend, ViewInfo};
use crate::image_changes::ImageChanges;
use crate::settings::{BlurImage, BlurProfile, BlurUpdate, GaussianBlur};
use bevy::ecs::entity::EntityHashMap;
use bevy::ecs::system::SystemParam;
use bevy::prelude::*;
use bevy::render::render_resource::{TextureFormat, TextureUsages};
use bevy::render::renderer::{RenderAdapter, RenderDevice};

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

/// Tells the format and the usages of a texture for a view. `None` while there is no GPU.
pub type Allowed<'a> = dyn FnMut(ViewInfo) -> Result<Option<(TextureFormat, TextureUsages)>, BlurError> + 'a;

impl Gpu<'_, '_> {
    /// # Errors
    /// [`BlurError::TooLarge`], and that images of the format cannot be blurred.
    fn own_target(&mut self, shown: ViewInfo) -> Result<Option<(TextureFormat, TextureUsages)>, BlurError> {
        let Some(capabilities) = self.capabilities() else {
            return Ok(None);
        };
        let (size, limit) = (shown.size, capabilities.largest_side());
        if size.max_element() > limit {
            return Err(BlurError::TooLarge { size, limit });
        }
        capabilities.own_target(shown.format).map(Some)
    }
}

/// A blur whose target is fitted.
pub type Fitted = (Entity, &'static mut BlurImage, Option<&'static BlurProfile>);

/// Memory that is kept from frame to frame.
#[derive(Default)]
pub struct Fitting {
    /// The blurs whose targets may have to change.
    waiting: Vec<Entity>,
    /// Those whose sources other blurs write, each with that blur.
    fed: Vec<(Entity, Entity)>,
    order: Order,
}

/// Finds the target of every blur. Blurs at rest keep theirs while their images look the same.
pub fn fit_targets(
    blurs: Query<Fitted, With<GaussianBlur>>,
    known: ResMut<ImageBlurs>,
    images: ResMut<Assets<Image>>,
    changes: Res<ImageChanges>,
    mut gpu: Gpu,
    fitting: Local<Fitting>,
) {
    gpu.forget_lost();
    fit(
        blurs,
        known,
        images,
        &changes,
        &mut |shown| gpu.own_target(shown),
        fitting,
    );
}

pub fn fit(
    mut blurs: Query<Fitted, With<GaussianBlur>>,
    mut known: ResMut<ImageBlurs>,
    mut images: ResMut<Assets<Image>>,
    changes: &ImageChanges,
    allowed: &mut Allowed,
    mut fitting: Local<Fitting>,
) {
    let Fitting { waiting, fed, order } = &mut *fitting;
    waiting.clear();
    fed.clear();
    let are_images_changed = images.is_changed();
    known.begin();
    // All images that are no longer named are free before any is taken.
    for (entity, image, _) in &mut blurs {
        let rests = known.see(entity, &image).rests() && !image.is_changed();
        if !rests || are_images_changed && image.update != BlurUpdate::Once {
            waiting.push(entity);
        }
    }
    for entity in waiting {
        let Ok(one) = blurs.get_mut(*entity) else {
            continue;
        };
        match known.writer(one.1.source.id()).filter(|writer| writer != entity) {
            // The source may be fitted in this frame, too.
            Some(writer) => fed.push((*entity, writer)),
            None => known.fit(one, &mut images, changes, allowed),
        }
    }
    if fed.is_empty() {
        return;
    }
    let places: EntityHashMap<usize> = fed.iter().enumerate().map(|(i, (entity, _))| (*entity, i)).collect();
    let writer = |index: usize, input: usize| places.get(&fed[index].1).copied().filter(|_| input == 0);
    order.sort(fed.len(), writer, |index| fed[index].0.index_u32());
    for index in &order.sorted {
        if let Ok(one) = blurs.get_mut(fed[*index].0) {
            known.fit(one, &mut images, changes, allowed);
        }
    }
}

impl ImageBlurs {
    fn fit(
        &mut self,
        (entity, mut image, profile): (Entity, Mut<BlurImage>, Option<&BlurProfile>),
        images: &mut ResMut<Assets<Image>>,
        changes: &ImageChanges,
        allowed: &mut Allowed,
    ) {
        let Some(blur) = self.get(entity) else {
            return;
        };
        let has_mask = profile
            .and_then(BlurProfile::mask)
            .is_none_or(|mask| exists(mask, images, changes));
        let is_due = image.update != BlurUpdate::Once || !blur.is_done() || image.is_changed();
        let target = self.find(entity, &mut image, has_mask && is_due, images, allowed);
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
        allowed: &mut Allowed,
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
        let shown = Excerpt::new(image).target_of(ViewInfo::of_asset(source)?)?;
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
        let id = make(own, target, image, images);
        if let Some(one) = self.get_mut(entity) {
            // An empty target must not stay empty.
            (one.own, one.sent) = (Some(id), None);
        }
        Ok(Some(id))
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
