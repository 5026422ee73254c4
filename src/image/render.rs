//! The render world's half: executes the requests that are due.

use super::follow::Requests;
use super::{Outcomes, Request};
use crate::passes::{BlurJob, BlurPreparer, BlurRecorder, BlurTask, Ends};
use crate::pipelines::{fetch_of, is_flat, is_renderable, is_storable};
use crate::plan::MIN_SIGMA;
use crate::settings::BlurError;
use bevy::platform::collections::HashMap;
use bevy::prelude::*;
use bevy::render::Extract;
use bevy::render::render_asset::RenderAssets;
use bevy::render::render_resource::{
    LoadOp, Operations, RenderPassColorAttachment, StoreOp, TextureId, TextureUsages, TextureView,
    TextureViewDescriptor,
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
    /// A view of the target's first level, and of which texture.
    first_level: Option<(TextureId, TextureView)>,
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
    let mut written: Vec<TextureId> = Vec::new();
    for request in &requested.0 {
        let image_job = jobs.0.entry(request.entity).or_default();
        image_job.due = None;
        let (Some(source), Some(target)) = (images.get(request.source), images.get(request.target)) else {
            continue;
        };
        if request.owns_target && source.size_2d() != target.size_2d() {
            // The new size of the target is on its way.
            continue;
        }
        let done = Done {
            revision: request.revision,
            textures: (source.texture.id(), target.texture.id()),
        };
        let is_fed = request.follows_textures && written.contains(&done.textures.0);
        if !(image_job.is_due(request, done) || is_fed) {
            image_job.job.release();
            continue;
        }
        let prepared = validate(source, target, &adapter, &device)
            .and_then(|()| image_job.prepare(task(request, source, target), &mut preparer));
        match prepared {
            Ok(()) => {
                written.push(done.textures.1);
                image_job.failed = None;
                image_job.due = Some(Due {
                    source: source.texture_view.clone(),
                    target: image_job.target_view(target),
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
    fn prepare(&mut self, task: Option<BlurTask>, preparer: &mut BlurPreparer) -> Result<(), BlurError> {
        match task {
            Some(task) => preparer.prepare(&mut self.job, task),
            None => {
                self.job = BlurJob::default();
                Ok(())
            }
        }
    }

    /// The view that is written: of an image with mipmaps the first level alone, which nothing else needs a view of.
    fn target_view(&mut self, target: &GpuImage) -> TextureView {
        if target.texture_descriptor.mip_level_count == 1 {
            return target.texture_view.clone();
        }
        let id = target.texture.id();
        if let Some((_, view)) = self.first_level.as_ref().filter(|(known, _)| *known == id) {
            return view.clone();
        }
        let view = target.texture.create_view(&TextureViewDescriptor {
            format: Some(target.view_format()),
            mip_level_count: Some(1),
            ..default()
        });
        self.first_level = Some((id, view.clone()));
        view
    }

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
        is_flat(descriptor.dimension, descriptor.size, descriptor.sample_count)
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
