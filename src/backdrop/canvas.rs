//! What something is painted on. Plain values.

use bevy::math::{IVec2, URect, Vec2};

/// A part of a texture on which something is painted. Pixels count in a camera's viewport.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Canvas {
    /// The first of its pixels.
    pub origin: IVec2,
    /// How many there are.
    pub size: Vec2,
    /// From a pixel to a texel.
    pub to_texel: IVec2,
}

impl Canvas {
    /// The viewport of a camera, which is a part of what the camera paints into.
    pub fn of_camera(viewport: URect) -> Self {
        Self {
            origin: IVec2::ZERO,
            size: viewport.size().as_vec2(),
            to_texel: viewport.min.as_ivec2(),
        }
    }

    /// From one of its texels to one of what a camera with this viewport paints into.
    pub fn to_screen(self, viewport: URect) -> IVec2 {
        viewport.min.as_ivec2() - self.to_texel
    }
}

/// What glass is painted on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum PaintedOn {
    /// Its camera's picture.
    Camera,
    /// The picture of a group that is filtered.
    #[cfg(feature = "ui")]
    Group(Canvas),
    /// Nothing: its group is not seen.
    #[cfg(feature = "ui")]
    Nothing,
}
