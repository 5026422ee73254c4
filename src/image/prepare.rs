//! The render world: the state of every image blur, and the work of a frame.

use super::excerpt::Cut;
use super::request::{ImageRequest, Outcomes, Requests, inputs_of};
use super::source_copy::{Copied, SourceCopy};
use super::times::Times;
use crate::errors::BlurError;
use crate::formats::dither::Dither;
use crate::formats::table::Format;
use crate::formats::{Ends, SAME_SPACES, precision_of};
use crate::gpu::{BlurIo, BlurJob, BlurPreparer, BlurRequest, BlurState, ViewInfo, Work, WorkKind, layers_of};
use crate::plan::{Finish, blurs};
use crate::settings::{BlurAlpha, BlurUpdate, EdgeMode};
use crate::sigma_field::SigmaField;
use bevy::math::Affine2;
use bevy::platform::collections::HashMap;
use bevy::prelude::*;
use bevy::render::Extract;
use bevy::render::render_asset::RenderAssets;
use bevy::render::render_resource::{TextureFormat, TextureId, TextureUsages, TextureView, TextureViewId};
use bevy::render::renderer::RenderDevice;
use bevy::render::texture::GpuImage;

/// The state of every image blur in the render world.
#[derive(Resource, Default)]
pub struct ImageJobs(pub HashMap<Entity, ImageJob>);

#[derive(Default)]
pub struct ImageJob {
    pub job: BlurJob,
    /// The jobs that make the mip levels of the target, from the second on.
    pub levels: Vec<BlurJob>,
    pub views: Option<LayerViews>,
    /// What to encode in this frame.
    pub due: Option<Due>,
    /// What was executed last.
    pub done: Option<Done>,
    /// Whether a blur has yet to be executed, in this frame or as soon as its images exist.
    pub is_pending: bool,
    /// The picture as it was before a blur in place.
    pub copy: Option<SourceCopy>,
}

/// A view for each layer.
type Layers = Vec<TextureView>;

/// The views of a source and a target that passes read and write.
pub struct LayerViews {
    of: [TextureViewId; 2],
    pub source: Layers,
    /// The levels of the target.
    pub target: Vec<Layers>,
}

/// A blur that is to be encoded.
pub struct Due {
    /// Whether the source must be copied first, and whether the copy is read.
    pub captures: bool,
    pub reads_copy: bool,
    /// Whether the blur is strong enough to show.
    pub blurs: bool,
    pub done: Done,
}

/// Tells whether a blur must be executed again.
#[derive(Clone, Copy, PartialEq)]
pub struct Done {
    revision: u64,
    source: TextureId,
    mask: Option<TextureId>,
    target: TextureId,
}

impl Done {
    /// The textures to read.
    fn inputs(&self) -> impl Iterator<Item = TextureId> {
        [Some(self.source), self.mask].into_iter().flatten()
    }

    fn has_textures_of(&self, other: &Self) -> bool {
        let textures = |done: &Self| (done.source, done.mask, done.target);
        textures(self) == textures(other)
    }
}

pub fn extract_requests(mut requested: ResMut<Requests>, requests: Extract<Res<Requests>>) {
    requested.copy_from(&requests);
}

/// Validates due blurs and prepares their jobs.
pub fn prepare_jobs(
    (requested, times): (Res<Requests>, Res<Times>),
    mut jobs: ResMut<ImageJobs>,
    images: Res<RenderAssets<GpuImage>>,
    device: Res<RenderDevice>,
    outcomes: Res<Outcomes>,
    mut preparer: BlurPreparer,
    mut written: Local<Vec<TextureId>>,
) {
    written.clear();
    jobs.0.retain(|entity, _| requested.alive.contains(entity));
    for (request, is_painted) in requested.ordered.iter().zip(times.are_painted()) {
        let image_job = jobs.0.entry(request.entity).or_default();
        image_job.due = None;
        image_job.is_pending = image_job.done.is_none_or(|done| done.revision != request.revision);
        // While pixels are uploaded, Bevy hides the old ones: the image counts as missing.
        let (Some(source), Some(target)) = (images.get(request.source), images.get(request.target)) else {
            continue;
        };
        let [_, mask] = inputs_of(request.source, &request.profile);
        let now = Done {
            revision: request.revision,
            source: source.texture.id(),
            mask: mask.and_then(|mask| Some(images.get(mask)?.texture.id())),
            target: target.texture.id(),
        };
        // In place, the blur of a picture must not be blurred again.
        let are_fed = now.inputs().any(|input| written.contains(&input)) || is_painted && !request.is_in_place();
        image_job.is_pending = image_job.is_due(request, now) || request.update == BlurUpdate::OnChange && are_fed;
        if !image_job.is_pending {
            image_job.release();
            continue;
        }
        let outcome = image_job.prepare(request, (source, target), now, &device, &mut preparer);
        if outcome.is_err() {
            image_job.release();
            // No other blur must wait for this one.
            image_job.is_pending = false;
        }
        if image_job.due.is_some() {
            written.push(now.target);
        }
        if let Err(news) = image_job.job.settle(outcome) {
            outcomes.fail(request.entity, news);
        }
    }
}

