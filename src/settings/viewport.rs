//! Where a camera shows a position of the world.

use bevy::camera::ViewportConversionError;
use bevy::prelude::*;

/// A place in a camera's viewport, in logical pixels from its top left corner.
pub struct ViewportPlace {
    pub point: Vec2,
    /// The size of the viewport.
    pub size: Vec2,
}

/// Where a camera shows a position of the world. Unlike in [`Camera::world_to_viewport`], the corner of the viewport is
/// the origin, even if the viewport is a part of its target.
pub fn place_in_viewport(
    camera: &Camera,
    camera_transform: &GlobalTransform,
    position: Vec3,
) -> Result<ViewportPlace, ViewportConversionError> {
    let viewport = camera
        .logical_viewport_rect()
        .ok_or(ViewportConversionError::NoViewportSize)?;
    let in_target = camera.world_to_viewport(camera_transform, position)?;
    Ok(ViewportPlace {
        point: in_target - viewport.min,
        size: viewport.size(),
    })
}
