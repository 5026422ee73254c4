//! The colour functions of CSS, which glass and filters of the user interface share.

/// The arguments of the functions, one after the other: `saturate()`, `brightness()`, `contrast()`, `invert()`, `hue-rotate()`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ColorFunctions {
    /// At least 0, 1 if neutral.
    pub saturation: f32,
    /// At least 0, 1 if neutral.
    pub brightness: f32,
    /// At least 0, 1 if neutral.
    pub contrast: f32,
    /// Between 0, which is neutral, and 1.
    pub invert: f32,
    /// In degrees, 0 if neutral.
    pub hue: f32,
}

impl ColorFunctions {
    /// Functions that change nothing.
    pub const NEUTRAL: Self = Self {
        saturation: 1.0,
        brightness: 1.0,
        contrast: 1.0,
        invert: 0.0,
        hue: 0.0,
    };

    /// Whether colours stay as they are.
    #[must_use]
    pub fn is_neutral(self) -> bool {
        self == Self::NEUTRAL
    }

    /// The same functions with every value in range. Invalid values become neutral.
    #[must_use]
    pub fn in_range(self) -> Self {
        let scale = |value: f32| if is_scale(value) { value } else { 1.0 };
        Self {
            saturation: scale(self.saturation),
            brightness: scale(self.brightness),
            contrast: scale(self.contrast),
            invert: share_in_range(self.invert, 0.0),
            hue: if self.hue.is_finite() { self.hue % 360.0 } else { 0.0 },
        }
    }

    /// The invalid values: the name of each, and what is wrong.
    pub fn out_of_range(self) -> impl Iterator<Item = (&'static str, String)> {
        let scales = [
            ("saturation", self.saturation),
            ("brightness", self.brightness),
            ("contrast", self.contrast),
        ];
        let scales = scales.into_iter().filter(|(_, value)| !is_scale(*value));
        let scales = scales.map(|(field, value)| {
            let problem = format!("the {field} is {value}; it must be finite and at least 0");
            (field, problem)
        });
        let hue = (!self.hue.is_finite()).then(|| ("hue", format!("the hue is {}; it must be finite", self.hue)));
        scales.chain(share_out_of_range("invert", self.invert)).chain(hue)
    }
}

/// Settings that know which of their fields are out of range.
pub trait HasRange {
    /// The name of each such field, and what is wrong.
    fn out_of_range(&self) -> Vec<(&'static str, String)>;
}

fn is_scale(value: f32) -> bool {
    value.is_finite() && value >= 0.0
}

/// A share, clamped to 0 and 1. NaN becomes `neutral`.
#[must_use]
pub fn share_in_range(share: f32, neutral: f32) -> f32 {
    if share.is_nan() { neutral } else { share.clamp(0.0, 1.0) }
}

/// What is wrong with a share of this name.
#[must_use]
pub fn share_out_of_range(field: &'static str, share: f32) -> Option<(&'static str, String)> {
    share
        .is_nan()
        .then(|| (field, format!("the {field} is NaN; it must be between 0 and 1")))
}