impl ImageJob {
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
        let mut due = Due {
            captures: false,
            reads_copy: false,
            blurs: work != Work::Copy,
            done: now,
        };
        let unpremultiplies = io.ends.alpha == BlurAlpha::Unpremultiply;
        let restores = !due.blurs && request.is_in_place() && !unpremultiplies;
        if restores && !self.is_covered(request, now.source) {
            // The picture already is as requested.
            self.job.release();
            self.due = Some(due);
            return Ok(BlurState::Nothing);
        }
        let is_kept = restores || request.keeps_source();
        // A pass cannot read the texture that it writes.
        let converts_in_place = !due.blurs && request.is_in_place() && unpremultiplies;
        if is_kept || copied.cut.padding > 0 || converts_in_place {
            due.captures = self.copy_source(request, (copied, is_kept), device, preparer)?;
            due.reads_copy = true;
        } else {
            self.copy = None;
        }
        let alpha = if restores {
            BlurAlpha::Premultiplied
        } else {
            io.ends.alpha
        };
        let ends = Ends { alpha, ..io.ends };
        let (size, ends, source_at) = if due.reads_copy {
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
        // The levels of a copy do not depend on dithering.
        let dither = if due.blurs { io.ends.dither } else { Dither::Off };
        let ends = Ends { dither, ..io.ends };
        self.prepare_levels(to, BlurIo { ends, ..io }, preparer)?;
        self.due = Some(due);
        Ok(state)
    }

    /// Prepares the mip levels of a target.
    fn prepare_levels(&mut self, target: ViewInfo, io: BlurIo, preparer: &mut BlurPreparer) -> Result<(), BlurError> {
        self.levels.resize_with(target.levels as usize - 1, BlurJob::default);
        let ends = Ends {
            source: io.ends.destination,
            // The target has straight alpha then.
            alpha: match io.ends.alpha {
                BlurAlpha::Unpremultiply => BlurAlpha::Straight,
                alpha => alpha,
            },
            has_storage: false,
            in_place: false,
            ..io.ends
        };
        for (job, level) in self.levels.iter_mut().zip(1..) {
            let [from, to] = [level - 1, level].map(|level| target.level_size(level));
            job.try_update(
                preparer,
                BlurRequest::whole(BlurIo { ends, ..io }, Work::Mipmap, to, from),
            )?;
        }
        Ok(())
    }

    fn is_due(&self, request: &ImageRequest, now: Done) -> bool {
        match self.done {
            _ if request.update == BlurUpdate::EveryFrame => true,
            None => request.revision > 0,
            Some(done) => {
                let is_replaced = !done.has_textures_of(&now);
                done.revision != now.revision || request.update == BlurUpdate::OnChange && is_replaced
            }
        }
    }

    /// For a blur in place: whether the picture has been blurred since it was copied.
    fn is_covered(&self, request: &ImageRequest, of: TextureId) -> bool {
        let is_current = |copy: &&SourceCopy| copy.of.source == of && copy.uploads == request.uploads;
        self.copy
            .as_ref()
            .filter(is_current)
            .is_some_and(|copy| copy.is_covered)
    }

    /// Whether the source must be copied first. A copy that is kept exists already, unless the source has changed.
    fn copy_source(
        &mut self,
        request: &ImageRequest,
        (of, is_kept): (Copied, bool),
        device: &RenderDevice,
        preparer: &mut BlurPreparer,
    ) -> Result<bool, BlurError> {
        let copy = match self.copy.take() {
            Some(copy) if copy.of.fits(&of) => self.copy.insert(copy),
            _ => self.copy.insert(SourceCopy::new(of, device)?),
        };
        if !is_kept || (copy.of, copy.uploads) != (of, request.uploads) {
            (copy.of, copy.uploads) = (of, request.uploads);
            (copy.is_captured, copy.is_covered) = (false, false);
        }
        copy.is_kept = is_kept;
        if copy.is_captured {
            copy.job = BlurJob::default();
        } else {
            copy.job.try_update(preparer, of.request(copy.texture))?;
        }
        Ok(!copy.is_captured)
    }

    /// Creates the views that passes read and write, unless they exist.
    fn view_layers(&mut self, (source, target): (&GpuImage, &GpuImage), [from, to]: &[ViewInfo; 2]) {
        let of = [source.texture_view.id(), target.texture_view.id()];
        if self.views.as_ref().is_none_or(|views| views.of != of) {
            self.views = Some(LayerViews {
                of,
                source: layers_of(source, from, 0),
                target: (0..to.levels).map(|level| layers_of(target, to, level)).collect(),
            });
        }
    }

    /// Releases textures.
    fn release(&mut self) {
        self.views = None;
        self.copy.take_if(|copy| !copy.is_kept);
        self.job.forget();
        self.levels.iter_mut().for_each(BlurJob::release);
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
