//! What a blur shows from frame to frame, without a GPU.
//!
//! A request can be drawn once its pipelines are compiled. Until then the last drawn one stands in, if it may.

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
    #[must_use]
    pub fn go_on(self, is_ready: bool) -> Self {
        match self {
            Self::Nothing { spare: Some(request) } => Self::new(request, is_ready, None),
            Self::Soon { next } | Self::Last { next, .. } if is_ready => Self::Request(next),
            other => other,
        }
    }

    /// The last drawn request must not be drawn again: it would blur its own result.
    #[must_use]
    pub fn without_last(self) -> Self {
        match self {
            Self::Last { next, .. } => Self::Soon { next },
            other => other,
        }
    }

    /// Nothing is shown any more. The last drawn request may stand in again later.
    #[must_use]
    pub fn rest(self) -> Self {
        match self {
            Self::Request(spare) | Self::Soon { next: spare } | Self::Last { last: spare, .. } => {
                Self::Nothing { spare: Some(spare) }
            }
            nothing @ Self::Nothing { .. } => nothing,
        }
    }

    /// The request of this frame.
    pub fn current(&self) -> Option<&D> {
        match self {
            Self::Nothing { .. } => None,
            Self::Request(request) | Self::Soon { next: request } | Self::Last { next: request, .. } => Some(request),
        }
    }

    /// The same, or the spare one.
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

    /// The same.
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

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// A request between two ends.
    #[derive(Clone, Debug, PartialEq, Eq)]
    struct Fake {
        ends: u8,
        number: u8,
        was_drawn: bool,
    }

    /// What happens in a frame.
    #[derive(Clone, Copy, Debug)]
    struct Frame {
        ends: u8,
        number: u8,
        /// Whether the request has nothing to do, or its blur pauses.
        is_idle: bool,
        pauses: bool,
        is_ready: bool,
        /// Whether the source is sharp again.
        is_fresh: bool,
    }

    fn frame() -> impl Strategy<Value = Frame> {
        let flags = (
            prop::bool::weighted(0.1),
            prop::bool::weighted(0.1),
            any::<bool>(),
            prop::bool::weighted(0.8),
        );
        (0..2_u8, 0..3_u8, flags).prop_map(|(ends, number, (is_idle, pauses, is_ready, is_fresh))| Frame {
            ends,
            number,
            is_idle,
            pauses,
            is_ready,
            is_fresh,
        })
    }

    /// The steps of a job, over requests that need no GPU.
    fn step(shown: Shown<Fake>, frame: Frame) -> Shown<Fake> {
        if frame.is_idle || frame.pauses {
            let mut shown = shown.rest();
            if let Some(spare) = shown.newest_mut().filter(|_| frame.is_idle) {
                spare.was_drawn = false;
            }
            return shown;
        }
        let mut shown = if frame.is_fresh { shown } else { shown.without_last() };
        let is_same = |old: &mut Fake| (old.ends, old.number) == (frame.ends, frame.number);
        if shown.newest_mut().is_some_and(is_same) {
            return shown.go_on(frame.is_ready);
        }
        let stands_in = |old: &Fake| old.was_drawn && frame.is_fresh && old.ends == frame.ends;
        let (_, last) = shown.make_way(frame.is_ready, stands_in);
        let request = Fake {
            ends: frame.ends,
            number: frame.number,
            was_drawn: false,
        };
        Shown::new(request, frame.is_ready, last)
    }

    /// Draws what is shown, and returns it.
    fn draw(shown: &mut Shown<Fake>) -> Option<Fake> {
        if matches!(shown, Shown::Soon { .. }) {
            return None;
        }
        let drawn = shown.drawn_mut()?;
        drawn.was_drawn = true;
        Some(drawn.clone())
    }

    proptest! {
        #[test]
        fn whatever_happens_the_right_request_is_shown(frames in prop::collection::vec(frame(), 1..40)) {
            let mut shown = Shown::default();
            // The last drawn request, until one without a blur is asked for.
            let mut before: Option<Fake> = None;
            // Compiled pipelines stay compiled.
            let mut ready = Vec::new();
            for mut frame in frames {
                let request = (frame.ends, frame.number);
                if frame.is_ready {
                    ready.push(request);
                }
                frame.is_ready = ready.contains(&request);
                shown = step(shown, frame);
                let drawn = draw(&mut shown);
                if frame.is_idle || frame.pauses {
                    prop_assert_eq!(drawn, None, "it rests");
                    if frame.is_idle {
                        before = None;
                    }
                    continue;
                }
                let is_wanted = |drawn: &Fake| (drawn.ends, drawn.number) == (frame.ends, frame.number);
                match &drawn {
                    Some(drawn) if is_wanted(drawn) => {}
                    Some(drawn) => {
                        prop_assert!(!frame.is_ready, "the request is ready");
                        prop_assert!(frame.is_fresh, "a result would be blurred twice");
                        prop_assert_eq!(drawn.ends, frame.ends, "other textures");
                        prop_assert_eq!(Some(drawn), before.as_ref(), "an older one than the last");
                    }
                    None => {
                        let is_sharp = before.as_ref().is_none_or(|before| before.ends != frame.ends);
                        prop_assert!(!frame.is_ready && (is_sharp || !frame.is_fresh), "sharp after blurred");
                    }
                }
                before = drawn.or(before.filter(|before| before.ends == frame.ends && frame.is_fresh));
            }
        }
    }

    fn fake(number: u8, was_drawn: bool) -> Fake {
        Fake {
            ends: 0,
            number,
            was_drawn,
        }
    }

    #[test]
    fn each_transition_leads_where_its_name_says() {
        let all = || {
            let (next, last) = (fake(2, false), fake(1, true));
            [
                Shown::Nothing { spare: None },
                Shown::Nothing {
                    spare: Some(last.clone()),
                },
                Shown::Request(last.clone()),
                Shown::Soon { next: next.clone() },
                Shown::Last { next, last },
            ]
        };
        for shown in all() {
            let spare = shown.drawn().cloned().or(newest_of(&shown));
            assert_eq!(shown.rest(), Shown::Nothing { spare });
        }
        for shown in all() {
            assert!(!matches!(shown.without_last(), Shown::Last { .. }));
        }
        for shown in all().into_iter().skip(1) {
            let newest = newest_of(&shown);
            let on = shown.go_on(true);
            assert_eq!(on.current().cloned(), newest);
            assert!(matches!(on, Shown::Request(_)));
        }
        for shown in all() {
            let (spare, last) = shown.make_way(true, |_| true);
            assert_eq!(last, None, "a ready request needs no other");
            let _ = spare;
        }
        let [.., last] = all();
        let stands_in = |fake: &Fake| fake.was_drawn;
        assert_eq!(
            last.make_way(false, stands_in),
            (Some(fake(2, false)), Some(fake(1, true)))
        );
    }

    /// The newest request of a state.
    fn newest_of(shown: &Shown<Fake>) -> Option<Fake> {
        match shown {
            Shown::Nothing { spare } => spare.clone(),
            other => other.current().cloned(),
        }
    }
}
