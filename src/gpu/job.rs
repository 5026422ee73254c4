//! A blur from frame to frame.
//!
//! A front end updates its job with a [`BlurRequest`] in every frame, before anything is drawn. The job checks whether
//! all inputs exist, plans, takes textures, and returns what it can do ([`BlurState`]). While an input or a pipeline of
//! a new request is missing, the job draws its last drawn request again, unless that would do harm, for example blur a
//! result twice.

use super::encode::{BlurRecorder, Timed, Views};
use super::prepare::BlurPreparer;
use super::prepared::{BlurAccess, Prepared};
use super::request::{BlurRequest, Work};
use crate::errors::{BlurError, Reported};
use crate::plan::pass::Pass;
use crate::settings::BlurProfile;
use crate::sigma_field::Mask;
use bevy::render::render_resource::{BindGroup, CommandEncoder, CommandEncoderDescriptor, TextureView, TextureViewId};
use bevy::render::renderer::RenderContext;
use core::sync::atomic::Ordering;

/// What a job can do in this frame.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum BlurState {
    /// The job does nothing: the request changes nothing, or failed.
    #[default]
    Nothing,
    /// An input is missing. If the job has drawn before, it keeps its previous profile.
    Waiting,
    /// A pipeline is missing. If the job has drawn before, it draws the same again.
    Compiling,
    /// The job does what was requested.
    Ready,
}

/// A profile whose mask exists, or that has none.
type Profiled = (BlurProfile, Option<Mask>);

/// A blur from frame to frame.
#[derive(Default)]
pub struct BlurJob {
    parts: Parts<Prepared>,
    state: BlurState,
    failures: Reported,
}

/// The requests of a job, each with everything needed to draw it.
#[derive(Debug, PartialEq)]
pub struct Parts<T> {
    /// The request of this frame. Without one, nothing is drawn.
    pub next: Option<T>,
    /// An earlier request: drawn while pipelines of the next one are missing, or, while nothing is drawn, what it holds may
    /// serve the next one.
    pub last: Option<T>,
}

impl<T> Default for Parts<T> {
    fn default() -> Self {
        Self { next: None, last: None }
    }
}

impl<T> Parts<T> {
    /// The request that is drawn as soon as its pipelines are compiled.
    pub fn drawn(&self) -> Option<&T> {
        let next = self.next.as_ref()?;
        Some(self.last.as_ref().unwrap_or(next))
    }

    fn drawn_mut(&mut self) -> Option<&mut T> {
        let next = self.next.as_mut()?;
        Some(self.last.as_mut().unwrap_or(next))
    }

    /// Takes the request of the last frame, or else what is left of an earlier one.
    pub fn take_newest(&mut self) -> Option<T> {
        self.next.take().or_else(|| self.last.take())
    }

    /// Turns to the request of this frame. Of the requests before it, the newest that `stands_in` for it is drawn in its
    /// place. Returns the one before it if it does not: the next one may take over what it holds.
    pub fn turn(&mut self, next: T, before: Option<T>, stands_in: impl Fn(&T, &T) -> bool) -> Option<T> {
        let is_drawn = |old: &T| stands_in(old, &next);
        let is_last = before.as_ref().is_some_and(is_drawn);
        let (last, spare) = if is_last {
            (before, None)
        } else {
            (self.last.take().filter(is_drawn), before)
        };
        (self.next, self.last) = (Some(next), last);
        spare
    }

    /// Draws nothing any more. What was drawn last may be taken up again.
    pub fn rest(&mut self) {
        let next = self.next.take();
        self.last = self.last.take().or(next);
    }
}

/// Whether an earlier request may be drawn in the place of a new one.
pub fn stands_in(old: &BlurRequest, request: &BlurRequest) -> bool {
    request.source_is_fresh && !matches!(old.work, Work::Batch(..)) && old.has_textures_of(request)
}

impl BlurJob {
    /// The profile that was shown last.
    fn profiled(&self) -> Option<Profiled> {
        let last = self.parts.last.as_ref().or(self.parts.next.as_ref());
        let last = last.filter(|last| last.was_drawn);
        last.map(|last| last.request.profiled())
    }

    /// Updates the job with the request of this frame.
    ///
    /// # Errors
    /// Any reason why the request cannot be carried out, once for each cause. While it lasts, the state is
    /// [`BlurState::Nothing`].
    pub fn update(&mut self, preparer: &mut BlurPreparer, request: BlurRequest) -> Result<BlurState, BlurError> {
        let outcome = self.try_update(preparer, request);
        self.settle(outcome)
    }

