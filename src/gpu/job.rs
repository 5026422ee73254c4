//! A blur from frame to frame.
//!
//! A front end updates its job with a [`BlurRequest`] in every frame, before anything is drawn. The job checks whether
//! all inputs exist, plans, takes textures, and returns what it can do ([`BlurState`]). While an input or a pipeline of
//! a new request is missing, the job draws its last drawn request again, unless that would do harm, for example blur a
//! result twice.

use super::prepare::BlurPreparer;
use super::prepared::{BoundLevel, Prepared};
use super::request::{BlurRequest, Work};
use super::shown::Shown;
use super::step::uniform_offset;
use crate::errors::{BlurError, Reported};
use crate::plan::pass::Pass;
use crate::settings::BlurProfile;
use bevy::render::render_resource::{BindGroup, TextureView};

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

/// A blur from frame to frame.
#[derive(Default)]
pub struct BlurJob {
    pub(super) shown: Shown<Prepared>,
    /// The profile of the last request whose inputs all existed, with its mask.
    known: Option<(BlurProfile, Option<TextureView>)>,
    pub(super) state: BlurState,
    failures: Reported,
}

impl BlurJob {
    /// A job that takes over from another one: while its mask is missing, it shows the profile that the other one showed. `None`
    /// shows nothing until then.
    #[must_use]
    pub fn after(other: Option<&Self>) -> Self {
        Self {
            known: other.and_then(|other| other.known.clone()),
            ..Self::default()
        }
    }

    /// A job that takes over from a blur with the same sigma everywhere.
    #[must_use]
    pub fn after_uniform() -> Self {
        Self {
            known: Some((BlurProfile::Uniform, None)),
            ..Self::default()
        }
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

    /// The same for a caller that [settles](Self::settle) the outcome itself, perhaps together with other jobs'
    /// outcomes.
    ///
    /// # Errors
    /// Any reason why the request cannot be carried out, in every frame.
    pub fn try_update(
        &mut self,
        preparer: &mut BlurPreparer,
        mut request: BlurRequest,
    ) -> Result<BlurState, BlurError> {
        preparer.announce(request.io.ends, request.work.kind(), request.finish);
        if request.is_idle() {
            self.rest();
            return Ok(BlurState::Nothing);
        }
        let are_there = self.find_inputs(preparer, &mut request)?;
        if !are_there && self.known.is_none() {
            self.release();
            self.state = BlurState::Waiting;
            return Ok(self.state);
        }
        let is_fresh = request.io.source_is_fresh;
        let shown = core::mem::take(&mut self.shown);
        let shown = if is_fresh { shown } else { shown.without_last() };
        let mask = self.known.as_ref().and_then(|(_, mask)| mask.as_ref());
        self.shown = preparer.prepare(shown, request, mask)?;
        self.state = match &self.shown {
            _ if !are_there => BlurState::Waiting,
            Shown::Request(_) => BlurState::Ready,
            _ => BlurState::Compiling,
        };
        Ok(self.state)
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

    /// Returns whether all inputs exist. If not, and the source is sharp again in this frame, the request gets the
    /// previous profile, so that the picture stays blurred.
    fn find_inputs(&mut self, preparer: &BlurPreparer, request: &mut BlurRequest) -> Result<bool, BlurError> {
        let Work::Vary { sigma, edge, field } = &mut request.work else {
            self.known = Some((BlurProfile::Uniform, None));
            return Ok(true);
        };
        let mask = match (field.mask, &request.mask) {
            (Some(_), Some(given)) => Some(Some(given.0.clone())),
            (Some(mask), None) => preparer.find_mask(mask, request.io.target)?.map(Some),
            (None, _) => Some(None),
        };
        if let Some(mask) = mask {
            self.known = Some((field.profile.clone(), mask));
            return Ok(true);
        }
        if !request.io.source_is_fresh {
            self.known = None;
        }
        match &self.known {
            Some((BlurProfile::Uniform, _)) => {
                request.work = Work::Blur {
                    sigma: *sigma,
                    edge: *edge,
                };
            }
            Some((profile, _)) => field.profile = profile.clone(),
            None => {}
        }
        Ok(false)
    }

    /// Binds a job that defers its last step, for any of these sources. Returns whether it can be encoded.
    pub fn bind(&mut self, preparer: &BlurPreparer, sources: &[&TextureView]) -> bool {
        let drawn = self.shown.drawn_mut();
        drawn.is_some_and(|drawn| preparer.bind(drawn, sources))
    }

    /// Whether the job has nothing to record.
    #[must_use]
    pub fn is_idle(&self) -> bool {
        self.shown.current().is_none()
    }

    /// The request that a job with a deferred last step draws in this frame.
    pub(super) fn drawn(&self) -> Option<&Prepared> {
        self.shown.drawn()
    }

    /// How many texels its passes write.
    #[must_use]
    pub fn texels(&self) -> u64 {
        let area = |pass: &Pass| u64::from(pass.size.x) * u64::from(pass.size.y);
        let drawn = self.drawn().filter(|drawn| !drawn.is_kept());
        let passes = drawn.into_iter().flat_map(|drawn| &drawn.plan.passes);
        passes.map(area).sum()
    }

    /// The input of the deferred step of an [item](Work::Batch), or of the only deferred step (0). `None` until the job
    /// is bound.
    #[must_use]
    pub fn deferred(&self, item: usize) -> Option<Deferred<'_>> {
        let drawn = self.drawn()?;
        let pass = drawn.plan.deferred.get(item)?;
        let (level, filtered) = (drawn.level_of(pass)?.id(), pass.program.filters());
        let is_it = |bound: &&BoundLevel| bound.level == level && bound.filtered == filtered;
        Some(Deferred {
            bind_group: &drawn.deferred.iter().find(is_it)?.group,
            offset: uniform_offset(drawn.plan.passes.len() + item),
            filtered,
        })
    }

    /// Releases the textures, but not what is cheap to keep, so that the blur resumes without a hitch.
    pub fn release(&mut self) {
        self.state = BlurState::Nothing;
        self.shown = core::mem::take(&mut self.shown).rest();
        if let Some(spare) = self.shown.newest_mut() {
            spare.release();
        }
    }

    /// Forgets everything: when it is active again, neither the old mask nor the old strength stands in for the new one.
    fn rest(&mut self) {
        self.forget();
        if let Some(spare) = self.shown.newest_mut() {
            spare.was_drawn = false;
        }
    }

    /// Releases the mask, too. If the next one is not there yet, the job waits for it.
    pub fn forget(&mut self) {
        self.known = None;
        self.release();
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
