//! The render world's half: executes the requests that are due.

use super::follow::Requests;
use super::{Outcomes, Request};
use crate::passes::{BlurJob, BlurPreparer, BlurRecorder, BlurTask, Ends};
use crate::pipelines::{fetch_of, is_renderable, is_storable};
use crate::plan::MIN_SIGMA;
use crate::settings::BlurError;
use bevy::platform::collections::HashMap;
use bevy::prelude::*;
use bevy::render::Extract;
use bevy::render::render_asset::RenderAssets;
use bevy::render::render_resource::{
    LoadOp, Operations, RenderPassColorAttachment, StoreOp, TextureDimension, TextureId, TextureUsages, TextureView,
};
use bevy::render::renderer::{RenderAdapter, RenderContext, RenderDevice};
use bevy::render::texture::GpuImage;
use core::mem::{Discriminant, discriminant};

/// The image blurs of this frame.
#[derive(Resource, Default)]
pub(super) struct Requested(Vec<Request>);

/// What the render world keeps of every image blur.
#[derive(Resource, Default)]
pub(super) struct ImageJobs(HashMap<Entity, ImageJob>);

#[derive(Default)]
struct ImageJob {
    job: BlurJob,
    /// What is to be encoded in this frame.
    due: Option<Due>,
    /// What was executed last.
    done: Option<Done>,
    /// The kind of failure that was reported last, so that nothing is reported twice.
    failed: Option<Discriminant<BlurError>>,
}

struct Due {
    source: TextureView,
    target: TextureView,
    done: Done,
}

/// Tells whether a blur has to be executed again.
#[derive(Clone, Copy, PartialEq)]
struct Done {
    revision: u64,
    textures: (TextureId, TextureId),
}

pub(super) fn extract_requests(mut requested: ResMut<Requested>, requests: Extract<Res<Requests>>) {
    requested.0.clone_from(&requests.ordered);
}

/// Validates what is due and prepares its job.
pub(super) fn prepare_jobs(
    requested: Res<Requested>,
    mut jobs: ResMut<ImageJobs>,
    images: Res<RenderAssets<GpuImage>>,
    adapter: Res<RenderAdapter>,
    device: Res<RenderDevice>,
    outcomes: Res<Outcomes>,
    mut preparer: BlurPreparer,
) {
    jobs.0
        .retain(|entity, _| requested.0.iter().any(|request| request.entity == *entity));
    for request in &requested.0 {
        let image_job = jobs.0.entry(request.entity).or_default();
        image_job.due = None;
        let (Some(source), Some(target)) = (images.get(request.source), images.get(request.target)) else {
            continue;
        };
        let done = Done {
            revision: request.revision,
            textures: (source.texture.id(), target.texture.id()),
        };
        if !image_job.is_due(request, done) {
            image_job.job.release();
            continue;
        }
        let prepared = validate(source, target, &adapter, &device).and_then(|()| {
            task(request, source, target).map_or(Ok(()), |task| preparer.prepare(&mut image_job.job, task))
        });
        match prepared {
            Ok(()) => {
                image_job.failed = None;
                image_job.due = Some(Due {
                    source: source.texture_view.clone(),
                    target: target.texture_view.clone(),
                    done,
                });
            }
            Err(error) if image_job.failed == Some(discriminant(&error)) => {}
            Err(error) => {
                image_job.failed = Some(discriminant(&error));
                outcomes.push(request.entity, Err(error));
            }
        }
    }
}

impl ImageJob {
    fn is_due(&self, request: &Request, now: Done) -> bool {
        match self.done {
            _ if request.continuous => true,
            None => request.revision > 0,
            Some(done) => done.revision != now.revision || (request.follows_textures && done.textures != now.textures),
        }
    }
}

