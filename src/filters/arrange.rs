//! Computes where groups paint, and the views for painting them.

use super::extract::{ExtractedFilter, ExtractedFilters};
use super::rects::{EVERYWHERE, NOWHERE, joined, touched};
use super::stage::{Content, Stage};
use super::stages::{Arranged, Painted, arrange};
use crate::backdrop::bounds::{ItemBounds, MaterialBounds};
use crate::backdrop::canvas::PaintedOn;
use crate::backdrop::extract::ExtractedBackdrops;
use crate::backdrop::nested::{FilterTurn, FilterTurns};
use crate::backdrop::node_groups::{backdrop_of, is_mark};
use bevy::ecs::entity::EntityHashSet;
use bevy::math::FloatOrd;
use bevy::prelude::*;
use bevy::render::render_phase::{PhaseItem, SortedRenderPhase, ViewSortedRenderPhases};
use bevy::render::renderer::RenderDevice;
use bevy::render::view::{ExtractedView, RetainedViewEntity};
use bevy::ui_render::{TransparentUi, UiCameraView};

/// The stages of all filters, by camera.
#[derive(Resource, Default)]
pub struct ArrangedFilters(pub Vec<CameraFilters>);

/// The filters of a camera.
pub struct CameraFilters {
    /// The render world's entity of the camera.
    pub camera: Entity,
    /// The index of its first filter. The other fields count filters from this one.
    pub first: usize,
    /// Its stages.
    pub arranged: Arranged,
    /// The glass inside its groups: the indices of the backdrop and of the innermost filter around it.
    pub nested: Vec<(usize, usize)>,
    /// Whether all its groups can be drawn.
    pub is_ready: bool,
}

impl ArrangedFilters {
    /// The filters of a camera.
    pub fn of(&self, camera: Entity) -> Option<&CameraFilters> {
        self.0.iter().find(|filters| filters.camera == camera)
    }
}

impl CameraFilters {
    /// The filters themselves.
    pub fn filters<'a>(&self, all: &'a ExtractedFilters) -> &'a [ExtractedFilter] {
        &all.0[self.first..self.first + self.arranged.of_filter.len()]
    }

    /// Sets what the glass inside groups is painted on.
    fn place_glass(&self, backdrops: &mut ExtractedBackdrops) {
        for (backdrop, filter) in &self.nested {
            let stage = self
                .arranged
                .items_of(*filter)
                .map(|stage| &self.arranged.stages[stage]);
            let on = stage.filter(|stage| stage.is_seen()).map(Stage::canvas);
            backdrops.0[*backdrop].on = on.map_or(PaintedOn::Nothing, PaintedOn::Group);
        }
    }

    /// The turns of the outermost groups that contain glass.
    fn turns(&self, filters: &[ExtractedFilter]) -> impl Iterator<Item = FilterTurn> {
        let outermost = (0..filters.len()).filter(|filter| self.arranged.parents[*filter].is_none());
        let with_glass = outermost.filter(|filter| self.arranged.has_turn(*filter));
        with_glass.map(|filter| FilterTurn {
            camera: self.camera,
            filter: self.first + filter,
            cut: filters[filter].result_key(),
        })
    }
}

/// Walks over the items of a phase, and finds the group of each.
pub struct Owners<'a> {
    filters: &'a [ExtractedFilter],
    backdrops: &'a ExtractedBackdrops,
    next: usize,
    open: Vec<usize>,
}

impl<'a> Owners<'a> {
    /// For filters in stacking order.
    pub fn new(filters: &'a [ExtractedFilter], backdrops: &'a ExtractedBackdrops) -> Self {
        Self {
            filters,
            backdrops,
            next: 0,
            open: Vec::new(),
        }
    }

    /// The innermost filter whose group contains an item. Items must be passed in the order of the phase. The result of a filter,
    /// and glass on the filter's own node, belong to the group around it.
    pub fn of(&mut self, item: &TransparentUi) -> Option<usize> {
        let FloatOrd(key) = item.sort_key;
        let is_over = |filter: &usize| self.filters[*filter].keys().end <= key;
        while self.open.last().is_some_and(is_over) {
            self.open.pop();
        }
        while let Some(filter) = self.filters.get(self.next).filter(|filter| filter.keys().start <= key) {
            let keys = filter.keys();
            while self
                .open
                .last()
                .is_some_and(|open| self.filters[*open].keys().end <= keys.start)
            {
                self.open.pop();
            }
            if keys.end > key {
                self.open.push(self.next);
            }
            self.next += 1;
        }
        let innermost = *self.open.last()?;
        let filter = &self.filters[innermost];
        let is_around = filter.is_result(item) || self.is_glass_of(item, filter);
        if is_around {
            self.open.iter().rev().nth(1).copied()
        } else {
            Some(innermost)
        }
    }

    /// Whether the item that was passed last is the result of a filter.
    pub fn is_result(&self, last: &TransparentUi) -> bool {
        let innermost = self.open.last();
        innermost.is_some_and(|filter| self.filters[*filter].is_result(last))
    }

    /// Whether an item is the glass of a filter's own node.
    fn is_glass_of(&self, item: &TransparentUi, filter: &ExtractedFilter) -> bool {
        !is_mark(item) && item.main_entity().id() == filter.entity && backdrop_of(item, self.backdrops).is_some()
    }
}

