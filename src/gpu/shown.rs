//! What a blur shows from frame to frame, without a GPU.
//!
//! A request can be drawn once its pipelines are compiled. Until then the last drawn one stands in, if it may.

use super::request::BlurRequest;
use crate::errors::BlurError;
use crate::sigma_field::Mask;
use bevy::render::render_resource::TextureId;

/// What a job shows in this frame. `D` is a request with everything needed to draw it.
#[derive(Debug, PartialEq, Eq)]
pub enum Shown<D> {
    /// Nothing. What an earlier request held may serve the next one.
    Nothing { spare: Option<D> },
    /// The request.
    Request(D),
    /// The last drawn request, because pipelines of the current one are missing.
    Last { next: D, last: D },
    /// Nothing yet, because pipelines of the request are missing.
    Soon { next: D },
}

impl<D> Default for Shown<D> {
    fn default() -> Self {
        Self::Nothing { spare: None }
    }
}

impl<D> Shown<D> {
    /// A new request. The last drawn one is shown while pipelines are missing.
    pub fn new(request: D, is_ready: bool, last: Option<D>) -> Self {
        match last {
            _ if is_ready => Self::Request(request),
            Some(last) => Self::Last { next: request, last },
            None => Self::Soon { next: request },
        }
    }

    /// Ends what is shown, for a new request whose pipelines are compiled or not. Returns what the new request may take over,
    /// and the drawn request that stands in for it.
    pub fn make_way(self, is_ready: bool, stands_in: impl Fn(&D) -> bool) -> (Option<D>, Option<D>) {
        let (old, last) = match self {
            Self::Nothing { spare: None } => return (None, None),
            Self::Nothing { spare: Some(old) } | Self::Request(old) | Self::Soon { next: old } => (old, None),
            Self::Last { next, last } => (next, Some(last)),
        };
        if is_ready {
            (Some(old), None)
        } else if stands_in(&old) {
            (None, Some(old))
        } else {
            (Some(old), last.filter(|last| stands_in(last)))
        }
    }

    /// The same request goes on, or is taken up again.
    pub fn go_on(self, is_ready: bool) -> Self {
        match self {
            Self::Nothing { spare: Some(request) } => Self::new(request, is_ready, None),
            Self::Soon { next } | Self::Last { next, .. } if is_ready => Self::Request(next),
            other => other,
        }
    }

    /// The last drawn request must not be drawn again: it would blur its own result.
    pub fn without_last(self) -> Self {
        match self {
            Self::Last { next, .. } => Self::Soon { next },
            other => other,
        }
    }

    /// Nothing is shown any more. The last drawn request may stand in again later.
    pub fn rest(self) -> Self {
        match self {
            Self::Request(spare) | Self::Soon { next: spare } | Self::Last { last: spare, .. } => {
                Self::Nothing { spare: Some(spare) }
            }
            nothing @ Self::Nothing { .. } => nothing,
        }
    }

    /// The request that was drawn last, if any was drawn.
    pub fn last(&self) -> Option<&D> {
        match self {
            Self::Nothing { spare } => spare.as_ref(),
            other => other.drawn(),
        }
    }

    /// The request of this frame.
    pub fn current(&self) -> Option<&D> {
        match self {
            Self::Nothing { .. } => None,
            Self::Request(request) | Self::Soon { next: request } | Self::Last { next: request, .. } => Some(request),
        }
    }

    /// The request of this frame, or the spare one.
    pub fn newest_mut(&mut self) -> Option<&mut D> {
        match self {
            Self::Nothing { spare } => spare.as_mut(),
            Self::Request(request) | Self::Soon { next: request } | Self::Last { next: request, .. } => Some(request),
        }
    }

    /// The request that is drawn, as far as can be known before.
    pub fn drawn(&self) -> Option<&D> {
        match self {
            Self::Last { last, .. } => Some(last),
            other => other.current(),
        }
    }

    /// The request that is drawn.
    pub fn drawn_mut(&mut self) -> Option<&mut D> {
        match self {
            Self::Nothing { .. } => None,
            Self::Request(drawn) | Self::Soon { next: drawn } | Self::Last { last: drawn, .. } => Some(drawn),
        }
    }

    /// All requests that need textures in this frame.
    pub fn all_mut(&mut self) -> impl Iterator<Item = &mut D> {
        let pair = match self {
            Self::Nothing { .. } => [None, None],
            Self::Request(request) | Self::Soon { next: request } => [Some(request), None],
            Self::Last { next, last } => [Some(next), Some(last)],
        };
        pair.into_iter().flatten()
    }
}

/// What updates a job: the GPU, or a fake in tests.
pub trait Prepare {
    type Prepared: Drawable;
    /// A plan that is not prepared yet.
    type Planned;

    /// The texture of a mask, `None` while it is missing.
    ///
    /// # Errors
    /// It cannot be the mask of a blur that writes this texture.
    fn find_mask(&self, mask: &Mask, target: TextureId) -> Result<Option<Mask>, BlurError>;

    /// Plans a request, which may be like an earlier one. Returns also whether its pipelines are compiled.
    ///
    /// # Errors
    /// The request cannot be carried out.
    fn plan(
        &mut self,
        request: &BlurRequest,
        old: Option<&mut Self::Prepared>,
    ) -> Result<(Self::Planned, bool), BlurError>;

    /// Prepares a planned request, with what an earlier one no longer needs.
    fn complete(&self, planned: Self::Planned, request: BlurRequest, spare: Option<Self::Prepared>) -> Self::Prepared;

    /// Whether all pipelines are compiled.
    fn is_ready(&self, prepared: &Self::Prepared) -> bool;

    /// Takes textures for this frame, and writes what has changed.
    ///
    /// # Errors
    /// There is no memory.
    fn equip(&mut self, prepared: &mut Self::Prepared) -> Result<(), BlurError>;
}

/// A request with everything needed to draw it, as a job sees it.
pub trait Drawable {
    fn request(&self) -> &BlurRequest;

    fn request_mut(&mut self) -> &mut BlurRequest;

    /// Replaces the request by one with the same plan.
    fn take_request(&mut self, request: BlurRequest);

    /// Whether it has been drawn, and may be drawn again in the place of another request.
    fn was_drawn(&self) -> bool;

    /// It must not be drawn in the place of another request.
    fn retire(&mut self);

    /// Releases the textures, but not the mask.
    fn release(&mut self);
}
