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
use crate::gpu::{BlurJob, BlurPreparer, BlurRecorder, BlurRequest, Timed, Views, Work};
use crate::settings::BlurStage;
use bevy::prelude::*;
use bevy::render::renderer::RenderContext;
use bevy::render::view::ViewTarget;

impl Room<KeptPicture> {
    /// Prepares the picture for a camera whose blur makes this request. `None` while the pipeline that fits it to the camera is
    /// missing; otherwise, whether the result of the blur is kept.
    ///
    /// # Errors
    /// [`BlurError::OutOfMemory`].
    fn prepare(
        &mut self,
        request: &BlurRequest,
        mask: u64,
        to: Wanted,
        camera: &CameraPictureItem,
        preparer: &mut BlurPreparer,
    ) -> Result<Option<bool>, BlurError> {
        if self.fitted(to, camera, preparer)?.is_none() {
            self.picture.paint.release();
            return Ok(None);
        }
        // The camera's two textures take turns: either gives the same result.
        let target = self.picture.id();
        let asked = (!request.is_idle()).then(|| {
            (
                BlurRequest {
                    target,
                    ..request.clone()
                },
                mask,
                to.space,
            )
        });
        self.picture.follow(asked, preparer)?;
        let painted = BlurRequest {
            ends: Ends::new(to.format, to.format),
            work: Work::Copy,
            source_size: request.region.size(),
            source_at: request.region.min.as_ivec2(),
            ..request.clone()
        };
        self.picture.paint.update(preparer, painted)?;
        Ok(Some(self.picture.result().is_some()))
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
        let Some(mask) = self.mask(key).filter(|_| !request.region.is_empty()) else {
            return false;
        };
        let to = Wanted::new(target, camera, request.region);
        let shot = Shot {
            stage,
            camera: to,
            area: request.region,
        };
        let prepared = self.prepare(key, shot, target, preparer, |room, preparer| {
            room.prepare(request, mask, to, camera, preparer)
        });
        prepared == Some(true)
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
        let Some(picture) = self.picture(key) else {
            return false;
        };
        let whole = Timed::whole(label);
        let is_done = if is_new {
            // In the frame in which the picture is taken, the camera's texture holds it already.
            job.record(recorder, context, whole, &Views::in_camera(target))
        } else if !picture.paint.is_ready(recorder) {
            return false;
        } else if let Some(result) = picture.result().cloned() {
            let views = Views::onto_camera(&result.view, target);
            picture.paint.record(recorder, context, whole, &views);
            return true;
        } else {
            let sharp = picture.shown().view.clone();
            let (paint, part) = (&mut picture.paint, label.map_or(Timed::Not, Timed::Nested));
            timed(context, label, |context, _| {
                paint.record(recorder, context, part, &Views::onto_camera(&sharp, target));
                job.record(recorder, context, part, &Views::in_camera(target))
            })
        };
        if is_done {
            picture.keep_result(target, context);
        }
        true
    }
}
