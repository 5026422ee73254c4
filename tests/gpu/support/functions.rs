//! The colour functions of settings, for the reference, and the other way round.

use super::prelude::*;
pub use super::reference::Functions;
use super::reference::Step;
use bevy::color::{ColorToComponents, Srgba};

/// Steps of settings as the reference has them.
pub fn functions(steps: &[ColorStep]) -> Functions {
    let wide = |row: Vec4| row.to_array().map(f64::from);
    let step = |step: &ColorStep| match *step {
        ColorStep::Saturate(value) => Step::Saturate(value.into()),
        ColorStep::Brightness(value) => Step::Brightness(value.into()),
        ColorStep::Contrast(value) => Step::Contrast(value.into()),
        ColorStep::Invert(value) => Step::Invert(value.into()),
        ColorStep::HueRotate(value) => Step::HueRotate(value.into()),
        ColorStep::Sepia(value) => Step::Sepia(value.into()),
        ColorStep::Tint(color) => Step::Tint(Srgba::from(color).to_vec3().to_array().map(f64::from)),
        ColorStep::Cover(color) => Step::Cover(wide(Srgba::from(color).to_vec4())),
        ColorStep::Matrix(rows) => Step::Matrix(rows.map(wide)),
    };
    Functions(steps.iter().map(step).collect())
}

/// Steps of the reference as settings.
pub fn steps(functions: &Functions) -> Vec<ColorStep> {
    let color = |color: [f64; 4]| Srgba::from_vec4(Vec4::from(color.map(|value| value as f32))).into();
    let step = |step: &Step| match *step {
        Step::Saturate(value) => ColorStep::Saturate(value as f32),
        Step::Brightness(value) => ColorStep::Brightness(value as f32),
        Step::Contrast(value) => ColorStep::Contrast(value as f32),
        Step::Invert(value) => ColorStep::Invert(value as f32),
        Step::HueRotate(value) => ColorStep::HueRotate(value as f32),
        Step::Sepia(value) => ColorStep::Sepia(value as f32),
        Step::Tint(tint) => {
            ColorStep::Tint(Srgba::from_vec3(bevy::math::Vec3::from(tint.map(|value| value as f32))).into())
        }
        Step::Cover(cover) => ColorStep::Cover(color(cover)),
        Step::Matrix(rows) => ColorStep::Matrix(rows.map(|row| Vec4::from(row.map(|value| value as f32)))),
    };
    functions.0.iter().map(step).collect()
}
