//! The colour functions of CSS, in float64: the formulas of the Filter Effects specification.

use super::formats::{decode_srgb, encode_srgb};
use bevy_gaussian_blur::prelude::BackdropBlur;
#[cfg(feature = "ui")]
use bevy_gaussian_blur::prelude::UiFilter;

/// `saturate()`, `brightness()`, `contrast()`, `invert()` and `hue-rotate()`, in this order.
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

    fn of([saturation, brightness, contrast, invert, hue]: [f32; 5]) -> Self {
        Self {
            saturation: saturation.into(),
            brightness: brightness.into(),
            contrast: contrast.into(),
            invert: invert.into(),
            hue: hue.into(),
        }
    }

    pub fn of_glass(glass: &BackdropBlur) -> Self {
        Self::of([
            glass.saturation,
            glass.brightness,
            glass.contrast,
            glass.invert,
            glass.hue,
        ])
    }

    #[cfg(feature = "ui")]
    pub fn of_filter(filter: &UiFilter) -> Self {
        Self::of([
            filter.saturation,
            filter.brightness,
            filter.contrast,
            filter.invert,
            filter.hue,
        ])
    }

    /// Applies the functions to a colour in light, multiplied by alpha. The functions act on encoded colours that are not
    /// multiplied by alpha. In a bounded format the encoded colours are at most 1.
    pub fn colored(&self, [red, green, blue, alpha]: [f64; 4], is_bounded: bool) -> [f64; 4] {
        if *self == Self::NEUTRAL {
            return [red, green, blue, alpha];
        }
        let largest = if is_bounded { 1.0 } else { f64::INFINITY };
        // The functions add no constants to light with alpha 0.
        let (weight, covers) = if alpha > 0.0 { (alpha, 1.0) } else { (1.0, 0.0) };
        let multiplied = |matrix: [[f64; 3]; 3], color: [f64; 3]| {
            matrix.map(|row| {
                let sum: f64 = row.iter().zip(color).map(|(weight, value)| weight * value).sum();
                sum.clamp(0.0, largest)
            })
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
        let mut color = [red, green, blue].map(|value| encode_srgb((value / weight).max(0.0)));
        color = multiplied(saturate, color);
        color = color.map(|value| (value * self.brightness).clamp(0.0, largest));
        color = color.map(|value| ((value - 0.5 * covers) * self.contrast + 0.5 * covers).clamp(0.0, largest));
        color = color.map(|value| (value * (1.0 - self.invert) + (covers - value) * self.invert).clamp(0.0, largest));
        color = multiplied(rotate, color);
        let [red, green, blue] = color.map(|value| decode_srgb(value) * weight);
        [red, green, blue, alpha]
    }
}
