//! The render world: prepares the blurs of a frame.

use super::excerpt::Cut;
use super::jobs::{Done, Due, ImageJob, ImageJobs, Turn};
use super::request::{ImageRequest, Outcome, Outcomes, Requests};
use super::source_copy::{Copied, CopyState, SourceCopy};
use super::times::Times;
use crate::errors::BlurError;
use crate::formats::dither::Dither;
use crate::formats::table::Format;
use crate::formats::{Ends, SAME_SPACES, precision_of};
use crate::gpu::{BlurIo, BlurJob, BlurPreparer, BlurRequest, BlurState, ViewInfo, Work, WorkKind};
use crate::plan::{Finish, blurs};
use crate::settings::{BlurAlpha, BlurUpdate, EdgeMode};
use crate::sigma_field::SigmaField;
use bevy::math::Affine2;
use bevy::platform::collections::HashSet;
use bevy::prelude::*;
use bevy::render::Extract;
use bevy::render::render_asset::RenderAssets;
use bevy::render::render_resource::{TextureFormat, TextureId, TextureUsages};
use bevy::render::renderer::RenderDevice;
use bevy::render::texture::GpuImage;

pub fn extract_requests(mut requested: ResMut<Requests>, requests: Extract<Res<Requests>>) {
    requested.copy_from(&requests);
}

/// Validates due blurs and prepares their jobs, in the order in which they run.
pub fn prepare_jobs(
    (requested, times): (Res<Requests>, Res<Times>),
    mut jobs: ResMut<ImageJobs>,
    images: Res<RenderAssets<GpuImage>>,
    device: Res<RenderDevice>,
    outcomes: Res<Outcomes>,
    mut preparer: BlurPreparer,
    mut written: Local<HashSet<TextureId>>,
) {
    written.clear();
    jobs.begin(&requested);
    for (request, is_painted) in requested.ordered.iter().zip(times.are_painted()) {
        // While pixels are uploaded, Bevy hides the old ones: the image counts as missing.
        let Some(shown) = images.get(request.target) else {
            continue;
        };
        let is_fed = jobs.is_fed(request) && !jobs.is_held(request);
        let source = jobs.shown(request.source).or(images.get(request.source)).cloned();
        let mask = request
            .profile
            .mask()
            .and_then(|mask| Some(images.get(mask)?.texture.id()));
        let Some(job) = jobs.get_mut(request.entity) else {
            continue;
        };
        let target = job.own_target.choose(shown);
        if let Some(source) = source {
            let now = Done {
                revision: request.revision,
                source: source.texture.id(),
                mask,
                target: target.texture.id(),
            };
            // In place, the blur of a picture must not be blurred again.
            let are_fed = now.inputs().any(|input| written.contains(&input)) || is_painted && !request.is_in_place();
            let textures = (&source, &target);
            if let Err(news) = job.decide(request, textures, (now, are_fed), &device, &mut preparer) {
                outcomes.fail(request.entity, news);
            }
            job.is_certain &= is_fed;
            if job.due.is_some() {
                written.insert(now.target);
            }
        }
        if request.owns_target {
            jobs.settle(request, shown, target);
        }
    }
}

/// Puts textures in the place of those that Bevy shows: before anything binds them, and at the end of the frame those
/// whose pipelines were compiled in between.
pub fn show_targets(mut jobs: ResMut<ImageJobs>, mut images: ResMut<RenderAssets<GpuImage>>, outcomes: Res<Outcomes>) {
    jobs.settle_written();
    let ImageJobs { to_show, held, .. } = &mut *jobs;
    for (id, image) in to_show.drain(..) {
        images.insert(id, image);
        if !held.contains(&id) {
            outcomes.push(Outcome::Shown(id));
        }
    }
}

impl ImageJob {
    /// Decides whether a blur is due, and prepares it. A failure is returned once.
    fn decide(
        &mut self,
        request: &ImageRequest,
        textures: (&GpuImage, &GpuImage),
        (now, are_fed): (Done, bool),
        device: &RenderDevice,
        preparer: &mut BlurPreparer,
    ) -> Result<BlurState, BlurError> {
        self.is_pending = self.is_due(request, now) || request.update == BlurUpdate::OnChange && are_fed;
        if !self.is_pending {
            self.release();
            return Ok(BlurState::Nothing);
        }
        let outcome = self.prepare(request, textures, now, device, preparer);
        if outcome.is_err() {
            self.release();
            // No other blur must wait for this one.
            self.is_pending = false;
        }
        self.job.settle(outcome)
    }

    fn prepare(
        &mut self,
        request: &ImageRequest,
        (source, target): (&GpuImage, &GpuImage),
        now: Done,
        device: &RenderDevice,
        preparer: &mut BlurPreparer,
    ) -> Result<BlurState, BlurError> {
        let viewed = [ViewInfo::of_gpu(source)?, ViewInfo::of_gpu(target)?];
        let [from, to] = viewed;
        let cut = request.excerpt.of(from.size, request.is_in_place())?;
        if request.owns_target && (cut.size(), from.layers) != (to.size, to.layers) {
            // The new target is on its way.
            return Ok(BlurState::Waiting);
        }
        check_sizes((cut.size(), from.layers), to)?;
        check_usages(source, target, to)?;
        self.view_layers((source, target), &viewed);
        let io = BlurIo {
            ends: ends(request, from, target),
            target: now.target,
            source_is_fresh: !request.is_in_place() || request.update != BlurUpdate::Once,
        };
        preparer.announce(io.ends, WorkKind::Blur, Finish::Write);
        preparer.announce(io.ends, WorkKind::Copy, Finish::Write);
        let copied = Copied {
            source: now.source,
            viewed: from,
            cut,
            format: if cut.padding > 0 {
                format_of_copy(from, to, preparer)?
            } else {
                from.format
            },
        };
        self.set_up(request, (now, copied, to), io, (device, preparer))
    }

