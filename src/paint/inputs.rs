//! What the front ends extract, the glass and the filters of every camera, and what a frame plans for them.

use crate::formats::CameraFinishItem;
use crate::freeze::KeptPictures;
use crate::gpu::texture_size;
use crate::schedule::{Backdrop, Filter, Picture, Schedule};
use bevy::camera::Camera;
use bevy::ecs::entity::EntityHashMap;
use bevy::prelude::*;
use bevy::render::render_resource::{Texture, TextureView};
use bevy::render::view::RetainedViewEntity;

/// What an active camera paints into, as far as the main world knows.
pub fn picture_of(entity: Entity, camera: &Camera, finish: &CameraFinishItem) -> Option<Picture> {
    if !camera.is_active {
        return None;
    }
    Some(Picture {
        camera: entity,
        size: camera.physical_target_size()?,
        viewport: camera.physical_viewport_rect()?,
        is_light: finish.is_light(),
        dithers: finish.dithers(),
    })
}

/// The glass and the filters of this frame, by camera, and what is planned for them. Everything else refers to cameras, and to the glass and filters of each, by
/// index.
#[derive(Resource, Default)]
pub struct PaintInputs {
    /// Cameras with any.
    pub cameras: Vec<PaintedCamera>,
    indices: EntityHashMap<usize>,
}

/// A camera with glass or filters.
pub struct PaintedCamera {
    /// What the camera paints into.
    pub picture: Picture,
    /// Glass, in any order.
    pub backdrops: Vec<Backdrop>,
    /// Groups in Bevy's stacking order: a group comes before the groups inside it.
    pub filters: Vec<Filter>,
    /// The schedule of its user interface.
    pub schedule: Schedule,
    /// The pages of every depth, from 1 on.
    pub pages: Vec<Vec<TextureView>>,
    /// The pages that hold what glass inside groups sees.
    pub seen: Vec<TextureView>,
    /// The view of Bevy's user interface on this camera: its entity, and the identity of its phase.
    pub ui_view: Option<(Entity, RetainedViewEntity)>,
    /// The entities of the views of the schedule's frames.
    pub views: Vec<Entity>,
}

/// Systems to order others against.
#[derive(SystemSet, Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PaintSystems {
    /// They extract glass and filters.
    Extract,
    /// They collect the boxes of materials.
    CollectBounds,
}

impl PaintedCamera {
    /// Nothing is planned yet.
    pub fn new(picture: Picture) -> Self {
        Self {
            picture,
            backdrops: Vec::new(),
            filters: Vec::new(),
            schedule: Schedule::default(),
            pages: Vec::new(),
            seen: Vec::new(),
            ui_view: None,
            views: Vec::new(),
        }
    }

    /// A page.
    pub fn page(&self, depth: u32, page: usize) -> Option<&TextureView> {
        self.pages.get(depth as usize - 1)?.get(page)
    }

    /// Fits everything to the texture that the camera paints into. Cameras of one target share a texture, whatever size they
    /// believe in.
    pub fn fit(&mut self, texture: &Texture, kept: &KeptPictures) {
        let size = texture_size(texture);
        if core::mem::replace(&mut self.picture.size, size) == size {
            return;
        }
        let seen = self.picture.seen();
        for backdrop in self.backdrops.iter_mut().filter(|backdrop| backdrop.freeze.is_some()) {
            backdrop.freeze = kept.glass(backdrop.entity, seen);
        }
    }

    /// Whether any of it is among the nodes of the user interface.
    pub fn has_nodes(&self) -> bool {
        !self.filters.is_empty() || self.backdrops.iter().any(|backdrop| backdrop.node().is_some())
    }
}

impl PaintInputs {
    /// Whether any camera has glass or filters among its nodes. Only then are the bounds of items needed.
    pub fn have_nodes(&self) -> bool {
        self.cameras.iter().any(PaintedCamera::has_nodes)
    }

    /// Removes everything.
    pub fn clear(&mut self) {
        self.cameras.clear();
        self.indices.clear();
    }

    /// The inputs of a camera.
    pub fn camera(&mut self, picture: Picture) -> &mut PaintedCamera {
        let index = *self.indices.entry(picture.camera).or_insert_with(|| {
            self.cameras.push(PaintedCamera::new(picture));
            self.cameras.len() - 1
        });
        &mut self.cameras[index]
    }
}
