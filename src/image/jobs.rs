//! The render world: the state of every image blur, and what a frame does for it.

use super::excerpt::Cut;
use super::own_target::{OwnTarget, begin_anew};
use super::request::{BlurId, ImageRequest, Requests};
use super::source_copy::{Copied, CopyState, SourceCopy};
use crate::errors::BlurError;
use crate::formats::Ends;
use crate::gpu::{BlurJob, BlurPreparer, BlurRequest, BlurState, ViewInfo, Work, layers_of};
use crate::settings::{BlurAlpha, BlurUpdate};
use bevy::platform::collections::HashMap;
use bevy::prelude::*;
use bevy::render::render_resource::{Buffer, TextureId, TextureView, TextureViewId};
use bevy::render::texture::GpuImage;

/// The state of every image blur in the render world.
#[derive(Resource, Default)]
pub struct ImageJobs {
    all: HashMap<BlurId, ImageJob>,
    /// The number of the set of blurs that these belong to.
    set: u64,
    /// The blurs that were requested in the last frame.
    requested: Vec<BlurId>,
    /// Images that take the place of those that Bevy shows, and whether they hold a new result.
    pub to_show: HashMap<AssetId<Image>, (GpuImage, bool)>,
}

/// A blurred image from frame to frame.
#[derive(Default)]
pub struct ImageJob {
    pub job: BlurJob,
    /// The jobs that make the mip levels of the target, from the second on.
    pub levels: Vec<BlurJob>,
    /// The views of a source and a target, and of all layers that passes read and write: of the source, and of each level of the
    /// target.
    pub views: Option<([TextureViewId; 2], Vec<Vec<TextureView>>)>,
    /// What this frame does for the image, and what is then done.
    pub due: Option<(Turn, Done)>,
    /// What was executed last.
    pub done: Option<Done>,
    /// Whether a blur has yet to be executed, in this frame or as soon as its images exist.
    pub is_pending: bool,
    /// Whether it will be, in this frame, as far as can be known before.
    pub is_certain: bool,
    /// Whether it was, in this frame.
    pub was_encoded: bool,
    /// A copy of its result, on its way to the main world.
    pub pixels: Option<(ViewInfo, Buffer)>,
    /// The picture as it was before a blur in place.
    pub copy: Option<SourceCopy>,
    pub own_target: OwnTarget,
    is_requested: bool,
}

/// What a frame does for an image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Turn {
    /// The picture already is as requested.
    Nothing,
    /// Copies the source to the target.
    Copy,
    /// Blurs the source.
    Blur,
    /// Blurs or converts a copy of the source. `captures` makes the copy first.
    FromCopy { captures: bool },
    /// Copies the copy of the source over the source.
    Restore,
}

impl Turn {
    /// What a request for this work does for an image. `state` is the state of the picture's copy, if it is kept.
    pub fn new(work: &Work, request: &ImageRequest, cut: &Cut, state: CopyState) -> Self {
        let is_copy = *work == Work::Copy;
        let converts = request.spec.alpha == BlurAlpha::Unpremultiply;
        match state {
            CopyState::Covered if is_copy && request.spec.overwrites_source() && !converts => Self::Restore,
            _ if is_copy && request.spec.overwrites_source() && !converts => Self::Nothing,
            _ if request.spec.keeps_source() => Self::FromCopy {
                captures: state == CopyState::Empty,
            },
            // A pass cannot read the texture that it writes, nor texels around a source.
            _ if cut.padding > 0 || is_copy && request.spec.overwrites_source() => Self::FromCopy { captures: true },
            _ if is_copy => Self::Copy,
            _ => Self::Blur,
        }
    }

    /// Whether the copy of the source is read.
    pub fn reads_copy(self) -> bool {
        matches!(self, Self::FromCopy { .. } | Self::Restore)
    }
}

/// Tells whether a blur must be executed again.
#[derive(Clone, Copy, PartialEq)]
pub struct Done {
    pub revision: u64,
    pub source: TextureId,
    pub mask: Option<TextureId>,
    pub target: TextureId,
}

impl Done {
    /// The textures to read.
    pub fn inputs(&self) -> impl Iterator<Item = TextureId> {
        [Some(self.source), self.mask].into_iter().flatten()
    }

    fn has_textures_of(&self, other: &Self) -> bool {
        let textures = |done: &Self| (done.source, done.mask, done.target);
        textures(self) == textures(other)
    }
}

impl ImageJobs {
    pub fn get(&self, id: BlurId) -> Option<&ImageJob> {
        self.all.get(&id)
    }

    pub fn get_mut(&mut self, id: BlurId) -> Option<&mut ImageJob> {
        self.all.get_mut(&id)
    }

