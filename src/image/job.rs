//! The render world: one blurred image from frame to frame.
//!
//! A job is a chain of stages: a copy of the source, if the blur must not read the source itself, the blur, and the mip levels of the
//! target. All stages of a frame are encoded, or none.
//!
//! When the asset of an own target changes, for a source of another size or format, Bevy makes an empty texture. The one with the last
//! result goes back into its place until a blur is recorded into the new one, because the source or a pipeline may be late. Which
//! texture a blur writes depends on what it must look like alone, not on what the asset has been in between: if no texture is as it
//! must be, because the source is not what its asset says either, one is made.

use super::request::{Cut, ImageRequest, ImageSpec};
use crate::diagnostics::label::BlurLabel;
use crate::diagnostics::timestamps::timed;
use crate::errors::BlurError;
use crate::formats::dither::Dither;
use crate::formats::table::Format;
use crate::formats::{Ends, precision_of};
use crate::gpu::{
    BlurJob, BlurPreparer, BlurRecorder, BlurRequest, BlurState, TextureKind, Timed, ViewInfo, Views, Work, WorkKind,
    create_texture, layer_view, layers_of,
};
use crate::plan::{Finish, blurs};
use crate::settings::{BlurAlpha, BlurUpdate, EdgeMode};
use crate::sigma_field::SigmaField;
use bevy::math::Affine2;
use bevy::prelude::*;
use bevy::render::render_resource::{Buffer, TextureFormat, TextureId, TextureUsages, TextureView, TextureViewId};
use bevy::render::renderer::RenderContext;
use bevy::render::texture::GpuImage;

/// A blurred image from frame to frame.
#[derive(Default)]
pub struct ImageJob {
    /// The copy of the source, the blur, and the mip levels of the target from the second on.
    stages: Vec<BlurJob>,
    /// What each stage reads, layer by layer, and the next of these is what it writes: the source, its copy or again the source,
    /// and the levels of the target.
    layers: Vec<Vec<TextureView>>,
    /// The source, its copy and the target that these are views of.
    viewed: Option<[TextureViewId; 3]>,
    /// What the blur reads in the place of the source.
    copy: Option<SourceCopy>,
    /// What this frame carries out if all pipelines are compiled, and what that reads.
    due: Option<(Carried, Reads)>,
    /// What was carried out last.
    pub done: Option<Carried>,
    pub turn: Turn,
    /// The last frame in which it was requested.
    pub frame: u64,
    /// A copy of its result, on its way to the main world.
    pub pixels: Option<(ViewInfo, Buffer)>,
}

/// What becomes of a request in a frame.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Turn {
    /// There is nothing to do, or it failed: no other blur waits for it.
    #[default]
    Rests,
    /// It has yet to be carried out, as soon as its images and pipelines exist.
    Waits,
    /// It will be, in this frame, as far as can be known before.
    Runs,
    /// It was, in this frame.
    Ran,
}

/// A copy of the source: the picture before a blur in place, or texels with transparent ones around them.
struct SourceCopy {
    /// Its layers.
    views: Vec<TextureView>,
    texture: TextureId,
    /// The request that makes it, except that its target is the one of the blur, which in place is the texture to copy.
    of: BlurRequest,
    /// The number of the pixels that are kept in it until the source changes.
    holds: Option<u64>,
}

impl ImageJob {
    /// Begins a frame in which it is requested.
    pub fn begin(&mut self, request: &ImageRequest, frame: u64) {
        self.frame = frame;
        self.due = None;
        self.turn = match self.done {
            Some(done) if done.revision == request.revision => Turn::Rests,
            _ => Turn::Waits,
        };
    }

    /// Decides whether a blur from one image to another is due, as they are `now`, and prepares it. `is_fed`: an input is written in
    /// this frame. Returns whether it is encoded as soon as its pipelines exist.
    ///
    /// # Errors
    /// Why it cannot run, in every frame. The main world knows which failures are new.
    pub fn decide(
        &mut self,
        spec: &ImageSpec,
        images: [&GpuImage; 2],
        now: Carried,
        is_fed: bool,
        preparer: &mut BlurPreparer,
    ) -> Result<bool, BlurError> {
        self.turn = Turn::Rests;
        if !now.is_due(self.done.as_ref(), spec.update, is_fed) {
            self.release();
            return Ok(false);
        }
        let is_ready = self.prepare(spec, images, now, preparer).inspect_err(|_| {
            // Neither the old mask nor the old strength stands in for the new one.
            self.stages.clear();
            self.release();
        })?;
        self.turn = if is_ready { Turn::Runs } else { Turn::Waits };
        Ok(true)
    }

