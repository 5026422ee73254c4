//! Colours: sRGB, and colour functions.

/// The sRGB encoding of linear light.
#[must_use]
pub fn encode_srgb(linear: f64) -> f64 {
    if linear <= 0.003_130_8 {
        12.92 * linear
    } else {
        1.055 * linear.powf(1.0 / 2.4) - 0.055
    }
}

/// The linear light of an sRGB value.
#[must_use]
pub fn decode_srgb(encoded: f64) -> f64 {
    if encoded <= 0.040_45 {
        encoded / 12.92
    } else {
        ((encoded + 0.055) / 1.055).powf(2.4)
    }
}

/// A colour function: the formulas of the Filter Effects specification, and three more. Colours are encoded as sRGB.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Step {
    Saturate(f64),
    Brightness(f64),
    Contrast(f64),
    Invert(f64),
    /// In degrees.
    HueRotate(f64),
    Sepia(f64),
    /// Multiplies.
    Tint([f64; 3]),
    /// Covers by the alpha of a colour.
    Cover([f64; 4]),
    /// The rows of red, green and blue.
    Matrix([[f64; 4]; 3]),
}

impl Step {
    fn is_neutral(self) -> bool {
        match self {
            Self::Saturate(value) | Self::Brightness(value) | Self::Contrast(value) => value == 1.0,
            Self::Invert(value) | Self::Sepia(value) => value == 0.0,
            Self::HueRotate(degrees) => degrees % 360.0 == 0.0,
            Self::Tint(color) => color == [1.0; 3],
            Self::Cover([.., alpha]) => alpha == 0.0,
            Self::Matrix(rows) => rows == [[1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0]],
        }
    }

    /// The step of a colour, before it is limited. Constants are added to surfaces (`covers` is 1), not to light without a surface
    /// (`covers` is 0).
    fn applied(self, color: [f64; 3], covers: f64) -> [f64; 3] {
        let multiplied =
            |matrix: [[f64; 3]; 3]| matrix.map(|row| row.iter().zip(color).map(|(weight, value)| weight * value).sum());
        let half = 0.5 * covers;
        match self {
            Self::Saturate(s) => multiplied([
                [0.213 + 0.787 * s, 0.715 - 0.715 * s, 0.072 - 0.072 * s],
                [0.213 - 0.213 * s, 0.715 + 0.285 * s, 0.072 - 0.072 * s],
                [0.213 - 0.213 * s, 0.715 - 0.715 * s, 0.072 + 0.928 * s],
            ]),
            Self::Brightness(scale) => color.map(|value| value * scale),
            Self::Contrast(scale) => color.map(|value| (value - half) * scale + half),
            Self::Invert(share) => color.map(|value| value * (1.0 - share) + (covers - value) * share),
            Self::HueRotate(degrees) => {
                let (sin, cos) = degrees.to_radians().sin_cos();
                multiplied([
                    [
                        0.213 + cos * 0.787 - sin * 0.213,
                        0.715 - cos * 0.715 - sin * 0.715,
                        0.072 - cos * 0.072 + sin * 0.928,
                    ],
                    [
                        0.213 - cos * 0.213 + sin * 0.143,
                        0.715 + cos * 0.285 + sin * 0.140,
                        0.072 - cos * 0.072 - sin * 0.283,
                    ],
                    [
                        0.213 - cos * 0.213 - sin * 0.787,
                        0.715 - cos * 0.715 + sin * 0.715,
                        0.072 + cos * 0.928 + sin * 0.072,
                    ],
                ])
            }
            Self::Sepia(share) => {
                let rest = 1.0 - share;
                multiplied([
                    [0.393 + 0.607 * rest, 0.769 - 0.769 * rest, 0.189 - 0.189 * rest],
                    [0.349 - 0.349 * rest, 0.686 + 0.314 * rest, 0.168 - 0.168 * rest],
                    [0.272 - 0.272 * rest, 0.534 - 0.534 * rest, 0.131 + 0.869 * rest],
                ])
            }
            Self::Tint(tint) => core::array::from_fn(|i| color[i] * tint[i]),
            Self::Cover([red, green, blue, alpha]) => {
                let cover = [red, green, blue];
                core::array::from_fn(|i| color[i] + alpha * (cover[i] * covers - color[i]))
            }
            Self::Matrix(rows) => rows.map(|[red, green, blue, constant]| {
                red * color[0] + green * color[1] + blue * color[2] + constant * covers
            }),
        }
    }
}

