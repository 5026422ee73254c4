//! The names of passes, how they are timed, and for which label.

use crate::diagnostics::label::{self, BlurLabel};
use crate::diagnostics::timestamps::{PassTimer, Timestamps};
use crate::plan::pass::PassKind;
use bevy::render::diagnostic::DiagnosticsRecorder;

/// How the time of a blur is measured.
#[derive(Clone, Copy)]
pub enum Timed<'a> {
    /// As the time of a label.
    Whole(&'a BlurLabel),
    /// As a part of the time that [`record_together`](super::record_together) measures for a label.
    Nested(&'a BlurLabel),
    /// Not at all.
    Not,
}

impl<'a> Timed<'a> {
    /// The time of a label, if there is one.
    pub fn whole(label: Option<&'a BlurLabel>) -> Self {
        label.map_or(Self::Not, Self::Whole)
    }

    /// The label.
    pub fn label(self) -> Option<&'a BlurLabel> {
        match self {
            Self::Whole(label) | Self::Nested(label) => Some(label),
            Self::Not => None,
        }
    }
}

/// The timers of a blur's passes.
#[derive(Clone, Copy, Default)]
pub struct Timing<'a> {
    /// Bevy's recorder, for a span of passes.
    pub recorder: Option<&'a DiagnosticsRecorder>,
    /// The timer for single passes, and their label.
    pub timer: Option<(&'a PassTimer, &'a BlurLabel)>,
}

impl<'a> Timing<'a> {
    /// The timestamps that a pass of this kind writes.
    pub fn pass(&self, kind: PassKind) -> Option<Timestamps<'a>> {
        let (timer, label) = self.timer?;
        timer.timestamps(label, kind.span())
    }
}

impl PassKind {
    /// The name of the pass in debuggers and validation layers.
    pub(super) fn label(self) -> &'static str {
        match self {
            Self::Copy => "gaussian_blur_copy",
            Self::Mipmap => "gaussian_blur_mipmap",
            Self::Downsample => "gaussian_blur_downsample",
            Self::Horizontal => "gaussian_blur_horizontal",
            Self::Vertical => "gaussian_blur_vertical",
            Self::Blur => "gaussian_blur_blur",
            Self::Upsample => "gaussian_blur_upsample",
            Self::Gather => "gaussian_blur_gather",
            Self::Blend => "gaussian_blur_blend",
        }
    }

    /// The name under which its time is published.
    pub(super) fn span(self) -> &'static str {
        match self {
            Self::Copy => label::COPY,
            // Never timed on its own.
            Self::Mipmap => "mipmap",
            Self::Downsample => label::DOWNSAMPLE,
            Self::Horizontal => label::HORIZONTAL,
            Self::Vertical => label::VERTICAL,
            Self::Blur => label::BLUR,
            Self::Upsample => label::UPSAMPLE,
            Self::Gather => label::GATHER,
            Self::Blend => label::BLEND,
        }
    }
}
