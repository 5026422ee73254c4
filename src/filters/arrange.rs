//! Computes where groups paint, and the views for painting them.

use super::extract::{ExtractedFilter, ExtractedFilters};
use super::rects::{EVERYWHERE, NOWHERE, joined, touched};
use super::stage::{Content, Stage};
use super::stages::{Arranged, Painted, arrange};
use crate::backdrop::bounds::{ItemBounds, MaterialBounds};
use crate::backdrop::canvas::PaintedOn;
use crate::backdrop::extract::ExtractedBackdrops;
use crate::backdrop::nested::{OutermostGroup, OutermostGroups};
use crate::backdrop::node_groups::{backdrop_index, backdrop_of, is_mark};
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
    pub nested: GlassOf,
    /// The glass of filtered nodes: the indices of the backdrop and of the node's filter.
    pub own: GlassOf,
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

    /// Sets what the glass inside groups is painted on, and where the glass of filtered nodes makes holes.
    fn place_glass(&self, backdrops: &mut ExtractedBackdrops) {
        let canvas = |filter: usize| {
            let stage = self.arranged.items_of(filter)?;
            let stage = &self.arranged.stages[stage];
            stage.is_seen().then(|| stage.canvas())
        };
        for (backdrop, filter) in &self.nested {
            backdrops.0[*backdrop].on = canvas(*filter).map_or(PaintedOn::Nothing, PaintedOn::Group);
        }
        for (backdrop, filter) in &self.own {
            if let Some(hole) = &mut backdrops.0[*backdrop].hole {
                hole.canvas = canvas(*filter);
            }
        }
    }

    /// The groups that are in no other.
    fn outermost(&self, filters: &[ExtractedFilter]) -> impl Iterator<Item = OutermostGroup> {
        let outermost = (0..filters.len()).filter(|filter| self.arranged.parents[*filter].is_none());
        outermost.map(|filter| OutermostGroup {
            camera: self.camera,
            filter: self.first + filter,
            keys: filters[filter].keys(),
            result: filters[filter].result_key(),
            has_turn: self.arranged.has_turn(filter),
        })
    }
}

/// Where an item belongs.
#[derive(Clone, Copy, Debug, Default)]
pub struct Owner {
    /// The innermost filter whose group contains it. The result of a filter, and glass on the filter's own node, belong to the group
    /// around it.
    pub group: Option<usize>,
    /// The filter whose result it paints.
    pub result_of: Option<usize>,
    /// The filter whose node's glass it is.
    pub glass_of: Option<usize>,
}

/// Walks over the items of a phase, and finds where each belongs.
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

    /// Where an item belongs. Items must be passed in the order of the phase.
    pub fn of(&mut self, item: &TransparentUi) -> Owner {
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
        let mut around = self.open.iter().rev().copied();
        let Some(innermost) = around.next() else {
            return Owner::default();
        };
        let filter = &self.filters[innermost];
        let (is_result, is_glass) = (filter.is_result(item), self.is_glass_of(item, filter));
        Owner {
            group: if is_result || is_glass {
                around.next()
            } else {
                Some(innermost)
            },
            result_of: is_result.then_some(innermost),
            glass_of: is_glass.then_some(innermost),
        }
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
    (mut backdrops, mut outermost): (ResMut<ExtractedBackdrops>, ResMut<OutermostGroups>),
    mut bounds: ParamSet<(ItemBounds, ResMut<MaterialBounds>)>,
) {
    arranged.0.clear();
    outermost.0.clear();
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
        let (painted, nested, own) = painted(filters, phase, &bounds.p0(), &backdrops);
        let stages = arrange(filters, &painted, limit);
        for stage in stages.stages.iter().filter(|stage| stage.is_seen()) {
            let filter = &filters[stage.filter];
            if stage.content == Content::Items && stage.view == stage.filter {
                seen.push((filter.view, view_of(filter, stage, ui_view)));
            }
        }
        let results = (0..filters.len()).map(|filter| stages.result_of(filter));
        let results = results.map(|stage| stage.map_or(Rect::EMPTY, |stage| shown(&stages.stages[stage])));
        let items = filters.iter().map(|filter| filter.item);
        bounds.p1().0.extend(items.zip(results));
        let camera = CameraFilters {
            camera,
            first: start,
            arranged: stages,
            nested,
            own,
            is_ready: false,
        };
        camera.place_glass(&mut backdrops);
        outermost.0.extend(camera.outermost(filters));
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

/// Glass, by the index of its backdrop, with the index of a filter.
type GlassOf = Vec<(usize, usize)>;

/// What the items of every filter paint, without inner groups; the glass among these items with its filter; and the glass of
/// filtered nodes, likewise.
fn painted(
    filters: &[ExtractedFilter],
    phase: &SortedRenderPhase<TransparentUi>,
    bounds: &ItemBounds,
    backdrops: &ExtractedBackdrops,
) -> (Vec<Painted>, GlassOf, GlassOf) {
    let nothing = Painted {
        bounds: NOWHERE,
        has_glass: false,
    };
    let mut painted = vec![nothing; filters.len()];
    let (mut nested, mut own) = (Vec::new(), Vec::new());
    let mut owners = Owners::new(filters, backdrops);
    for item in phase.items.values() {
        let Owner {
            group,
            result_of,
            glass_of,
        } = owners.of(item);
        own.extend(backdrop_index(item).zip(glass_of));
        let Some(owner) = group else {
            continue;
        };
        let bounds = match backdrop_of(item, backdrops) {
            _ if result_of.is_some() || is_mark(item) => continue,
            Some((index, backdrop, _)) => {
                nested.push((index, owner));
                painted[owner].has_glass = true;
                touched(backdrop.in_viewport(backdrop.region))
            }
            None => bounds.of(item).map_or(EVERYWHERE, touched),
        };
        painted[owner].bounds = joined(painted[owner].bounds, bounds);
    }
    (painted, nested, own)
}

/// Where a stage's layers paint.
fn shown(stage: &Stage) -> Rect {
    let all = stage.layers.iter().fold(NOWHERE, |all, layer| joined(all, layer.shown));
    if all.is_empty() { Rect::EMPTY } else { all.as_rect() }
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
