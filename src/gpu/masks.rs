//! The images that say which share of a radius each place gets.

use crate::errors::BlurError;
use crate::shares::Shares;
use bevy::ecs::system::SystemParam;
use bevy::prelude::*;
use bevy::render::render_asset::RenderAssets;
use bevy::render::render_resource::{TextureDimension, TextureSampleType, TextureUsages, TextureView};
use bevy::render::texture::GpuImage;

/// The images on the GPU.
#[derive(SystemParam)]
pub struct Masks<'w> {
    images: Res<'w, RenderAssets<GpuImage>>,
}

/// What shares take from an image: nothing, or a mask.
#[derive(Default)]
pub struct Mask(pub Option<TextureView>);

impl Masks<'_> {
    /// What shares take from an image, `None` while that is not there.
    ///
    /// # Errors
    /// [`BlurError::UnsupportedMask`].
    pub fn find(&self, shares: Option<&Shares>) -> Result<Option<Mask>, BlurError> {
        let Some(id) = shares.and_then(Shares::mask) else {
            return Ok(Some(Mask::default()));
        };
        let Some(image) = self.images.get(id) else {
            return Ok(None);
        };
        let (texture, format) = (&image.texture_descriptor, image.view_format());
        let is_float = matches!(format.sample_type(None, None), Some(TextureSampleType::Float { .. }));
        let is_plain = texture.dimension == TextureDimension::D2
            && texture.size.depth_or_array_layers == 1
            && texture.sample_count == 1
            && texture.usage.contains(TextureUsages::TEXTURE_BINDING);
        if is_float && is_plain {
            Ok(Some(Mask(Some(image.texture_view.clone()))))
        } else {
            Err(BlurError::UnsupportedMask { format })
        }
    }
}
