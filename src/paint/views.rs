//! The views with which Bevy's draw functions paint groups on pages.

use super::inputs::PaintInputs;
use crate::schedule::{Surface, SurfaceId};
use bevy::prelude::*;
use bevy::render::view::{ExtractedView, RetainedViewEntity};

/// Shows a view for each frame of every camera, and hides the views that no frame needs. Entities are reused, the first ones first.
pub fn show_views(
    mut inputs: ResMut<PaintInputs>,
    mut views: Query<&mut ExtractedView>,
    mut pool: Local<Vec<Entity>>,
    mut used: Local<usize>,
    mut commands: Commands,
) {
    let mut new = Vec::new();
    let mut next = 0;
    for camera in &mut inputs.cameras {
        let Some(ui_view) = camera.ui_view.and_then(|(entity, _)| views.get(entity).ok()) else {
            continue;
        };
        let tree = &camera.schedule.tree;
        let of_frame = |first: &SurfaceId| {
            let surface = tree.surface(*first);
            view_of(camera.filters[surface.filter].entity, surface, ui_view)
        };
        let seen: Vec<ExtractedView> = tree.frames.iter().map(of_frame).collect();
        for view in seen {
            if next == pool.len() {
                pool.push(commands.spawn_empty().id());
            }
            let entity = pool[next];
            next += 1;
            camera.views.push(entity);
            match views.get_mut(entity) {
                Ok(mut shown) => *shown = view,
                Err(_) => new.push((entity, view)),
            }
        }
    }
    // They are not despawned: systems of Bevy that have looked at a view may still insert something into it.
    for entity in pool.iter().take(*used).skip(next) {
        commands.entity(*entity).try_remove::<ExtractedView>();
    }
    *used = next;
    commands.insert_batch(new);
}

/// The view for the surfaces of a frame: the user interface's view, moved so that the frame fills the viewport. It does not share the
/// identity of the user interface's view, because Bevy sorts the phase once for each view with this identity.
fn view_of(node: Entity, surface: &Surface, ui_view: &ExtractedView) -> ExtractedView {
    let Rect { min, max } = surface.frame.as_rect();
    // As in `extract_ui_camera_view`.
    let far = ui_view.world_from_view.translation().z.ceil();
    ExtractedView {
        retained_view_entity: RetainedViewEntity::new(node.into(), None, 0),
        clip_from_view: Mat4::orthographic_rh(min.x, max.x, max.y, min.y, 0.0, far),
        world_from_view: ui_view.world_from_view,
        clip_from_world: None,
        target_format: ui_view.target_format,
        viewport: surface.canvas().texels(),
        color_grading: ui_view.color_grading.clone(),
        invert_culling: false,
    }
}
