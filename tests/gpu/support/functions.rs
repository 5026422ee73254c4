//! The colour functions of settings, for the reference.

use bevy_gaussian_blur::prelude::BackdropBlur;
#[cfg(feature = "ui")]
use bevy_gaussian_blur::prelude::UiFilter;

pub use super::reference::Functions;

fn of([saturation, brightness, contrast, invert, hue]: [f32; 5]) -> Functions {
    Functions {
        saturation: saturation.into(),
        brightness: brightness.into(),
        contrast: contrast.into(),
        invert: invert.into(),
        hue: hue.into(),
    }
}

pub fn of_glass(glass: &BackdropBlur) -> Functions {
    of([
        glass.saturation,
        glass.brightness,
        glass.contrast,
        glass.invert,
        glass.hue,
    ])
}

#[cfg(feature = "ui")]
pub fn of_filter(filter: &UiFilter) -> Functions {
    of([
        filter.saturation,
        filter.brightness,
        filter.contrast,
        filter.invert,
        filter.hue,
    ])
}
