//! A render world of symbols: textures hold what was drawn into them, not texels. It does what requests say, late if it is
//! told to be.

use super::super::job::{Carried, OwnTarget, Reads};
use super::super::request::{BlurId, ImageRequest, ImageSpec, Outcomes, Requests};
use crate::errors::BlurError;
use bevy::platform::collections::{HashMap, HashSet};
use bevy::prelude::*;
use bevy::render::render_resource::TextureFormat;
use std::sync::Arc;

/// Images of this size are no masks.
pub const UNREADABLE: UVec2 = UVec2::splat(2);

/// What a texture shows.
#[derive(Clone, Debug, PartialEq)]
pub enum Content {
    Blank,
    Pixels(u8),
    Blurred(Arc<Blurred>),
}

/// A result, and the blur that it is of.
#[derive(Clone, Debug, PartialEq)]
pub struct Blurred {
    pub by: BlurId,
    pub radius: u32,
    pub mask: Option<Content>,
    pub of: Content,
    /// Whether it covers the picture that it is of, which is kept.
    is_kept: bool,
}

/// A texture without its content.
#[derive(Clone, Copy, Debug)]
pub struct Texture {
    number: usize,
    pub size: UVec2,
}

/// An image asset that was added or modified: its size, and its pixels. `None` if nothing uses it any more.
pub type Extracted = (AssetId<Image>, Option<(UVec2, Option<u8>)>);

/// What is extracted of a frame.
pub struct Snapshot {
    pub requests: Requests,
    pub images: Vec<Extracted>,
    pub is_device_lost: bool,
}

/// What a request came to in the last frame.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Verdict {
    Ran,
    /// There was nothing to do, or it failed: nobody waits for it.
    Free,
    /// An input is missing, or has yet to be written.
    Waits,
    /// Pixels or pipelines are late.
    IsLate,
}

/// What a blur reads and writes.
#[derive(Clone, Copy)]
struct Images {
    source: Texture,
    mask: Option<Texture>,
    target: Texture,
}

impl Images {
    fn numbers(self) -> [Option<usize>; 3] {
        [Some(self.source), self.mask, Some(self.target)].map(|texture| Some(texture?.number))
    }

    fn check(self, spec: &ImageSpec) -> Result<(), BlurError> {
        let (source, target) = (self.source.size, self.target.size);
        match self.mask {
            _ if source != target => Err(BlurError::SizeMismatch { source, target }),
            Some(_) if spec.profile.mask() == Some(spec.target) => Err(BlurError::MaskIsTarget),
            Some(mask) if mask.size == UNREADABLE => Err(BlurError::UnsupportedMask {
                format: TextureFormat::R8Uint,
            }),
            _ => Ok(()),
        }
    }
}

#[derive(Default)]
struct Job {
    done: Option<Carried<usize>>,
    /// The picture before a blur in place, with its texture and the number of its pixels.
    sheet: Option<(usize, u64, Content)>,
    /// The texture of the last run, if it was such a blur.
    kept: Option<usize>,
    /// Whether the last run left the picture, in place, as it was: blank, perhaps.
    leaves_source: bool,
}

#[derive(Default)]
pub struct Renderer {
    /// What Bevy shows.
    textures: HashMap<AssetId<Image>, Texture>,
    /// Of each texture.
    contents: Vec<Content>,
    /// Images whose pixels are late.
    waiting: Vec<(AssetId<Image>, UVec2, u8)>,
    jobs: HashMap<BlurId, Job>,
    own: HashMap<AssetId<Image>, OwnTarget<usize, Texture>>,
    pub verdicts: HashMap<BlurId, Verdict>,
    /// For how many frames pixels and pipelines are late.
    pub late_pixels: u8,
    pub late_pipelines: u8,
    /// What went wrong.
    pub faults: Vec<String>,
}

impl Renderer {
    /// The revision that a blur has carried out last.
    pub fn done(&self, id: BlurId) -> Option<u64> {
        Some(self.jobs.get(&id)?.done?.revision)
    }