/// Checks what a blur needs of its images.
fn validate(
    source: &GpuImage,
    target: &GpuImage,
    adapter: &RenderAdapter,
    device: &RenderDevice,
) -> Result<(), BlurError> {
    let flat = |image: &GpuImage| {
        let descriptor = &image.texture_descriptor;
        descriptor.dimension == TextureDimension::D2
            && descriptor.size.depth_or_array_layers == 1
            && descriptor.sample_count == 1
    };
    let lacks = |image: &GpuImage, usage| !image.texture_descriptor.usage.contains(usage);
    if !flat(source) || !flat(target) {
        return Err(BlurError::NotTwoDimensional);
    }
    if fetch_of(source.view_format(), device).is_none() {
        return Err(BlurError::UnsupportedSource(source.view_format()));
    }
    if !is_renderable(target.view_format(), adapter, device) {
        return Err(BlurError::UnsupportedTarget(target.view_format()));
    }
    if lacks(source, TextureUsages::TEXTURE_BINDING) {
        let (image, usage) = ("source", "TEXTURE_BINDING");
        return Err(BlurError::MissingUsage { image, usage });
    }
    if lacks(target, TextureUsages::RENDER_ATTACHMENT) {
        let (image, usage) = ("target", "RENDER_ATTACHMENT");
        return Err(BlurError::MissingUsage { image, usage });
    }
    let (source, target) = (source.size_2d(), target.size_2d());
    if source != target {
        return Err(BlurError::SizeMismatch { source, target });
    }
    Ok(())
}

/// What to do, `None` if that is nothing: no blur of an image in place.
fn task(request: &Request, source: &GpuImage, target: &GpuImage) -> Option<BlurTask> {
    let size = source.size_2d();
    let region = URect::from_corners(UVec2::ZERO, size);
    // The main world has sent no blur whose radius is out of range.
    let sigma = request.blur.and_then(|blur| blur.sigma_in_texels(1.0, size.y).ok());
    let sigma = sigma.filter(|sigma| sigma.max_element() >= MIN_SIGMA);
    if sigma.is_none() && request.source == request.target {
        return None;
    }
    Some(BlurTask {
        blur: sigma.zip(request.blur).map(|(sigma, blur)| (sigma, blur.edge)),
        region,
        alpha: request.alpha,
        source: source.view_format(),
        source_size: size,
        destination: target.view_format(),
        is_storable: is_storable(target.view_format())
            && target.texture_descriptor.usage.contains(TextureUsages::STORAGE_BINDING),
        in_place: request.source == request.target,
    })
}

pub(super) fn record_before_cameras(
    requested: Res<Requested>,
    jobs: ResMut<ImageJobs>,
    outcomes: Res<Outcomes>,
    recorder: BlurRecorder,
    context: RenderContext,
) {
    record(false, &requested, jobs, &outcomes, &recorder, context);
}

pub(super) fn record_after_cameras(
    requested: Res<Requested>,
    jobs: ResMut<ImageJobs>,
    outcomes: Res<Outcomes>,
    recorder: BlurRecorder,
    context: RenderContext,
) {
    record(true, &requested, jobs, &outcomes, &recorder, context);
}

fn record(
    after_cameras: bool,
    requested: &Requested,
    mut jobs: ResMut<ImageJobs>,
    outcomes: &Outcomes,
    recorder: &BlurRecorder,
    mut context: RenderContext,
) {
    for request in &requested.0 {
        if request.after_cameras != after_cameras {
            continue;
        }
        let Some(image_job) = jobs.0.get_mut(&request.entity) else {
            continue;
        };
        let Some(due) = image_job.due.take() else {
            continue;
        };
        let ends = Ends {
            source: &due.source,
            destination: &due.target,
            attachment: RenderPassColorAttachment {
                view: &due.target,
                depth_slice: None,
                resolve_target: None,
                ops: Operations {
                    load: LoadOp::Load,
                    store: StoreOp::Store,
                },
            },
        };
        if image_job.job.record(recorder, &mut context, &request.label, &ends) {
            image_job.done = Some(due.done);
            outcomes.push(request.entity, Ok(()));
        }
    }
}
