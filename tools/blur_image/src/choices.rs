//! Options that have a few named values.

use bevy_gaussian_blur::prelude::EdgeMode;
use clap::ValueEnum;
use clap::builder::{PossibleValuesParser, TypedValueParser};

/// The numbers of a picture's channel, by their bits.
#[derive(Clone, Copy, Debug, PartialEq, ValueEnum)]
pub enum Depth {
    #[value(name = "8")]
    Eight,
    #[value(name = "16")]
    Sixteen,
    /// The only ones that are not integers.
    #[value(name = "32")]
    Float,
}

/// Reads the name of an edge mode.
pub fn edge_parser() -> impl TypedValueParser<Value = EdgeMode> {
    PossibleValuesParser::new(EdgeMode::ALL.map(EdgeMode::name)).try_map(|name| {
        let named = EdgeMode::ALL.into_iter().find(|edge| edge.name() == name);
        named.ok_or("there is no such edge mode")
    })
}

impl Depth {
    /// The largest integer of a channel. Floats that become integers get 16 bits.
    pub fn largest(self) -> f64 {
        match self {
            Self::Eight => 255.0,
            Self::Sixteen | Self::Float => 65535.0,
        }
    }

    /// The integer of a number, where 1.0 is the largest.
    pub fn integer(self, number: f32) -> f64 {
        (f64::from(number).clamp(0.0, 1.0) * self.largest()).round()
    }
}
