//! What the numbers of a picture mean: light or its sRGB encoding, multiplied by alpha or not.

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
            (None, false, true) => decode_srgb(value),
            (None, true, false) => encode_srgb(value),
            (Some(factor), true, true) => value * factor,
            (Some(factor), false, true) => decode_srgb(value) * factor,
            (Some(factor), true, false) => encode_srgb(value * factor),
            (Some(factor), false, false) => encode_srgb(decode_srgb(value) * factor),
        });
        [red, green, blue, alpha]
    }
}

/// The sRGB encoding of linear light.
fn encode_srgb(linear: f32) -> f32 {
    if linear <= 0.003_130_8 {
        12.92 * linear
    } else {
        1.055 * linear.powf(1.0 / 2.4) - 0.055
    }
}

/// The linear light of an sRGB value.
fn decode_srgb(encoded: f32) -> f32 {
    if encoded <= 0.040_45 {
        encoded / 12.92
    } else {
        ((encoded + 0.055) / 1.055).powf(2.4)
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
