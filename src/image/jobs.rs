//! The render world: what is kept of every image blur, and what is to be done in a frame.

use super::kept::{Kept, capture};
use super::request::{Outcomes, Request, Requests};
use super::view::{Viewed, layers_of};
use crate::errors::{BlurError, Reported};
use crate::formats::dither::Dither;
use crate::formats::{Ends, precision_of};
use crate::gpu::{BlurJob, BlurPreparer, BlurTask, Masks, Uses, Work};
use crate::plan::{Finish, MIN_SIGMA};
use crate::settings::{BlurAlpha, BlurUpdate};
use crate::shares::Shares;
use bevy::platform::collections::HashMap;
use bevy::prelude::*;
use bevy::render::Extract;
use bevy::render::render_asset::RenderAssets;
use bevy::render::render_resource::{TextureId, TextureUsages, TextureView, TextureViewId};
use bevy::render::renderer::RenderDevice;
use bevy::render::texture::GpuImage;

/// What the render world keeps of every image blur.
#[derive(Resource, Default)]
pub struct ImageJobs(pub HashMap<Entity, ImageJob>);

#[derive(Default)]
pub struct ImageJob {
    pub job: BlurJob,
    /// What makes the mip levels of the target, from the second on.
    pub levels: Vec<BlurJob>,
    pub parts: Option<Parts>,
    /// What is to be encoded in this frame.
    pub due: Option<Due>,
    /// What was executed last.
    pub done: Option<Done>,
    /// Whether something is still to be executed in this frame, or as soon as its images are there.
    pub is_pending: bool,
    /// The picture as it was before a blur in place.
    pub kept: Option<Kept>,
    failures: Reported,
}

/// A view for each layer.
type Layers = Vec<TextureView>;

/// What passes read and write of a source and a target.
pub struct Parts {
    of: [TextureViewId; 2],
    pub source: Layers,
    /// The levels of the target.
    pub target: Vec<Layers>,
}

/// A blur that is to be encoded.
pub struct Due {
    /// Whether the source has to be kept first, and whether what is kept is read.
    pub captures: bool,
    pub reads_kept: bool,
    /// Whether something remains to be seen of the blur.
    pub blurs: bool,
    pub done: Done,
}

/// Tells whether a blur has to be executed again.
#[derive(Clone, Copy, PartialEq)]
pub struct Done {
    revision: u64,
    pub textures: (TextureId, TextureId),
}

pub fn extract_requests(mut requested: ResMut<Requests>, requests: Extract<Res<Requests>>) {
    requested.copy_from(&requests);
}