    /// Begins a frame. Blurs that are not requested release their textures.
    pub fn begin(&mut self, requests: &Requests) {
        if self.set != requests.set {
            self.set = requests.set;
            begin_anew(&mut self.all, &requests.live, |job| &mut job.own_target);
        }
        for request in &requests.ordered {
            self.all.entry(request.id).or_default().begin(request);
        }
        for id in self.requested.drain(..) {
            match self.all.get_mut(&id) {
                Some(job) if !job.is_requested => job.release(),
                _ => {}
            }
        }
        for request in &requests.ordered {
            if let Some(job) = self.all.get_mut(&request.id) {
                job.is_requested = false;
            }
            self.requested.push(request.id);
        }
    }

    /// Whether the blurs that write the inputs of a request have results, or get them in this frame before it.
    pub fn is_fed(&self, request: &ImageRequest) -> bool {
        let has_result = |feeder: &BlurId| self.get(*feeder).is_some_and(|job| !job.is_pending || job.is_certain);
        request.feeders.iter().flatten().all(has_result)
    }

    /// Shows textures that were written although they stood back.
    pub fn settle_written(&mut self) {
        for id in &self.requested {
            if let Some(job) = self.all.get_mut(id)
                && let (Some(id), Some(done)) = (job.own_target.id, job.done)
                && let Some(image) = job.own_target.take_written(&done.target)
            {
                self.to_show.insert(id, (image, true));
            }
        }
    }

    /// Decides which texture of an own target is shown in this frame, given the one that this frame may write.
    pub fn settle(&mut self, request: &ImageRequest, shown: &GpuImage, target: Option<GpuImage>) {
        let Some(job) = self.all.get_mut(&request.id) else {
            return;
        };
        let is_done = |target: &GpuImage| job.done.is_some_and(|done| done.target == target.texture.id());
        let written = target.filter(|target| job.is_certain || is_done(target));
        let written = written.map(|target| (target.texture.id(), target));
        if let Some((image, is_new)) = job.own_target.show(written)
            && image.texture.id() != shown.texture.id()
        {
            self.to_show.insert(request.spec.target, (image.clone(), is_new));
        }
    }
}

impl ImageJob {
    fn begin(&mut self, request: &ImageRequest) {
        self.is_requested = true;
        (self.due, self.is_certain, self.was_encoded) = (None, false, false);
        self.is_pending = self.done.is_none_or(|done| done.revision != request.revision);
        self.own_target.begin(&request.spec);
    }

    /// Whether the blur must be executed for textures as they are `now`.
    pub fn is_due(&self, request: &ImageRequest, now: Done) -> bool {
        match self.done {
            _ if request.spec.update == BlurUpdate::EveryFrame => true,
            None => request.revision > 0,
            Some(done) => {
                let is_replaced = !done.has_textures_of(&now);
                done.revision != now.revision || request.spec.update == BlurUpdate::OnChange && is_replaced
            }
        }
    }

    /// The state of the copy of a picture that is kept.
    pub fn copy_state(&self, request: &ImageRequest, of: &Copied) -> CopyState {
        match &self.copy {
            Some(copy) if copy.is_kept && copy.of == *of && copy.uploads == request.spec.pixels => copy.state,
            _ => CopyState::Empty,
        }
    }

    /// Prepares the mip levels of a target. Returns whether they can be made.
    ///
    /// # Errors
    /// The errors of [`BlurJob::try_update`].
    pub fn prepare_levels(
        &mut self,
        target: ViewInfo,
        texture: TextureId,
        blur: Ends,
        preparer: &mut BlurPreparer,
    ) -> Result<bool, BlurError> {
        self.levels.resize_with(target.levels as usize - 1, BlurJob::default);
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
        let mut are_ready = true;
        for (job, level) in self.levels.iter_mut().zip(1..) {
            let [from, to] = [level - 1, level].map(|level| target.level_size(level));
            let request = BlurRequest::whole(ends, texture, Work::Mipmap, to, from);
            are_ready &= job.try_update(preparer, request)? == BlurState::Ready;
        }
        Ok(are_ready)
    }

    /// Creates the views that passes read and write, unless they exist.
    pub fn view_layers(&mut self, [source, target]: [&GpuImage; 2], [from, to]: [ViewInfo; 2]) {
        let of = [source.texture_view.id(), target.texture_view.id()];
        if self.views.as_ref().is_none_or(|(viewed, _)| *viewed != of) {
            let levels = (0..to.levels).map(|level| layers_of(target, &to, level));
            let layers = core::iter::once(layers_of(source, &from, 0)).chain(levels);
            self.views = Some((of, layers.collect()));
        }
    }

    /// Releases textures.
    pub fn release(&mut self) {
        self.views = None;
        self.due = None;
        self.copy.take_if(|copy| !copy.is_kept);
        self.job.forget();
        self.levels.iter_mut().for_each(BlurJob::release);
    }
}