    pub fn job_count(&self) -> usize {
        self.jobs.len() + self.own.len()
    }

    /// The size of an image, and what it shows.
    pub fn shown(&self, id: AssetId<Image>) -> Option<(UVec2, &Content)> {
        let texture = self.textures.get(&id)?;
        Some((texture.size, &self.contents[texture.number]))
    }

    pub fn render(&mut self, snapshot: Snapshot, outcomes: &Outcomes) {
        if snapshot.is_device_lost {
            self.textures.clear();
            self.waiting.clear();
            self.jobs.clear();
            self.own.clear();
            outcomes.start_over();
        }
        for extracted in snapshot.images {
            self.take(extracted);
        }
        if self.late_pixels == 0 {
            for (id, size, pixels) in core::mem::take(&mut self.waiting) {
                self.upload(id, size, Content::Pixels(pixels));
            }
        }
        self.jobs.retain(|id, _| snapshot.requests.live.contains(id));
        self.own.retain(|id, _| snapshot.requests.owned.contains(id));
        self.verdicts.clear();
        let mut written = HashSet::default();
        for request in &snapshot.requests.ordered {
            if !snapshot.requests.live.contains(&request.id) {
                self.faults
                    .push(format!("{:?} is requested, and not alive", request.id));
            }
            self.jobs.entry(request.id).or_default();
            let verdict = match self.find(request) {
                Ok(images) => self.run(request, images, &mut written, outcomes),
                Err(verdict) => verdict,
            };
            if request.spec.owns_target {
                self.settle(request, verdict);
            }
            self.verdicts.insert(request.id, verdict);
        }
        self.late_pixels = self.late_pixels.saturating_sub(1);
        self.late_pipelines = self.late_pipelines.saturating_sub(1);
    }

    fn take(&mut self, (id, image): Extracted) {
        self.waiting.retain(|(waiting, ..)| *waiting != id);
        match image {
            None => _ = self.textures.remove(&id),
            Some((size, Some(pixels))) => {
                // While pixels are uploaded, Bevy hides the old ones.
                if self.late_pixels > 0 {
                    self.textures.remove(&id);
                }
                self.waiting.push((id, size, pixels));
            }
            // Bevy keeps a texture of the same size.
            Some((size, None)) => {
                if self.textures.get(&id).is_none_or(|texture| texture.size != size) {
                    self.upload(id, size, Content::Blank);
                }
            }
        }
    }

    fn upload(&mut self, id: AssetId<Image>, size: UVec2, content: Content) {
        match self.textures.get(&id).filter(|texture| texture.size == size) {
            Some(texture) => self.contents[texture.number] = content,
            None => {
                let number = self.contents.len();
                self.textures.insert(id, Texture { number, size });
                self.contents.push(content);
            }
        }
    }

    /// What a request reads and writes, unless something is missing.
    fn find(&mut self, request: &ImageRequest) -> Result<Images, Verdict> {
        let spec = &request.spec;
        let is_late = |id: AssetId<Image>| self.waiting.iter().any(|(waiting, ..)| *waiting == id);
        if spec.inputs().chain([spec.target]).any(is_late) {
            return Err(Verdict::IsLate);
        }
        let find = |id: AssetId<Image>| self.textures.get(&id).copied().ok_or(Verdict::Waits);
        let (source, shown) = (find(spec.source), find(spec.target)?);
        let mask = spec.profile.mask().map(find).transpose();
        let is_wanted = |image: &Texture| source.is_ok_and(|source| image.size == source.size);
        let target = match spec.owns_target {
            true => {
                let number = self.contents.len();
                let made = source.ok().map(|source| (number, Texture { number, ..source }));
                let own = self.own.entry(spec.target).or_default();
                let target = source
                    .ok()
                    .and_then(|_| own.choose((shown.number, &shown), is_wanted, || made));
                if target.is_some_and(|target| target.number == number) {
                    self.contents.push(Content::Blank);
                }
                target.ok_or(Verdict::Waits)
            }
            false => Ok(shown),
        };
        let (source, mask, target) = (source?, mask?, target?);
        for feeder in request.feeders.iter().flatten() {
            match self.verdicts.get(feeder) {
                Some(Verdict::Ran | Verdict::Free) => {}
                Some(late) => return Err(*late),
                None => return Err(Verdict::Waits),
            }
        }
        Ok(Images { source, mask, target })
    }

