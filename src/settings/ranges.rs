//! Which numbers settings take, and what is said of others.

use core::fmt;

/// The name of what is out of range, and what is wrong with it.
pub type Problem = (&'static str, String);

/// The numbers that a setting takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NumberRange {
    /// Finite ones.
    Finite,
    /// Finite ones from 0 on.
    Positive,
    /// Those from 0 to 1. Others count as 0 or 1, but NaN does not.
    Share,
}

impl NumberRange {
    /// The numbers as they count.
    ///
    /// # Errors
    /// One of them is out of this range.
    pub fn check<const N: usize>(self, numbers: [f32; N]) -> Result<[f32; N], Self> {
        let counts = |number: &f32| match self {
            Self::Finite => number.is_finite(),
            Self::Positive => number.is_finite() && *number >= 0.0,
            Self::Share => !number.is_nan(),
        };
        match self {
            _ if !numbers.iter().all(counts) => Err(self),
            Self::Share => Ok(numbers.map(|share| share.clamp(0.0, 1.0))),
            Self::Finite | Self::Positive => Ok(numbers),
        }
    }

    /// A number as it counts: `neutral` if it is out of range.
    pub fn value_or(self, neutral: f32, number: f32) -> f32 {
        self.check([number]).map_or(neutral, |[number]| number)
    }

    /// What is wrong with a number of this name.
    pub fn problem(self, name: &'static str, number: f32) -> Option<Problem> {
        let range = self.check([number]).err()?;
        Some((name, format!("the {name} is {number}; it must be {range}")))
    }
}

impl fmt::Display for NumberRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Finite => "finite",
            Self::Positive => "finite and at least 0",
            Self::Share => "between 0 and 1",
        })
    }
}
