//! The render world: what is kept of every image blur, and what is to be done in a frame.

use super::request::{Outcomes, Request, Requests};
use super::view::{Viewed, view_to_write};
use crate::errors::{BlurError, Reported};
use crate::formats::{Ends, precision_of};
use crate::gpu::{BlurJob, BlurPreparer, BlurTask};
use crate::plan::MIN_SIGMA;
use crate::settings::{BlurAlpha, BlurUpdate, EdgeMode};
use bevy::image::ToExtents;
use bevy::platform::collections::HashMap;
use bevy::prelude::*;
use bevy::render::Extract;
use bevy::render::render_asset::RenderAssets;
use bevy::render::render_resource::{
    TextureDescriptor, TextureDimension, TextureId, TextureUsages, TextureView, TextureViewDescriptor,
};
use bevy::render::renderer::RenderDevice;
use bevy::render::texture::GpuImage;

/// What the render world keeps of every image blur.
#[derive(Resource, Default)]
pub struct ImageJobs(pub HashMap<Entity, ImageJob>);

#[derive(Default)]
pub struct ImageJob {
    pub job: BlurJob,
    /// What is to be encoded in this frame.
    pub due: Option<Due>,
    /// What was executed last.
    pub done: Option<Done>,
    /// The picture as it was before a blur in place.
    pub kept: Option<Kept>,
    /// A view of the target's first level alone, and of which texture.
    first_level: Option<(TextureId, TextureView)>,
    failures: Reported,
}

/// A blur that is to be encoded.
pub struct Due {
    pub source: TextureView,
    pub target: TextureView,
    /// What has to be copied before, from where to where.
    pub capture: Option<(TextureView, TextureView)>,
    /// The standard deviations in texels and the edge mode; `None` for an exact copy.
    pub blur: Option<(Vec2, EdgeMode)>,
    pub done: Done,
}

/// Tells whether a blur has to be executed again.
#[derive(Clone, Copy, PartialEq)]
pub struct Done {
    revision: u64,
    pub textures: (TextureId, TextureId),
}

/// The picture as it was before a blur in place, and how it got there.
pub struct Kept {
    view: TextureView,
    of: TextureId,
    uploads: u64,
    pub job: BlurJob,
    /// Whether it has been copied, and whether the picture has been blurred since.
    pub is_captured: bool,
    pub is_covered: bool,
}

pub fn extract_requests(mut requested: ResMut<Requests>, requests: Extract<Res<Requests>>) {
    requested.clone_from(&requests);
}

/// Validates what is due and prepares its job.
pub fn prepare_jobs(
    requested: Res<Requests>,
    mut jobs: ResMut<ImageJobs>,
    images: Res<RenderAssets<GpuImage>>,
    device: Res<RenderDevice>,
    outcomes: Res<Outcomes>,
    mut preparer: BlurPreparer,
) {
    jobs.0.retain(|entity, _| requested.alive.contains(entity));
    let mut written: Vec<TextureId> = Vec::new();
    for request in &requested.ordered {
        let image_job = jobs.0.entry(request.entity).or_default();
        image_job.due = None;
        // While pixels are on their way, Bevy keeps the old ones from being seen: the image is not there.
        let (Some(source), Some(target)) = (images.get(request.source), images.get(request.target)) else {
            continue;
        };
        match image_job.prepare(request, (source, target), &written, &device, &mut preparer) {
            Ok(()) => {
                if let Some(due) = &image_job.due {
                    written.push(due.done.textures.1);
                    let _ = image_job.failures.news(Ok(()));
                }
            }
            Err(error) => {
                image_job.job.release();
                if let Some(news) = image_job.failures.news(Err(error)) {
                    outcomes.fail(request.entity, news);
                }
            }
        }
    }
}

impl ImageJob {
    fn prepare(
        &mut self,
        request: &Request,
        (source, target): (&GpuImage, &GpuImage),
        written: &[TextureId],
        device: &RenderDevice,
        preparer: &mut BlurPreparer,
    ) -> Result<(), BlurError> {
        let done = Done {
            revision: request.revision,
            textures: (source.texture.id(), target.texture.id()),
        };
        let is_fed = request.update == BlurUpdate::OnChange && written.contains(&done.textures.0);
        if !(self.is_due(request, done) || is_fed) {
            self.job.release();
            return Ok(());
        }
        let (from, to) = (Viewed::of_gpu(source)?, Viewed::of_gpu(target)?);
        if from.size != to.size {
            if request.owns_target {
                // The new size of the target is on its way.
                return Ok(());
            }
            let (source, target) = (from.size, to.size);
            return Err(BlurError::SizeMismatch { source, target });
        }
        check_usages(source, target)?;
        let ends = ends(request, from, target);
        preparer.announce(ends, true);
        let target_view = self.target_view(target);
        let due = Due {
            source: source.texture_view.clone(),
            target: target_view,
            capture: None,
            blur: blur_of(request, from.size),
            done,
        };
        self.due = Some(self.set_up(request, due, from, ends, (device, preparer))?);
        Ok(())
    }

