//! How strong a blur is, and what it reads beyond the border.

use super::ranges::{NumberRange, Problem};
use crate::errors::BlurError;
use bevy::prelude::*;

/// How many standard deviations a radius spans: `radius = 3 σ`.
///
/// It is the radius at which the classical separable filter ends: along each axis, 99.7 % of the Gaussian's weight lies inside. Within
/// the disc of this radius it is 98.9 %.
pub const RADIUS_IN_SIGMAS: f32 = 3.0;

/// Blurs a camera or an image with a Gaussian.
///
/// On a camera it blurs the camera's picture; next to [`BlurImage`](crate::BlurImage) it blurs an image. On any other
/// entity it does nothing and logs one warning. All fields may change in any frame.
///
/// ```
/// use bevy::prelude::*;
/// use bevy_gaussian_blur::prelude::*;
///
/// let blur = GaussianBlur::new(24.0).with_unit(BlurUnit::PhysicalPixels);
/// assert_eq!(blur.sigma(), 8.0);
/// assert_eq!(GaussianBlur::from_sigma(8.0).radius, 24.0);
/// ```
#[derive(Component, Clone, Copy, Debug, PartialEq, Reflect)]
#[reflect(Component, Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serialize", reflect(Serialize, Deserialize))]
#[must_use]
pub struct GaussianBlur {
    /// Three standard deviations: how far light spreads. Of the light of a point, 99.7 % stay within this distance to the left and to the
    /// right of it, 99.7 % above and below it, and 98.9 % in the circle of this radius.
    ///
    /// Unit: [`unit`](Self::unit). Range: finite and at least 0. Default: 24. NaN, infinite and negative values mean
    /// "no blur" and are reported once. A blur with a standard deviation under 0.03 texels changes nothing and costs
    /// nothing.
    pub radius: f32,
    /// The unit of the radius. Default: [`BlurUnit::LogicalPixels`].
    pub unit: BlurUnit,
    /// Scales the radius along x and y.
    ///
    /// Range: finite and at least 0; values outside mean "no blur" and are reported once. Default: [`Vec2::ONE`].
    /// [`Vec2::X`] blurs along x only.
    pub aspect: Vec2,
    /// What lies outside the viewport or image. Default: [`EdgeMode::Clamp`].
    pub edge: EdgeMode,
}

impl Default for GaussianBlur {
    fn default() -> Self {
        Self {
            radius: 24.0,
            unit: BlurUnit::LogicalPixels,
            aspect: Vec2::ONE,
            edge: EdgeMode::Clamp,
        }
    }
}

impl GaussianBlur {
    /// A blur of the given radius, which is three standard deviations, in logical pixels.
    pub fn new(radius: f32) -> Self {
        Self {
            radius,
            ..Self::default()
        }
    }

    /// A blur of the given standard deviation, as CSS `blur()` takes it, in logical pixels.
    pub fn from_sigma(sigma: f32) -> Self {
        Self::new(sigma * RADIUS_IN_SIGMAS)
    }

    /// The standard deviation: a third of the radius, in the same unit.
    #[must_use]
    pub fn sigma(&self) -> f32 {
        self.radius / RADIUS_IN_SIGMAS
    }

    /// The same blur with another [`radius`](Self::radius).
    pub fn with_radius(self, radius: f32) -> Self {
        Self { radius, ..self }
    }

    /// The same blur with another [`unit`](Self::unit).
    pub fn with_unit(self, unit: BlurUnit) -> Self {
        Self { unit, ..self }
    }

    /// The same blur with another [`aspect`](Self::aspect).
    pub fn with_aspect(self, aspect: Vec2) -> Self {
        Self { aspect, ..self }
    }

    /// The same blur with another [`edge`](Self::edge) mode.
    pub fn with_edge(self, edge: EdgeMode) -> Self {
        Self { edge, ..self }
    }

    /// Whether all values are the same, NaN included.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        let numbers = |blur: &Self| [blur.radius, blur.aspect.x, blur.aspect.y].map(f32::to_bits);
        (numbers(self), self.unit, self.edge) == (numbers(other), other.unit, other.edge)
    }

    /// Whether all numbers are in range.
    ///
    /// # Errors
    /// The errors of [`sigma_in_texels`](Self::sigma_in_texels).
    pub(crate) fn check(&self) -> Result<(), BlurError> {
        self.sigma_in_texels(1.0, 1).map(drop)
    }

    /// What is out of range.
    pub(crate) fn problem(&self) -> Option<Problem> {
        self.check().err().map(|error| ("blur", error.to_string()))
    }

    /// The standard deviations along x and y in physical pixels (texels).
    ///
    /// `scale_factor` is physical pixels per logical pixel, `height` the height in physical pixels of the viewport or
    /// image.
    ///
    /// # Errors
    /// [`BlurError::InvalidRadius`] and [`BlurError::InvalidAspect`] when a value is NaN, infinite or negative.
    pub fn sigma_in_texels(&self, scale_factor: f32, height: u32) -> Result<Vec2, BlurError> {
        let range = NumberRange::Positive;
        (range.check([self.radius])).map_err(|_| BlurError::InvalidRadius(self.radius))?;
        (range.check(self.aspect.to_array())).map_err(|_| BlurError::InvalidAspect(self.aspect))?;
        let texels_per_unit = match self.unit {
            BlurUnit::LogicalPixels => scale_factor,
            BlurUnit::PhysicalPixels => 1.0,
            BlurUnit::ViewportHeight => height as f32 / 100.0,
        };
        // Clamped first: infinity times an aspect of 0 would be NaN.
        let sigma = (self.sigma() * texels_per_unit).min(f32::MAX);
        Ok((sigma * self.aspect).min(Vec2::splat(f32::MAX)))
    }
}