    /// Updates the job for a caller that [settles](Self::settle) the outcome itself, perhaps together with other jobs'
    /// outcomes.
    ///
    /// # Errors
    /// Any reason why the request cannot be carried out, in every frame.
    pub fn try_update(
        &mut self,
        preparer: &mut BlurPreparer,
        mut request: BlurRequest,
    ) -> Result<BlurState, BlurError> {
        preparer.announce(request.ends, request.work.kind(), request.finish);
        if request.is_idle() {
            self.rest();
            return Ok(BlurState::Nothing);
        }
        let is_whole = preparer.find_mask(&mut request)?;
        if !is_whole && !self.keep_profile(&mut request) {
            if request.source_is_fresh {
                self.release();
            } else {
                self.rest();
            }
            self.state = BlurState::Waiting;
            return Ok(self.state);
        }
        let shown = self.show(preparer, request);
        let is_ready = shown.inspect_err(|_| self.parts = Parts::default())?;
        self.state = match is_whole {
            false => BlurState::Waiting,
            true if is_ready => BlurState::Ready,
            true => BlurState::Compiling,
        };
        Ok(self.state)
    }

    /// Gives a request whose mask is missing the profile that was shown last, so that the picture stays blurred. Returns
    /// whether it may be drawn: if the source is not sharp again in this frame, it would be blurred twice.
    fn keep_profile(&self, request: &mut BlurRequest) -> bool {
        let profiled = self.profiled().filter(|_| request.source_is_fresh);
        profiled
            .map(|(profile, mask)| request.take_profile(profile, mask))
            .is_some()
    }

    /// Shows a request whose inputs exist. Returns whether its pipelines are compiled.
    fn show(&mut self, preparer: &mut BlurPreparer, request: BlurRequest) -> Result<bool, BlurError> {
        let mut before = self.parts.take_newest();
        let next = match before.take_if(|before| before.request.plans_like(&request)) {
            Some(mut known) => {
                known.take_request(request);
                known
            }
            None => preparer.plan(request, before.as_mut())?,
        };
        let is_ready = preparer.is_ready(&next);
        let spare = self.parts.turn(next, before, |old, next| {
            !is_ready && old.was_drawn && stands_in(&old.request, &next.request)
        });
        let Parts { next, last } = &mut self.parts;
        if let (Some(next), Some(spare)) = (next.as_mut(), spare) {
            next.held = spare.held;
        }
        [&mut *next, last]
            .into_iter()
            .flatten()
            .try_for_each(|part| preparer.equip(part))?;
        if let Some(next) = next.as_mut().filter(|_| is_ready) {
            preparer.note_drawn(next);
        }
        Ok(is_ready)
    }

    /// Returns a failure only if it is new. A failed job releases its textures.
    ///
    /// # Errors
    /// The failure of the outcome, once for each cause.
    pub fn settle(&mut self, outcome: Result<BlurState, BlurError>) -> Result<BlurState, BlurError> {
        let state = match outcome {
            // It has neither failed nor succeeded yet.
            Ok(BlurState::Waiting) => return outcome,
            Ok(state) => state,
            Err(_) => {
                self.rest();
                BlurState::Nothing
            }
        };
        match self.failures.news(outcome.map(drop)) {
            Some(error) => Err(error),
            None => Ok(state),
        }
    }

    /// Makes the next failure a new one: the request is about something else.
    pub fn forget_failures(&mut self) {
        self.failures = Reported::default();
    }

    /// Whether the job has nothing to record.
    pub fn is_idle(&self) -> bool {
        self.parts.next.is_none()
    }

    /// Releases the textures, but not what is cheap to keep, so that the blur resumes without a hitch.
    pub fn release(&mut self) {
        self.state = BlurState::Nothing;
        self.parts.rest();
        if let Some(spare) = &mut self.parts.last {
            spare.release();
        }
    }

    /// Releases the mask, too. If the next one is not there yet, the job waits for it.
    pub fn forget(&mut self) {
        self.release();
        if let Some(spare) = &mut self.parts.last {
            spare.was_drawn &= !spare.request.drop_mask();
        }
    }

    /// Forgets everything: when it is active again, neither the old mask nor the old strength stands in for the new one.
    fn rest(&mut self) {
        self.forget();
        if let Some(spare) = &mut self.parts.last {
            spare.was_drawn = false;
        }
    }

