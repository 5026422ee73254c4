//! A blur from frame to frame.
//!
//! A front end updates its job with a [`BlurRequest`] in every frame, before anything is drawn. The job checks whether
//! all inputs exist, plans, takes textures, and returns what it can do ([`BlurState`]). While an input or a pipeline of
//! a new request is missing, the job draws its last drawn request again, unless that would do harm, for example blur a
//! result twice.

use super::prepare::BlurPreparer;
use super::prepared::Prepared;
use super::request::{BlurRequest, Work};
use super::shown::{Drawable, Prepare, Shown};
use super::step::uniform_offset;
use crate::errors::{BlurError, Reported};
use crate::plan::pass::Pass;
use crate::settings::BlurProfile;
use crate::sigma_field::Mask;
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

/// A profile whose mask exists, or that has none.
type Profiled = (BlurProfile, Option<Mask>);

/// A blur from frame to frame.
pub struct BlurJob<D = Prepared> {
    pub(super) shown: Shown<D>,
    /// What another job has shown, until this one shows something.
    inherits: Option<Profiled>,
    pub(super) state: BlurState,
    failures: Reported,
}

impl<D> Default for BlurJob<D> {
    fn default() -> Self {
        Self {
            shown: Shown::default(),
            inherits: None,
            state: BlurState::Nothing,
            failures: Reported::default(),
        }
    }
}

impl<D: Drawable> BlurJob<D> {
    /// A job that takes over from another one: while its mask is missing, it shows the profile that the other one showed. `None`
    /// shows nothing until then.
    pub fn after(other: Option<&Self>) -> Self {
        Self {
            inherits: other.and_then(Self::profiled),
            ..Self::default()
        }
    }

    /// A job that takes over from a blur with the same sigma everywhere.
    pub fn after_uniform() -> Self {
        Self {
            inherits: Some((BlurProfile::Uniform, None)),
            ..Self::default()
        }
    }

    /// The profile that was shown last.
    fn profiled(&self) -> Option<Profiled> {
        let last = self.shown.last().filter(|last| last.was_drawn());
        let last = last.map(|last| match last.request().work.varying() {
            Some((_, field)) => (field.profile.clone(), field.mask.clone()),
            None => (BlurProfile::Uniform, None),
        });
        last.or_else(|| self.inherits.clone())
    }

    /// Updates what is shown.
    ///
    /// # Errors
    /// Any reason why the request cannot be carried out, in every frame.
    pub(super) fn advance<P: Prepare<Prepared = D>>(
        &mut self,
        preparer: &mut P,
        mut request: BlurRequest,
    ) -> Result<BlurState, BlurError> {
        if request.is_idle() {
            self.rest();
            return Ok(BlurState::Nothing);
        }
        let target = request.target;
        let is_whole = match request.mask_mut() {
            None => true,
            Some(mask) => match preparer.find_mask(mask, target)? {
                Some(found) => {
                    *mask = found;
                    true
                }
                None => false,
            },
        };
        if !is_whole && !self.keep_profile(&mut request) {
            if request.source_is_fresh {
                self.release();
            } else {
                self.rest();
            }
            self.state = BlurState::Waiting;
            return Ok(self.state);
        }
        let shown = core::mem::take(&mut self.shown);
        self.shown = Self::show(shown, preparer, request)?;
        self.state = match &self.shown {
            _ if !is_whole => BlurState::Waiting,
            Shown::Request(_) => BlurState::Ready,
            _ => BlurState::Compiling,
        };
        Ok(self.state)
    }

    /// Gives a request whose mask is missing the profile that was shown last, so that the picture stays blurred. Returns
    /// whether it may be drawn: if the source is not sharp again in this frame, it would be blurred twice.
    fn keep_profile(&self, request: &mut BlurRequest) -> bool {
        let Some((profile, mask)) = self.profiled().filter(|_| request.source_is_fresh) else {
            return false;
        };
        if let Work::Blur { field, .. } = &mut request.work {
            field.take_if(|_| profile.is_uniform());
            if let Some(field) = field {
                (field.profile, field.mask) = (profile, mask);
            }
        }
        true
    }

