//! What the numbers of a picture mean: light or its sRGB encoding, multiplied by alpha or not.

use bevy::color::Srgba;

/// What the numbers of a picture mean.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Meaning {
    /// Linear light, not sRGB-encoded.
    pub linear: bool,
    /// Colour is multiplied by alpha.
    pub premultiplied: bool,
}

/// The meaning of numbers in PNG and JPEG files.
pub const ENCODED: Meaning = Meaning {
    linear: false,
    premultiplied: false,
};

/// The meaning of numbers in EXR files.
pub const LIGHT: Meaning = Meaning {
    linear: true,
    premultiplied: true,
};

impl Meaning {
    /// Converts a texel to another meaning. Alpha is a share of light, so it multiplies linear light only.
    pub fn convert(self, to: Self, [red, green, blue, alpha]: [f32; 4]) -> [f32; 4] {
        let factor = match (self.premultiplied, to.premultiplied) {
            (false, true) => Some(alpha),
            (true, false) if alpha > 0.0 => Some(1.0 / alpha),
            (true, false) => Some(0.0),
            _ => None,
        };
        let [red, green, blue] = [red, green, blue].map(|value| match (factor, self.linear, to.linear) {
            (None, true, true) | (None, false, false) => value,
            (None, false, true) => Srgba::gamma_function(value),
            (None, true, false) => Srgba::gamma_function_inverse(value),
            (Some(factor), true, true) => value * factor,
            (Some(factor), false, true) => Srgba::gamma_function(value) * factor,
            (Some(factor), true, false) => Srgba::gamma_function_inverse(value * factor),
            (Some(factor), false, false) => Srgba::gamma_function_inverse(Srgba::gamma_function(value) * factor),
        });
        [red, green, blue, alpha]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_and_back_is_the_same() {
        let texel = [0.02, 0.5, 0.9, 0.25];
        for premultiplied in [false, true] {
            for linear in [false, true] {
                let other = Meaning { linear, premultiplied };
                let back = other.convert(ENCODED, ENCODED.convert(other, texel));
                for (back, value) in back.into_iter().zip(texel) {
                    assert!((back - value).abs() < 1e-6, "{other:?}: {back} and not {value}");
                }
            }
        }
    }

    #[test]
    fn what_is_transparent_has_no_light() {
        assert_eq!(ENCODED.convert(LIGHT, [1.0, 0.5, 0.2, 0.0]), [0.0; 4]);
        assert_eq!(LIGHT.convert(ENCODED, [0.0; 4]), [0.0; 4]);
        assert_eq!(ENCODED.convert(LIGHT, [1.0, 1.0, 1.0, 0.5]), [0.5; 4]);
    }
}
