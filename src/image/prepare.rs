//! The render world: prepares the blurs of a frame.

use super::excerpt::Cut;
use super::jobs::{Done, ImageJob, ImageJobs, Turn};
use super::request::{ImageRequest, Outcome, Outcomes, Requests};
use super::source_copy::{Copied, CopyState, SourceCopy};
use crate::errors::BlurError;
use crate::formats::dither::Dither;
use crate::formats::table::Format;
use crate::formats::{Ends, SAME_SPACES, precision_of};
use crate::gpu::{BlurJob, BlurPreparer, BlurRequest, BlurState, ViewInfo, Work, WorkKind};
use crate::plan::{Finish, blurs};
use crate::settings::{BlurAlpha, BlurUpdate, EdgeMode};
use crate::sigma_field::SigmaField;
use bevy::math::{Affine2, IVec2};
use bevy::platform::collections::HashSet;
use bevy::prelude::*;
use bevy::render::Extract;
use bevy::render::render_asset::RenderAssets;
use bevy::render::render_resource::{TextureFormat, TextureId, TextureUsages};
use bevy::render::texture::GpuImage;

pub fn extract_requests(mut requested: ResMut<Requests>, requests: Extract<Res<Requests>>) {
    requested.copy_from(&requests);
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
    for (request, (_, is_painted)) in requested.timed() {
        // While pixels are uploaded, Bevy hides the old ones: the image counts as missing.
        let Some(shown) = images.get(request.spec.target) else {
            continue;
        };
        let is_fed = jobs.is_fed(request);
        let new = jobs.to_show.get(&request.spec.source).map(|(image, _)| image);
        let source = new.or(images.get(request.spec.source)).cloned();
        let mask = request
            .spec
            .profile
            .mask()
            .and_then(|mask| Some(images.get(mask)?.texture.id()));
        let Some(job) = jobs.get_mut(request.id) else {
            continue;
        };
        let target = job.target(request, source.as_ref(), shown, &preparer);
        if let (Some(source), Some(target)) = (&source, &target) {
            let now = Done {
                revision: request.revision,
                source: source.texture.id(),
                mask,
                target: target.texture.id(),
            };
            // In place, the blur of a picture must not be blurred again.
            let are_fed =
                now.inputs().any(|input| written.contains(&input)) || is_painted && !request.spec.overwrites_source();
            if let Err(error) = job.decide(request, [source, target], now, are_fed, &mut preparer) {
                outcomes.fail(request, error);
            }
            job.is_certain &= is_fed;
            if job.due.is_some() {
                written.insert(now.target);
            }
        }
        if request.spec.owns_target {
            jobs.settle(request, shown, target);
        }
    }
}

/// Puts textures in the place of those that Bevy shows: before anything binds them, and at the end of the frame those
/// whose pipelines were compiled in between.
pub fn show_targets(mut jobs: ResMut<ImageJobs>, mut images: ResMut<RenderAssets<GpuImage>>, outcomes: Res<Outcomes>) {
    jobs.settle_written();
    for (id, (image, is_new)) in jobs.to_show.drain() {
        images.insert(id, image);
        if is_new {
            outcomes.push(Outcome::Shown(id));
        }
    }
}

impl ImageJob {
    /// The image to write, `None` while the plugin's own is on its way.
    fn target(
        &mut self,
        request: &ImageRequest,
        source: Option<&GpuImage>,
        shown: &GpuImage,
        preparer: &BlurPreparer,
    ) -> Option<GpuImage> {
        if !request.spec.owns_target {
            return Some(shown.clone());
        }
        self.own_target.look(shown.texture.id(), shown);
        let wanted = ViewInfo::of_gpu(source?).and_then(|from| {
            let format = preparer.renderable(from.format)?;
            request.spec.excerpt.target_of(ViewInfo { format, ..from })
        });
        match wanted {
            Ok(wanted) => {
                let make = || {
                    preparer
                        .make_target(wanted, shown)
                        .map(|made| (made.texture.id(), made))
                };
                self.own_target
                    .choose(|image| ViewInfo::of_gpu(image) == Ok(wanted), make)
            }
            // Preparing the blur says why.
            Err(_) => Some(shown.clone()),
        }
    }

    /// Decides whether a blur from one image to another is due, as they are `now`, and prepares it. The main world knows which
    /// failures are new.
    fn decide(
        &mut self,
        request: &ImageRequest,
        images: [&GpuImage; 2],
        now: Done,
        are_fed: bool,
        preparer: &mut BlurPreparer,
    ) -> Result<BlurState, BlurError> {
        self.is_pending = self.is_due(request, now) || request.spec.update == BlurUpdate::OnChange && are_fed;
        if !self.is_pending {
            self.release();
            return Ok(BlurState::Nothing);
        }
        let outcome = self.prepare(request, images, now, preparer);
        if outcome.is_err() {
            self.release();
            // No other blur must wait for this one.
            self.is_pending = false;
        }
        self.job.forget_failures();
        self.job.settle(outcome)
    }