    /// Shows a request whose inputs exist.
    fn show<P: Prepare<Prepared = D>>(
        shown: Shown<D>,
        preparer: &mut P,
        request: BlurRequest,
    ) -> Result<Shown<D>, BlurError> {
        let is_fresh = request.source_is_fresh;
        let mut shown = if is_fresh { shown } else { shown.without_last() };
        let mut shown = match shown.newest_mut() {
            Some(known) if known.request().plans_like(&request) => {
                known.take_request(request);
                let is_ready = preparer.is_ready(known);
                shown.go_on(is_ready)
            }
            newest => {
                let (planned, is_ready) = preparer.plan(&request, newest)?;
                let (spare, last) =
                    shown.make_way(is_ready, |old| old.was_drawn() && stands_in(old.request(), &request));
                Shown::new(preparer.complete(planned, request, spare), is_ready, last)
            }
        };
        shown.all_mut().try_for_each(|prepared| preparer.equip(prepared))?;
        Ok(shown)
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
        self.shown.current().is_none()
    }

    /// Releases the textures, but not what is cheap to keep, so that the blur resumes without a hitch.
    pub fn release(&mut self) {
        self.state = BlurState::Nothing;
        self.shown = core::mem::take(&mut self.shown).rest();
        if let Some(spare) = self.shown.newest_mut() {
            spare.release();
        }
    }

    /// Releases the mask, too. If the next one is not there yet, the job waits for it.
    pub fn forget(&mut self) {
        self.inherits = None;
        self.release();
        if let Some(spare) = self.shown.newest_mut()
            && spare.request_mut().drop_mask()
        {
            spare.retire();
        }
    }

    /// Forgets everything: when it is active again, neither the old mask nor the old strength stands in for the new one.
    fn rest(&mut self) {
        self.forget();
        if let Some(spare) = self.shown.newest_mut() {
            spare.retire();
        }
    }
}

/// Whether an earlier request may be drawn while pipelines of the current one are missing.
fn stands_in(old: &BlurRequest, request: &BlurRequest) -> bool {
    request.source_is_fresh && !matches!(old.work, Work::Batch(..)) && old.has_textures_of(request)
}

impl BlurJob {
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
    pub fn try_update(&mut self, preparer: &mut BlurPreparer, request: BlurRequest) -> Result<BlurState, BlurError> {
        preparer.announce(request.ends, request.work.kind(), request.finish);
        let state = self.advance(preparer, request)?;
        if let Shown::Request(drawn) = &mut self.shown {
            preparer.note_drawn(drawn);
        }
        Ok(state)
    }

    /// Binds a job that defers its last step, for any of these sources. Returns whether it can be encoded.
    pub fn bind(&mut self, preparer: &BlurPreparer, sources: &[&TextureView]) -> bool {
        let drawn = self.shown.drawn_mut();
        drawn.is_some_and(|drawn| preparer.bind(drawn, sources))
    }

    /// The request that a job with a deferred last step draws in this frame.
    pub(super) fn drawn(&self) -> Option<&Prepared> {
        self.shown.drawn()
    }

    /// How many texels its passes write.
    pub fn texels(&self) -> u64 {
        let area = |pass: &Pass| u64::from(pass.size.x) * u64::from(pass.size.y);
        let drawn = self.drawn().filter(|drawn| !drawn.is_kept());
        let passes = drawn.into_iter().flat_map(|drawn| &drawn.plan.passes);
        passes.map(area).sum()
    }

    /// The input of the deferred step of an [item](Work::Batch), or of the only deferred step (0). `None` until the job
    /// is bound.
    pub fn deferred(&self, item: usize) -> Option<Deferred<'_>> {
        let drawn = self.drawn()?;
        let pass = drawn.plan.deferred.get(item)?;
        let (level, filtered) = (drawn.level_of(pass)?.id(), pass.program.filters());
        Some(Deferred {
            bind_group: drawn.deferred.get(&(level, filtered))?,
            offset: uniform_offset(drawn.plan.passes.len() + item),
            filtered,
        })
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
