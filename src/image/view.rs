//! What a view shows of an image: its format and its size.

use crate::errors::BlurError;
use bevy::image::Image;
use bevy::math::UVec2;
use bevy::render::render_resource::{
    TextureDescriptor, TextureDimension, TextureFormat, TextureView, TextureViewDescriptor, TextureViewDimension,
};
use bevy::render::texture::GpuImage;

/// One layer of one mip level.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Viewed {
    pub format: TextureFormat,
    pub size: UVec2,
}

impl Viewed {
    /// What the view of an image asset will show.
    ///
    /// # Errors
    /// [`BlurError::NotTwoDimensional`]
    pub fn of_asset(image: &Image) -> Result<Self, BlurError> {
        Self::new(&image.texture_descriptor, image.texture_view_descriptor.as_ref())
    }

    /// What the view of an image on the GPU shows.
    ///
    /// # Errors
    /// [`BlurError::NotTwoDimensional`]
    pub fn of_gpu(image: &GpuImage) -> Result<Self, BlurError> {
        Self::new(&image.texture_descriptor, image.texture_view_descriptor.as_ref())
    }

    fn new(texture: &TextureDescriptor, view: Option<&TextureViewDescriptor>) -> Result<Self, BlurError> {
        let is_layer = match view.and_then(|view| view.dimension) {
            Some(dimension) => dimension == TextureViewDimension::D2,
            None => texture.size.depth_or_array_layers == 1,
        };
        if !is_layer || texture.dimension != TextureDimension::D2 || texture.sample_count != 1 {
            return Err(BlurError::NotTwoDimensional);
        }
        let level = view.map_or(0, |view| view.base_mip_level);
        Ok(Self {
            format: view.and_then(|view| view.format).unwrap_or(texture.format),
            size: UVec2::new(texture.size.width >> level, texture.size.height >> level).max(UVec2::ONE),
        })
    }
}

/// A view of an image that a pass can write: of its mip levels the first alone. `None` if the image's own is one.
pub fn view_to_write(image: &GpuImage) -> Option<TextureView> {
    let own = image.texture_view_descriptor.clone().unwrap_or_default();
    let levels = image.texture_descriptor.mip_level_count - own.base_mip_level;
    if own.mip_level_count.unwrap_or(levels) == 1 {
        return None;
    }
    Some(image.texture.create_view(&TextureViewDescriptor {
        mip_level_count: Some(1),
        ..own
    }))
}
