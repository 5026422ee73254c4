//! The image that holds the share of sigma at each position.

use super::view_info::ViewInfo;
use crate::errors::BlurError;
use bevy::render::render_resource::{
    TextureFormat, TextureId, TextureSampleType, TextureUsages, TextureView, TextureViewDimension,
};
use bevy::render::texture::GpuImage;

/// Whether a mask may have this format: floats or normalised integers.
#[must_use]
pub fn holds_shares(format: TextureFormat) -> bool {
    matches!(format.sample_type(None, None), Some(TextureSampleType::Float { .. }))
}

/// The view of a mask, for a blur that writes this texture.
///
/// # Errors
/// [`BlurError::UnsupportedMask`] and [`BlurError::MaskIsTarget`].
pub(super) fn view_of_mask(mask: &GpuImage, target: TextureId) -> Result<TextureView, BlurError> {
    let format = mask.view_format();
    let is_bound = mask.texture_descriptor.usage.contains(TextureUsages::TEXTURE_BINDING);
    let is_flat = ViewInfo::of_gpu(mask).is_ok_and(|viewed| viewed.dimension == TextureViewDimension::D2);
    if !(holds_shares(format) && is_bound && is_flat) {
        return Err(BlurError::UnsupportedMask { format });
    }
    // The GPU cannot read from a texture that it renders to.
    if mask.texture.id() == target {
        return Err(BlurError::MaskIsTarget);
    }
    Ok(mask.texture_view.clone())
}
