//! Colours: sRGB, and the colour functions of CSS.

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

/// `saturate()`, `brightness()`, `contrast()`, `invert()` and `hue-rotate()`, in this order: the formulas of the Filter
/// Effects specification.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Functions {
    pub saturation: f64,
    pub brightness: f64,
    pub contrast: f64,
    pub invert: f64,
    /// In degrees.
    pub hue: f64,
}

impl Functions {
    pub const NEUTRAL: Self = Self {
        saturation: 1.0,
        brightness: 1.0,
        contrast: 1.0,
        invert: 0.0,
        hue: 0.0,
    };

    /// Applies the functions to a colour in light, multiplied by alpha. They act on encoded colours that are not multiplied by
    /// alpha.
    ///
    /// In a bounded format no colour of a surface exceeds its alpha: what does is light that was added to the surface. The
    /// functions act on both, and the sum is the result.
    #[must_use]
    pub fn colored(&self, [red, green, blue, alpha]: [f64; 4], is_bounded: bool) -> [f64; 4] {
        if *self == Self::NEUTRAL {
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

    /// The functions of an encoded colour. Constants are added to surfaces (`covers` is 1), not to light without a surface
    /// (`covers` is 0).
    fn encoded(&self, color: [f64; 3], covers: f64, is_bounded: bool) -> [f64; 3] {
        let largest = if is_bounded { 1.0 } else { f64::INFINITY };
        let limited = |color: [f64; 3]| color.map(|value| value.clamp(0.0, largest));
        let multiplied = |matrix: [[f64; 3]; 3], color: [f64; 3]| {
            limited(matrix.map(|row| row.iter().zip(color).map(|(weight, value)| weight * value).sum()))
        };
        let s = self.saturation;
        let saturate = [
            [0.213 + 0.787 * s, 0.715 - 0.715 * s, 0.072 - 0.072 * s],
            [0.213 - 0.213 * s, 0.715 + 0.285 * s, 0.072 - 0.072 * s],
            [0.213 - 0.213 * s, 0.715 - 0.715 * s, 0.072 + 0.928 * s],
        ];
        let (sin, cos) = self.hue.to_radians().sin_cos();
        let rotate = [
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
        ];
        let half = 0.5 * covers;
        let color = multiplied(saturate, color);
        let color = limited(color.map(|value| value * self.brightness));
        let color = limited(color.map(|value| (value - half) * self.contrast + half));
        let color = limited(color.map(|value| value * (1.0 - self.invert) + (covers - value) * self.invert));
        multiplied(rotate, color)
    }
}
