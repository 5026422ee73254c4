//! A render world of symbols: textures hold what was drawn into them, not texels. It does what requests say, late if it is
//! told to be.

use super::super::request::{BlurId, ImageRequest, Outcomes, Requests};
use crate::errors::BlurError;
use crate::settings::{BlurProfile, BlurUpdate};
use bevy::platform::collections::{HashMap, HashSet};
use bevy::prelude::*;
use std::sync::Arc;

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

#[derive(Clone, Debug)]
pub struct Texture {
    number: u64,
    pub size: UVec2,
    pub content: Content,
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

#[derive(Default)]
struct Job {
    /// The revision and the textures of the last run.
    done: Option<(u64, [Option<u64>; 3])>,
    /// The picture before a blur in place, with its texture and the number of its pixels.
    sheet: Option<(u64, u64, Content)>,
    /// Whether the last run was such a blur.
    was_kept: bool,
}

#[derive(Default)]
pub struct Renderer {
    pub textures: HashMap<AssetId<Image>, Texture>,
    /// Images whose pixels are late.
    waiting: Vec<(AssetId<Image>, UVec2, u8)>,
    jobs: HashMap<BlurId, Job>,
    pub verdicts: HashMap<BlurId, Verdict>,
    made: u64,
    /// For how many frames pixels and pipelines are late.
    pub late_pixels: u8,
    pub late_pipelines: u8,
    /// What went wrong.
    pub faults: Vec<String>,
}

impl Renderer {
    /// The revision that a blur has carried out last.
    pub fn done(&self, id: BlurId) -> Option<u64> {
        self.jobs.get(&id)?.done.map(|(revision, _)| revision)
    }

    pub fn job_count(&self) -> usize {
        self.jobs.len()
    }

    pub fn render(&mut self, snapshot: Snapshot, outcomes: &Outcomes) {
        if snapshot.is_device_lost {
            self.textures.clear();
            self.waiting.clear();
            self.jobs.clear();
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
        self.verdicts.clear();
        let mut written = HashSet::default();
        for request in &snapshot.requests.ordered {
            if !snapshot.requests.live.contains(&request.id) {
                self.faults
                    .push(format!("{:?} is requested, and not alive", request.id));
            }
            let verdict = self.draw(request, &mut written, outcomes);
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
            // A target of the plugin's own keeps what it shows until the next result.
            Some((size, None)) => {
                if !self.textures.contains_key(&id) {
                    self.upload(id, size, Content::Blank);
                }
            }
        }
    }

    fn upload(&mut self, id: AssetId<Image>, size: UVec2, content: Content) {
        let known = self.textures.get(&id).filter(|texture| texture.size == size);
        let number = known.map_or_else(|| self.made + 1, |texture| texture.number);
        self.made = self.made.max(number);
        self.textures.insert(id, Texture { number, size, content });
    }

    fn draw(&mut self, request: &ImageRequest, written: &mut HashSet<AssetId<Image>>, outcomes: &Outcomes) -> Verdict {
        let spec = &request.spec;
        let is_late = |id: AssetId<Image>| self.waiting.iter().any(|(waiting, ..)| *waiting == id);
        if [Some(spec.source), spec.profile.mask(), Some(spec.target)]
            .into_iter()
            .flatten()
            .any(is_late)
        {
            return Verdict::IsLate;
        }
        let mask = spec.profile.mask().map(|mask| self.textures.get(&mask).cloned());
        let (Some(source), Some(target)) = (self.textures.get(&spec.source), self.textures.get(&spec.target)) else {
            return Verdict::Waits;
        };
        let (source, target) = (source.clone(), target.clone());
        let mask = match mask {
            Some(None) => return Verdict::Waits,
            Some(mask) => mask,
            None => None,
        };
        for feeder in request.feeders.iter().flatten() {
            match self.verdicts.get(feeder) {
                Some(Verdict::Ran | Verdict::Free) => {}
                Some(late) => return *late,
                None => return Verdict::Waits,
            }
        }
        if !spec.owns_target && source.size != target.size {
            let (source, target) = (source.size, target.size);
            outcomes.fail(request, BlurError::SizeMismatch { source, target });
            return Verdict::Free;
        }
        if spec.profile.mask() == Some(spec.target) {
            outcomes.fail(request, BlurError::MaskIsTarget);
            return Verdict::Free;
        }
        let textures = [
            Some(source.number),
            mask.as_ref().map(|mask| mask.number),
            Some(target.number),
        ];
        let job = self.jobs.entry(request.id).or_default();
        let is_fed = spec.inputs().any(|input| written.contains(&input));
        let is_due = match job.done {
            _ if spec.update == BlurUpdate::EveryFrame => true,
            None => true,
            Some((revision, _)) if revision != request.revision => true,
            Some((_, before)) => spec.update == BlurUpdate::OnChange && (before != textures || is_fed),
        };
        if !is_due {
            return Verdict::Free;
        }
        if self.late_pipelines > 0 {
            return Verdict::IsLate;
        }
        let mut of = source.content.clone();
        if spec.keeps_source() {
            match &job.sheet {
                Some((number, pixels, sheet)) if (*number, *pixels) == (source.number, spec.pixels) => {
                    of = sheet.clone();
                }
                _ => job.sheet = Some((source.number, spec.pixels, of.clone())),
            }
            // It may blur what it wrote for another source.
            if matches!(&of, Content::Blurred(of) if of.by == request.id && of.is_kept && job.was_kept) {
                self.faults.push(format!("{:?} blurs its own result", request.id));
            }
        }
        job.was_kept = spec.keeps_source();
        if !job.was_kept {
            job.sheet = None;
        }
        let result = Blurred {
            is_kept: job.was_kept,
            by: request.id,
            radius: spec.blur.radius as u32,
            mask: mask.map(|mask| mask.content),
            of,
        };
        let size = if spec.owns_target { source.size } else { target.size };
        self.upload(spec.target, size, Content::Blurred(Arc::new(result)));
        let target = self.textures[&spec.target].number;
        let job = self.jobs.entry(request.id).or_default();
        job.done = Some((request.revision, [textures[0], textures[1], Some(target)]));
        written.insert(spec.target);
        outcomes.finish(request);
        Verdict::Ran
    }
}

/// The number of the mask that a profile names, and whether it varies otherwise.
pub fn mask_of(profile: Option<&BlurProfile>) -> Option<AssetId<Image>> {
    profile.and_then(BlurProfile::mask)
}
