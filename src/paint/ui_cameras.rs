//! The cameras on which Bevy shows nodes.

use super::inputs::picture_of;
use crate::formats::CameraFinish;
use crate::schedule::Picture;
use bevy::ecs::system::SystemParam;
use bevy::prelude::*;
use bevy::ui::ComputedUiTargetCamera;
use bevy::ui_render::{UiAntiAlias, UiCameraMap};

/// All cameras of the main world.
#[derive(SystemParam)]
pub struct UiCameras<'w, 's> {
    map: UiCameraMap<'w, 's>,
    cameras: Query<'w, 's, (&'static Camera, CameraFinish, Option<&'static UiAntiAlias>)>,
}

impl UiCameras<'_, '_> {
    /// Finds what the cameras of nodes paint into, and whether their nodes are antialiased.
    pub fn pictures(&self) -> impl FnMut(&ComputedUiTargetCamera) -> Option<(Picture, bool)> {
        let mut mapper = self.map.get_mapper();
        move |target| {
            let (render_entity, main_entity) = (mapper.map(target)?, target.get()?);
            let (camera, finish, anti_alias) = self.cameras.get(main_entity).ok()?;
            let picture = picture_of(render_entity, camera, &finish)?;
            Some((picture, anti_alias != Some(&UiAntiAlias::Off)))
        }
    }
}
