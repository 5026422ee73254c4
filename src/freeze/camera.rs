//! A camera whose blur is frozen.
//!
//! The kept picture is painted over what the camera has painted, and blurred in place as usual: no pipeline differs.
//! The result is kept, too. While nothing changes, it is painted instead.

use super::freezes::FrozenBlur;
use super::kept::{KeptPictures, Room, Shot};
use super::picture::{KeptPicture, Sheet, Wanted};
use crate::diagnostics::label::BlurLabel;
use crate::errors::BlurError;
use crate::formats::{CameraPictureItem, Ends};
use crate::gpu::{
    BlurIo, BlurJob, BlurPreparer, BlurRecorder, BlurRequest, Timed, Views, Work, WorkKind, record_together,
};
use crate::plan::Finish;
use crate::settings::BlurStage;
use bevy::camera::CompositingSpace;
use bevy::prelude::*;
use bevy::render::render_resource::TextureFormat;
use bevy::render::renderer::RenderContext;
use bevy::render::view::ViewTarget;

/// How a camera shows its picture.
#[derive(Default)]
pub struct OntoCamera {
    /// Paints the picture, or the result.
    paint: BlurJob,
    result: Option<Sheet>,
    /// The request that the result was made for, once there is a result.
    done: Option<Asked>,
    /// The requests of this frame and of the one before, if they blur anything. Only a result that is asked for twice is
    /// worth keeping.
    asked: Option<Asked>,
    asked_before: Option<Asked>,
}

/// A blur of the picture, with the number of its mask's contents, and the space in which the result is stored.
type Asked = (BlurRequest, u64, CompositingSpace);

/// Requests the pipeline that paints kept pictures.
pub fn announce(preparer: &mut BlurPreparer, format: TextureFormat) {
    preparer.announce(paint_ends(format), WorkKind::Copy, Finish::Write);
}

fn paint_ends(format: TextureFormat) -> Ends {
    Ends {
        in_place: false,
        ..Ends::of_camera(format, true)
    }
}

impl OntoCamera {
    /// The texture of the result.
    #[must_use]
    pub fn result(&self) -> Option<&Sheet> {
        self.result.as_ref()
    }

    fn is_done(&self) -> bool {
        self.asked.is_some() && self.asked == self.done
    }

    /// Follows what is asked for, and makes room for the result if it is asked for again.
    ///
    /// # Errors
    /// [`BlurError::OutOfMemory`].
    fn follow(
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
    fn keep_result(&mut self, is_done: bool, target: &ViewTarget, context: &mut RenderContext) {
        if let (true, Some(result), Some((request, ..))) = (is_done, &self.result, &self.asked) {
            result.copy_from(target.main_texture(), request.region.min, context.command_encoder());
            self.done = self.asked.clone();
        }
    }
}

impl Room<KeptPicture> {
    /// Prepares the picture for a camera whose blur makes this request.
    ///
    /// # Errors
    /// [`BlurError::OutOfMemory`].
    fn prepare(
        &mut self,
        request: &BlurRequest,
        mask: u64,
        wanted: Wanted,
        camera: &CameraPictureItem,
        preparer: &mut BlurPreparer,
    ) -> Result<(), BlurError> {
        let is_fitted = self.fitted(wanted, camera, preparer)?.is_some();
        // The camera's two textures take turns: either gives the same result.
        let mut asked = request.clone();
        asked.io.target = self.picture.id();
        let asked = (!request.is_idle()).then_some((asked, mask, wanted.space));
        let shown = &mut self.picture.onto_camera;
        shown.follow(asked, wanted.format, preparer)?;
        if !is_fitted {
            shown.paint.release();
            return Ok(());
        }
        let painted = BlurRequest {
            io: BlurIo {
                ends: paint_ends(wanted.format),
                ..request.io
            },
            work: Work::Copy,
            source_size: request.region.size(),
            source_at: request.region.min.as_ivec2(),
            ..request.clone()
        };
        shown.paint.try_update(preparer, painted).map(drop)
    }
}

impl KeptPictures {
    /// Prepares the picture of a frozen camera. Returns whether its result is up to date: then its blur has nothing to do.
    pub fn prepare_camera(
        &mut self,
        entity: Entity,
        stage: BlurStage,
        request: &BlurRequest,
        camera: &CameraPictureItem,
        target: &ViewTarget,
        preparer: &mut BlurPreparer,
    ) -> bool {
        let key = (entity, FrozenBlur::Camera);
        let Some(freeze) = self.freeze(key) else {
            return false;
        };
        let shot = Shot {
            stage,
            camera: Wanted::new(target, camera, request.region),
            area: request.region,
        };
        if !request.region.is_empty() {
            let room = self.room(key, shot, || KeptPicture::new(target.main_texture(), &shot, preparer));
            let prepare = |room: Option<&mut Room<KeptPicture>>| match room {
                Some(room) => room.prepare(request, freeze.mask, shot.camera, camera, preparer),
                None => Ok(()),
            };
            if let Err(error) = room.and_then(prepare) {
                self.lose(key, error);
            }
        }
        self.room_mut(key)
            .is_some_and(|room| room.picture.onto_camera.is_done())
    }

    /// Records the blur of a frozen camera. Returns `false` if there is nothing to record in the place of the live one.
    pub fn record_camera(
        &mut self,
        entity: Entity,
        job: &mut BlurJob,
        recorder: &BlurRecorder,
        context: &mut RenderContext,
        label: Option<&BlurLabel>,
        target: &ViewTarget,
    ) -> bool {
        let key = (entity, FrozenBlur::Camera);
        let is_new = self.take(key, target.main_texture(), IVec2::ZERO, context.command_encoder());
        let Some(Room { picture, .. }) = self.room_mut(key) else {
            return false;
        };
        // In the frame in which the picture is taken, the camera's texture holds it already.
        if is_new {
            let is_done = job.record(recorder, context, Timed::whole(label), &Views::in_camera(target));
            picture.onto_camera.keep_result(is_done, target, context);
            return true;
        }
        let sharp = picture.shown().view.clone();
        let shown = &mut picture.onto_camera;
        if shown.paint.is_idle() || !shown.paint.is_ready(recorder) {
            return false;
        }
        let result = shown.result.as_ref().filter(|_| shown.is_done());
        if let Some(result) = result {
            let views = Views::onto_camera(&result.view, target);
            shown.paint.record(recorder, context, Timed::whole(label), &views);
            return true;
        }
        let mut is_done = false;
        let (paint, timed) = (&mut shown.paint, label.map_or(Timed::Not, Timed::Nested));
        let mut both = |context: &mut RenderContext| {
            paint.record(recorder, context, timed, &Views::onto_camera(&sharp, target));
            is_done = job.record(recorder, context, timed, &Views::in_camera(target));
        };
        match label {
            Some(label) => record_together(context, label, both),
            None => both(context),
        }
        shown.keep_result(is_done, target, context);
        true
    }
}
