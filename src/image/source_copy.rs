//! Copies of sources: of the picture as it was before a blur in place, and of texels with transparent ones around them.

use super::excerpt::Cut;
use crate::errors::BlurError;
use crate::formats::dither::Dither;
use crate::formats::{Ends, SAME_SPACES, precision_of};
use crate::gpu::{BlurJob, BlurPreparer, BlurRequest, TextureKind, ViewInfo, Work};
use crate::settings::BlurAlpha;
use bevy::render::render_resource::{
    TextureFormat, TextureId, TextureUsages, TextureView, TextureViewDescriptor, TextureViewDimension,
};

/// A copy of a source that a blur reads instead, and the job that makes it.
pub struct SourceCopy {
    /// Its layers.
    pub views: Vec<TextureView>,
    pub texture: TextureId,
    /// What is copied, and the number of its uploads.
    pub of: Copied,
    pub uploads: u64,
    /// Whether it is kept until the source changes, and not made again for every blur.
    pub is_kept: bool,
    /// The job that copies it.
    pub job: BlurJob,
    pub state: CopyState,
}

/// What has happened to the picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CopyState {
    /// It is yet to be copied.
    Empty,
    /// It has been copied, and is as it was.
    Captured,
    /// It has been copied, and blurred since.
    Covered,
}

/// What is copied.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Copied {
    pub source: TextureId,
    /// What the source's view shows.
    pub viewed: ViewInfo,
    /// The texels to copy, and the transparent texels around them.
    pub cut: Cut,
    /// The format of the copy.
    pub format: TextureFormat,
}

impl SourceCopy {
    /// Allocates a texture. Its texels are transparent.
    ///
    /// # Errors
    /// [`BlurError::OutOfMemory`].
    pub fn new(of: Copied, preparer: &BlurPreparer) -> Result<Self, BlurError> {
        let kind = TextureKind {
            format: of.format,
            usages: TextureUsages::TEXTURE_BINDING | TextureUsages::RENDER_ATTACHMENT,
        };
        let layers = of.viewed.layers;
        let texture = preparer.create_texture("gaussian_blur_source_copy", of.cut.size(), layers, kind)?;
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
            views: (0..layers).map(view).collect(),
            texture: texture.id(),
            of,
            uploads: 0,
            is_kept: false,
            job: BlurJob::default(),
            state: CopyState::Empty,
        })
    }
}

impl Copied {
    /// Whether a texture for one serves the other, with the same transparent texels.
    pub fn fits(&self, other: &Self) -> bool {
        let texture = |it: &Self| (it.cut.size(), it.cut.padding, it.viewed.layers, it.format);
        texture(self) == texture(other)
    }

    /// The request that makes the copy in a texture.
    #[must_use]
    pub fn request(&self, target: TextureId) -> BlurRequest {
        let ends = Ends {
            source: self.viewed.format,
            destination: self.format,
            precision: precision_of(self.viewed.format),
            alpha: BlurAlpha::Premultiplied,
            dither: Dither::Off,
            has_storage: false,
            in_place: false,
            spaces: SAME_SPACES,
        };
        let region = self.cut.inner();
        BlurRequest {
            region,
            bounds: region,
            source_at: self.cut.source_at(),
            ..BlurRequest::whole(ends, target, Work::Copy, self.cut.size(), self.viewed.size)
        }
    }
}