    /// Prepares what a blur that is due takes: a copy of its source if that is to be kept, and the blur or copy itself.
    fn set_up(
        &mut self,
        request: &Request,
        mut due: Due,
        viewed: Viewed,
        ends: Ends,
        (device, preparer): (&RenderDevice, &mut BlurPreparer),
    ) -> Result<Due, BlurError> {
        let restores = due.blur.is_none() && request.is_in_place();
        if restores && !self.is_covered(request, due.done.textures.0) {
            // The picture is as it was.
            self.job = BlurJob::default();
            return Ok(due);
        }
        if restores || request.keeps_source() {
            let (kept, capture) = self.keep(request, viewed, &due, device, preparer)?;
            (due.source, due.capture) = (kept, capture);
        } else {
            self.kept = None;
        }
        let alpha = if restores { BlurAlpha::Premultiplied } else { ends.alpha };
        let task = BlurTask {
            ends: Ends { alpha, ..ends },
            blur: due.blur,
            region: URect::from_corners(UVec2::ZERO, viewed.size),
            source_size: viewed.size,
        };
        preparer.prepare(&mut self.job, task)?;
        Ok(due)
    }

    fn is_due(&self, request: &Request, now: Done) -> bool {
        match self.done {
            _ if request.update == BlurUpdate::EveryFrame => true,
            None => request.revision > 0,
            Some(done) => {
                let replaced = request.update == BlurUpdate::OnChange && done.textures != now.textures;
                done.revision != now.revision || replaced
            }
        }
    }

    /// For a blur in place: whether the picture has been blurred since it was copied.
    fn is_covered(&self, request: &Request, of: TextureId) -> bool {
        let is_current = |kept: &&Kept| kept.of == of && kept.uploads == request.uploads;
        self.kept
            .as_ref()
            .filter(is_current)
            .is_some_and(|kept| kept.is_covered)
    }

    /// For a blur in place that keeps its source: the copy, and what has to be copied into it from where.
    fn keep(
        &mut self,
        request: &Request,
        viewed: Viewed,
        due: &Due,
        device: &RenderDevice,
        preparer: &mut BlurPreparer,
    ) -> Result<(TextureView, Option<(TextureView, TextureView)>), BlurError> {
        let of = due.done.textures.0;
        let kept = match self.kept.take() {
            Some(kept) if kept.of == of => self.kept.insert(kept),
            _ => self.kept.insert(Kept::new(viewed, of, device)),
        };
        if kept.uploads != request.uploads {
            kept.uploads = request.uploads;
            (kept.is_captured, kept.is_covered) = (false, false);
        }
        if kept.is_captured {
            kept.job = BlurJob::default();
            return Ok((kept.view.clone(), None));
        }
        let task = BlurTask {
            ends: Ends {
                source: viewed.format,
                destination: viewed.format,
                precision: precision_of(viewed.format),
                alpha: BlurAlpha::Premultiplied,
                has_storage: false,
                in_place: false,
            },
            blur: None,
            region: URect::from_corners(UVec2::ZERO, viewed.size),
            source_size: viewed.size,
        };
        preparer.prepare(&mut kept.job, task)?;
        Ok((kept.view.clone(), Some((due.source.clone(), kept.view.clone()))))
    }

    /// The view that is written.
    fn target_view(&mut self, target: &GpuImage) -> TextureView {
        let id = target.texture.id();
        if let Some((_, view)) = self.first_level.as_ref().filter(|(known, _)| *known == id) {
            return view.clone();
        }
        self.first_level = view_to_write(target).map(|view| (id, view));
        let first = self.first_level.as_ref().map(|(_, view)| view);
        first.unwrap_or(&target.texture_view).clone()
    }
}

impl Kept {
    fn new(viewed: Viewed, of: TextureId, device: &RenderDevice) -> Self {
        let texture = device.create_texture(&TextureDescriptor {
            label: Some("gaussian_blur_kept_source"),
            size: viewed.size.to_extents(),
            mip_level_count: 1,
            sample_count: 1,
            dimension: TextureDimension::D2,
            format: viewed.format,
            usage: TextureUsages::TEXTURE_BINDING | TextureUsages::RENDER_ATTACHMENT,
            view_formats: &[],
        });
        Self {
            view: texture.create_view(&TextureViewDescriptor::default()),
            of,
            uploads: 0,
            job: BlurJob::default(),
            is_captured: false,
            is_covered: false,
        }
    }
}

fn check_usages(source: &GpuImage, target: &GpuImage) -> Result<(), BlurError> {
    let lacks = |image: &GpuImage, usage| !image.texture_descriptor.usage.contains(usage);
    if lacks(source, TextureUsages::TEXTURE_BINDING) {
        let (image, usage) = ("source", "TEXTURE_BINDING");
        return Err(BlurError::MissingUsage { image, usage });
    }
    if lacks(target, TextureUsages::RENDER_ATTACHMENT) {
        let (image, usage) = ("target", "RENDER_ATTACHMENT");
        return Err(BlurError::MissingUsage { image, usage });
    }
    Ok(())
}

fn ends(request: &Request, source: Viewed, target: &GpuImage) -> Ends {
    Ends {
        source: source.format,
        destination: target.view_format(),
        precision: precision_of(source.format),
        alpha: request.alpha,
        has_storage: target.texture_descriptor.usage.contains(TextureUsages::STORAGE_BINDING),
        in_place: request.is_in_place() && !request.keeps_source(),
    }
}

/// What to blur with, `None` for an exact copy: the main world has said if a strength is out of range.
fn blur_of(request: &Request, size: UVec2) -> Option<(Vec2, EdgeMode)> {
    let sigma = request.blur.sigma_in_texels(1.0, size.y).ok();
    let sigma = sigma.filter(|sigma| sigma.max_element() >= MIN_SIGMA);
    sigma.map(|sigma| (sigma, request.blur.edge))
}
