//! The render world: encodes what is due, before the cameras, between them, or after them.
//!
//! What a camera paints is blurred when the last camera that paints it is done, so that the cameras behind it show this
//! frame's picture.

use super::jobs::{ImageJob, ImageJobs};
use super::request::{Outcome, Outcomes, Request, Requests};
use crate::gpu::{BlurRecorder, Views};
use bevy::camera::NormalizedRenderTarget;
use bevy::core_pipeline::schedule::{Core2d, Core3d};
use bevy::ecs::schedule::ScheduleLabel;
use bevy::ecs::system::SystemParam;
use bevy::platform::collections::HashMap;
use bevy::prelude::*;
use bevy::render::camera::{ExtractedCamera, SortedCameras};
use bevy::render::renderer::{CurrentView, RenderContext};

/// When each request of this frame is recorded, in the order of the requests.
#[derive(Resource, Default)]
pub struct Times(Vec<Time>);

/// A time in a frame. Those of cameras are counted in the order in which cameras render.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Time {
    BeforeCameras,
    After { index: usize, camera: Entity },
    AfterCameras,
}

/// Finds out when the source of every blur is there.
pub fn find_times(
    requested: Res<Requests>,
    sorted: Res<SortedCameras>,
    cameras: Query<&ExtractedCamera>,
    mut times: ResMut<Times>,
) {
    let mut painted: HashMap<AssetId<Image>, Time> = HashMap::default();
    for (index, camera) in sorted.0.iter().enumerate() {
        let Some(NormalizedRenderTarget::Image(target)) = &camera.target else {
            continue;
        };
        let has_hook = cameras
            .get(camera.entity)
            .is_ok_and(|camera| camera.schedule == Core2d.intern() || camera.schedule == Core3d.intern());
        let time = match camera.entity {
            camera if has_hook => Time::After { index, camera },
            _ => Time::AfterCameras,
        };
        let latest = painted.entry(target.handle.id()).or_insert(time);
        *latest = time.max(*latest);
    }
    times.0.clear();
    for request in &requested.ordered {
        let time = painted.get(&request.source).copied().unwrap_or(Time::BeforeCameras);
        // What it writes is there no sooner for the blurs that read it.
        let target = painted.entry(request.target).or_insert(time);
        *target = time.max(*target);
        times.0.push(time);
    }
}

pub fn record_before_cameras(recording: Recording, context: RenderContext) {
    recording.record(Time::BeforeCameras, context);
}

/// Runs at the end of every camera's schedule.
pub fn record_after_camera(view: Res<CurrentView>, recording: Recording, context: RenderContext) {
    let is_this = |time: &&Time| matches!(time, Time::After { camera, .. } if *camera == view.0);
    if let Some(time) = recording.times.0.iter().find(is_this).copied() {
        recording.record(time, context);
    }
}

pub fn record_after_cameras(recording: Recording, context: RenderContext) {
    recording.record(Time::AfterCameras, context);
}

/// What recording takes.
#[derive(SystemParam)]
pub struct Recording<'w> {
    requested: Res<'w, Requests>,
    times: Res<'w, Times>,
    jobs: ResMut<'w, ImageJobs>,
    encoded: ResMut<'w, Encoded>,
    recorder: BlurRecorder<'w>,
}

/// The blurs that have been encoded in this frame.
#[derive(Resource, Default)]
pub struct Encoded(Vec<Outcome>);

impl Recording<'_> {
    fn record(mut self, time: Time, mut context: RenderContext) {
        for (request, _) in self
            .requested
            .ordered
            .iter()
            .zip(&self.times.0)
            .filter(|(_, at)| **at == time)
        {
            if is_starved(&self.jobs, request) {
                continue;
            }
            let Some(image_job) = self.jobs.0.get_mut(&request.entity) else {
                continue;
            };
            if image_job.record(request, &self.recorder, &mut context) {
                self.encoded.0.push(Outcome {
                    entity: request.entity,
                    result: Ok((request.revision, request.blur)),
                });
            }
        }
    }
}

/// Whether the blur that writes the source has not written that very texture yet: there is nothing to blur.
fn is_starved(jobs: &ImageJobs, request: &Request) -> bool {
    let Some(feeder) = request.feeder else {
        return false;
    };
    let written = jobs
        .0
        .get(&feeder)
        .and_then(|feeder| feeder.done)
        .map(|done| done.textures.1);
    let due = jobs.0.get(&request.entity).and_then(|image_job| image_job.due.as_ref());
    due.is_some_and(|due| written != Some(due.done.textures.0))
}

impl ImageJob {
    /// Encodes what is due. Returns whether that is what was asked for.
    fn record(&mut self, request: &Request, recorder: &BlurRecorder, context: &mut RenderContext) -> bool {
        let Some(due) = self.due.take() else {
            return false;
        };
        if let Some((from, to)) = &due.capture
            && let Some(kept) = &mut self.kept
        {
            kept.is_captured = kept
                .job
                .record(recorder, context, &request.label, &Views::new(from, to));
            if !kept.is_captured {
                return false;
            }
        }
        // Without anything to do, it is done.
        let is_idle = self.job.is_idle();
        let views = Views::new(&due.source, &due.target);
        if !(is_idle || self.job.record(recorder, context, &request.label, &views)) {
            return false;
        }
        if let Some(kept) = &mut self.kept {
            kept.is_covered = due.blur.is_some();
        }
        self.done = Some(due.done);
        true
    }
}

/// Reports what has been encoded, now that it has been submitted.
pub fn report_submitted(mut encoded: ResMut<Encoded>, outcomes: Res<Outcomes>) {
    encoded.0.drain(..).for_each(|outcome| outcomes.push(outcome));
}
