//! Takes pictures, and fits a kept picture to a camera that has changed since.

use super::freezes::FreezeKey;
use super::kept::{KeptPictures, Room};
use super::picture::{KeptPicture, Sheet, Shot, Wanted};
use crate::errors::BlurError;
use crate::formats::{CameraPictureItem, Ends, precision_of};
use crate::gpu::{BlurIo, BlurPreparer, BlurRequest, Views, Work, WorkKind};
use crate::plan::Finish;
use bevy::camera::CompositingSpace;
use bevy::prelude::*;
use bevy::render::render_resource::{CommandEncoder, TextureFormat};

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
