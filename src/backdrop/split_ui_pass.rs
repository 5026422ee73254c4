//! Blurs the glass of nodes in the frame of a camera (feature `ui`).
//!
//! Bevy draws the whole user interface in one pass, and an item cannot end a pass. So the items below glass are drawn
//! earlier, in separate passes with blurs in between; Bevy's pass then draws the rest. The glass itself is one of the
//! items, after the cut of its group: all blurs of a group run before any of its glass is painted.
//!
//! During Bevy's pass, the batches of items that have already been drawn are empty, so the pass skips them. The phase is
//! otherwise unchanged: it may hold items of other crates that must stay in it.
//!
//! A system that draws items borrows the whole world, so it can change nothing. Hence three systems, in
//! this order: [`backdrops_among_ui`], [`skip_drawn`], Bevy's `ui_pass`, [`restore_skipped`].

use super::camera_groups::CameraGroups;
use super::encode_regions::{BackdropDrawer, BackdropView, open_pass, span_name};
use super::groups::Group;
use super::nested::{PaintGroup, Scene};
use crate::diagnostics::label::BlurLabel;
use crate::diagnostics::timestamps::measured;
use bevy::math::FloatOrd;
use bevy::prelude::*;
use bevy::render::camera::ExtractedCamera;
use bevy::render::diagnostic::RecordDiagnostics;
use bevy::render::render_phase::{SortedRenderPhase, ViewSortedRenderPhases};
use bevy::render::renderer::{RenderContext, ViewQuery};
use bevy::render::sync_world::MainEntity;
use bevy::render::view::{ExtractedView, RetainedViewEntity, ViewTarget};
use bevy::ui_render::{TransparentUi, UiCameraView};
use core::ops::Range;

type UiPhase = SortedRenderPhase<TransparentUi>;

/// Draws what lies below the glass of the current camera's nodes, and blurs it.
///
/// The span of these blurs contains what is drawn between two of them.
pub fn backdrops_among_ui(
    world: &World,
    camera: ViewQuery<(BackdropView, &UiCameraView)>,
    ui_views: Query<&ExtractedView>,
    phases: Res<ViewSortedRenderPhases<TransparentUi>>,
    drawer: BackdropDrawer,
    mut context: RenderContext,
) {
    let ((entity, main_entity, target, camera), ui_view) = camera.into_inner();
    let Some(groups) = groups_among(&drawer.grouped, entity) else {
        return;
    };
    let phase = ui_views.get(ui_view.0).ok();
    let Some(phase) = phase.and_then(|view| phases.get(&view.retained_view_entity)) else {
        return;
    };
    let (label, recorder) = measured(&context, || BlurLabel::of_nodes(main_entity));
    let recorder = recorder.as_deref();
    let mut whole = None;
    let mut drawn = 0;
    for group in groups {
        let cut = cut_of(phase, group);
        let items = Items {
            phase,
            range: drawn..cut,
            ui_view: ui_view.0,
        };
        items.draw(world, target, camera, &mut context);
        drawn = cut;
        if whole.is_none() {
            let name = span_name(label.as_ref());
            whole = Some(recorder.time_span(context.command_encoder(), name));
        }
        match group.filter.zip(world.get_resource::<PaintGroup>()) {
            Some((filter, paint)) => {
                let scene = Scene {
                    world,
                    camera: entity,
                    target,
                    drawer: &drawer,
                    label: label.as_ref(),
                };
                paint.0(&scene, filter, &mut context);
            }
            None => drawer.blur(group, label.as_ref(), target, &mut context),
        }
    }
    if let Some(whole) = whole {
        whole.end(context.command_encoder());
    }
}

/// The groups of a camera's nodes, if there are any.
fn groups_among(grouped: &CameraGroups, camera: Entity) -> Option<&[Group]> {
    let groups = grouped.0.get(&camera)?.among.as_slice();
    (!groups.is_empty()).then_some(groups)
}

/// How many items a group sees.
fn cut_of(phase: &UiPhase, group: &Group) -> usize {
    phase
        .items
        .partition_point(|_, item| item.sort_key < FloatOrd(group.cut))
}

/// Some of a phase's items.
struct Items<'a> {
    phase: &'a UiPhase,
    range: Range<usize>,
    ui_view: Entity,
}

impl Items<'_> {
    /// Draws the items in a separate pass. If there is nothing to draw, no pass is opened.
    fn draw(&self, world: &World, target: &ViewTarget, camera: &ExtractedCamera, context: &mut RenderContext) {
        let is_empty = |item: usize| self.phase.items[item].batch_range.is_empty();
        if self.range.clone().all(is_empty) {
            return;
        }
        let mut pass = open_pass(context, target, camera);
        let drawn = self
            .phase
            .render_range(&mut pass, world, self.ui_view, self.range.clone());
        if let Err(error) = drawn {
            error!("the user interface below glass could not be drawn: {error:?}");
        }
    }
}

/// The batches of items that Bevy's pass skips.
#[derive(Resource, Default)]
pub struct Skipped(Vec<Skip>);

/// The batch of an item that is not drawn.
pub struct Skip {
    view: RetainedViewEntity,
    item: (Entity, MainEntity),
    batch_range: Range<u32>,
}

/// Makes the phase of a view skip an item, unless it already does.
pub fn skip(view: RetainedViewEntity, item: &mut TransparentUi) -> Option<Skip> {
    let has_batch = !item.batch_range.is_empty();
    has_batch.then(|| Skip {
        view,
        item: item.entity,
        batch_range: core::mem::take(&mut item.batch_range),
    })
}

impl Skip {
    /// Gives the item its batch back.
    pub fn restore(self, phases: &mut ViewSortedRenderPhases<TransparentUi>) {
        let phase = phases.get_mut(&self.view);
        if let Some(item) = phase.and_then(|phase| phase.items.get_mut(&self.item)) {
            item.batch_range = self.batch_range;
        }
    }
}

/// Makes Bevy's pass skip the items of the current camera that have already been drawn.
pub fn skip_drawn(
    camera: ViewQuery<(BackdropView, &UiCameraView)>,
    ui_views: Query<&ExtractedView>,
    grouped: Res<CameraGroups>,
    mut phases: ResMut<ViewSortedRenderPhases<TransparentUi>>,
    mut skipped: ResMut<Skipped>,
) {
    let ((entity, ..), ui_view) = camera.into_inner();
    let Some(last) = groups_among(&grouped, entity).and_then(|groups| groups.last()) else {
        return;
    };
    let Ok(view) = ui_views.get(ui_view.0).map(|view| view.retained_view_entity) else {
        return;
    };
    let Some(phase) = phases.get_mut(&view) else {
        return;
    };
    let cut = cut_of(phase, last);
    let drawn = phase.items.values_mut().take(cut);
    skipped.0.extend(drawn.filter_map(|item| skip(view, item)));
}

/// Gives all items their batches back.
///
/// It runs after Bevy's pass, and once more at the end of a frame: even if the pass did not run, other crates find their
/// items as they were.
pub fn restore_skipped(mut phases: ResMut<ViewSortedRenderPhases<TransparentUi>>, mut skipped: ResMut<Skipped>) {
    for skip in skipped.0.drain(..) {
        skip.restore(&mut phases);
    }
}
