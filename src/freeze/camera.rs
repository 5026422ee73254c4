//! A camera whose blur is frozen.
//!
//! The kept picture is painted over what the camera has painted, and blurred in place as usual: no pipeline differs.
//! The result is kept, too. While nothing changes, it is painted instead.

use super::freezes::FrozenBlur;
use super::kept::{KeptPictures, Room};
use super::picture::{KeptPicture, Shot, Wanted};
use crate::diagnostics::label::BlurLabel;
use crate::diagnostics::timestamps::timed;
use crate::errors::BlurError;
use crate::formats::{CameraPictureItem, Ends};
use crate::gpu::{BlurJob, BlurPreparer, BlurRecorder, BlurRequest, Timed, Views, Work, WorkKind};
use crate::plan::Finish;
use crate::settings::BlurStage;
use bevy::prelude::*;
use bevy::render::render_resource::TextureFormat;
use bevy::render::renderer::RenderContext;
use bevy::render::view::ViewTarget;

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
        asked.target = self.picture.id();
        let asked = (!request.is_idle()).then_some((asked, mask, wanted.space));
        self.picture.follow(asked, wanted.format, preparer)?;
        if !is_fitted {
            self.picture.paint.release();
            return Ok(());
        }
        let painted = BlurRequest {
            ends: paint_ends(wanted.format),
            work: Work::Copy,
            source_size: request.region.size(),
            source_at: request.region.min.as_ivec2(),
            ..request.clone()
        };
        self.picture.paint.try_update(preparer, painted).map(drop)
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
        let Some((_, mask)) = self.freeze(key) else {
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
                Some(room) => room.prepare(request, mask, shot.camera, camera, preparer),
                None => Ok(()),
            };
            if let Err(error) = room.and_then(prepare) {
                self.lose(key, error);
            }
        }
        self.room_mut(key).is_some_and(|room| room.picture.is_done())
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
            picture.keep_result(is_done, target, context);
            return true;
        }
        if picture.paint.is_idle() || !picture.paint.is_ready(recorder) {
            return false;
        }
        if let (true, Some(result)) = (picture.is_done(), &picture.result) {
            let views = Views::onto_camera(&result.view, target);
            picture.paint.record(recorder, context, Timed::whole(label), &views);
            return true;
        }
        let sharp = picture.shown().view.clone();
        let (paint, part) = (&mut picture.paint, label.map_or(Timed::Not, Timed::Nested));
        let is_done = timed(context, label, |context, _| {
            paint.record(recorder, context, part, &Views::onto_camera(&sharp, target));
            job.record(recorder, context, part, &Views::in_camera(target))
        });
        picture.keep_result(is_done, target, context);
        true
    }
}