/// Validates what is due and prepares its job.
pub fn prepare_jobs(
    requested: Res<Requests>,
    mut jobs: ResMut<ImageJobs>,
    images: Res<RenderAssets<GpuImage>>,
    device: Res<RenderDevice>,
    outcomes: Res<Outcomes>,
    (mut preparer, masks): (BlurPreparer, Masks),
    mut written: Local<Vec<TextureId>>,
) {
    written.clear();
    jobs.0.retain(|entity, _| requested.alive.contains(entity));
    for request in &requested.ordered {
        let image_job = jobs.0.entry(request.entity).or_default();
        image_job.due = None;
        image_job.is_pending = image_job.done.is_none_or(|done| done.revision != request.revision);
        // While pixels are on their way, Bevy keeps the old ones from being seen: the image is not there.
        let (Some(source), Some(target)) = (images.get(request.source), images.get(request.target)) else {
            continue;
        };
        match image_job.prepare(request, (source, target), &written, &device, (&mut preparer, &masks)) {
            Ok(()) => {
                if let Some(due) = &image_job.due {
                    written.push(due.done.textures.1);
                    let _ = image_job.failures.news(Ok(()));
                }
            }
            Err(error) => {
                image_job.release();
                // Nobody need wait for it.
                image_job.is_pending = false;
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
        (preparer, masks): (&mut BlurPreparer, &Masks),
    ) -> Result<(), BlurError> {
        let done = Done {
            revision: request.revision,
            textures: (source.texture.id(), target.texture.id()),
        };
        let is_fed = request.update == BlurUpdate::OnChange && written.contains(&done.textures.0);
        self.is_pending = self.is_due(request, done) || is_fed;
        if !self.is_pending {
            self.release();
            return Ok(());
        }
        let viewed = [Viewed::of_gpu(source)?, Viewed::of_gpu(target)?];
        let [from, to] = viewed;
        if request.owns_target && (from.size, from.layers) != (to.size, to.layers) {
            // The new target is on its way.
            return Ok(());
        }
        check_sizes(from, to)?;
        check_usages(source, target, to)?;
        let ends = ends(request, from, target);
        preparer.announce(ends, Uses::BlurOrCopy);
        let shares = Shares::new(&request.profile, from.size.as_vec2());
        let Some(mask) = masks.find(shares.as_ref())? else {
            // The mask is on its way.
            return Ok(());
        };
        if shares.is_some() {
            preparer.announce(ends, Uses::Varying(Finish::Write));
        }
        self.view_parts((source, target), &viewed);
        let work = work(request, from.size, shares.is_some());
        let due = self.set_up(request, done, viewed, (ends, work), (device, preparer))?;
        if let Some(shares) = shares {
            preparer.share(&mut self.job, &shares, mask.0.as_ref());
        }
        self.due = Some(due);
        Ok(())
    }

    /// Prepares what a blur that is due takes: a copy of its source if that is to be kept, the blur or copy itself, and
    /// the mip levels.
    fn set_up(
        &mut self,
        request: &Request,
        done: Done,
        [from, to]: [Viewed; 2],
        (ends, work): (Ends, Work),
        (device, preparer): (&RenderDevice, &mut BlurPreparer),
    ) -> Result<Due, BlurError> {
        let mut due = Due {
            captures: false,
            reads_kept: false,
            blurs: work != Work::Copy,
            done,
        };
        let restores = !due.blurs && request.is_in_place();
        if restores && !self.is_covered(request, due.done.textures.0) {
            // The picture is as it was.
            self.job = BlurJob::default();
            return Ok(due);
        }
        if restores || request.keeps_source() {
            due.captures = self.keep(request, from, due.done.textures.0, device, preparer)?;
            due.reads_kept = true;
        } else {
            self.kept = None;
        }
        let alpha = if restores { BlurAlpha::Premultiplied } else { ends.alpha };
        let task = BlurTask {
            ends: Ends { alpha, ..ends },
            work,
            finish: Finish::Write,
            region: URect::from_corners(UVec2::ZERO, from.size),
            source_size: from.size,
        };
        preparer.prepare(&mut self.job, task)?;
        // The levels of a copy are what they are without dithering.
        let dither = if due.blurs { ends.dither } else { Dither::Off };
        self.prepare_levels(to, Ends { dither, ..ends }, preparer)?;
        Ok(due)
    }

    /// Prepares the mip levels of a target.
    fn prepare_levels(&mut self, target: Viewed, ends: Ends, preparer: &mut BlurPreparer) -> Result<(), BlurError> {
        self.levels.resize_with(target.levels as usize - 1, BlurJob::default);
        let ends = Ends {
            source: ends.destination,
            has_storage: false,
            in_place: false,
            ..ends
        };
        if !self.levels.is_empty() {
            preparer.announce(ends, Uses::Mipmaps);
        }
        for (job, level) in self.levels.iter_mut().zip(1..) {
            let task = BlurTask {
                ends,
                work: Work::Mipmap,
                finish: Finish::Write,
                region: URect::from_corners(UVec2::ZERO, target.level_size(level)),
                source_size: target.level_size(level - 1),
            };
            preparer.prepare(job, task)?;
        }
        Ok(())
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

    /// For a blur in place that keeps its source: whether it has to be copied first.
    fn keep(
        &mut self,
        request: &Request,
        viewed: Viewed,
        of: TextureId,
        device: &RenderDevice,
        preparer: &mut BlurPreparer,
    ) -> Result<bool, BlurError> {
        let kept = match self.kept.take() {
            Some(kept) if kept.of == of => self.kept.insert(kept),
            _ => self.kept.insert(Kept::new(viewed, of, device)?),
        };
        if kept.uploads != request.uploads {
            kept.uploads = request.uploads;
            (kept.is_captured, kept.is_covered) = (false, false);
        }
        if kept.is_captured {
            kept.job = BlurJob::default();
        } else {
            preparer.prepare(&mut kept.job, capture(viewed))?;
        }
        Ok(!kept.is_captured)
    }

    /// Makes the views that passes read and write, unless they are there.
    fn view_parts(&mut self, (source, target): (&GpuImage, &GpuImage), [from, to]: &[Viewed; 2]) {
        let of = [source.texture_view.id(), target.texture_view.id()];
        if self.parts.as_ref().is_none_or(|parts| parts.of != of) {
            self.parts = Some(Parts {
                of,
                source: layers_of(source, from, 0),
                target: (0..to.levels).map(|level| layers_of(target, to, level)).collect(),
            });
        }
    }

    /// Lets textures go.
    fn release(&mut self) {
        self.parts = None;
        self.job.release();
        self.levels.iter_mut().for_each(BlurJob::release);
    }
}

fn check_sizes(source: Viewed, target: Viewed) -> Result<(), BlurError> {
    if source.size != target.size {
        let (source, target) = (source.size, target.size);
        return Err(BlurError::SizeMismatch { source, target });
    }
    if source.layers != target.layers {
        let (source, target) = (source.layers, target.layers);
        return Err(BlurError::LayerMismatch { source, target });
    }
    Ok(())
}

fn check_usages(source: &GpuImage, target: &GpuImage, written: Viewed) -> Result<(), BlurError> {
    let lacks = |image: &GpuImage, usage| !image.texture_descriptor.usage.contains(usage);
    if lacks(source, TextureUsages::TEXTURE_BINDING) {
        let (image, usage) = ("source", "TEXTURE_BINDING");
        return Err(BlurError::MissingUsage { image, usage });
    }
    if lacks(target, TextureUsages::RENDER_ATTACHMENT) {
        let (image, usage) = ("target", "RENDER_ATTACHMENT");
        return Err(BlurError::MissingUsage { image, usage });
    }
    if written.levels > 1 && lacks(target, TextureUsages::TEXTURE_BINDING) {
        let (image, usage) = ("target", "TEXTURE_BINDING");
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
        dither: if request.dither {
            Dither::of_target(target.view_format())
        } else {
            Dither::Off
        },
        has_storage: target.texture_descriptor.usage.contains(TextureUsages::STORAGE_BINDING),
        in_place: request.is_in_place() && !request.keeps_source(),
    }
}

/// What to do: the main world has said if a strength is out of range.
fn work(request: &Request, size: UVec2, varies: bool) -> Work {
    let sigma = request.blur.sigma_in_texels(1.0, size.y).ok();
    let sigma = sigma.filter(|sigma| sigma.max_element() >= MIN_SIGMA);
    let edge = request.blur.edge;
    match sigma {
        Some(sigma) if varies => Work::Vary { sigma, edge },
        Some(sigma) => Work::Blur { sigma, edge },
        None => Work::Copy,
    }
}
