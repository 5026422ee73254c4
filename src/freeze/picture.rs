//! One kept picture, and how it is fitted to a camera that has changed since.

use super::camera::OntoCamera;
use super::freezes::FreezeKey;
use super::kept::{KeptPictures, Room, Shot};
use crate::errors::BlurError;
use crate::formats::{CameraPictureItem, Ends, precision_of};
use crate::gpu::{
    BlurIo, BlurJob, BlurPreparer, BlurRequest, TextureKind, Views, Work, WorkKind, part_from, texture_size,
};
use crate::plan::Finish;
use bevy::camera::CompositingSpace;
use bevy::image::ToExtents;
use bevy::math::{URect, UVec2};
use bevy::prelude::*;
use bevy::render::render_resource::{
    CommandEncoder, Texture, TextureFormat, TextureId, TextureUsages, TextureView, TextureViewDescriptor,
};
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
    #[must_use]
    pub fn new(target: &ViewTarget, picture: &CameraPictureItem, viewport: URect) -> Self {
        Self {
            format: target.main_texture_format(),
            space: picture.space().unwrap_or(CompositingSpace::Linear),
            viewport,
        }
    }
}

/// The textures of a kept picture.
pub struct KeptPicture {
    sheet: Sheet,
    /// The picture fitted to the camera as it is now, if that differs, and the job that fits it.
    fitted: Option<(Wanted, Sheet)>,
    fit: BlurJob,
    /// How a camera shows it.
    pub(super) onto_camera: OntoCamera,
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
            onto_camera: OntoCamera::default(),
        })
    }

    /// Distinguishes it from other pictures.
    #[must_use]
    pub fn id(&self) -> TextureId {
        self.sheet.texture.id()
    }

    /// The picture as it was last [fitted](Room::fitted).
    #[must_use]
    pub fn shown(&self) -> &Sheet {
        self.fitted.as_ref().map_or(&self.sheet, |(_, sheet)| sheet)
    }

    /// The textures that are kept.
    pub fn views(&self) -> impl Iterator<Item = &TextureView> {
        let fitted = self.fitted.as_ref().map(|(_, sheet)| sheet);
        let sheets = [Some(&self.sheet), fitted, self.onto_camera.result()];
        sheets.into_iter().flatten().map(|sheet| &sheet.view)
    }
}

impl KeptPictures {
    /// Copies the picture of a blur from what the camera has painted so far, unless it has been taken. Returns whether it was
    /// copied now. The first texel of `from` is the texel `origin` of the camera's picture.
    pub fn take(&self, key: FreezeKey, from: &wgpu::Texture, origin: IVec2, encoder: &mut CommandEncoder) -> bool {
        let due = self.due(key);
        if let Some(room) = due {
            let first = (room.shot.area.min.as_ivec2() - origin).as_uvec2();
            room.picture.sheet.copy_from(from, first, encoder);
        }
        due.is_some()
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

impl Room<KeptPicture> {
    /// The picture as a camera needs it, with its position. `None` while a pipeline for that is missing. Pipelines for
    /// the camera's formats are requested ahead of time.
    ///
    /// # Errors
    /// [`BlurError::OutOfMemory`].
    pub fn fitted(
        &mut self,
        to: Wanted,
        camera: &CameraPictureItem,
        preparer: &mut BlurPreparer,
    ) -> Result<Option<(&Sheet, URect)>, BlurError> {
        for format in camera.formats() {
            preparer.announce(self.ends(format, to.space), WorkKind::Mipmap, Finish::Write);
        }
        let (
            Shot {
                camera: from,
                area: taken,
                ..
            },
            area,
        ) = (self.shot, self.area_in(to.viewport));
        if (area.size(), to.format, to.space) == (taken.size(), from.format, from.space) {
            self.picture.fitted = None;
        } else if self.picture.fitted.as_ref().is_none_or(|(fits, _)| *fits != to) {
            let sheet = Sheet::new(area.size(), to.format, preparer)?;
            let io = BlurIo {
                ends: self.ends(to.format, to.space),
                target: sheet.texture.id(),
                source_is_fresh: true,
            };
            let request = BlurRequest::whole(io, Work::Mipmap, area.size(), taken.size());
            let views = Views::new(&self.picture.sheet.view, &sheet.view);
            if !self.picture.fit.run(preparer, request, &views)? {
                return Ok(None);
            }
            self.picture.fitted = Some((to, sheet));
        }
        Ok(Some((self.picture.shown(), area)))
    }

    fn ends(&self, format: TextureFormat, space: CompositingSpace) -> Ends {
        Ends {
            source: self.shot.camera.format,
            destination: format,
            precision: precision_of(format),
            in_place: false,
            spaces: [self.shot.camera.space, space],
            ..Ends::of_camera(format, true)
        }
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
    #[must_use]
    pub fn size(&self) -> UVec2 {
        texture_size(&self.texture)
    }

    /// Fills it with a copy of a texture of its format, from this texel on.
    pub fn copy_from(&self, from: &wgpu::Texture, origin: UVec2, encoder: &mut CommandEncoder) {
        let (source, size) = (part_from(from, origin), self.size().to_extents());
        encoder.copy_texture_to_texture(source, self.texture.as_image_copy(), size);
    }
}