    fn prepare(
        &mut self,
        request: &ImageRequest,
        [source, target]: [&GpuImage; 2],
        now: Done,
        preparer: &mut BlurPreparer,
    ) -> Result<BlurState, BlurError> {
        let [from, to] = [ViewInfo::of_gpu(source)?, ViewInfo::of_gpu(target)?];
        let cut = request.spec.excerpt.cut(from.size, request.spec.overwrites_source())?;
        check_sizes(cut.size(), from, to)?;
        check_usages(source, target, to)?;
        preparer.check_layers("source", &source.texture)?;
        if to.levels > 1 {
            preparer.check_layers("target", &target.texture)?;
        }
        self.view_layers([source, target], [from, to]);
        let ends = ends(request, from, target);
        preparer.announce(ends, WorkKind::Blur, Finish::Write);
        preparer.announce(ends, WorkKind::Copy, Finish::Write);
        let blur = BlurRequest {
            source_is_fresh: !request.spec.overwrites_source() || request.spec.update != BlurUpdate::Once,
            source_at: cut.source_at(),
            ..BlurRequest::whole(ends, now.target, work(request, &cut), cut.size(), from.size)
        };
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
        let turn = Turn::new(&blur.work, request, &cut, self.copy_state(request, &copied));
        let mut has_source = true;
        match turn {
            Turn::Nothing => self.job.release(),
            Turn::Copy | Turn::Blur => self.copy = None,
            Turn::FromCopy { .. } | Turn::Restore => has_source = self.copy_source(request, turn, copied, preparer)?,
        }
        let is_certain = match turn {
            Turn::Nothing => true,
            _ => match self.set_up(turn, blur, copied.format, to, preparer)? {
                BlurState::Waiting => return Ok(BlurState::Waiting),
                state => state == BlurState::Ready && has_source,
            },
        };
        (self.due, self.is_certain) = (Some((turn, now)), is_certain);
        Ok(BlurState::Ready)
    }

    /// Prepares a blur or copy, and the mip levels of its target. It is ready if all of them are.
    fn set_up(
        &mut self,
        turn: Turn,
        mut blur: BlurRequest,
        copied: TextureFormat,
        target: ViewInfo,
        preparer: &mut BlurPreparer,
    ) -> Result<BlurState, BlurError> {
        let (texture, mut ends) = (blur.target, blur.ends);
        if blur.work == Work::Copy {
            // The levels of a copy do not depend on dithering.
            ends.dither = Dither::Off;
        }
        if turn == Turn::Restore {
            blur.ends.alpha = BlurAlpha::Premultiplied;
        }
        if turn.reads_copy() {
            blur.ends.source = copied;
            (blur.source_size, blur.source_at) = (blur.region.size(), IVec2::ZERO);
        }
        let state = self.job.try_update(preparer, blur)?;
        if state == BlurState::Waiting {
            return Ok(state);
        }
        match self.prepare_levels(target, texture, ends, preparer)? {
            true => Ok(state),
            false => Ok(BlurState::Compiling),
        }
    }

    /// Prepares a copy of the source. A copy that is kept exists already, unless the source has changed. Returns whether it
    /// exists, or can be made in this frame.
    fn copy_source(
        &mut self,
        request: &ImageRequest,
        turn: Turn,
        of: Copied,
        preparer: &mut BlurPreparer,
    ) -> Result<bool, BlurError> {
        let is_kept = turn == Turn::Restore || request.spec.keeps_source();
        let copy = match self.copy.take() {
            Some(copy) if copy.of.fits(&of) => self.copy.insert(copy),
            _ => self.copy.insert(SourceCopy::new(of, preparer)?),
        };
        if !is_kept || !copy.is_kept || (copy.of, copy.uploads) != (of, request.spec.pixels) {
            (copy.of, copy.uploads, copy.state) = (of, request.spec.pixels, CopyState::Empty);
        }
        copy.is_kept = is_kept;
        if copy.state != CopyState::Empty {
            copy.job = BlurJob::default();
            return Ok(true);
        }
        let state = copy.job.try_update(preparer, of.request(copy.texture))?;
        Ok(state == BlurState::Ready)
    }
}

fn check_sizes(size: UVec2, from: ViewInfo, to: ViewInfo) -> Result<(), BlurError> {
    if size != to.size {
        let (source, target) = (size, to.size);
        return Err(BlurError::SizeMismatch { source, target });
    }
    if from.layers != to.layers {
        let (source, target) = (from.layers, to.layers);
        return Err(BlurError::LayerMismatch { source, target });
    }
    Ok(())
}

/// The format of a copy of a source for a blur into a target: renderable, and with alpha if the target has alpha.
fn format_of_copy(source: ViewInfo, target: ViewInfo, preparer: &BlurPreparer) -> Result<TextureFormat, BlurError> {
    let format = preparer.renderable(source.format)?;
    let has_alpha = |format| Format::find(format).is_some_and(|format| format.has_opacity());
    Ok(match Format::find(format) {
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
        alpha: request.spec.alpha,
        dither: if request.spec.dither {
            Dither::of_target(target.view_format())
        } else {
            Dither::Off
        },
        has_storage: target.texture_descriptor.usage.contains(TextureUsages::STORAGE_BINDING),
        in_place: request.spec.overwrites_source() && !request.spec.keeps_source(),
        spaces: SAME_SPACES,
    }
}

/// The work of a request: the main world has reported a strength out of range.
fn work(request: &ImageRequest, cut: &Cut) -> Work {
    let size = cut.texels.size();
    let sigma = request.spec.blur.sigma_in_texels(1.0, size.y).ok();
    match sigma.filter(|sigma| blurs(*sigma)) {
        Some(sigma) => {
            let placement = Affine2::from_translation(cut.inner().min.as_vec2());
            let field = SigmaField::new(Some(&request.spec.profile), size.as_vec2(), placement);
            let edge = if cut.padding > 0 {
                EdgeMode::Transparent
            } else {
                request.spec.blur.edge
            };
            Work::Blur { sigma, edge, field }
        }
        None => Work::Copy,
    }
}
