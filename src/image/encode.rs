//! The render world: encodes due blurs before the cameras, between them, or after them.
//!
//! A camera's picture is blurred after the last camera that paints it, so that later cameras show this frame's picture.

use super::jobs::{ImageJob, ImageJobs, Turn};
use super::pixels::Arrived;
use super::readback::send_pixels;
use super::request::{BlurId, ImageRequest, Outcomes, Requests, Time};
use super::source_copy::CopyState;
use crate::diagnostics::timestamps::timed;
use crate::gpu::{BlurJob, BlurRecorder, Timed, Views};
use bevy::ecs::system::SystemParam;
use bevy::prelude::*;
use bevy::render::render_resource::TextureView;
use bevy::render::renderer::{CurrentView, RenderContext};

pub fn record_before_cameras(recording: Recording, context: RenderContext) {
    recording.record(Time::BeforeCameras, context);
}

/// Runs at the end of every camera's schedule.
pub fn record_after_camera(view: Res<CurrentView>, recording: Recording, context: RenderContext) {
    let is_this = |time: &Time| matches!(time, Time::After { camera, .. } if *camera == view.0);
    let time = recording.requested.times.iter().map(|(time, _)| *time).find(is_this);
    if let Some(time) = time {
        recording.record(time, context);
    }
}

pub fn record_after_cameras(recording: Recording, context: RenderContext) {
    recording.record(Time::AfterCameras, context);
}

/// The resources that recording requires.
#[derive(SystemParam)]
pub struct Recording<'w> {
    requested: Res<'w, Requests>,
    jobs: ResMut<'w, ImageJobs>,
    recorder: BlurRecorder<'w>,
}

impl Recording<'_> {
    fn record(mut self, time: Time, mut context: RenderContext) {
        for (request, _) in self.requested.timed().filter(|(_, (at, _))| *at == time) {
            if is_starved(&self.jobs, request) {
                continue;
            }
            if let Some(job) = self.jobs.get_mut(request.id) {
                job.was_encoded |= job.record(request, &self.recorder, &mut context);
            }
        }
    }
}

/// Whether a blur that writes an input has yet to run: the input does not exist yet.
fn is_starved(jobs: &ImageJobs, request: &ImageRequest) -> bool {
    let is_pending = |feeder: &BlurId| jobs.get(*feeder).is_none_or(|feeder| feeder.is_pending);
    request.feeders.iter().flatten().any(is_pending)
}

impl ImageJob {
    /// Encodes what is due. Returns whether it is what was requested.
    fn record(&mut self, request: &ImageRequest, recorder: &BlurRecorder, context: &mut RenderContext) -> bool {
        let Some((turn, done)) = self.due.take() else {
            return false;
        };
        // A job with nothing to do counts as done.
        let has_work = turn != Turn::Nothing && !self.job.is_idle();
        if has_work && !self.record_turn(turn, request, recorder, context) {
            return false;
        }
        if let Some(copy) = &mut self.copy {
            copy.state = match turn {
                Turn::FromCopy { .. } => CopyState::Covered,
                Turn::Restore => CopyState::Captured,
                Turn::Nothing | Turn::Copy | Turn::Blur => copy.state,
            };
        }
        self.done = Some(done);
        self.is_pending = false;
        true
    }

    fn record_turn(
        &mut self,
        turn: Turn,
        request: &ImageRequest,
        recorder: &BlurRecorder,
        context: &mut RenderContext,
    ) -> bool {
        // A blur in place must not be repeated because a mip level was late.
        if !self.levels.iter().all(|level| level.is_ready(recorder)) {
            return false;
        }
        match &self.views {
            Some((_, layers)) if layers[0].len() > 1 || layers.len() > 2 => {
                let label = &request.label;
                timed(context, Some(label), |context, _| {
                    self.record_layers(turn, Timed::Nested(label), recorder, context)
                })
            }
            _ => self.record_layers(turn, Timed::Whole(&request.label), recorder, context),
        }
    }

    /// Encodes all layers, then all levels of each.
    fn record_layers(
        &mut self,
        turn: Turn,
        timing: Timed,
        recorder: &BlurRecorder,
        context: &mut RenderContext,
    ) -> bool {
        let Some((_, layers)) = &self.views else {
            return false;
        };
        let mut record = |job: &mut BlurJob, from: &[TextureView], to: &[TextureView]| {
            let mut is_done = true;
            for (source, destination) in from.iter().zip(to) {
                is_done &= job.record(recorder, context, timing, &Views::new(source, destination));
            }
            is_done
        };
        if turn == (Turn::FromCopy { captures: true })
            && let Some(copy) = &mut self.copy
        {
            if !record(&mut copy.job, &layers[0], &copy.views) {
                return false;
            }
            copy.state = CopyState::Captured;
        }
        let copy = self.copy.as_ref().filter(|_| turn.reads_copy());
        let source = copy.map_or(&layers[0], |copy| &copy.views);
        let mut is_done = record(&mut self.job, source, &layers[1]);
        for (levels, job) in layers[1..].windows(2).zip(&mut self.levels) {
            is_done &= record(job, &levels[0], &levels[1]);
        }
        is_done
    }
}

/// Reports the encoded blurs, now that they have been submitted, and sends copies of their results.
pub fn report_submitted(
    requested: Res<Requests>,
    mut jobs: ResMut<ImageJobs>,
    outcomes: Res<Outcomes>,
    arrived: Res<Arrived>,
) {
    for request in &requested.ordered {
        let Some(job) = jobs.get_mut(request.id).filter(|job| job.was_encoded) else {
            continue;
        };
        outcomes.finish(request);
        if let Some((viewed, buffer)) = job.pixels.take() {
            send_pixels(request.id, viewed, buffer, &arrived);
        }
    }
}
