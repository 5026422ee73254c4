//! The picture as it was before a blur in place.

use crate::errors::BlurError;
use crate::formats::dither::Dither;
use crate::formats::{Ends, SAME_SPACES, precision_of};
use crate::gpu::{BlurIo, BlurJob, BlurRequest, ViewInfo, Work, create_texture};
use crate::settings::BlurAlpha;
use bevy::image::ToExtents;
use bevy::render::render_resource::{
    TextureDescriptor, TextureDimension, TextureId, TextureUsages, TextureView, TextureViewDescriptor,
    TextureViewDimension,
};
use bevy::render::renderer::RenderDevice;

/// The picture as it was before a blur in place, and the job that copies it.
pub struct SourceCopy {
    /// Its layers.
    pub views: Vec<TextureView>,
    pub texture: TextureId,
    /// The copied texture, and the number of its uploads.
    pub of: TextureId,
    pub uploads: u64,
    /// The job that copies it.
    pub job: BlurJob,
    /// Whether the picture has been copied, and whether it has been blurred since.
    pub is_captured: bool,
    pub is_covered: bool,
}

impl SourceCopy {
    /// Allocates a texture for a copy of what a view shows.
    ///
    /// # Errors
    /// [`BlurError::OutOfMemory`].
    pub fn new(viewed: ViewInfo, of: TextureId, device: &RenderDevice) -> Result<Self, BlurError> {
        let mut size = viewed.size.to_extents();
        size.depth_or_array_layers = viewed.layers;
        let descriptor = TextureDescriptor {
            label: Some("gaussian_blur_source_copy"),
            size,
            mip_level_count: 1,
            sample_count: 1,
            dimension: TextureDimension::D2,
            format: viewed.format,
            usage: TextureUsages::TEXTURE_BINDING | TextureUsages::RENDER_ATTACHMENT,
            view_formats: &[],
        };
        let texture = create_texture(device, &descriptor)?;
        let view = |layer: u32| {
            texture.create_view(&TextureViewDescriptor {
                label: Some("gaussian_blur_source_copy_layer"),
                dimension: Some(TextureViewDimension::D2),
                base_array_layer: layer,
                array_layer_count: Some(1),
                ..Default::default()
            })
        };
        Ok(Self {
            views: (0..viewed.layers).map(view).collect(),
            texture: texture.id(),
            of,
            uploads: 0,
            job: BlurJob::default(),
            is_captured: false,
            is_covered: false,
        })
    }
}

/// The request that copies what a view shows into the texture of a [`SourceCopy`].
#[must_use]
pub fn capture(viewed: ViewInfo, target: TextureId) -> BlurRequest {
    let ends = Ends {
        source: viewed.format,
        destination: viewed.format,
        precision: precision_of(viewed.format),
        alpha: BlurAlpha::Premultiplied,
        dither: Dither::Off,
        has_storage: false,
        in_place: false,
        spaces: SAME_SPACES,
    };
    let io = BlurIo {
        ends,
        target,
        source_is_fresh: true,
    };
    BlurRequest::whole(io, Work::Copy, viewed.size, viewed.size)
}
