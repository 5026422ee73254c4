//! Glass that refracts.

use super::ranges::{NumberRange, Problem};
use bevy::prelude::*;

/// Bends what is seen through the rim of glass, as a thick pane with a rounded edge does.
///
/// Add it beside a [`BackdropBlur`](crate::BackdropBlur), on a node or on a [`BackdropRegion`](crate::BackdropRegion). The blur may
/// have a radius of 0: clear glass bends as well. All fields may change in any frame.
///
/// ```
/// use bevy::prelude::*;
/// use bevy_gaussian_blur::prelude::*;
///
/// fn spawn_lens(mut commands: Commands) {
///     commands.spawn((
///         Node { width: px(240), height: px(80), border_radius: BorderRadius::MAX, ..default() },
///         BackdropBlur::new(6.0),
///         BackdropLens { displacement: 20.0, dispersion: 0.2, ..default() },
///     ));
/// }
/// ```
///
/// The rim follows the rounded box of the glass, and turns and grows with its transform. What is bent is the blurred picture: with a
/// [`BlurProfile`](crate::BlurProfile), each place is as blurred as the place that it shows.
///
/// With [`BackdropSampling::Inside`](crate::BackdropSampling), what lies beyond the glass is its mirror image. With
/// [`BackdropSampling::Surroundings`](crate::BackdropSampling) it is the picture around the glass, up to the border of the viewport.
///
/// Until the shaders of lenses are compiled, which starts with the first `BackdropLens` of an app, the glass is flat.
/// [`BlurReadiness`](crate::BlurReadiness) includes them.
#[derive(Component, Clone, Copy, Debug, PartialEq, Reflect)]
#[reflect(Component, Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serialize", reflect(Serialize, Deserialize))]
pub struct BackdropLens {
    /// The width of the curved rim, in logical pixels. A rim that is wider than half the shorter side of the glass ends there.
    ///
    /// Range: finite and at least 0; values outside count as 0, which is flat, and are reported once. Default: 24.
    pub bevel: f32,
    /// How far the picture is moved at the border, in logical pixels. Positive: the border shows what lies towards the centre, so
    /// the rim magnifies. Negative: it shows what lies outwards.
    ///
    /// Range: finite; other values count as 0 and are reported once. Default: 16.
    pub displacement: f32,
    /// How much farther blue is moved than red, as a share of the displacement. The picture is then read three times.
    ///
    /// Range: 0 to 1; values beyond count as 0 or 1. NaN counts as 0 and is reported once. Default: 0.
    pub dispersion: f32,
    /// How bright the lit part of the rim is: at 0 it is as bright as the rest of the glass, and at 1 white.
    ///
    /// Range: 0 to 1; values beyond count as 0 or 1. NaN counts as 0 and is reported once. Default: 0.3.
    pub rim_light: f32,
    /// Where the light comes from, in radians, clockwise from the top of the viewport. It stays there when the glass turns.
    ///
    /// Range: finite; other values count as 0 and are reported once. Default: -0.785, the top left.
    pub light_angle: f32,
}

impl Default for BackdropLens {
    fn default() -> Self {
        Self {
            bevel: 24.0,
            displacement: 16.0,
            dispersion: 0.0,
            rim_light: 0.3,
            light_angle: -0.785,
        }
    }
}

impl BackdropLens {
    /// The same lens with every field in range.
    pub(crate) fn in_range(&self) -> Self {
        let [bevel, displacement, light_angle, dispersion, rim_light] =
            self.numbers().map(|(_, range, number)| range.value_or(0.0, number));
        Self {
            bevel,
            displacement,
            dispersion,
            rim_light,
            light_angle,
        }
    }

    /// What is out of range.
    pub(crate) fn problems(&self) -> Vec<Problem> {
        let numbers = self.numbers().into_iter();
        numbers
            .filter_map(|(name, range, number)| range.problem(name, number))
            .collect()
    }

    /// The fields with their ranges.
    fn numbers(&self) -> [(&'static str, NumberRange, f32); 5] {
        [
            ("bevel", NumberRange::Positive, self.bevel),
            ("displacement", NumberRange::Finite, self.displacement),
            ("light_angle", NumberRange::Finite, self.light_angle),
            ("dispersion", NumberRange::Share, self.dispersion),
            ("rim_light", NumberRange::Share, self.rim_light),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lens_out_of_range_is_flat_and_says_so() {
        let wrong = BackdropLens {
            bevel: -1.0,
            displacement: f32::INFINITY,
            dispersion: f32::NAN,
            rim_light: f32::NAN,
            light_angle: f32::NAN,
        };
        let flat = BackdropLens {
            bevel: 0.0,
            displacement: 0.0,
            dispersion: 0.0,
            rim_light: 0.0,
            light_angle: 0.0,
        };
        assert_eq!(wrong.in_range(), flat);
        let names: Vec<_> = wrong.problems().iter().map(|(name, _)| *name).collect();
        assert_eq!(
            names,
            ["bevel", "displacement", "light_angle", "dispersion", "rim_light"]
        );
        assert!(BackdropLens::default().problems().is_empty());
        assert_eq!(BackdropLens::default().in_range(), BackdropLens::default());
    }
}
