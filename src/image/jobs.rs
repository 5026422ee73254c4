//! The render world: prepares the image blurs of a frame, and encodes them before the cameras, between them, or after them.
//!
//! A camera's picture is blurred after the last camera that paints it, so that later cameras show this frame's picture.

use super::job::{Carried, ImageJob, OwnTarget, Turn};
use super::pixels;
use super::request::{BlurId, Cut, ImageRequest, ImageSpec, Outcome, Outcomes, Requests, Time};
use crate::gpu::{BlurPreparer, BlurRecorder, ViewInfo};
use bevy::camera::NormalizedRenderTarget;
use bevy::core_pipeline::schedule::{Core2d, Core3d};
use bevy::ecs::schedule::ScheduleLabel;
use bevy::platform::collections::{HashMap, HashSet};
use bevy::prelude::*;
use bevy::render::Extract;
use bevy::render::camera::{ExtractedCamera, SortedCameras};
use bevy::render::render_asset::RenderAssets;
use bevy::render::render_resource::TextureId;
use bevy::render::renderer::{CurrentView, RenderContext};
use bevy::render::texture::GpuImage;

/// The state of every image blur in the render world.
#[derive(Resource, Default)]
pub struct ImageJobs {
    all: HashMap<BlurId, ImageJob>,
    /// The targets that the plugin allocated.
    own: HashMap<AssetId<Image>, OwnTarget>,
    /// The number of the set of blurs that these belong to.
    set: u64,
    frame: u64,
    /// The blurs that were requested in the last frame.
    requested: Vec<BlurId>,
    /// Images that take the place of those that Bevy shows, and whether they hold a new result.
    to_show: HashMap<AssetId<Image>, (GpuImage, bool)>,
}

pub fn extract_requests(mut requested: ResMut<Requests>, requests: Extract<Res<Requests>>) {
    requested.copy_from(&requests);
}

/// Finds out when the inputs of every blur are complete.
pub fn find_times(
    mut requested: ResMut<Requests>,
    sorted: Res<SortedCameras>,
    cameras: Query<&ExtractedCamera>,
    mut painted: Local<HashMap<AssetId<Image>, (Time, bool)>>,
) {
    painted.clear();
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
        let latest = painted.entry(target.handle.id()).or_insert((time, true));
        latest.0 = time.max(latest.0);
    }
    for request in &mut requested.ordered {
        (request.time, request.is_painted) = default();
        for (time, is_painted) in request.spec.inputs().filter_map(|input| painted.get(&input)) {
            request.time = request.time.max(*time);
            request.is_painted |= is_painted;
        }
        // Blurs that read its target must not run earlier.
        let target = painted.entry(request.spec.target).or_insert((request.time, false));
        target.0 = request.time.max(target.0);
    }
}

/// Validates due blurs and prepares their jobs, in the order in which they run.
pub fn prepare_jobs(
    requested: Res<Requests>,
    mut jobs: ResMut<ImageJobs>,
    images: Res<RenderAssets<GpuImage>>,
    outcomes: Res<Outcomes>,
    mut preparer: BlurPreparer,
    mut written: Local<HashSet<TextureId>>,
) {
    written.clear();
    jobs.begin(&requested);
    for request in &requested.ordered {
        let spec = &request.spec;
        // While pixels are uploaded, Bevy hides the old ones: the image counts as missing.
        let Some(shown) = images.get(spec.target) else {
            continue;
        };
        let are_written = jobs.has_fed(request, |turn| turn != Turn::Waits);
        let new = jobs.to_show.get(&spec.source).map(|(image, _)| image);
        let source = new.or(images.get(spec.source)).cloned();
        let mask = spec.profile.mask().and_then(|mask| images.get(mask));
        let target = jobs.target(spec, source.as_ref(), shown, &preparer);
        if let (Some(source), Some(target), Some(job)) = (&source, &target, jobs.all.get_mut(&request.id)) {
            let textures = [Some(source), mask, Some(target)].map(|image| image.map(|image| image.texture.id()));
            let now = Carried {
                revision: request.revision,
                textures,
            };
            // In place, the blur of a picture must not be blurred again.
            let is_fed = textures[..2].iter().flatten().any(|input| written.contains(input))
                || request.is_painted && !spec.overwrites_source();
            match job.decide(spec, [source, target], now, is_fed, &mut preparer) {
                Ok(is_due) => written.extend(is_due.then(|| target.texture.id())),
                Err(error) => outcomes.report(request, Err(error)),
            }
            if job.turn == Turn::Runs && !are_written {
                job.turn = Turn::Waits;
            }
        }
        jobs.settle(request);
    }
}

/// Puts textures in the place of those that Bevy shows: before anything binds them, and at the end of the frame those
/// whose pipelines were compiled in between.
pub fn show_targets(mut jobs: ResMut<ImageJobs>, mut images: ResMut<RenderAssets<GpuImage>>, outcomes: Res<Outcomes>) {
    for (id, (image, is_new)) in jobs.to_show.drain() {
        let is_other = |shown: &GpuImage| shown.texture.id() != image.texture.id();
        if images.get(id).is_some_and(is_other) {
            images.insert(id, image);
            if is_new {
                outcomes.push(Outcome::Shown(id));
            }
        }
    }
}

