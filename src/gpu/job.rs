//! A blur from frame to frame.
//!
//! A front end updates its job with a [`BlurRequest`] in every frame, before anything is drawn. The job checks whether
//! all inputs exist, plans, takes textures, and returns what it can do ([`BlurState`]). While the mask or a pipeline of
//! a new request is missing, the job draws its last drawn request again, unless that would do harm, for example blur a
//! result twice.

use super::encode::{BlurAccess, BlurRecorder, Timed, Views};
use super::prepare::{BlurPreparer, Prepared};
use super::request::{BlurRequest, Work};
use crate::errors::{BlurError, Reported};
use crate::plan::pack::PageSet;
use crate::plan::pass::Pass;
use bevy::platform::collections::HashMap;
use bevy::prelude::*;
use bevy::render::render_resource::{BindGroup, CommandEncoder, CommandEncoderDescriptor, TextureView, TextureViewId};
use bevy::render::renderer::RenderContext;
use core::sync::atomic::Ordering;

/// What a job can do in this frame.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum BlurState {
    /// The job does nothing: the request changes nothing, or failed.
    #[default]
    Nothing,
    /// The mask is missing. If the job has drawn before, it draws the same again.
    Waiting,
    /// A pipeline is missing. If the job has drawn before, it draws the same again.
    Compiling,
    /// The job does what was requested.
    Ready,
}

/// A blur from frame to frame.
#[derive(Default)]
pub struct BlurJob {
    parts: Parts<Prepared>,
    failures: Reported,
}

/// The requests of a job, each with everything needed to draw it.
#[derive(Debug, PartialEq)]
pub struct Parts<T> {
    /// The request of this frame. Without one, nothing is drawn.
    pub next: Option<T>,
    /// An earlier request: drawn while the mask or pipelines of the next one are missing, or, while nothing is drawn, what it
    /// holds may serve the next one.
    pub last: Option<T>,
}

impl<T> Default for Parts<T> {
    fn default() -> Self {
        Self { next: None, last: None }
    }
}

impl<T> Parts<T> {
    /// The request that is drawn as soon as it is ready.
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

/// Whether a request takes over the plan of an earlier one, and all that it holds. While the mask is missing, what was drawn must
/// stay.
pub fn takes_over((old, was_drawn): (&BlurRequest, bool), request: &BlurRequest) -> bool {
    let may_be_drawn = was_drawn && !request.has_mask();
    old.plans_like(request) && !may_be_drawn
}

impl BlurJob {
    /// Updates the job with the request of this frame, and requests the pipelines of all strengths that it may get. The caller
    /// [settles](Self::settle) the outcome, perhaps together with the outcomes of other jobs.
    ///
    /// # Errors
    /// Any reason why the request cannot be carried out, in every frame.
    pub fn update(&mut self, preparer: &mut BlurPreparer, mut request: BlurRequest) -> Result<BlurState, BlurError> {
        preparer.announce(request.ends, request.work.kind(), request.finish);
        if request.is_idle() {
            self.rest();
            return Ok(BlurState::Nothing);
        }
        preparer.find_mask(&mut request)?;
        let has_mask = request.has_mask();
        let shown = self.show(preparer, request);
        let is_ready = shown.inspect_err(|_| self.start_over())?;
        Ok(match has_mask {
            false => BlurState::Waiting,
            true if is_ready => BlurState::Ready,
            true => BlurState::Compiling,
        })
    }

