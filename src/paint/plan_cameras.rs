//! Plans the user interface of every camera.
//!
//! Items are sorted by then, and the lists that hold their sizes are not cleared yet: Bevy does so in
//! `RenderSystems::PrepareBindGroups`. Views are not uploaded yet.

use super::bounds::ItemBounds;
use super::inputs::{CameraInputs, PaintInputs};
use super::own_items::OwnItems;
use super::pipelines::{Mix, PaintKey, PaintPipelines, PaintSource};
use crate::errors::BlurError;
use crate::freeze::KeptPictures;
use crate::gpu::{BlurPreparer, PageSet, TextureKind};
use crate::schedule::{Item, Scene, Schedule};
use bevy::ecs::system::SystemParam;
use bevy::prelude::*;
use bevy::render::render_resource::{PipelineCache, TextureUsages, TextureView};
use bevy::render::renderer::RenderDevice;
use bevy::render::view::{RetainedViewEntity, ViewTarget};

/// The schedules of this frame, by the index of the camera.
#[derive(Resource, Default)]
pub struct Schedules {
    /// One for each camera of [`PaintInputs`].
    pub cameras: Vec<CameraSchedule>,
}

/// The schedule of a camera, and what it needs.
#[derive(Default)]
pub struct CameraSchedule {
    /// The schedule.
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

impl CameraSchedule {
    /// A page.
    pub fn page(&self, depth: u32, page: usize) -> Option<&TextureView> {
        self.pages.get(depth as usize - 1)?.get(page)
    }
}

/// The cameras of [`PaintInputs`] with their schedules.
#[derive(SystemParam)]
pub struct PlannedCameras<'w> {
    inputs: Res<'w, PaintInputs>,
    schedules: Res<'w, Schedules>,
}

impl PlannedCameras<'_> {
    /// By the index of the camera.
    pub fn iter(&self) -> impl Iterator<Item = (&CameraInputs, &CameraSchedule)> {
        self.inputs.cameras.iter().zip(&self.schedules.cameras)
    }
}

/// The page that holds what glass inside filtered groups sees.
const SEEN: PageSet = PageSet("seen by glass", [0; 2]);

/// The pages for the pictures of a depth. Their contents are needed until all layers of these pictures are painted.
fn pictures(depth: u32) -> PageSet {
    PageSet("groups", [depth, 0])
}

/// The items of Bevy's user interface.
#[derive(SystemParam)]
pub struct UiItems<'w, 's> {
    cameras: Query<'w, 's, &'static bevy::ui_render::UiCameraView>,
    views: Query<'w, 's, &'static bevy::render::view::ExtractedView>,
    phases: Option<Res<'w, bevy::render::render_phase::ViewSortedRenderPhases<bevy::ui_render::TransparentUi>>>,
    bounds: Option<ItemBounds<'w>>,
    own: Option<Res<'w, OwnItems>>,
}

impl UiItems<'_, '_> {
    /// The view of a camera's user interface, and its items.
    fn read(&self, camera: Entity, items: &mut Vec<Item>) -> Option<(Entity, RetainedViewEntity)> {
        let ui_view = self.cameras.get(camera).ok()?.0;
        // The view may belong to an earlier frame and no longer exist.
        let view = self.views.get(ui_view).ok()?.retained_view_entity;
        let (phase, bounds, own) = (
            self.phases.as_ref()?.get(&view)?,
            self.bounds.as_ref()?,
            self.own.as_ref()?,
        );
        items.extend(phase.items.values().map(|item| Item {
            key: item.sort_key,
            bounds: bounds.find(item),
            what: own.what(item),
        }));
        Some((ui_view, view))
    }
}

/// What exists on the device.
#[derive(SystemParam)]
pub struct PaintDevice<'w> {
    device: Res<'w, RenderDevice>,
    cache: Res<'w, PipelineCache>,
    pipelines: Res<'w, PaintPipelines>,
    kept: Res<'w, KeptPictures>,
}

