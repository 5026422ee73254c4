//! Which share of a blur's radius each place gets.

use crate::errors::BlurError;
use bevy::prelude::*;
#[cfg(feature = "serialize")]
use serde::{Deserialize, Serialize};

/// Lets a blur vary over the picture: which share of the radius each place gets. Optional, next to
/// [`GaussianBlur`](crate::GaussianBlur) on a camera or an image, and next to [`BackdropBlur`](crate::BackdropBlur) on glass.
///
/// Every texel is the Gaussian, of the radius that it has itself, of the sharp picture. So nothing sharp bleeds where it
/// should not, and nothing has a seam. A share of 0 leaves the texel alone, to the bit; a share of 1 is the whole radius.
///
/// Places are given in shares of the **box**, from 0 to 1: the camera's viewport, the image, or the whole of the glass, seen
/// or not. x goes to the right and y downwards. Lines and circles are straight and round as they are seen, also where the box
/// is no square.
///
/// Shares end at 0 and at 1; what would be less or more is cut off. NaN counts as 0 and is reported once. All fields may
/// change in any frame, without a hitch.
///
/// ```
/// use bevy::prelude::*;
/// use bevy_gaussian_blur::prelude::*;
///
/// fn spawn(mut commands: Commands) {
///     // A miniature: sharp in the middle, and ever more blurred above and below it.
///     let tilt_shift = BlurProfile::Band { centre: Vec2::splat(0.5), direction: Vec2::X, sharp: 0.1, soft: 0.4 };
///     commands.spawn((Camera3d::default(), GaussianBlur::new(60.0), tilt_shift));
/// }
/// ```
#[derive(Component, Clone, Debug, Default, PartialEq, Reflect)]
#[reflect(Component, Clone, Debug, Default, PartialEq)]
#[cfg_attr(
    feature = "serialize",
    derive(Serialize, Deserialize),
    reflect(Serialize, Deserialize)
)]
pub enum BlurProfile {
    /// The whole radius everywhere, as without a profile.
    #[default]
    Uniform,
    /// From one share to another along a line. Places beyond either end have the share of that end.
    Linear {
        /// Where the share is `from`, in shares of the box.
        start: Vec2,
        /// Where the share is `to`, in shares of the box. If it is the start, the share is `to` everywhere.
        end: Vec2,
        /// The share at the start.
        from: f32,
        /// The share at the end.
        to: f32,
    },
    /// A band that stays sharp, and the whole radius far from it: tilt-shift.
    ///
    /// Distances are in shares of the box's extent across the band: of its height if the band is horizontal, of its width if
    /// it is vertical.
    Band {
        /// A point in the middle of the band, in shares of the box.
        centre: Vec2,
        /// Where the band runs, on the screen; of any length but 0. [`Vec2::X`] is a horizontal band.
        direction: Vec2,
        /// The distance from the middle up to which the share is 0.
        sharp: f32,
        /// The distance from there over which it grows to 1. With 0 the band has a hard edge.
        soft: f32,
    },
    /// From one share to another around a point, in circles.
    ///
    /// Distances are in shares of the box's shorter side.
    Radial {
        /// The centre, in shares of the box.
        centre: Vec2,
        /// The distance up to which the share is `from`.
        inner: f32,
        /// The distance from which on it is `to`. If it is no more than `inner`, the circle has a hard edge.
        outer: f32,
        /// The share inside.
        from: f32,
        /// The share outside.
        to: f32,
    },
    /// The red channel of an image, stretched over the box and interpolated linearly.
    ///
    /// Values are what the image's format means: those of an sRGB format are decoded. An image that holds shares is best
    /// loaded with [`ImageLoaderSettings::is_sRGB`](bevy::image::ImageLoaderSettings) as `false`.
    ///
    /// While the image loads, cameras and glass go on with the profile that they had, and a blur that is new is not seen yet;
    /// a [`BlurImage`](crate::BlurImage) waits, and its target stays as it is. Afterwards the blur follows the changes of the
    /// image, as it follows those of a source: another blur or a camera may write it in the same frame.
    ///
    /// The view must show one two-dimensional layer of floats or normalised integers, of which the first mip level counts.
    /// It must not be the image that the blur writes. With the feature `serialize`, a mask cannot be written: a handle means
    /// nothing elsewhere.
    #[cfg_attr(feature = "serialize", serde(skip))]
    Mask(Handle<Image>),
}

impl BlurProfile {
    /// Whether all numbers are finite.
    ///
    /// # Errors
    /// [`BlurError::InvalidProfile`].
    pub fn check(&self) -> Result<(), BlurError> {
        let numbers = match *self {
            Self::Uniform | Self::Mask(_) => return Ok(()),
            Self::Linear { start, end, from, to } => [start.x, start.y, end.x, end.y, from, to],
            Self::Band {
                centre,
                direction,
                sharp,
                soft,
            } => [centre.x, centre.y, direction.x, direction.y, sharp, soft],
            Self::Radial {
                centre,
                inner,
                outer,
                from,
                to,
            } => [centre.x, centre.y, inner, outer, from, to],
        };
        let has_direction = !matches!(self, Self::Band { direction, .. } if *direction == Vec2::ZERO);
        if has_direction && numbers.iter().all(|number| number.is_finite()) {
            Ok(())
        } else {
            Err(BlurError::InvalidProfile)
        }
    }

    /// Whether the radius is the same everywhere.
    #[must_use]
    pub fn is_uniform(&self) -> bool {
        *self == Self::Uniform
    }
}
