//! One kept picture: what it shows, and the textures that hold it.

use crate::errors::BlurError;
use crate::formats::CameraPictureItem;
use crate::gpu::{BlurJob, BlurPreparer, BlurRequest, TextureKind, part_from, texture_size};
use crate::settings::BlurStage;
use bevy::camera::CompositingSpace;
use bevy::image::ToExtents;
use bevy::math::{URect, UVec2};
use bevy::prelude::*;
use bevy::render::render_resource::{
    CommandEncoder, Texture, TextureFormat, TextureId, TextureUsages, TextureView, TextureViewDescriptor,
};
use bevy::render::renderer::RenderContext;
use bevy::render::view::ViewTarget;

/// The properties of a camera that a picture must fit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Wanted {
    pub format: TextureFormat,
    pub space: CompositingSpace,
    /// The camera's part of its texture.
    pub viewport: URect,
}

impl Wanted {
    /// A camera with a viewport, in texels of its texture.
    pub fn new(target: &ViewTarget, picture: &CameraPictureItem, viewport: URect) -> Self {
        Self {
            format: target.main_texture_format(),
            space: picture.space().unwrap_or(CompositingSpace::Linear),
            viewport,
        }
    }
}

/// What a picture shows: texels of a camera's texture, at a stage of the camera.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Shot {
    /// The stage of a camera's blur. Glass is always painted at the same one.
    pub stage: BlurStage,
    /// The camera as it was.
    pub camera: Wanted,
    /// The texels. They lie in the viewport.
    pub area: URect,
}

/// A blur of the picture, with the number of its mask's contents, and the space in which the result is stored.
type Asked = (BlurRequest, u64, CompositingSpace);

/// The textures of a kept picture, and how a camera shows it.
pub struct KeptPicture {
    pub(super) sheet: Sheet,
    /// The picture fitted to the camera as it is now, if that differs, and the job that fits it.
    pub(super) fitted: Option<(Wanted, Sheet)>,
    pub(super) fit: BlurJob,
    /// Paints the picture, or the result.
    pub(super) paint: BlurJob,
    pub(super) result: Option<Sheet>,
    /// The request that the result was made for, once there is a result.
    done: Option<Asked>,
    /// The requests of this frame and of the one before, if they blur anything. Only a result that is asked for twice is
    /// worth keeping.
    asked: Option<Asked>,
    asked_before: Option<Asked>,
}

impl KeptPicture {
    /// Allocates room for what is shot of a camera's texture.
    ///
    /// # Errors
    /// [`BlurError::MissingUsage`] and [`BlurError::OutOfMemory`].
    pub fn new(texture: &Texture, shot: &Shot, preparer: &BlurPreparer) -> Result<Self, BlurError> {
        BlurError::check_usage("camera", texture.usage(), TextureUsages::COPY_SRC)?;
        Ok(Self {
            sheet: Sheet::new(shot.area.size(), shot.camera.format, preparer)?,
            fitted: None,
            fit: BlurJob::default(),
            paint: BlurJob::default(),
            result: None,
            done: None,
            asked: None,
            asked_before: None,
        })
    }

    /// Distinguishes it from other pictures.
    pub fn id(&self) -> TextureId {
        self.sheet.texture.id()
    }

    /// The picture as it was last fitted.
    pub fn shown(&self) -> &Sheet {
        self.fitted.as_ref().map_or(&self.sheet, |(_, sheet)| sheet)
    }

    /// Whether the result is up to date.
    pub fn is_done(&self) -> bool {
        self.asked.is_some() && self.asked == self.done
    }

    /// Follows what is asked for, and makes room for the result if it is asked for again.
    ///
    /// # Errors
    /// [`BlurError::OutOfMemory`].
    pub fn follow(
        &mut self,
        asked: Option<Asked>,
        format: TextureFormat,
        preparer: &BlurPreparer,
    ) -> Result<(), BlurError> {
        self.asked_before = core::mem::replace(&mut self.asked, asked);
        let Some((request, ..)) = self.asked.as_ref().filter(|_| self.asked == self.asked_before) else {
            (self.result, self.done) = (None, None);
            return Ok(());
        };
        let size = request.region.size();
        let fits = |sheet: &Sheet| (sheet.size(), sheet.texture.format()) == (size, format);
        if !self.result.as_ref().is_some_and(fits) {
            self.result = Some(Sheet::new(size, format, preparer)?);
            self.done = None;
        }
        Ok(())
    }

    /// Keeps the result if it is the requested one.
    pub fn keep_result(&mut self, is_done: bool, target: &ViewTarget, context: &mut RenderContext) {
        if let (true, Some(result), Some((request, ..))) = (is_done, &self.result, &self.asked) {
            result.copy_from(target.main_texture(), request.region.min, context.command_encoder());
            self.done = self.asked.clone();
        }
    }

    /// The textures that are kept.
    pub fn views(&self) -> impl Iterator<Item = &TextureView> {
        let fitted = self.fitted.as_ref().map(|(_, sheet)| sheet);
        let sheets = [Some(&self.sheet), fitted, self.result.as_ref()];
        sheets.into_iter().flatten().map(|sheet| &sheet.view)
    }
}

/// The position of a picture in a viewport: at the same place, in the same proportion.
pub fn area_in(shot: &Shot, viewport: URect) -> URect {
    let (before, now) = (shot.camera.viewport, viewport.size());
    let moved = |texel: UVec2| {
        let from_corner = (texel - before.min).as_dvec2() / before.size().as_dvec2();
        viewport.min + (from_corner * now.as_dvec2()).round().as_uvec2()
    };
    let (min, max) = (moved(shot.area.min), moved(shot.area.max));
    // At least one texel remains.
    URect {
        min: min.min(viewport.max - 1),
        max: max.max(min + 1).min(viewport.max),
    }
}

/// A texture in a camera's format, for a part of the camera's picture.
pub struct Sheet {
    pub texture: Texture,
    pub view: TextureView,
}

impl Sheet {
    /// Creates the texture.
    ///
    /// # Errors
    /// [`BlurError::OutOfMemory`].
    pub fn new(size: UVec2, format: TextureFormat, preparer: &BlurPreparer) -> Result<Self, BlurError> {
        let label = "gaussian_blur_frozen";
        let usages = TextureUsages::COPY_DST | TextureUsages::TEXTURE_BINDING | TextureUsages::RENDER_ATTACHMENT;
        let texture = preparer.create_texture(label, size, 1, TextureKind { format, usages })?;
        let view = texture.create_view(&TextureViewDescriptor {
            label: Some(label),
            ..default()
        });
        Ok(Self { texture, view })
    }

    /// Its size in texels.
    pub fn size(&self) -> UVec2 {
        texture_size(&self.texture)
    }

    /// Fills it with a copy of a texture of its format, from this texel on.
    pub fn copy_from(&self, from: &wgpu::Texture, origin: UVec2, encoder: &mut CommandEncoder) {
        let (source, size) = (part_from(from, origin), self.size().to_extents());
        encoder.copy_texture_to_texture(source, self.texture.as_image_copy(), size);
    }
}
