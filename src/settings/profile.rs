//! Which share of a blur's radius each position gets.

use super::region::place_in_viewport;
use crate::errors::BlurError;
use bevy::camera::ViewportConversionError;
use bevy::prelude::*;

/// Varies a blur over the picture: each position gets a share of the radius. Optional, next to
/// [`GaussianBlur`](crate::GaussianBlur) on a camera or an image, next to [`BackdropBlur`](crate::BackdropBlur) on
/// glass, and next to `UiFilter` on a filtered node without glass of its own.
///
/// Every texel is the sharp picture, blurred with the texel's own radius, so sharp parts do not bleed and seams do not
/// appear. A share of 0 leaves every bit of the texel as it is; a share of 1 is the whole radius.
///
/// Positions are shares of the **box**, from 0 to 1: the camera's viewport, the image or its
/// [region](crate::BlurImage::region), or the whole of the glass or the filtered node, visible or not. x goes to the
/// right and y downwards. Lines are straight and circles are round on the screen, even if the box is not square.
///
/// Shares are clamped to 0 and 1. NaN counts as 0 and is reported once. All fields may change in any frame, without a
/// hitch.
///
/// ```
/// use bevy::prelude::*;
/// use bevy_gaussian_blur::prelude::*;
///
/// fn spawn(mut commands: Commands) {
///     // A miniature: sharp in the middle, and ever more blurred above and below it.
///     let tilt_shift = BlurProfile::Band { center: Vec2::splat(0.5), direction: Vec2::X, sharp: 0.1, soft: 0.4 };
///     commands.spawn((Camera3d::default(), GaussianBlur::new(60.0), tilt_shift));
/// }
/// ```
#[derive(Component, FromTemplate, Clone, Debug, Default, PartialEq, Reflect)]
#[reflect(Component, Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serialize", reflect(Serialize, Deserialize))]
pub enum BlurProfile {
    /// The whole radius everywhere, as without a profile.
    #[default]
    Uniform,
    /// From one share to another along a line. Positions beyond either end have the share of that end.
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
    /// Distances are shares of the box's extent across the band: of its height for a horizontal band, of its width for
    /// a vertical one.
    Band {
        /// A point in the middle of the band, in shares of the box.
        center: Vec2,
        /// The direction of the band on the screen, of any length but 0. [`Vec2::X`] is a horizontal band.
        direction: Vec2,
        /// The distance from the middle up to which the share is 0.
        sharp: f32,
        /// The distance, from there on, over which it grows to 1. With 0 the band has a hard edge.
        soft: f32,
    },
    /// From one share to another around a point, in circles.
    ///
    /// Distances are shares of the box's shorter side.
    Radial {
        /// The centre, in shares of the box.
        center: Vec2,
        /// The distance up to which the share is `from`.
        inner: f32,
        /// The distance from which on the share is `to`. If it is no more than `inner`, the circle has a hard edge.
        outer: f32,
        /// The share inside.
        from: f32,
        /// The share outside.
        to: f32,
    },
    /// The red channel of an image, stretched over the box and interpolated linearly.
    ///
    /// Values are decoded as the image's format says, including sRGB. Load an image that holds shares with
    /// [`ImageLoaderSettings::is_sRGB`](bevy::image::ImageLoaderSettings) as `false`.
    ///
    /// While the image loads, cameras and glass keep their previous profile, and a new blur is not visible yet. A
    /// [`BlurImage`](crate::BlurImage) waits, and its target stays as it is. A filtered node is sharp. Afterwards the
    /// blur follows changes of the image as it follows changes of a source: another blur or a camera may write it in the
    /// same frame.
    ///
    /// The view must show one two-dimensional layer of floats or normalised integers; only its first mip level is read.
    /// It must not be the image that the blur writes. With the feature `serialize`, a mask cannot be serialised,
    /// because a handle means nothing elsewhere.
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
                center,
                direction,
                sharp,
                soft,
            } => [center.x, center.y, direction.x, direction.y, sharp, soft],
            Self::Radial {
                center,
                inner,
                outer,
                from,
                to,
            } => [center.x, center.y, inner, outer, from, to],
        };
        let has_direction = !matches!(self, Self::Band { direction, .. } if *direction == Vec2::ZERO);
        if has_direction && numbers.iter().all(|number| number.is_finite()) {
            Ok(())
        } else {
            Err(BlurError::InvalidProfile)
        }
    }

    /// Moves the profile in the viewport of a camera so that its centre is where the camera shows this position of the
    /// world: the middle of the band, of the circles or of the line from `start` to `end`.
    /// [`Uniform`](Self::Uniform) and [`Mask`](Self::Mask) stay as they are; what a camera paints into a mask can follow by
    /// [`Camera::world_to_ndc`].
    ///
    /// In [`PostUpdate`], after `TransformSystems::Propagate`, the profile is exactly there; in [`Update`], it is where the
    /// last frame showed the position. A tilt-shift that follows a hero:
    ///
    /// ```
    /// # use bevy::prelude::*;
    /// # use bevy_gaussian_blur::prelude::*;
    /// # #[derive(Component)]
    /// # struct Hero;
    /// fn follow(
    ///     camera: Single<(&Camera, &GlobalTransform, &mut BlurProfile)>,
    ///     hero: Single<&GlobalTransform, With<Hero>>,
    /// ) {
    ///     let (camera, transform, mut profile) = camera.into_inner();
    ///     if profile.center_on(camera, transform, hero.translation()).is_err() {
    ///         // The hero is not in sight. Do not return the error: Bevy panics on errors of systems by default.
    ///     }
    /// }
    /// ```
    ///
    /// # Errors
    /// The position is not between the camera's near and far planes (behind the camera, for example), or the size of the viewport is not
    /// known yet, as in the first frame. The profile then stays where it is.
    pub fn center_on(
        &mut self,
        camera: &Camera,
        camera_transform: &GlobalTransform,
        position: Vec3,
    ) -> Result<(), ViewportConversionError> {
        let [point, size] = place_in_viewport(camera, camera_transform, position)?;
        let share = point / size;
        match self {
            Self::Uniform | Self::Mask(_) => {}
            Self::Linear { start, end, .. } => {
                let by = share - start.midpoint(*end);
                *start += by;
                *end += by;
            }
            Self::Band { center, .. } | Self::Radial { center, .. } => *center = share,
        }
        Ok(())
    }

    /// The image that holds the shares, if there is one.
    pub(crate) fn mask(&self) -> Option<AssetId<Image>> {
        match self {
            Self::Mask(mask) => Some(mask.id()),
            _ => None,
        }
    }

    /// Whether both give every place the same share. Profiles with numbers out of range do not blur, so they are alike.
    pub(crate) fn is_like(&self, other: &Self) -> bool {
        self == other || self.check().is_err() && other.check().is_err()
    }

    /// Whether the radius is the same everywhere.
    #[must_use]
    pub fn is_uniform(&self) -> bool {
        *self == Self::Uniform
    }
}