/// Colour functions, one after the other.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Functions(pub Vec<Step>);

impl Functions {
    pub const NEUTRAL: Self = Self(Vec::new());

    #[must_use]
    pub fn is_neutral(&self) -> bool {
        self.0.iter().all(|step| step.is_neutral())
    }

    /// Applies the functions to a colour in light, multiplied by alpha. They act on encoded colours that are not multiplied by
    /// alpha.
    ///
    /// In a bounded format no colour of a surface exceeds its alpha: what does is light that was added to the surface. The
    /// functions act on both, and the sum is the result.
    #[must_use]
    pub fn colored(&self, [red, green, blue, alpha]: [f64; 4], is_bounded: bool) -> [f64; 4] {
        if self.is_neutral() {
            return [red, green, blue, alpha];
        }
        let color = [red, green, blue];
        let surface = if is_bounded {
            color.map(|value| value.min(alpha))
        } else {
            color
        };
        let mut result = if alpha > 0.0 {
            let straight = surface.map(|value| encode_srgb((value / alpha).max(0.0)));
            self.encoded(straight, 1.0, is_bounded)
                .map(|value| decode_srgb(value) * alpha)
        } else {
            [0.0; 3]
        };
        let added: [f64; 3] = core::array::from_fn(|i| if alpha > 0.0 { color[i] - surface[i] } else { color[i] });
        if added.iter().any(|value| *value > 0.0) {
            let light = added.map(|value| encode_srgb(value.max(0.0)));
            let light = self.encoded(light, 0.0, is_bounded).map(decode_srgb);
            (0..3).for_each(|i| result[i] += light[i]);
        }
        [result[0], result[1], result[2], alpha]
    }

    fn encoded(&self, color: [f64; 3], covers: f64, is_bounded: bool) -> [f64; 3] {
        let largest = if is_bounded { 1.0 } else { f64::INFINITY };
        self.0.iter().fold(color, |color, step| {
            step.applied(color, covers).map(|value| value.clamp(0.0, largest))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What CSS makes of simple colours.
    #[test]
    fn colours_change_as_in_a_browser() {
        let near = |steps: &[Step], [texel, expected]: [[f64; 4]; 2], is_bounded: bool| {
            let got = Functions(steps.to_vec()).colored(texel, is_bounded);
            let is_near = got.iter().zip(expected).all(|(got, right)| (got - right).abs() < 1e-9);
            assert!(is_near, "{steps:?}: {got:?} instead of {expected:?}");
        };
        let green = [0.0, 1.0, 0.0, 1.0];
        let (grey, half) = (decode_srgb(0.715), decode_srgb(0.5));
        near(&[Step::Saturate(0.0)], [green, [grey, grey, grey, 1.0]], true);
        near(&[Step::Saturate(3.0)], [green, green], true);
        near(&[Step::Brightness(0.5)], [green, [0.0, half, 0.0, 1.0]], true);
        near(&[Step::Invert(1.0)], [green, [1.0, 0.0, 1.0, 1.0]], true);
        near(&[Step::Contrast(0.0)], [green, [half, half, half, 1.0]], true);
        // One step after the other.
        let steps = [Step::Brightness(0.5), Step::Invert(1.0)];
        near(&steps, [green, [1.0, half, 1.0, 1.0]], true);
        // Light has no bound.
        let light = [0.25, 4.0, 1.0, 1.0];
        let [red, green, blue, _] = light.map(|value| decode_srgb(1.5 * encode_srgb(value)));
        near(&[Step::Brightness(1.5)], [light, [red, green, blue, 1.0]], false);
        // The functions act on colours that are not multiplied by alpha.
        let faint = [0.0, 0.25, 0.0, 0.25];
        near(&[Step::Brightness(0.5)], [faint, [0.0, 0.25 * half, 0.0, 0.25]], true);
    }
}