/// Arranges the groups of every camera, after items are sorted and before views are uploaded.
pub fn arrange_filters(
    filters: Res<ExtractedFilters>,
    (cameras, mut views): (Query<&UiCameraView>, Query<&mut ExtractedView>),
    phases: Res<ViewSortedRenderPhases<TransparentUi>>,
    device: Res<RenderDevice>,
    (mut arranged, mut used, mut commands): (ResMut<ArrangedFilters>, Local<EntityHashSet>, Commands),
    (mut backdrops, mut turns): (ResMut<ExtractedBackdrops>, ResMut<FilterTurns>),
    mut bounds: ParamSet<(ItemBounds, ResMut<MaterialBounds>)>,
) {
    arranged.0.clear();
    turns.0.clear();
    let limit = device.limits().max_texture_dimension_2d;
    let mut seen = Vec::new();
    let mut first = 0;
    for filters in filters.of_cameras() {
        let camera = filters[0].picture.camera;
        let start = first;
        first += filters.len();
        let Ok(ui_view) = cameras.get(camera).and_then(|view| views.get(view.0)) else {
            continue;
        };
        let Some(phase) = phases.get(&ui_view.retained_view_entity) else {
            continue;
        };
        let (painted, nested) = painted(filters, phase, &bounds.p0(), &backdrops);
        let stages = arrange(filters, &painted, limit);
        for (index, stage) in stages.stages.iter().enumerate().filter(|(_, stage)| stage.is_seen()) {
            let filter = &filters[stage.filter];
            if stage.content == Content::Items && stage.view == stage.filter {
                seen.push((filter.view, view_of(filter, stage, ui_view)));
            }
            if stages.result_of(stage.filter) == Some(index) {
                bounds.p1().0.insert(filter.item, shown(stage));
            }
        }
        let camera = CameraFilters {
            camera,
            first: start,
            arranged: stages,
            nested,
            is_ready: false,
        };
        camera.place_glass(&mut backdrops);
        turns.0.extend(camera.turns(filters));
        arranged.0.push(camera);
    }
    show_views(seen, &mut used, &mut views, &mut commands);
}

/// Updates the views of filters. Entities in `used` that are no longer views lose their [`ExtractedView`].
fn show_views(
    seen: Vec<(Entity, ExtractedView)>,
    used: &mut EntityHashSet,
    views: &mut Query<&mut ExtractedView>,
    commands: &mut Commands,
) {
    let mut unused = core::mem::take(used);
    let mut new = Vec::new();
    for (entity, seen) in seen {
        used.insert(entity);
        unused.remove(&entity);
        match views.get_mut(entity) {
            Ok(mut view) => *view = seen,
            Err(_) => new.push((entity, seen)),
        }
    }
    for entity in unused {
        commands.entity(entity).try_remove::<ExtractedView>();
    }
    commands.insert_batch(new);
}

/// What the items of every filter paint, without inner groups, and the glass among these items with its filter.
fn painted(
    filters: &[ExtractedFilter],
    phase: &SortedRenderPhase<TransparentUi>,
    bounds: &ItemBounds,
    backdrops: &ExtractedBackdrops,
) -> (Vec<Painted>, Vec<(usize, usize)>) {
    let nothing = Painted {
        bounds: NOWHERE,
        has_glass: false,
    };
    let mut painted = vec![nothing; filters.len()];
    let mut nested = Vec::new();
    let mut owners = Owners::new(filters, backdrops);
    for item in phase.items.values() {
        let Some(owner) = owners.of(item) else {
            continue;
        };
        let bounds = match backdrop_of(item, backdrops) {
            _ if owners.is_result(item) || is_mark(item) => continue,
            Some((index, backdrop, _)) => {
                nested.push((index, owner));
                painted[owner].has_glass = true;
                touched(backdrop.in_viewport(backdrop.region))
            }
            None => bounds.of(item).map_or(EVERYWHERE, touched),
        };
        painted[owner].bounds = joined(painted[owner].bounds, bounds);
    }
    (painted, nested)
}

/// Where a stage's layers paint.
fn shown(stage: &Stage) -> Rect {
    let all = stage.layers.iter().fold(NOWHERE, |all, layer| joined(all, layer.shown));
    all.as_rect()
}

/// The view for the stages of a frame: the user interface's view, moved so that the frame fills the viewport. It does not share the
/// identity of the user interface's view, because Bevy sorts the phase once for each view with this identity.
fn view_of(filter: &ExtractedFilter, stage: &Stage, ui_view: &ExtractedView) -> ExtractedView {
    let Rect { min, max } = stage.frame.as_rect();
    // As in `extract_ui_camera_view`.
    let far = ui_view.world_from_view.translation().z.ceil();
    ExtractedView {
        retained_view_entity: RetainedViewEntity::new(filter.entity.into(), None, 0),
        clip_from_view: Mat4::orthographic_rh(min.x, max.x, max.y, min.y, 0.0, far),
        world_from_view: ui_view.world_from_view,
        clip_from_world: None,
        target_format: ui_view.target_format,
        viewport: stage.canvas().texels(),
        color_grading: ui_view.color_grading.clone(),
        invert_culling: false,
    }
}
