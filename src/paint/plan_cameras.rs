//! Plans the user interface of every camera.
//!
//! Items are sorted by then, and the lists that hold their sizes are not cleared yet: Bevy does so in
//! `RenderSystems::PrepareBindGroups`. Views are not uploaded yet.

use super::bounds::ItemBounds;
use super::inputs::{OwnItems, PaintInputs, PaintedCamera};
use super::pipelines::{Mix, PaintKey, PaintPipelines, PaintSource};
use crate::errors::BlurError;
use crate::freeze::KeptPictures;
use crate::gpu::{BlurPreparer, TextureKind};
use crate::plan::pack::PageSet;
use crate::schedule::{Item, Scene, Schedule};
use bevy::ecs::system::SystemParam;
use bevy::prelude::*;
use bevy::render::render_resource::TextureUsages;
use bevy::render::view::{RetainedViewEntity, ViewTarget};

/// The page that holds what glass inside filtered groups sees.
const SEEN: PageSet = PageSet("seen by glass", [0; 2]);

/// The usages of pages that are painted and read.
const PAINTED: TextureUsages = TextureUsages::RENDER_ATTACHMENT.union(TextureUsages::TEXTURE_BINDING);

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
}

impl UiItems<'_, '_> {
    /// The view of a camera's user interface, and its items.
    fn read(&self, camera: Entity, own: &OwnItems, items: &mut Vec<Item>) -> Option<(Entity, RetainedViewEntity)> {
        let ui_view = self.cameras.get(camera).ok()?.0;
        // The view may belong to an earlier frame and no longer exist.
        let view = self.views.get(ui_view).ok()?.retained_view_entity;
        let (phase, bounds) = (self.phases.as_ref()?.get(&view)?, self.bounds.as_ref()?);
        items.extend(phase.items.values().map(|item| Item {
            key: item.sort_key,
            bounds: bounds.find(item),
            what: own.what(item),
        }));
        Some((ui_view, view))
    }
}

/// Plans every camera, and takes the pages of its groups.
///
/// If groups cannot be filtered on a camera in this frame, they are *flat*: the same function plans the camera without them.
pub fn plan_cameras(
    mut inputs: ResMut<PaintInputs>,
    ui: UiItems,
    targets: Query<&ViewTarget>,
    pipelines: Res<PaintPipelines>,
    kept: Res<KeptPictures>,
    mut items: Local<Vec<Item>>,
    mut preparer: BlurPreparer,
) {
    let PaintInputs { cameras, own, .. } = &mut *inputs;
    for camera in cameras {
        items.clear();
        let Ok(target) = targets.get(camera.picture.camera) else {
            continue;
        };
        camera.fit(target.main_texture(), &kept);
        if camera.has_nodes() {
            camera.ui_view = ui.read(camera.picture.camera, own, &mut items);
        }
        let is_flat = !takes_groups(camera, target, &pipelines, &preparer);
        let limit = preparer.capabilities.largest_side();
        camera.plan(&items, is_flat, limit);
        if let Err(error) = camera.take_pages(target, &mut preparer) {
            let entity = camera.filters[0].entity;
            error_once!("the UiFilter of entity {entity}, and all others on its camera: {error}");
            camera.pages.clear();
            camera.plan(&items, true, limit);
        }
        camera.take_seen(target, &mut preparer);
    }
}

/// Whether groups can be painted on pages: the pages have the camera's format, because Bevy makes its pipelines for it.
fn takes_groups(
    camera: &PaintedCamera,
    target: &ViewTarget,
    pipelines: &PaintPipelines,
    preparer: &BlurPreparer,
) -> bool {
    let Some(filter) = camera.filters.first() else {
        return true;
    };
    let format = target.main_texture_format();
    if !pipelines.takes_groups(format) {
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
    pipelines.ready(key, &preparer.cache).is_some()
}

impl PaintedCamera {
    /// Plans the camera, with groups or without.
    fn plan(&mut self, items: &[Item], is_flat: bool, limit: u32) {
        self.schedule = Schedule::new(&Scene {
            picture: self.picture,
            limit,
            is_flat,
            items,
            backdrops: &self.backdrops,
            filters: &self.filters,
        });
    }

    /// Takes the pages for the pictures of groups.
    ///
    /// # Errors
    /// [`BlurError::OutOfMemory`].
    fn take_pages(&mut self, target: &ViewTarget, preparer: &mut BlurPreparer) -> Result<(), BlurError> {
        let kind = TextureKind {
            format: target.main_texture_format(),
            usages: PAINTED,
        };
        for (depth, sizes) in (1..).zip(&self.schedule.tree.pages) {
            self.pages.push(preparer.take_pages(pictures(depth), sizes, kind)?);
        }
        Ok(())
    }

    /// Takes the pages for what glass inside groups sees. Without them, such glass is not painted.
    fn take_seen(&mut self, target: &ViewTarget, preparer: &mut BlurPreparer) {
        if self.schedule.seen.is_empty() {
            return;
        }
        let kind = TextureKind {
            format: target.main_texture_format(),
            usages: PAINTED | TextureUsages::COPY_SRC | TextureUsages::COPY_DST,
        };
        let taken = BlurError::check_usage("camera", target.main_texture().usage(), TextureUsages::COPY_SRC)
            .and_then(|()| preparer.take_pages(SEEN, &self.schedule.seen, kind));
        match taken {
            Ok(pages) => self.seen = pages,
            Err(error) => {
                let camera = self.picture.camera;
                error_once!("the glass inside of filtered nodes on the camera {camera}: {error}");
            }
        }
    }
}
