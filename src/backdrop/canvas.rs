//! What glass and groups are painted on. Plain values.

#[cfg(feature = "ui")]
use bevy::math::UVec4;
use bevy::math::{IVec2, URect, Vec2};

/// A part of a texture to paint on. Its pixels are pixels of a camera's viewport.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Canvas {
    /// The first pixel.
    pub origin: IVec2,
    /// The number of pixels along x and y.
    pub size: Vec2,
    /// From a pixel to a texel.
    pub to_texel: IVec2,
}

impl Canvas {
    /// The viewport of a camera, which is a part of the camera's texture.
    pub fn of_camera(viewport: URect) -> Self {
        Self {
            origin: IVec2::ZERO,
            size: viewport.size().as_vec2(),
            to_texel: viewport.min.as_ivec2(),
        }
    }

    /// Its texels: the position of the first, and the number along x and y.
    #[cfg(feature = "ui")]
    pub fn texels(self) -> UVec4 {
        let place = (self.origin + self.to_texel).as_uvec2();
        UVec4::from((place, self.size.as_uvec2()))
    }

    /// From one of its texels to the same pixel's texel in the texture of a camera with this viewport.
    pub fn to_screen(self, viewport: URect) -> IVec2 {
        viewport.min.as_ivec2() - self.to_texel
    }
}

/// What glass is painted on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum PaintedOn {
    /// Its camera's picture.
    Camera,
    /// The picture of a filtered group.
    #[cfg(feature = "ui")]
    Group(Canvas),
    /// Nothing: its group is not visible.
    #[cfg(feature = "ui")]
    Nothing,
}

/// Glass lies over its node's box shadow. If the node is filtered, the shadow is on the group's picture, and the glass below that
/// picture: so the picture gets a hole in the shape of the glass.
#[cfg(feature = "ui")]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Hole {
    /// The opacity of the glass, without the filter's.
    pub opacity: f32,
    /// The canvas of the group's picture. `None` if the group is invisible.
    pub canvas: Option<Canvas>,
}