impl ImageJobs {
    /// Begins a frame. Blurs that are not requested release their textures.
    fn begin(&mut self, requests: &Requests) {
        if self.set != requests.set {
            self.set = requests.set;
            self.all.retain(|id, _| requests.live.contains(id));
            self.own.retain(|id, _| requests.owned.contains(id));
        }
        self.frame += 1;
        for request in &requests.ordered {
            self.all.entry(request.id).or_default().begin(request, self.frame);
        }
        for id in self.requested.drain(..) {
            if let Some(job) = self.all.get_mut(&id).filter(|job| job.frame != self.frame) {
                job.release();
            }
        }
        self.requested.extend(requests.ordered.iter().map(|request| request.id));
    }

    /// Whether the blurs that a request must wait for are as far as this, in this frame.
    fn has_fed(&self, request: &ImageRequest, is_far: impl Fn(Turn) -> bool) -> bool {
        let mut feeders = request.feeders.iter().flatten();
        feeders.all(|feeder| self.all.get(feeder).is_some_and(|job| is_far(job.turn)))
    }

    /// The image to write, `None` while the plugin's own is on its way.
    fn target(
        &mut self,
        spec: &ImageSpec,
        source: Option<&GpuImage>,
        shown: &GpuImage,
        preparer: &BlurPreparer,
    ) -> Option<GpuImage> {
        if !spec.owns_target {
            return Some(shown.clone());
        }
        let wanted = ViewInfo::of_gpu(source?).and_then(|from| {
            let (format, _) = preparer.capabilities.own_target(from.format)?;
            Cut::target_of(spec.excerpt, ViewInfo { format, ..from })
        });
        let Ok(wanted) = wanted else {
            // Preparing the blur says why.
            return Some(shown.clone());
        };
        let with_id = |image: GpuImage| (image.texture.id(), image);
        let make = || preparer.make_target(wanted, shown).map(with_id);
        let is_wanted = |image: &GpuImage| ViewInfo::of_gpu(image) == Ok(wanted);
        let own = self.own.entry(spec.target).or_default();
        own.choose((shown.texture.id(), shown), is_wanted, make)
    }

    /// Decides which texture of an own target is shown in this frame, before a blur and after it.
    fn settle(&mut self, request: &ImageRequest) {
        let target = request.spec.target;
        if request.spec.owns_target
            && let (Some(job), Some(own)) = (self.all.get(&request.id), self.own.get_mut(&target))
            && let Some((image, is_new)) = own.show(matches!(job.turn, Turn::Runs | Turn::Ran), job.done.as_ref())
        {
            self.to_show.insert(target, (image.clone(), is_new));
        }
    }
}

pub fn record_before_cameras(recording: Recording, context: RenderContext) {
    record(recording, context, |time| time == Time::BeforeCameras);
}

/// Runs at the end of every camera's schedule.
pub fn record_after_camera(view: Res<CurrentView>, recording: Recording, context: RenderContext) {
    let is_now = |time| matches!(time, Time::After { camera, .. } if camera == view.0);
    record(recording, context, is_now);
}

pub fn record_after_cameras(recording: Recording, context: RenderContext) {
    record(recording, context, |time| time == Time::AfterCameras);
}

/// The resources that recording requires. A tuple, because a derived parameter with resources of the GPU takes seconds to compile.
type Recording<'w> = (
    Res<'w, Requests>,
    ResMut<'w, ImageJobs>,
    Res<'w, RenderAssets<GpuImage>>,
    Res<'w, Outcomes>,
    BlurRecorder<'w>,
);

fn record(
    (requested, mut jobs, images, outcomes, recorder): Recording,
    mut context: RenderContext,
    is_now: impl Fn(Time) -> bool,
) {
    for request in requested.ordered.iter().filter(|request| is_now(request.time)) {
        // An input that has yet to be written does not exist.
        let is_fed = jobs.has_fed(request, |turn| matches!(turn, Turn::Rests | Turn::Ran));
        let Some(job) = jobs.all.get_mut(&request.id).filter(|_| is_fed) else {
            continue;
        };
        let is_read = job.record(request, &recorder, &mut context) && request.wants_pixels;
        // In this frame, so that later changes of the target do not matter.
        let target = images.get(request.spec.target).filter(|_| is_read);
        match target.map(|target| pixels::copy(target, &mut context)) {
            Some(Err(error)) => outcomes.report(request, Err(error)),
            copied => job.pixels = copied.and_then(Result::ok),
        }
    }
}

/// Reports the encoded blurs, now that they have been submitted, and sends copies of their results.
pub fn report_submitted(requested: Res<Requests>, mut jobs: ResMut<ImageJobs>, outcomes: Res<Outcomes>) {
    for request in &requested.ordered {
        let Some(job) = jobs.all.get_mut(&request.id).filter(|job| job.turn == Turn::Ran) else {
            continue;
        };
        outcomes.report(request, Ok(()));
        if let Some((viewed, buffer)) = job.pixels.take() {
            pixels::send(request.id, viewed, buffer, &outcomes);
        }
        jobs.settle(request);
    }
}
