//! What the front ends extract, the glass and the filters of every camera, and all that a frame plans and prepares for them.

use crate::formats::{CameraFinish, CameraFinishItem};
use crate::freeze::KeptPictures;
use crate::gpu::{BlurJob, BlurJobs, JobKey, texture_size};
use crate::schedule::{Backdrop, Blurs, Draw, Filter, PaintTexture, Picture, Schedule, SurfaceId, What};
use bevy::ecs::entity::EntityHashMap;
use bevy::ecs::system::SystemParam;
use bevy::prelude::*;
use bevy::render::render_phase::{DrawFunctionId, PhaseItemExtraIndex};
use bevy::render::render_resource::{Texture, TextureView};
use bevy::render::view::RetainedViewEntity;
use bevy::ui::ComputedUiTargetCamera;
use bevy::ui_render::{TransparentUi, UiAntiAlias, UiCameraMap};
use core::ops::Range;

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

/// All cameras of the main world, for nodes.
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

/// The glass and the filters of this frame, by camera, with all that is made of them. Glass, filters and layers are named by their
/// indices.
#[derive(Resource, Default)]
pub struct PaintInputs {
    /// Cameras with any.
    pub cameras: Vec<PaintedCamera>,
    indices: EntityHashMap<usize>,
    /// The crate's own items.
    pub own: OwnItems,
}

/// The crate's own items in the phases of Bevy's user interface.
///
/// They need no entities of their own: an item has a number, and a phase only wants that to be distinct.
#[derive(Default)]
pub struct OwnItems {
    /// The index of the camera, and what each item is.
    items: Vec<(usize, What)>,
    draw_function: Option<DrawFunctionId>,
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
    /// What is prepared for every backdrop.
    pub glass: Vec<PaintedGlass>,
    /// The blur of every layer that is blurred.
    pub layers: Vec<Option<BlurPlace>>,
    /// The calls of the layers of every surface.
    pub surfaces: Vec<Range<usize>>,
    /// The items that the schedule paints in the place of Bevy, sorted by surface and sort key.
    pub split: Vec<SplitItem>,
}

/// A blur: its job, and its number there.
pub type BlurPlace = (JobKey, usize);

/// The blur of glass, and its draw calls, as ranges of all calls.
#[derive(Clone, Default)]
pub struct PaintedGlass {
    /// The blur.
    pub blur: Option<BlurPlace>,
    /// The glass.
    pub calls: Range<usize>,
    /// The hole that it makes.
    pub hole: Range<usize>,
    /// The groups around it, as far as they are painted.
    pub seen: Range<usize>,
}

/// An item that a schedule paints: on which surface, its place in the phase, and the item with the batch that the phase does not hold
/// now.
pub type SplitItem = (SurfaceId, usize, TransparentUi);

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
            glass: Vec::new(),
            layers: Vec::new(),
            surfaces: Vec::new(),
            split: Vec::new(),
        }
    }

    /// A texture beside the camera's own.
    pub fn view(&self, texture: PaintTexture) -> Option<&TextureView> {
        match texture {
            PaintTexture::Camera => None,
            PaintTexture::Page(depth, page) => self.pages.get(depth as usize - 1)?.get(page),
            PaintTexture::Seen(page) => self.seen.get(page),
        }
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

    /// The jobs of a batch that can be encoded, each once.
    pub fn jobs<'a>(&self, batch: usize, jobs: &'a BlurJobs) -> impl Iterator<Item = &'a BlurJob> {
        let places: Vec<Option<BlurPlace>> = match &self.schedule.batches[batch].blurs {
            Blurs::Glass(glass) => glass.iter().map(|glass| self.glass.get(*glass)?.blur).collect(),
            Blurs::Layers(layers) => layers.iter().map(|(_, layer)| *self.layers.get(*layer)?).collect(),
        };
        let mut keys = Vec::new();
        for (key, _) in places.into_iter().flatten() {
            if !keys.contains(&key) {
                keys.push(key);
            }
        }
        keys.into_iter().filter_map(|key| jobs.bound(key))
    }

    /// Whether glass is painted.
    pub fn paints_glass(&self, backdrop: usize) -> bool {
        self.glass.get(backdrop).is_some_and(|glass| !glass.calls.is_empty())
    }

    /// The calls of an own item.
    fn calls_of_item(&self, what: What) -> Option<&Range<usize>> {
        match what {
            What::Glass(backdrop) => Some(&self.glass.get(backdrop)?.calls),
            What::Hole(backdrop) => Some(&self.glass.get(backdrop)?.hole),
            What::Result(filter) => self.surfaces.get(self.schedule.tree.result_of(filter)?.0),
            What::Mark | What::Other => None,
        }
    }

    /// The calls of a step, unless it draws items.
    pub fn calls_of_draw(&self, draw: &Draw) -> Option<&Range<usize>> {
        match draw {
            Draw::Layers(surface) => self.surfaces.get(surface.0),
            Draw::Glass(backdrop) => Some(&self.glass.get(*backdrop)?.calls),
            Draw::Seen(backdrop) => Some(&self.glass.get(*backdrop)?.seen),
            Draw::Items { .. } => None,
        }
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
        self.own.items.clear();
    }

    /// The inputs of a camera.
    pub fn camera(&mut self, picture: Picture) -> &mut PaintedCamera {
        let index = *self.indices.entry(picture.camera).or_insert_with(|| {
            self.cameras.push(PaintedCamera::new(picture));
            self.cameras.len() - 1
        });
        &mut self.cameras[index]
    }

    /// The calls of an own item.
    pub fn calls(&self, item: &TransparentUi) -> Option<&Range<usize>> {
        let (camera, what) = self.own.find(item)?;
        self.cameras.get(camera)?.calls_of_item(what)
    }
}

impl OwnItems {
    /// Adds an item of a camera, with this draw function. Returns its number.
    pub fn add(&mut self, camera: usize, what: What, draw_function: DrawFunctionId) -> u32 {
        self.draw_function = Some(draw_function);
        self.items.push((camera, what));
        self.items.len() as u32 - 1
    }

    /// What any item of a phase is.
    pub fn what(&self, item: &TransparentUi) -> What {
        self.find(item).map_or(What::Other, |(_, what)| what)
    }

    fn find(&self, item: &TransparentUi) -> Option<(usize, What)> {
        match item.extra_index {
            PhaseItemExtraIndex::DynamicOffset(number) if Some(item.draw_function) == self.draw_function => {
                self.items.get(number as usize).copied()
            }
            _ => None,
        }
    }
}
