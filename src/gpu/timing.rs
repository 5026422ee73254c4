//! Who measures the passes of a blur, and for whom.

use crate::diagnostics::label::BlurLabel;
use crate::diagnostics::timestamps::{PassTimer, Timestamps};
use crate::plan::pass::PassKind;
use bevy::render::diagnostic::DiagnosticsRecorder;

/// What becomes of the time that a blur takes.
#[derive(Clone, Copy)]
pub enum Timed<'a> {
    /// It is the time of a label.
    Whole(&'a BlurLabel),
    /// It is part of what [`record_together`](super::record_together) times for a label.
    Nested(&'a BlurLabel),
    /// Nobody asks.
    Not,
}

impl<'a> Timed<'a> {
    /// The time of a label, if there is one.
    pub fn whole(label: Option<&'a BlurLabel>) -> Self {
        label.map_or(Self::Not, Self::Whole)
    }

    /// Whose it is.
    pub fn label(self) -> Option<&'a BlurLabel> {
        match self {
            Self::Whole(label) | Self::Nested(label) => Some(label),
            Self::Not => None,
        }
    }
}

/// Who measures the passes of a blur.
#[derive(Clone, Copy, Default)]
pub struct Timing<'a> {
    /// Bevy's recorder, for a span of passes.
    pub recorder: Option<&'a DiagnosticsRecorder>,
    /// The timer for single passes, and whose they are.
    pub timer: Option<(&'a PassTimer, &'a BlurLabel)>,
}

impl<'a> Timing<'a> {
    /// The timestamps with which a pass of a kind is opened.
    pub fn of(&self, kind: PassKind) -> Option<Timestamps<'a>> {
        let (timer, label) = self.timer?;
        timer.timestamps(label, kind.span())
    }
}
