//! One kept picture, and how it is fitted to a camera that has changed since.

use super::main_world::{Freeze, Losses};
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
use core::sync::atomic::{AtomicBool, Ordering};

/// The state of a frozen blur.
#[derive(Default)]
pub enum Frozen {
    /// There has been no picture to take yet.
    #[default]
    Waiting,
    /// The picture, or room for it.
    Kept(Box<KeptPicture>),
    /// The picture was lost, or there was no room for it. The blur continues unfrozen.
    Lost,
}

impl Frozen {
    /// The picture, or room for it. Until the picture is taken, the room is allocated again whenever the camera or the
    /// area changes. `None` if the picture is lost.
    ///
    /// # Errors
    /// [`BlurError::MissingUsage`], and [`BlurError::OutOfMemory`] if there is no room.
    pub fn room(
        &mut self,
        texture: &Texture,
        wanted: Wanted,
        area: URect,
        preparer: &BlurPreparer,
    ) -> Result<Option<&mut KeptPicture>, BlurError> {
        let needs_room = match self {
            Self::Lost => false,
            Self::Waiting => true,
            Self::Kept(picture) => !picture.is_taken() && !picture.is_for(wanted, area),
        };
        if needs_room {
            *self = Self::Kept(Box::new(KeptPicture::new(texture, wanted, area, preparer)?));
        }
        Ok(match self {
            Self::Kept(picture) => Some(picture),
            Self::Waiting | Self::Lost => None,
        })
    }

    /// What remains without the render device. Logs the loss of a picture.
    #[must_use]
    pub fn without_device(&self, freeze: Freeze, losses: &Losses) -> Self {
        match self {
            Self::Lost => Self::Lost,
            Self::Kept(picture) if picture.is_taken() => {
                losses.push(freeze, "its picture was lost with the render device");
                Self::Lost
            }
            Self::Waiting | Self::Kept(_) => Self::Waiting,
        }
    }

    /// The picture, if it has been taken.
    #[must_use]
    pub fn taken(&self) -> Option<&KeptPicture> {
        match self {
            Self::Kept(picture) if picture.is_taken() => Some(picture),
            _ => None,
        }
    }

    /// Reports that the picture has been taken, once.
    pub fn report_taken(&mut self, freeze: Freeze, losses: &Losses) {
        if let Self::Kept(picture) = self
            && picture.is_taken()
            && !core::mem::replace(&mut picture.is_reported, true)
        {
            losses.report_taken(freeze);
        }
    }

    /// The textures that are kept.
    pub fn views(&self) -> impl Iterator<Item = &TextureView> {
        let kept = match self {
            Self::Kept(picture) => Some(picture),
            Self::Waiting | Self::Lost => None,
        };
        kept.into_iter().flat_map(|kept| {
            let fitted = kept.fitted.as_ref().map(|(_, sheet)| &sheet.view);
            [Some(&kept.sheet.view), fitted].into_iter().flatten()
        })
    }
}

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

/// A picture of a part of a camera's viewport.
pub struct KeptPicture {
    sheet: Sheet,
    /// The camera as it was when the picture was taken.
    from: Wanted,
    /// The texels of the camera's texture that were taken.
    area: URect,
    /// Atomic, because the picture is taken in a system with shared access.
    is_taken: AtomicBool,
    /// Whether the main world knows.
    is_reported: bool,
    /// The picture fitted to the camera as it is now, if that differs, and the job that fits it.
    fitted: Option<(Wanted, Sheet)>,
    fit: BlurJob,
}

impl KeptPicture {
    /// Allocates room for an area of a camera's texture. The area lies in the viewport.
    ///
    /// # Errors
    /// [`BlurError::MissingUsage`] and [`BlurError::OutOfMemory`].
    fn new(texture: &Texture, from: Wanted, area: URect, preparer: &BlurPreparer) -> Result<Self, BlurError> {
        BlurError::check_usage("camera", texture.usage(), TextureUsages::COPY_SRC)?;
        Ok(Self {
            sheet: Sheet::new(area.size(), from.format, preparer)?,
            from,
            area,
            is_taken: AtomicBool::new(false),
            is_reported: false,
            fitted: None,
            fit: BlurJob::default(),
        })
    }

    /// Whether it has been taken.
    #[must_use]
    pub fn is_taken(&self) -> bool {
        self.is_taken.load(Ordering::Relaxed)
    }

    /// Distinguishes it from other pictures.
    #[must_use]
    pub fn id(&self) -> TextureId {
        self.sheet.texture.id()
    }

    /// The picture as it was last [fitted](Self::fitted).
    #[must_use]
    pub fn shown(&self) -> &Sheet {
        self.fitted.as_ref().map_or(&self.sheet, |(_, sheet)| sheet)
    }

    /// Whether this is room for the same picture.
    fn is_for(&self, from: Wanted, area: URect) -> bool {
        (self.from, self.area) == (from, area)
    }

    /// Copies the picture from what the camera has painted so far, unless it has been taken. Returns whether it was copied
    /// now. The first texel of `from` is the texel `origin` of the camera's picture.
    pub fn take(&self, from: &wgpu::Texture, origin: IVec2, encoder: &mut CommandEncoder) -> bool {
        let is_new = !self.is_taken.swap(true, Ordering::Relaxed);
        if is_new {
            self.sheet
                .copy_from(from, (self.area.min.as_ivec2() - origin).as_uvec2(), encoder);
        }
        is_new
    }

    /// The position of the picture in a viewport.
    #[must_use]
    pub fn area_in(&self, viewport: URect) -> URect {
        let (before, now) = (self.from.viewport, viewport.size());
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
        let area = self.area_in(to.viewport);
        let is_as_it_was =
            area.size() == self.area.size() && (to.format, to.space) == (self.from.format, self.from.space);
        if is_as_it_was {
            self.fitted = None;
            return Ok(Some((&self.sheet, area)));
        }
        if self.fitted.as_ref().is_none_or(|(fits, _)| *fits != to) {
            let sheet = Sheet::new(area.size(), to.format, preparer)?;
            let io = BlurIo {
                ends: self.ends(to.format, to.space),
                target: sheet.texture.id(),
                source_is_fresh: true,
            };
            let request = BlurRequest::whole(io, Work::Mipmap, area.size(), self.area.size());
            let views = Views::new(&self.sheet.view, &sheet.view);
            if !self.fit.run(preparer, request, &views)? {
                return Ok(None);
            }
            self.fitted = Some((to, sheet));
        }
        Ok(Some((self.shown(), area)))
    }

    fn ends(&self, format: TextureFormat, space: CompositingSpace) -> Ends {
        Ends {
            source: self.from.format,
            destination: format,
            precision: precision_of(format),
            in_place: false,
            spaces: [self.from.space, space],
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