    /// Prepares what is due. Returns whether all inputs and pipelines exist.
    fn prepare(
        &mut self,
        spec: &ImageSpec,
        [source, target]: [&GpuImage; 2],
        now: Carried,
        preparer: &mut BlurPreparer,
    ) -> Result<bool, BlurError> {
        let [from, to] = [ViewInfo::of_gpu(source)?, ViewInfo::of_gpu(target)?];
        let cut = spec.cut(from.size)?;
        check([source, target], [from, to], cut.size(), preparer)?;
        let copy = copy_of(&cut, [from, to], target.texture.id(), preparer)?;
        let ends = ends(spec, [from.format, copy.ends.destination], target);
        let mut blur = BlurRequest {
            source_at: cut.source_at(),
            source_is_fresh: !spec.overwrites_source() || !spec.is_single(),
            ..BlurRequest::whole(ends, target.texture.id(), work(spec, &cut), cut.size(), from.size)
        };
        // A weak blur is a copy, and may become stronger.
        for kind in [WorkKind::Blur, WorkKind::Copy] {
            preparer.announce(ends, kind, Finish::Write);
        }
        let is_kept = |kept: &SourceCopy| kept.holds == Some(spec.pixels) && kept.of == copy;
        let is_copy = blur.work == Work::Copy;
        let reads = Reads::new(spec, is_copy, self.copy.as_ref().is_some_and(is_kept));
        if reads == Reads::Nothing {
            self.release();
            (self.copy, self.due) = (None, Some((now, reads)));
            return Ok(true);
        }
        let old = self.copy.take();
        if reads != Reads::Source {
            self.copy = Some(SourceCopy::new(copy, old, cut.size(), from.layers, preparer)?);
        }
        if let Some(copy) = &mut self.copy {
            copy.holds.take_if(|_| reads == Reads::NewCopy);
            (blur.source_size, blur.source_at) = (cut.size(), IVec2::ZERO);
        }
        let is_ready = self.prepare_stages(reads, blur, to, preparer)?;
        self.view_layers([source, target], [from, to]);
        self.due = Some((now, reads));
        Ok(is_ready)
    }

    /// Prepares the stages. Returns whether the mask and all pipelines exist.
    fn prepare_stages(
        &mut self,
        reads: Reads,
        mut blur: BlurRequest,
        target: ViewInfo,
        preparer: &mut BlurPreparer,
    ) -> Result<bool, BlurError> {
        self.stages.resize_with(1 + target.levels as usize, BlurJob::default);
        let mut is_ready = true;
        match self.copy.as_ref().filter(|_| reads == Reads::NewCopy) {
            Some(copy) => {
                let target = copy.texture;
                let request = BlurRequest {
                    target,
                    ..copy.of.clone()
                };
                is_ready = self.stages[0].update(preparer, request)? == BlurState::Ready;
            }
            None => self.stages[0] = BlurJob::default(),
        }
        let (mut ends, texture) = (blur.ends, blur.target);
        if blur.work == Work::Copy {
            // The levels of a copy do not depend on dithering.
            ends.dither = Dither::Off;
        }
        if reads == Reads::CopyBack {
            blur.ends.alpha = BlurAlpha::Premultiplied;
        }
        is_ready &= self.stages[1].update(preparer, blur)? == BlurState::Ready;
        for (stage, level) in self.stages[2..].iter_mut().zip(1..) {
            let request = level_of(&target, level, ends, texture);
            is_ready &= stage.update(preparer, request)? == BlurState::Ready;
        }
        Ok(is_ready)
    }