    /// Binds a job that defers its last step, for any of these sources. Returns whether it can be encoded.
    pub fn bind(&mut self, preparer: &BlurPreparer, sources: &[&TextureView]) -> bool {
        let drawn = self.parts.drawn_mut().filter(|drawn| preparer.is_ready(drawn));
        drawn
            .map(|drawn| {
                drawn.bind_deferred(&preparer.pipelines, sources);
                drawn.was_drawn = true;
            })
            .is_some()
    }

    /// How many texels its passes write.
    pub fn texels(&self) -> u64 {
        let area = |pass: &Pass| u64::from(pass.size.x) * u64::from(pass.size.y);
        let drawn = self.parts.drawn().filter(|drawn| !drawn.is_kept());
        let passes = drawn.into_iter().flat_map(|drawn| &drawn.plan.passes);
        passes.map(area).sum()
    }

    /// The input of the deferred step of an [item](Work::Batch), or of the only deferred step (0). `None` until the job
    /// is bound.
    pub fn deferred(&self, item: usize) -> Option<Deferred<'_>> {
        let drawn = self.parts.drawn()?;
        let pass = drawn.plan.deferred.get(item)?;
        let (step, source) = (drawn.plan.passes.len() + item, drawn.held.sources.last()?);
        Some(Deferred {
            bind_group: drawn.group(step, [source; 2])?,
            offset: drawn.offset_of(step),
            filtered: pass.program.filters(),
        })
    }

    /// Whether the requested blur can be encoded.
    pub fn is_ready(&self, with: &BlurRecorder) -> bool {
        let next = self.parts.next.as_ref();
        next.is_some_and(|next| next.is_ready(&with.pipelines, &with.cache))
    }

    /// Updates the job and executes it at once, before everything that this frame encodes. Returns whether it could be
    /// executed.
    ///
    /// # Errors
    /// The errors of [`BlurJob::try_update`].
    pub fn run(&mut self, preparer: &mut BlurPreparer, request: BlurRequest, views: &Views) -> Result<bool, BlurError> {
        if self.try_update(preparer, request)? != BlurState::Ready {
            return Ok(false);
        }
        if let Some(next) = &mut self.parts.next {
            let (pipelines, ends) = (&preparer.pipelines, views.ends);
            let with = BlurAccess {
                pipelines,
                cache: preparer.cache(),
                recorder: None,
                timer: None,
            };
            next.bind(pipelines, ends);
            let label = Some("gaussian_blur_at_once");
            let mut encoder = (pipelines.device).create_command_encoder(&CommandEncoderDescriptor { label });
            next.encode(&mut encoder, with, ends, Some(&views.attachment));
            preparer.queue.submit([encoder.finish()]);
        }
        self.release();
        Ok(true)
    }

    /// Encodes a [bound](Self::bind) job without its deferred step, for one of its bound sources, or for the only one.
    pub fn encode(&self, with: BlurAccess, encoder: &mut CommandEncoder, source: TextureViewId) {
        if let Some(drawn) = self.parts.drawn().filter(|drawn| !drawn.is_kept()) {
            let bound = &drawn.held.sources;
            let source = bound.iter().find(|bound| bound.id() == source).or(bound.last());
            let Some(source) = source else {
                return;
            };
            drawn.encode(encoder, with, [source; 2], None);
            // While an input is on its way, an older one stands in for it.
            let is_whole = self.state != BlurState::Waiting;
            drawn.is_blurred.store(is_whole, Ordering::Relaxed);
        }
    }

    /// Encodes the passes of the requested blur, or of the one that was drawn last while pipelines are missing.
    ///
    /// Returns whether it encoded the requested blur.
    pub fn record(&mut self, with: &BlurRecorder, context: &mut RenderContext, timed: Timed, views: &Views) -> bool {
        // A pipeline may have been compiled since the request was prepared.
        let is_ready = self.is_ready(with);
        if is_ready {
            self.parts.last = None;
        }
        let drawn = self.parts.drawn_mut();
        let is_drawn = drawn.is_some_and(|drawn| drawn.record(with, context, timed, views));
        is_drawn && is_ready && self.state != BlurState::Waiting
    }
}

/// The input of a deferred step: a bind group of [`deferred_layout`](super::deferred_layout).
pub struct Deferred<'a> {
    /// The uniform, the level, and the sampler if it is filtered.
    pub bind_group: &'a BindGroup,
    /// The dynamic offset of the uniform.
    pub offset: u32,
    /// Whether the level is read with filtered fetches.
    pub filtered: bool,
}