    fn run(
        &mut self,
        request: &ImageRequest,
        images: Images,
        written: &mut HashSet<AssetId<Image>>,
        outcomes: &Outcomes,
    ) -> Verdict {
        if let Err(error) = images.check(&request.spec) {
            outcomes.report(request, Err(error));
            return Verdict::Free;
        }
        let is_fed = request.spec.inputs().any(|input| written.contains(&input));
        let now = Carried {
            revision: request.revision,
            textures: images.numbers(),
        };
        if !now.is_due(self.jobs[&request.id].done.as_ref(), request.spec.update, is_fed) {
            return Verdict::Free;
        }
        if self.late_pipelines > 0 {
            return Verdict::IsLate;
        }
        self.blur(request, images);
        self.jobs.entry(request.id).or_default().done = Some(now);
        written.insert(request.spec.target);
        outcomes.report(request, Ok(()));
        Verdict::Ran
    }

    fn blur(&mut self, request: &ImageRequest, images: Images) {
        let (spec, source) = (&request.spec, images.source.number);
        let job = self.jobs.entry(request.id).or_default();
        let is_sheet = |(number, pixels, _): &&(usize, u64, Content)| (*number, *pixels) == (source, spec.pixels);
        let sheet = job.sheet.as_ref().filter(is_sheet);
        let reads = Reads::new(spec, spec.blur.radius == 0.0, sheet.is_some());
        let of = match (reads, sheet) {
            (Reads::KeptCopy | Reads::CopyBack, Some((.., sheet))) => sheet.clone(),
            _ => self.contents[source].clone(),
        };
        job.sheet = reads.keeps_copy(spec).then(|| (source, spec.pixels, of.clone()));
        // It may blur what it wrote for another source.
        let is_own = matches!(&of, Content::Blurred(of) if of.by == request.id && of.is_kept);
        let must_be_sharp = reads == Reads::Nothing || reads == Reads::NewCopy && spec.keeps_source();
        if must_be_sharp && is_own && job.kept == Some(source) {
            self.faults.push(format!(
                "{:?} blurs its own result, or leaves it: {reads:?}",
                request.id
            ));
        }
        job.kept = job.sheet.as_ref().map(|_| source);
        job.leaves_source = matches!(reads, Reads::Nothing | Reads::CopyBack);
        match reads {
            Reads::Nothing => return,
            Reads::CopyBack => return self.contents[images.target.number] = of,
            Reads::Source | Reads::NewCopy | Reads::KeptCopy => {}
        }
        let result = Blurred {
            by: request.id,
            radius: spec.blur.radius as u32,
            mask: images.mask.map(|mask| self.contents[mask.number].clone()),
            of,
            is_kept: job.kept.is_some(),
        };
        self.contents[images.target.number] = Content::Blurred(Arc::new(result));
    }

    /// Puts the last result into a target of the plugin's own.
    fn settle(&mut self, request: &ImageRequest, verdict: Verdict) {
        let target = request.spec.target;
        let (job, Some(own)) = (&self.jobs[&request.id], self.own.get_mut(&target)) else {
            return;
        };
        if let Some((image, _)) = own.show(verdict == Verdict::Ran, job.done.as_ref()) {
            if self.contents[image.number] == Content::Blank && !job.leaves_source {
                self.faults
                    .push(format!("{:?} shows nothing, and had a result", request.id));
            }
            self.textures.insert(target, *image);
        }
    }
}