    /// Creates the views that stages read and write, unless they exist.
    fn view_layers(&mut self, [source, target]: [&GpuImage; 2], [from, to]: [ViewInfo; 2]) {
        let copy = self.copy.as_ref().map(|copy| &copy.views);
        let read = copy.map_or(&source.texture_view, |layers| &layers[0]);
        let viewed = Some([&source.texture_view, read, &target.texture_view].map(TextureView::id));
        if self.viewed != viewed {
            let whole = layers_of(source, &from, 0);
            let read = copy.unwrap_or(&whole).clone();
            let levels = (0..to.levels).map(|level| layers_of(target, &to, level));
            self.layers = [whole, read].into_iter().chain(levels).collect();
            self.viewed = viewed;
        }
    }

    /// Releases textures, but not the picture before a blur in place.
    pub fn release(&mut self) {
        (self.viewed, self.due) = (None, None);
        self.layers.clear();
        self.copy.take_if(|copy| copy.holds.is_none());
        self.stages.iter_mut().for_each(BlurJob::release);
    }

    /// Encodes what is due. Returns whether it is what was requested.
    pub fn record(&mut self, request: &ImageRequest, recorder: &BlurRecorder, context: &mut RenderContext) -> bool {
        let Some((now, reads)) = self.due.take() else {
            return false;
        };
        if reads != Reads::Nothing {
            let first = usize::from(reads != Reads::NewCopy);
            // A blur in place must not be repeated because a copy or a mip level was late.
            let mut stages = self.stages.iter().enumerate().skip(first);
            if !stages.all(|(index, stage)| index == 1 || stage.is_ready(recorder)) {
                return false;
            }
            let is_done = self.encode(first, &request.label, recorder, context);
            if let Some(copy) = self.copy.as_mut().filter(|_| is_done || first == 0) {
                copy.holds = reads.keeps_copy(&request.spec).then_some(request.spec.pixels);
            }
            if !is_done {
                return false;
            }
        }
        (self.done, self.turn) = (Some(now), Turn::Ran);
        true
    }

    /// Encodes the stages from this one on, each for all layers. Returns whether the blur is the requested one, not the last one in its
    /// place.
    fn encode(
        &mut self,
        first: usize,
        label: &BlurLabel,
        recorder: &BlurRecorder,
        context: &mut RenderContext,
    ) -> bool {
        let Self { stages, layers, .. } = self;
        let is_alone = layers[0].len() == 1 && layers.len() == 3;
        let mut encode = |context: &mut RenderContext, timing: Timed| {
            let mut is_done = true;
            for (stage, layers) in stages.iter_mut().zip(layers.windows(2)).skip(first) {
                for (source, destination) in layers[0].iter().zip(&layers[1]) {
                    is_done &= stage.record(recorder, context, timing, &Views::new(source, destination));
                }
            }
            is_done
        };
        if is_alone {
            encode(context, Timed::Whole(label))
        } else {
            timed(context, Some(label), |context, _| encode(context, Timed::Nested(label)))
        }
    }
}

impl SourceCopy {
    /// Takes the texture of an old copy, if it serves, with what it holds. Else it allocates one, whose texels are transparent.
    fn new(
        of: BlurRequest,
        old: Option<Self>,
        size: UVec2,
        layers: u32,
        preparer: &BlurPreparer,
    ) -> Result<Self, BlurError> {
        let texture = |request: &BlurRequest| (request.region, request.ends.destination);
        let serves = |old: &Self| old.views.len() == layers as usize && texture(&old.of) == texture(&of);
        if let Some(old) = old.filter(serves) {
            return Ok(Self { of, ..old });
        }
        let kind = TextureKind {
            format: of.ends.destination,
            usages: TextureUsages::TEXTURE_BINDING | TextureUsages::RENDER_ATTACHMENT,
        };
        let texture = create_texture(&preparer.device, "gaussian_blur_source_copy", size, layers, kind)?;
        Ok(Self {
            views: (0..layers)
                .map(|layer| layer_view(&texture, default(), [0, layer]))
                .collect(),
            texture: texture.id(),
            of,
            holds: None,
        })
    }
}

