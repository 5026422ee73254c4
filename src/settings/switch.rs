//! One switch for all blurs of an app.

use bevy::prelude::*;
#[cfg(feature = "serialize")]
use serde::{Deserialize, Serialize};

/// Whether the blurs of cameras and of the user interface are drawn: for weak machines, and for players who want less transparency.
///
/// [`Off`](Self::Off) takes effect in the frame in which it is set, and [`On`](Self::On) likewise. While blurs are off, cameras are
/// sharp; glass is painted in its [`fallback`](crate::BackdropBlur::fallback); filters of the user interface keep their opacity, their
/// colours, outlines, fades and clips, and lose blurs and shadows. Nothing of a blur is computed or held: for a
/// [frozen](crate::FreezeBlur) blur whose picture is kept, [`FreezeLost`](crate::FreezeLost) is triggered, and when blurs are on again
/// it takes a new picture, with [`FreezeTaken`](crate::FreezeTaken). Blurs of images and of the [`recorder`](crate::recorder) are data,
/// and go on.
///
/// ```
/// # use bevy::prelude::*;
/// use bevy_gaussian_blur::BlurSwitch;
///
/// fn toggle_blurs(mut switch: ResMut<BlurSwitch>) {
///     *switch = match *switch {
///         BlurSwitch::On => BlurSwitch::Off,
///         BlurSwitch::Off => BlurSwitch::On,
///     };
/// }
/// ```
#[derive(Resource, Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Reflect)]
#[reflect(Resource, Clone, Debug, Default, PartialEq, Hash)]
#[cfg_attr(
    feature = "serialize",
    derive(Serialize, Deserialize),
    reflect(Serialize, Deserialize)
)]
pub enum BlurSwitch {
    /// Blurs are drawn.
    #[default]
    On,
    /// No camera, no glass and no filter is blurred.
    Off,
}

impl BlurSwitch {
    /// Whether blurs are drawn.
    #[must_use]
    pub fn is_on(self) -> bool {
        self == Self::On
    }
}