    /// Prepares the textures and jobs of a due blur: a copy of its source if that must be kept or padded, the blur or copy
    /// itself, and the mip levels.
    fn set_up(
        &mut self,
        request: &ImageRequest,
        (now, copied, to): (Done, Copied, ViewInfo),
        io: BlurIo,
        (device, preparer): (&RenderDevice, &mut BlurPreparer),
    ) -> Result<BlurState, BlurError> {
        let work = work(request, &copied.cut);
        let turn = Turn::of(&work, request, &copied.cut, self.copy_state(request, &copied));
        let due = Some(Due { turn, done: now });
        if turn == Turn::Nothing {
            self.job.release();
            (self.due, self.is_certain) = (due, true);
            return Ok(BlurState::Nothing);
        }
        if turn.reads_copy() {
            let is_kept = turn == Turn::Restore || request.keeps_source();
            self.copy_source(request, (copied, is_kept), device, preparer)?;
        } else {
            self.copy = None;
        }
        let blurs = work != Work::Copy;
        let alpha = match turn {
            Turn::Restore => BlurAlpha::Premultiplied,
            _ => io.ends.alpha,
        };
        let ends = Ends { alpha, ..io.ends };
        let (size, ends, source_at) = if turn.reads_copy() {
            let source = copied.format;
            (copied.cut.size(), Ends { source, ..ends }, IVec2::ZERO)
        } else {
            (copied.viewed.size, ends, copied.cut.source_at())
        };
        let wanted = BlurRequest {
            source_at,
            ..BlurRequest::whole(BlurIo { ends, ..io }, work, copied.cut.size(), size)
        };
        let state = self.job.try_update(preparer, wanted)?;
        if state == BlurState::Waiting {
            return Ok(state);
        }
        let are_levels_ready = self.prepare_levels(to, (io, blurs), preparer)?;
        (self.due, self.is_certain) = (due, are_levels_ready && state == BlurState::Ready);
        Ok(state)
    }

    /// Prepares a copy of the source. A copy that is kept exists already, unless the source has changed.
    fn copy_source(
        &mut self,
        request: &ImageRequest,
        (of, is_kept): (Copied, bool),
        device: &RenderDevice,
        preparer: &mut BlurPreparer,
    ) -> Result<(), BlurError> {
        let copy = match self.copy.take() {
            Some(copy) if copy.of.fits(&of) => self.copy.insert(copy),
            _ => self.copy.insert(SourceCopy::new(of, device)?),
        };
        if !is_kept || !copy.is_kept || (copy.of, copy.uploads) != (of, request.uploads) {
            (copy.of, copy.uploads, copy.state) = (of, request.uploads, CopyState::Empty);
        }
        copy.is_kept = is_kept;
        if copy.state == CopyState::Empty {
            copy.job.try_update(preparer, of.request(copy.texture))?;
        } else {
            copy.job = BlurJob::default();
        }
        Ok(())
    }
}

fn check_sizes((size, layers): (UVec2, u32), target: ViewInfo) -> Result<(), BlurError> {
    if size != target.size {
        let (source, target) = (size, target.size);
        return Err(BlurError::SizeMismatch { source, target });
    }
    if layers != target.layers {
        let (source, target) = (layers, target.layers);
        return Err(BlurError::LayerMismatch { source, target });
    }
    Ok(())
}

/// The format of a copy of a source for a blur into a target: renderable, and with alpha if the target has alpha.
fn format_of_copy(source: ViewInfo, target: ViewInfo, preparer: &BlurPreparer) -> Result<TextureFormat, BlurError> {
    let format = preparer.renderable(source.format)?;
    let has_alpha = |format| Format::of(format).is_some_and(|format| format.has_opacity());
    Ok(match Format::of(format) {
        _ if has_alpha(format) || !has_alpha(target.format) => format,
        Some(wide) if wide.is_wide() => TextureFormat::Rgba32Float,
        _ => TextureFormat::Rgba16Float,
    })
}

fn check_usages(source: &GpuImage, target: &GpuImage, written: ViewInfo) -> Result<(), BlurError> {
    let check = |name, image: &GpuImage, needed| BlurError::check_usage(name, image.texture_descriptor.usage, needed);
    check("source", source, TextureUsages::TEXTURE_BINDING)?;
    check("target", target, TextureUsages::RENDER_ATTACHMENT)?;
    if written.levels > 1 {
        check("target", target, TextureUsages::TEXTURE_BINDING)?;
    }
    Ok(())
}

fn ends(request: &ImageRequest, source: ViewInfo, target: &GpuImage) -> Ends {
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
        spaces: SAME_SPACES,
    }
}

/// The work of a request: the main world has reported a strength out of range.
fn work(request: &ImageRequest, cut: &Cut) -> Work {
    let size = cut.texels.size();
    let sigma = request.blur.sigma_in_texels(1.0, size.y).ok();
    match sigma.filter(|sigma| blurs(*sigma)) {
        Some(sigma) => {
            let placement = Affine2::from_translation(cut.inner().min.as_vec2());
            let field = SigmaField::new(Some(&request.profile), size.as_vec2(), placement);
            let edge = if cut.padding > 0 {
                EdgeMode::Transparent
            } else {
                request.blur.edge
            };
            Work::blur(sigma, edge, field)
        }
        None => Work::Copy,
    }
}