/// Plans every camera, and takes the pages of its groups.
///
/// If groups cannot be filtered on a camera in this frame, they are *flat*: the same function plans the camera without them.
pub fn plan_cameras(
    mut inputs: ResMut<PaintInputs>,
    ui: UiItems,
    targets: Query<&ViewTarget>,
    gpu: PaintDevice,
    mut schedules: ResMut<Schedules>,
    mut items: Local<Vec<Item>>,
    mut preparer: BlurPreparer,
) {
    schedules.cameras.resize_with(inputs.cameras.len(), default);
    for (camera, planned) in inputs.cameras.iter_mut().zip(&mut schedules.cameras) {
        items.clear();
        let views = core::mem::take(&mut planned.views);
        *planned = CameraSchedule { views, ..default() };
        let Ok(target) = targets.get(camera.picture.camera) else {
            continue;
        };
        camera.fit(target.main_texture(), &gpu.kept);
        if camera.has_nodes() {
            planned.ui_view = ui.read(camera.picture.camera, &mut items);
        }
        let scene = |is_flat| Scene {
            picture: camera.picture,
            limit: gpu.device.limits().max_texture_dimension_2d,
            is_flat,
            items: &items,
            backdrops: &camera.backdrops,
            filters: &camera.filters,
        };
        planned.schedule = Schedule::new(&scene(!gpu.takes_groups(camera, target)));
        if let Err(error) = planned.take_pages(target, &mut preparer) {
            let entity = camera.filters[0].entity;
            error_once!("the UiFilter of entity {entity}, and all others on its camera: {error}");
            planned.pages.clear();
            planned.schedule = Schedule::new(&scene(true));
        }
        planned.take_seen(camera, target, &mut preparer);
    }
}

impl PaintDevice<'_> {
    /// Whether groups can be painted on pages: the pages have the camera's format, because Bevy makes its pipelines for it.
    fn takes_groups(&self, camera: &CameraInputs, target: &ViewTarget) -> bool {
        let Some(filter) = camera.filters.first() else {
            return true;
        };
        let format = target.main_texture_format();
        if !self.pipelines.takes_groups(format) {
            let entity = filter.entity;
            warn_once!(
                "the UiFilter of entity {entity}, and all others on its camera, change nothing: they need a picture with at least \
                 eight bits of alpha that can be blended, and the camera's has the format {format:?}"
            );
            return false;
        }
        let key = PaintKey {
            format,
            mix: Mix::Over,
            source: PaintSource::Sharp,
        };
        self.pipelines.ready(key, &self.cache).is_some()
    }
}

impl CameraSchedule {
    /// Takes the pages for the pictures of groups.
    ///
    /// # Errors
    /// [`BlurError::OutOfMemory`].
    fn take_pages(&mut self, target: &ViewTarget, preparer: &mut BlurPreparer) -> Result<(), BlurError> {
        let usages = TextureUsages::RENDER_ATTACHMENT | TextureUsages::TEXTURE_BINDING;
        let kind = TextureKind {
            format: target.main_texture_format(),
            usages,
        };
        for (depth, sizes) in (1..).zip(&self.schedule.tree.pages) {
            self.pages.push(preparer.take_pages(pictures(depth), sizes, kind)?);
        }
        Ok(())
    }

    /// Takes the pages for what glass inside groups sees. Without them, such glass is not painted.
    fn take_seen(&mut self, camera: &CameraInputs, target: &ViewTarget, preparer: &mut BlurPreparer) {
        if self.schedule.seen.is_empty() {
            return;
        }
        let usages = TextureUsages::RENDER_ATTACHMENT
            | TextureUsages::TEXTURE_BINDING
            | TextureUsages::COPY_SRC
            | TextureUsages::COPY_DST;
        let kind = TextureKind {
            format: target.main_texture_format(),
            usages,
        };
        let taken = BlurError::check_usage("camera", target.main_texture().usage(), TextureUsages::COPY_SRC)
            .and_then(|()| preparer.take_pages(SEEN, &self.schedule.seen, kind));
        match taken {
            Ok(pages) => self.seen = pages,
            Err(error) => {
                let camera = camera.picture.camera;
                error_once!("the glass inside of filtered nodes on the camera {camera}: {error}");
            }
        }
    }
}
