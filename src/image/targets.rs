//! The main world: allocates targets, fits them to their sources, and ensures that no two blurs write one image.

use super::blurred::ImageBlurs;
use super::request::Cut;
use crate::errors::BlurError;
use crate::formats::Capabilities;
use crate::gpu::ViewInfo;
use crate::image_changes::ImageChanges;
use crate::settings::{BlurImage, BlurProfile, BlurUpdate, GaussianBlur};
use bevy::prelude::*;
use bevy::render::render_resource::{TextureFormat, TextureUsages};

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
