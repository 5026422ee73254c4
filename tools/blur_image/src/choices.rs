//! Options that have a few named values.

use bevy_gaussian_blur::prelude::EdgeMode;
use clap::ValueEnum;

/// See [`EdgeMode`].
#[derive(Clone, Copy, PartialEq, ValueEnum)]
pub enum Edge {
    Clamp,
    Mirror,
    Wrap,
    Transparent,
    Renormalize,
}

/// The bits of a picture's channel.
#[derive(Clone, Copy, Debug, PartialEq, ValueEnum)]
pub enum Depth {
    #[value(name = "8")]
    Eight,
    #[value(name = "16")]
    Sixteen,
}

impl Edge {
    pub fn mode(self) -> EdgeMode {
        match self {
            Self::Clamp => EdgeMode::Clamp,
            Self::Mirror => EdgeMode::Mirror,
            Self::Wrap => EdgeMode::Wrap,
            Self::Transparent => EdgeMode::Transparent,
            Self::Renormalize => EdgeMode::Renormalize,
        }
    }
}

impl Depth {
    /// The largest number of a channel.
    pub fn largest(self) -> f64 {
        match self {
            Self::Eight => 255.0,
            Self::Sixteen => 65535.0,
        }
    }
}
