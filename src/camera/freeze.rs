//! A camera whose blur is frozen.
//!
//! The kept picture is painted over what the camera has painted, and blurred in place as usual: no pipeline differs.
//! The result is kept, too. While nothing changes, it is painted instead.

use crate::diagnostics::label::BlurLabel;
use crate::errors::BlurError;
use crate::formats::{CameraPictureItem, Ends};
use crate::freeze::{FreezeNumbers, Frozen, Losses, MaskRevisions, Sheet, Wanted};
use crate::gpu::{
    BlurIo, BlurJob, BlurPreparer, BlurRecorder, BlurRequest, BlurState, Timed, Views, Work, WorkKind, record_together,
};
use crate::plan::Finish;
use crate::settings::{BlurProfile, BlurStage, BlurSwitch, FreezeBlur, GaussianBlur};
use bevy::camera::{Camera, CompositingSpace};
use bevy::prelude::*;
use bevy::render::Extract;
use bevy::render::render_resource::TextureFormat;
use bevy::render::renderer::RenderContext;
use bevy::render::sync_world::RenderEntity;
use bevy::render::view::ViewTarget;

/// The frozen picture of a camera's blur, from frame to frame.
#[derive(Component)]
pub struct CameraFreeze {
    /// The main world's entity.
    entity: Entity,
    /// The number of the freeze, which distinguishes it from the next.
    number: u64,
    /// Whether the camera still has the component.
    is_there: bool,
    /// How often the mask has changed.
    revision: u64,
    /// The stage of the picture.
    stage: BlurStage,
    frozen: Frozen,
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

/// A blur of the picture, with the revision of its mask, and the space in which the result is stored.
type Asked = (BlurRequest, u64, CompositingSpace);

type FrozenCamera = (Entity, RenderEntity, Option<&'static BlurProfile>);

type IsFrozen = (With<Camera>, With<GaussianBlur>, With<FreezeBlur>);

/// Extracts which cameras are frozen, active or not. Cameras that are no longer frozen release all that they held.
pub fn extract_frozen(
    mut commands: Commands,
    frozen: Extract<Query<FrozenCamera, IsFrozen>>,
    numbers: Extract<Res<FreezeNumbers>>,
    masks: Extract<Res<MaskRevisions>>,
    switch: Extract<Res<BlurSwitch>>,
    mut known: Query<(Entity, &mut CameraFreeze)>,
) {
    known.iter_mut().for_each(|(_, mut freeze)| freeze.is_there = false);
    for (entity, render_entity, profile) in frozen.iter().filter(|_| switch.is_on()) {
        let (number, revision) = (numbers.of(entity), masks.of(profile));
        match known.get_mut(render_entity) {
            Ok((_, mut known)) if known.number == number => (known.is_there, known.revision) = (true, revision),
            // Frozen again.
            Ok((_, mut known)) => *known = CameraFreeze::new(entity, number, revision),
            Err(_) => {
                let new = CameraFreeze::new(entity, number, revision);
                commands.entity(render_entity).insert(new);
            }
        }
    }
    for (entity, _) in known.iter().filter(|(_, freeze)| !freeze.is_there) {
        commands.entity(entity).remove::<CameraFreeze>();
    }
}

/// Forgets the pictures of a lost render device.
pub fn lose_pictures(mut known: Query<&mut CameraFreeze>, losses: Res<Losses>) {
    for mut freeze in &mut known {
        let left = freeze.frozen.without_device((freeze.entity, freeze.number), &losses);
        freeze.release(left);
    }
}

/// Requests the pipeline that paints kept pictures.
pub fn announce(preparer: &mut BlurPreparer, format: TextureFormat) {
    preparer.announce(paint_ends(format), WorkKind::Copy, Finish::Write);
}

/// Counts the kept textures.
pub fn count_pictures(cameras: Query<&CameraFreeze>, mut preparer: BlurPreparer) {
    for freeze in &cameras {
        preparer.count(freeze.frozen.views());
        preparer.count(freeze.result.iter().map(|sheet| &sheet.view));
    }
}

/// Reports the pictures that were taken in this frame.
pub fn report_taken(mut cameras: Query<&mut CameraFreeze>, losses: Res<Losses>) {
    for mut freeze in &mut cameras {
        let number = (freeze.entity, freeze.number);
        freeze.frozen.report_taken(number, &losses);
    }
}

fn paint_ends(format: TextureFormat) -> Ends {
    Ends {
        in_place: false,
        ..Ends::of_camera(format, true)
    }
}

impl CameraFreeze {
    fn new(entity: Entity, number: u64, revision: u64) -> Self {
        Self {
            entity,
            number,
            is_there: true,
            revision,
            stage: BlurStage::default(),
            frozen: Frozen::Waiting,
            paint: BlurJob::default(),
            result: None,
            done: None,
            asked: None,
            asked_before: None,
        }
    }

    /// The stage of the camera's blur: the one of the picture once that is taken, and until then the one in the
    /// settings.
    pub fn stage(&mut self, settings: BlurStage) -> BlurStage {
        if !self.is_there {
            return settings;
        }
        if self.frozen.taken().is_none() {
            self.stage = settings;
        }
        self.stage
    }

    /// Releases everything.
    fn release(&mut self, frozen: Frozen) {
        self.frozen = frozen;
        self.paint = BlurJob::default();
        (self.result, self.done) = (None, None);
        (self.asked, self.asked_before) = (None, None);
    }

    /// Prepares the picture and the job that blurs it. With an up-to-date result, the job has nothing to do.
    ///
    /// # Errors
    /// The errors of [`BlurJob::update`].
    pub fn prepare(
        &mut self,
        request: BlurRequest,
        picture: &CameraPictureItem,
        target: &ViewTarget,
        job: &mut BlurJob,
        preparer: &mut BlurPreparer,
        losses: &Losses,
    ) -> Result<BlurState, BlurError> {
        if !request.region.is_empty()
            && let Err(error) = self.prepare_picture(&request, picture, target, preparer)
        {
            losses.push((self.entity, self.number), error);
            self.release(Frozen::Lost);
        }
        if self.is_done() {
            job.release();
            return Ok(BlurState::Ready);
        }
        job.update(preparer, request)
    }

    fn is_done(&self) -> bool {
        self.asked.is_some() && self.asked == self.done
    }

    fn prepare_picture(
        &mut self,
        request: &BlurRequest,
        picture: &CameraPictureItem,
        target: &ViewTarget,
        preparer: &mut BlurPreparer,
    ) -> Result<(), BlurError> {
        let texture = target.main_texture();
        let wanted = Wanted::new(target, picture, request.region);
        let Some(kept) = self.frozen.room(texture, wanted, request.region, preparer)? else {
            return Ok(());
        };
        // The camera's two textures take turns: either gives the same result.
        let mut asked = request.clone();
        asked.io.target = kept.id();
        let asked = (!request.is_idle()).then_some((asked, self.revision, wanted.space));
        self.asked_before = core::mem::replace(&mut self.asked, asked);
        let is_fitted = kept.fitted(wanted, picture, preparer)?.is_some();
        let fits = |sheet: &Sheet| (sheet.size(), sheet.texture.format()) == (request.region.size(), wanted.format);
        if self.asked.is_none() || self.asked != self.asked_before {
            (self.result, self.done) = (None, None);
        } else if !self.result.as_ref().is_some_and(fits) {
            self.result = Some(Sheet::new(request.region.size(), wanted.format, preparer)?);
            self.done = None;
        }
        let painted = BlurRequest {
            io: BlurIo {
                ends: paint_ends(wanted.format),
                target: texture.id(),
                source_is_fresh: true,
            },
            work: Work::Copy,
            source_size: request.region.size(),
            source_at: request.region.min.as_ivec2(),
            ..request.clone()
        };
        if is_fitted {
            self.paint.try_update(preparer, painted)?;
        } else {
            self.paint.release();
        }
        Ok(())
    }

    /// Records the frozen blur. Returns `false` if the camera has none yet.
    pub fn record(
        &mut self,
        job: &mut BlurJob,
        recorder: &BlurRecorder,
        context: &mut RenderContext,
        label: Option<&BlurLabel>,
        target: &ViewTarget,
    ) -> bool {
        let Frozen::Kept(kept) = &self.frozen else {
            return false;
        };
        // In the frame in which the picture is taken, the camera's texture holds it already.
        if kept.take(target.main_texture(), IVec2::ZERO, context.command_encoder()) {
            let is_done = job.record(recorder, context, Timed::whole(label), &Views::in_camera(target));
            self.keep_result(is_done, target, context);
            return true;
        }
        if self.paint.is_idle() || !self.paint.is_ready(recorder) {
            return false;
        }
        let result = self.result.as_ref().filter(|_| self.is_done());
        if let Some(result) = result {
            self.paint.record(
                recorder,
                context,
                Timed::whole(label),
                &Views::onto_camera(&result.view, target),
            );
            return true;
        }
        let picture = &kept.shown().view;
        let mut is_done = false;
        let (paint, timed) = (&mut self.paint, label.map_or(Timed::Not, Timed::Nested));
        let mut both = |context: &mut RenderContext| {
            paint.record(recorder, context, timed, &Views::onto_camera(picture, target));
            is_done = job.record(recorder, context, timed, &Views::in_camera(target));
        };
        match label {
            Some(label) => record_together(context, label, both),
            None => both(context),
        }
        self.keep_result(is_done, target, context);
        true
    }

    /// Keeps the result if it is the requested one.
    fn keep_result(&mut self, is_done: bool, target: &ViewTarget, context: &mut RenderContext) {
        if let (true, Some(result), Some((request, ..))) = (is_done, &self.result, &self.asked) {
            result.copy_from(target.main_texture(), request.region.min, context.command_encoder());
            self.done = self.asked.clone();
        }
    }
}