/// The request that copies a part of a source, with transparent texels around it, for a blur into a target.
fn copy_of(
    cut: &Cut,
    [from, to]: [ViewInfo; 2],
    target: TextureId,
    preparer: &BlurPreparer,
) -> Result<BlurRequest, BlurError> {
    let mut format = from.format;
    if cut.padding > 0 {
        // Renderable, and with alpha if the target has alpha.
        (format, _) = preparer.capabilities.own_target(format)?;
        let has_alpha = |format| Format::find(format).is_some_and(|format| format.has_opacity());
        if has_alpha(to.format) && !has_alpha(format) {
            format = match Format::find(format) {
                Some(wide) if wide.is_wide() => TextureFormat::Rgba32Float,
                _ => TextureFormat::Rgba16Float,
            };
        }
    }
    let (ends, region) = (Ends::new(from.format, format), cut.inner());
    Ok(BlurRequest {
        region,
        bounds: region,
        source_at: cut.source_at(),
        ..BlurRequest::whole(ends, target, Work::Copy, cut.size(), from.size)
    })
}

/// Checks that one image can be blurred into another one. `size`: of what is blurred.
fn check(
    [source, target]: [&GpuImage; 2],
    [from, to]: [ViewInfo; 2],
    size: UVec2,
    preparer: &BlurPreparer,
) -> Result<(), BlurError> {
    if size != to.size {
        let (source, target) = (size, to.size);
        return Err(BlurError::SizeMismatch { source, target });
    }
    if from.layers != to.layers {
        let (source, target) = (from.layers, to.layers);
        return Err(BlurError::LayerMismatch { source, target });
    }
    let check = |name, image: &GpuImage, needed| BlurError::check_usage(name, image.texture_descriptor.usage, needed);
    check("source", source, TextureUsages::TEXTURE_BINDING)?;
    check("target", target, TextureUsages::RENDER_ATTACHMENT)?;
    preparer.capabilities.check_layers("source", &source.texture)?;
    if to.levels > 1 {
        check("target", target, TextureUsages::TEXTURE_BINDING)?;
        preparer.capabilities.check_layers("target", &target.texture)?;
    }
    Ok(())
}

/// The ends of a blur of a source that is read in another format, if it is copied before.
fn ends(spec: &ImageSpec, [source, read]: [TextureFormat; 2], target: &GpuImage) -> Ends {
    Ends {
        precision: precision_of(source),
        alpha: spec.alpha,
        dither: if spec.dither {
            Dither::of_target(target.view_format())
        } else {
            Dither::Off
        },
        has_storage: target.texture_descriptor.usage.contains(TextureUsages::STORAGE_BINDING),
        in_place: spec.overwrites_source() && !spec.keeps_source(),
        ..Ends::new(read, target.view_format())
    }
}

/// The work of a blur: the main world has reported a strength out of range.
fn work(spec: &ImageSpec, cut: &Cut) -> Work {
    let size = cut.texels.size();
    let sigma = spec.blur.sigma_in_texels(1.0, size.y).ok();
    let Some(sigma) = sigma.filter(|sigma| blurs(*sigma)) else {
        return Work::Copy;
    };
    let placement = Affine2::from_translation(cut.inner().min.as_vec2());
    let edge = if cut.padding > 0 {
        EdgeMode::Transparent
    } else {
        spec.blur.edge
    };
    let field = SigmaField::new(Some(&spec.profile), size.as_vec2(), placement);
    Work::Blur { sigma, edge, field }
}

/// The request that makes a mip level of a target out of the level above it. `blur`: the ends of the blur that writes the first one.
fn level_of(target: &ViewInfo, level: u32, blur: Ends, texture: TextureId) -> BlurRequest {
    let ends = Ends {
        source: blur.destination,
        // The target has straight alpha then.
        alpha: match blur.alpha {
            BlurAlpha::Unpremultiply => BlurAlpha::Straight,
            alpha => alpha,
        },
        has_storage: false,
        in_place: false,
        ..blur
    };
    let [from, to] = [level - 1, level].map(|level| target.level_size(level));
    BlurRequest::whole(ends, texture, Work::Mipmap, to, from)
}

/// A request that was carried out, or is to be, with textures as they are in a frame.
#[derive(Clone, Copy, PartialEq)]
pub struct Carried<I = TextureId> {
    pub revision: u64,
    /// The textures of the source, the mask and the target.
    pub textures: [Option<I>; 3],
}