    /// Shows a request. Returns whether its mask exists, and its pipelines are compiled.
    fn show(&mut self, preparer: &mut BlurPreparer, request: BlurRequest) -> Result<bool, BlurError> {
        let mut before = self.parts.take_newest();
        let next = match before.take_if(|before| takes_over((&before.request, before.was_drawn), &request)) {
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

    /// Whether the job has nothing to record.
    pub fn is_idle(&self) -> bool {
        self.parts.next.is_none()
    }

    /// Releases the textures and the mask, but not what is cheap to keep, so that the blur resumes without a hitch. If the next mask
    /// is not there yet, the job waits for it.
    pub fn release(&mut self) {
        self.parts.rest();
        if let Some(spare) = &mut self.parts.last {
            spare.release();
            spare.was_drawn &= spare.request.mask_mut().and_then(Option::take).is_none();
        }
    }

    /// Drops everything that it holds, but knows what it has reported: after a failure, or the loss of its device.
    pub fn start_over(&mut self) {
        self.parts = Parts::default();
    }

    /// Forgets everything: when it is active again, neither the old mask nor the old strength stands in for the new one.
    fn rest(&mut self) {
        self.release();
        if let Some(spare) = &mut self.parts.last {
            spare.was_drawn = false;
        }
    }

    /// Binds a job that defers its last step, for any of these sources, if it can be encoded.
    pub fn bind(&mut self, preparer: &BlurPreparer, sources: &[&TextureView]) {
        if let Some(drawn) = self.parts.drawn_mut() {
            let is_ready = preparer.is_ready(drawn);
            drawn.bind_deferred(&preparer.pipelines, if is_ready { sources } else { &[] });
            drawn.was_drawn |= drawn.is_bound();
        }
    }

    /// Whether it is bound, so that it can be encoded in this frame.
    pub fn is_bound(&self) -> bool {
        self.parts.drawn().is_some_and(Prepared::is_bound)
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
    /// The errors of [`BlurJob::update`].
    pub fn run(&mut self, preparer: &mut BlurPreparer, request: BlurRequest, views: &Views) -> Result<bool, BlurError> {
        if self.update(preparer, request)? != BlurState::Ready {
            return Ok(false);
        }
        if let Some(next) = &mut self.parts.next {
            let (pipelines, ends) = (&preparer.pipelines, views.ends);
            let with = BlurAccess {
                pipelines,
                cache: &preparer.cache,
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
            drawn.is_blurred.store(true, Ordering::Relaxed);
        }
    }

    /// Encodes the passes of the requested blur, or of the one that was drawn last while the mask or pipelines are missing.
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
        is_drawn && is_ready
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

/// Tells jobs apart, by the main world's entities that they belong to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum JobKey {
    /// The blur of a camera.
    Camera(Entity),
    /// The glass of a batch, by its first one.
    Glass(Entity),
    /// Glass whose sigma varies.
    VaryingGlass(Entity),
    /// Glass that is frozen.
    FrozenGlass(Entity),
    /// The layers of a batch on a camera, whose levels lie on pages of a set.
    Layers(Entity, PageSet),
    /// A layer whose sigma varies, by the entity of its filter.
    VaryingLayer(Entity),
}

/// The jobs, and whether this frame wants them. Recreated with the render device, whose objects they hold.
#[derive(Resource, Default)]
pub struct BlurJobs {
    all: HashMap<JobKey, (BlurJob, bool)>,
}

impl BlurJobs {
    /// Updates a job with the request of this frame. If it defers its last step, it is bound for any of these sources.
    ///
    /// # Errors
    /// The errors of [`BlurJob::update`], once for each cause.
    pub fn want(
        &mut self,
        key: JobKey,
        request: BlurRequest,
        sources: &[&TextureView],
        preparer: &mut BlurPreparer,
    ) -> Result<BlurState, BlurError> {
        let job = self.mark(key);
        let outcome = job.update(preparer, request);
        job.bind(preparer, sources);
        job.settle(outcome)
    }

    /// Keeps a job that has nothing to do in this frame, but not its textures.
    pub fn rest(&mut self, key: JobKey) {
        self.mark(key).release();
    }

    /// A job that is wanted in this frame.
    pub fn get_mut(&mut self, key: JobKey) -> Option<&mut BlurJob> {
        self.all.get_mut(&key).map(|(job, _)| job)
    }

    /// A job that can be encoded in this frame.
    pub fn bound(&self, key: JobKey) -> Option<&BlurJob> {
        self.all.get(&key).map(|(job, _)| job).filter(|job| job.is_bound())
    }

    /// The last step that a bound job leaves to a front end: of the blur with this number.
    pub fn deferred(&self, (key, item): (JobKey, usize)) -> Option<Deferred<'_>> {
        self.bound(key)?.deferred(item)
    }

    fn mark(&mut self, key: JobKey) -> &mut BlurJob {
        let (job, is_wanted) = self.all.entry(key).or_default();
        *is_wanted = true;
        job
    }
}

/// Drops the jobs that a frame has not wanted, with everything that they hold.
pub fn sweep_jobs(mut jobs: ResMut<BlurJobs>) {
    jobs.all.retain(|_, (_, is_wanted)| core::mem::take(is_wanted));
}
