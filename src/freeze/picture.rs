//! One kept picture: what it shows, and the textures that hold it.

use crate::errors::BlurError;
use crate::formats::CameraPictureItem;
use crate::gpu::{
    BlurJob, BlurPreparer, BlurRequest, TextureKind, create_texture, layer_view, part_from, texture_size,
};
use crate::settings::BlurStage;
use bevy::camera::CompositingSpace;
use bevy::image::ToExtents;
use bevy::prelude::*;
use bevy::render::render_resource::{CommandEncoder, Texture, TextureFormat, TextureUsages, TextureView};
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

impl Shot {
    /// The position of the picture in a viewport: at the same place, in the same proportion.
    pub fn area_in(&self, viewport: URect) -> URect {
        let (before, now) = (self.camera.viewport, viewport.size());
        let moved = |texel: UVec2| {
            let from_corner = (texel - before.min).as_dvec2() / before.size().as_dvec2();
            viewport.min + (from_corner * now.as_dvec2()).round().as_uvec2()
        };
        let (min, max) = (moved(self.area.min), moved(self.area.max));
        // At least one texel remains.
        URect {
            min: min.min(viewport.max - 1),
            max: max.max(min + 1).min(viewport.max),
        }
    }
}

/// The textures of a kept picture, and how a camera shows it.
pub struct KeptPicture {
    pub(super) sheet: Sheet,
    /// The picture fitted to the camera as it is now, if that differs, and the job that fits it.
    pub(super) fitted: Option<(Wanted, Sheet)>,
    pub(super) fit: BlurJob,
    /// Paints the picture, or the result.
    pub(super) paint: BlurJob,
    /// The request of the last frame, if it blurs anything, with the number of its mask's contents and the space of the result.
    asked: Option<BlurRequest>,
    /// The texture that keeps the blurred picture, and whether the picture is in it. It is created when the same blur is requested for the
    /// second time.
    result: Option<(Sheet, bool)>,
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
            asked: None,
            result: None,
        })
    }

    /// The picture as it was last fitted.
    pub fn shown(&self) -> &Sheet {
        self.fitted.as_ref().map_or(&self.sheet, |(_, sheet)| sheet)
    }

    /// The result, if it is up to date.
    pub fn result(&self) -> Option<&Sheet> {
        self.result
            .as_ref()
            .filter(|(_, is_kept)| *is_kept)
            .map(|(result, _)| result)
    }

    /// Follows what is asked for, and makes room for the result if it is asked for again.
    ///
    /// # Errors
    /// [`BlurError::OutOfMemory`].
    pub fn follow(&mut self, asked: Option<BlurRequest>, preparer: &BlurPreparer) -> Result<(), BlurError> {
        if asked.is_none() || asked != self.asked {
            (self.asked, self.result) = (asked, None);
        } else if let (Some(request), None) = (&self.asked, &self.result) {
            let room = Sheet::new(request.region.size(), request.ends.destination, preparer)?;
            self.result = Some((room, false));
        }
        Ok(())
    }

    /// Keeps the result of the request.
    pub fn keep_result(&mut self, target: &ViewTarget, context: &mut RenderContext) {
        if let (Some((result, is_kept)), Some(request)) = (&mut self.result, &self.asked) {
            result.copy_from(target.main_texture(), request.region.min, context.command_encoder());
            *is_kept = true;
        }
    }

    /// The textures that are kept.
    pub fn views(&self) -> impl Iterator<Item = &TextureView> {
        let fitted = self.fitted.as_ref().map(|(_, sheet)| sheet);
        let result = self.result.as_ref().map(|(result, _)| result);
        let sheets = [Some(&self.sheet), fitted, result];
        sheets.into_iter().flatten().map(|sheet| &sheet.view)
    }
}

/// A texture in a camera's format, for a part of the camera's picture.
#[derive(Clone)]
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
        let usages = TextureUsages::COPY_DST | TextureUsages::TEXTURE_BINDING | TextureUsages::RENDER_ATTACHMENT;
        let kind = TextureKind { format, usages };
        let texture = create_texture(&preparer.device, "gaussian_blur_frozen", size, 1, kind)?;
        let view = layer_view(&texture, default(), [0, 0]);
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