impl<I: PartialEq> Carried<I> {
    /// Whether a request must be carried out, given what was carried out last. `is_fed`: an input is written in this frame.
    pub fn is_due(&self, last: Option<&Self>, update: BlurUpdate, is_fed: bool) -> bool {
        match update {
            BlurUpdate::EveryFrame => true,
            BlurUpdate::OnChange => is_fed || last != Some(self),
            BlurUpdate::Once => last.is_none_or(|last| last.revision != self.revision),
        }
    }
}

/// What a blur that is due reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reads {
    /// Nothing: the picture is as requested.
    Nothing,
    /// The source.
    Source,
    /// A copy of the source, which is made first.
    NewCopy,
    /// The copy that was made before the last blur in place.
    KeptCopy,
    /// The same, which is copied back: nothing is blurred any more.
    CopyBack,
}

impl Reads {
    /// `is_copy`: nothing is blurred. `is_kept`: there is a copy of the source, as it was before the last blur in place.
    pub fn new(spec: &ImageSpec, is_copy: bool, is_kept: bool) -> Self {
        let is_onto_itself = is_copy && spec.overwrites_source();
        let is_unblurred = is_onto_itself && spec.alpha != BlurAlpha::Unpremultiply;
        let (_, padding) = spec.excerpt;
        match (is_kept, spec.keeps_source()) {
            (true, _) if is_unblurred => Self::CopyBack,
            (false, _) if is_unblurred => Self::Nothing,
            (true, true) => Self::KeptCopy,
            // A pass cannot read the texture that it writes, nor texels around a source.
            (_, keeps) if keeps || is_onto_itself || padding > 0 => Self::NewCopy,
            _ => Self::Source,
        }
    }

    /// Whether the copy is kept for the next blur.
    pub fn keeps_copy(self, spec: &ImageSpec) -> bool {
        spec.keeps_source() && matches!(self, Self::NewCopy | Self::KeptCopy)
    }
}

/// The textures of a target that the plugin allocated: images on the GPU, each with what tells its texture apart.
#[derive(Clone, Debug)]
pub struct OwnTarget<I = TextureId, T = GpuImage> {
    /// The one that holds the last result.
    written: Option<(I, T)>,
    /// The one to write next, if it is another one: Bevy has made it since, or no asset describes it.
    next: Option<(I, T)>,
}

impl<I, T> Default for OwnTarget<I, T> {
    fn default() -> Self {
        Self {
            written: None,
            next: None,
        }
    }
}

impl<I: Copy + PartialEq, T: Clone> OwnTarget<I, T> {
    /// The image to write, given the one that Bevy shows. It is made if no image is as wanted, and if that is possible.
    pub fn choose(
        &mut self,
        shown: (I, &T),
        is_wanted: impl Fn(&T) -> bool,
        make: impl FnOnce() -> Option<(I, T)>,
    ) -> Option<T> {
        if let Some((_, written)) = self.written.as_mut().filter(|(id, _)| *id == shown.0) {
            // Its sampler may be another one.
            written.clone_from(shown.1);
        }
        let next = self.next.take();
        if let Some((_, written)) = self.written.as_ref().filter(|(_, image)| is_wanted(image)) {
            return Some(written.clone());
        }
        self.next = next
            .filter(|(_, image)| is_wanted(image))
            .or_else(|| is_wanted(shown.1).then(|| (shown.0, shown.1.clone())))
            .or_else(make);
        self.next.as_ref().map(|(_, image)| image.clone())
    }

    /// The image to show in a frame that writes the next one if it `runs`, after what was carried out last; and whether it takes the
    /// place of another result.
    pub fn show(&mut self, runs: bool, last: Option<&Carried<I>>) -> Option<(&T, bool)> {
        let is_written = |next: &mut (I, T)| runs || last.is_some_and(|last| last.textures[2] == Some(next.0));
        let next = self.next.take_if(is_written);
        let is_new = next.is_some() && self.written.is_some();
        self.written = next.or(self.written.take());
        self.written.as_ref().map(|(_, image)| (image, is_new))
    }
}