/// The unit of a [`GaussianBlur::radius`].
///
/// On an image, a logical and a physical pixel are both one texel, and the viewport is the image.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Reflect)]
#[reflect(Clone, Debug, Default, PartialEq, Hash)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serialize", reflect(Serialize, Deserialize))]
pub enum BlurUnit {
    /// Logical pixels: the same look at every DPI.
    #[default]
    LogicalPixels,
    /// Physical pixels of the render target.
    PhysicalPixels,
    /// Percent of the viewport's height, as [`Val::Vh`](bevy::prelude::Val): the same look at every resolution.
    ViewportHeight,
}

/// What a blur reads beyond the border of its viewport or image.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Reflect)]
#[reflect(Clone, Debug, Default, PartialEq, Hash)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serialize", reflect(Serialize, Deserialize))]
pub enum EdgeMode {
    /// The nearest texel of the border: `a a a a | a b c d | d d d d`.
    #[default]
    Clamp,
    /// The mirror image: `d c b a | a b c d | d c b a`.
    Mirror,
    /// The opposite side: `a b c d | a b c d | a b c d`.
    Wrap,
    /// Transparent black: all channels are 0.
    Transparent,
    /// Nothing: the outside is left out, and the result is divided by the weight inside.
    Renormalize,
}

impl EdgeMode {
    /// All edge modes, in the order of their declaration: for menus and command lines.
    pub const ALL: [Self; 5] = [
        Self::Clamp,
        Self::Mirror,
        Self::Wrap,
        Self::Transparent,
        Self::Renormalize,
    ];

    /// The name in lower case, such as `clamp`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Clamp => "clamp",
            Self::Mirror => "mirror",
            Self::Wrap => "wrap",
            Self::Transparent => "transparent",
            Self::Renormalize => "renormalize",
        }
    }

    /// The number in `shaders/common/pass.wgsl`, which counts in the order of declaration.
    pub(crate) fn number(self) -> u32 {
        self as u32
    }

    /// After how many lengths of the picture everything beyond the border repeats, if it does.
    pub(crate) fn period(self) -> Option<f64> {
        match self {
            Self::Mirror => Some(2.0),
            Self::Wrap => Some(1.0),
            Self::Clamp | Self::Transparent | Self::Renormalize => None,
        }
    }

    /// Whether the outside consists of images of the picture.
    pub(crate) fn is_periodic(self) -> bool {
        self.period().is_some()
    }

    /// Whether reads beyond the border return 0.
    pub(crate) fn is_empty_outside(self) -> bool {
        self.spreads() || self.is_normalized()
    }

    /// Whether the blurred picture is larger than the picture: beyond its borders, nothing replaces what the blur moves there.
    pub(crate) fn spreads(self) -> bool {
        match self {
            Self::Transparent => true,
            Self::Clamp | Self::Mirror | Self::Wrap | Self::Renormalize => false,
        }
    }

    /// Whether the result is divided by the weight of what exists.
    pub(crate) fn is_normalized(self) -> bool {
        match self {
            Self::Renormalize => true,
            Self::Clamp | Self::Mirror | Self::Wrap | Self::Transparent => false,
        }
    }

    /// Whether a read beyond the border may return a texel that is farther away than the one that was asked for.
    pub(crate) fn reads_far(self) -> bool {
        self.period().is_some_and(|period| period < 2.0)
    }

    /// One edge mode of each kind that shader programs distinguish: the outside lies in the border's texels, nowhere, or in images
    /// of the picture.
    pub(crate) const KINDS: [Self; 3] = [Self::Clamp, Self::Transparent, Self::Mirror];
}

#[cfg(test)]
mod tests {
    use super::*;
    use bevy::reflect::Typed;

    #[test]
    fn all_edge_modes_have_names_of_their_own() {
        let variants = EdgeMode::type_info().as_enum().expect("it is an enum").variant_names();
        assert_eq!(EdgeMode::ALL.map(|edge| format!("{edge:?}")).as_slice(), variants);
        assert_eq!(
            EdgeMode::ALL.map(EdgeMode::name).map(str::to_owned),
            EdgeMode::ALL.map(|edge| format!("{edge:?}").to_lowercase())
        );
    }
}
