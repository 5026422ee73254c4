//! The names of passes.

use crate::diagnostics::label;
use crate::plan::pass::PassKind;

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
