//! Executes schedules of random scenes by symbols: a surface is a list of the items that have been painted on it.

use super::super::cells::overlap;
use super::super::layer::Shadow;
use super::super::lens::Lens;
use super::super::place::Placed;
use super::super::scene::{Backdrop, Filter, FrozenGlass, GlassOrder, Item, Picture, Scene, Slot, What};
use super::super::shape::Shape;
use super::super::steps::{Blurs, Draw, PaintTexture, Schedule, Step};
use super::super::tree::SurfaceId;
use crate::plan::pack::PageSet;
use crate::settings::{BackdropBlur, BackdropLens, BackdropSampling, EdgeMode, FreezeArea};
use bevy::color::LinearRgba;
use bevy::math::{FloatOrd, Rect, URect, UVec2, Vec2};
use bevy::platform::collections::{HashMap, HashSet};
use bevy::prelude::Entity;
use proptest::prelude::*;

pub const PICTURE: Picture = Picture {
    camera: Entity::PLACEHOLDER,
    size: UVec2::new(400, 300),
    viewport: URect {
        min: UVec2::ZERO,
        max: UVec2::new(400, 300),
    },
    is_light: false,
    dithers: false,
};

/// What a node is made from.
#[derive(Clone, Debug)]
pub struct Node {
    /// Less than 3 of 10 have glass, and as many a filter.
    pub kind: [u8; 2],
    pub place: [i16; 2],
    pub size: [u8; 2],
    pub sigma: u8,
    pub opacity: u8,
    /// How many nodes the group has.
    pub length: u8,
    pub flags: u8,
}

pub fn node() -> impl Strategy<Value = Node> {
    let numbers = ([0_u8..10, 0..10], [-60_i16..420, -60..320], [1_u8..120, 1..120]);
    let others = (0_u8..12, 0_u8..6, 1_u8..20, any::<u8>());
    (numbers, others).prop_map(|((kind, place, size), (sigma, opacity, length, flags))| Node {
        kind,
        place,
        size,
        sigma,
        opacity,
        length,
        flags,
    })
}

/// A scene that owns its parts.
#[derive(Debug)]
pub struct Parts {
    pub items: Vec<Item>,
    pub backdrops: Vec<Backdrop>,
    pub filters: Vec<Filter>,
}

impl Parts {
    pub fn scene(&self, is_flat: bool) -> Scene<'_> {
        Scene {
            picture: PICTURE,
            limit: 2048,
            is_flat,
            items: &self.items,
            backdrops: &self.backdrops,
            filters: &self.filters,
        }
    }

    pub fn new(nodes: &[Node]) -> Self {
        let mut parts = Self {
            items: Vec::new(),
            backdrops: Vec::new(),
            filters: Vec::new(),
        };
        let mut ends: Vec<u32> = Vec::new();
        for (index, node) in nodes.iter().enumerate() {
            let stack_index = index as u32;
            ends.retain(|end| *end > stack_index);
            let min = Vec2::new(f32::from(node.place[0]), f32::from(node.place[1]));
            let rect = Rect::from_corners(min, min + Vec2::new(f32::from(node.size[0]), f32::from(node.size[1])));
            if node.kind[1] < 3 {
                let last = ends.last().copied().unwrap_or(nodes.len() as u32);
                let end = (stack_index + u32::from(node.length)).min(last);
                ends.push(end);
                let group = filter(node, stack_index..end, rect);
                if node.flags & 4 != 0 && stack_index + 1 < end {
                    parts.filters.push(content(group.clone(), rect));
                }
                if node.flags & 12 != 4 {
                    parts.filters.push(group);
                }
            }
            if node.kind[0] < 3 {
                parts.backdrops.extend(backdrop(node, stack_index, rect));
            }
            let item = |offset: f32, bounds| Item {
                key: FloatOrd(stack_index as f32 + offset),
                bounds,
                what: What::Other,
            };
            parts.items.push(item(-0.1, Some(rect)));
            parts.items.push(item(0.0, Some(rect).filter(|_| node.flags != 7)));
        }
        parts.filters.sort_by_key(|filter| (filter.node, filter.nodes.start));
        parts.add_own();
        parts
    }

    /// Adds the items of glass, holes and results.
    pub fn add_own(&mut self) {
        let own = |key, what| Item {
            key,
            bounds: None,
            what,
        };
        for (index, backdrop) in self.backdrops.iter().enumerate() {
            let node = backdrop.node().expect("a node");
            self.items.push(own(Slot::Cut.key(node), What::Mark));
            self.items.push(own(Slot::Glass.key(node), What::Glass(index)));
            if self.filters.iter().any(|filter| filter.is_of(node.into())) {
                self.items.push(own(Slot::Glass.key(node), What::Hole(index)));
            }
        }
        for (index, filter) in self.filters.iter().enumerate() {
            self.items.push(own(filter.key(), What::Result(index)));
        }
        self.items.sort_by_key(|item| item.key);
    }
}

pub fn filter(node: &Node, nodes: core::ops::Range<u32>, rect: Rect) -> Filter {
    let shadow = Shadow {
        offset: Vec2::new(5.0, -3.0),
        sigma: Vec2::splat(2.0),
        width: 0.0,
        color: LinearRgba::new(0.0, 0.0, 0.0, 0.5),
        is_glow: false,
        is_inset: node.opacity % 2 == 1,
    };
    let has_border = node.flags & 2 != 0 && node.sigma % 2 == 1;
    Filter {
        node: nodes.start,
        nodes,
        clip: (node.flags & 1 != 0).then_some(rect.into()),
        sigma: Vec2::splat(if node.flags & 2 != 0 {
            f32::from(node.sigma)
        } else {
            0.0
        }),
        edge: if has_border {
            EdgeMode::Mirror
        } else {
            EdgeMode::Transparent
        },
        border: has_border.then_some(Shape::of_rect(rect)),
        shadows: if node.flags & 8 != 0 { vec![shadow] } else { Vec::new() },
        opacity: f32::from(node.opacity) / 5.0,
        ..Filter::neutral(Entity::PLACEHOLDER)
    }
}

/// What clips the descendants of a group's node.
fn content(group: Filter, rect: Rect) -> Filter {
    Filter {
        node: group.node,
        nodes: group.node + 1..group.nodes.end,
        clip: group.clip,
        outline: Some(Shape::of_rect(rect)),
        ..Filter::neutral(group.entity)
    }
}

fn backdrop(node: &Node, stack_index: u32, rect: Rect) -> Option<Backdrop> {
    let sampling = [BackdropSampling::Inside, BackdropSampling::Surroundings][usize::from(node.flags & 16 != 0)];
    let settings = BackdropBlur::from_sigma(f32::from(node.sigma) + 1.0).with_sampling(sampling);
    let freeze = (node.flags & 96 == 96).then_some(FrozenGlass {
        keeps: FreezeArea::default(),
        taken: (node.flags & 128 != 0).then_some(PICTURE.viewport),
    });
    let lens = BackdropLens {
        displacement: f32::from(node.sigma) - 4.0,
        ..BackdropLens::default()
    };
    let shape = Shape::of_rect(rect);
    let glass = Backdrop {
        order: GlassOrder::Node(stack_index),
        lens: Lens::new(&lens, 1.0, &shape).filter(|_| node.flags & 18 == 18),
        freeze,
        shares: (node.flags & 48 == 32).then_some(Entity::PLACEHOLDER),
        ..Backdrop::plain(shape, &settings, &PICTURE)
    };
    glass.if_seen(false)
}

/// What has happened so far.
#[derive(Default)]
struct Model {
    /// The items on every surface.
    painted: HashMap<SurfaceId, Vec<usize>>,
    cleared: HashSet<(u32, usize)>,
    /// The batch whose levels lie on pages.
    levels: HashMap<PageSet, usize>,
    /// The surfaces whose layers have been painted.
    shown: HashSet<SurfaceId>,
    taken: HashSet<usize>,
    bevy: usize,
}

struct Check<'a> {
    scene: Scene<'a>,
    schedule: &'a Schedule,
    owners: Vec<Option<SurfaceId>>,
    batch_of_glass: HashMap<usize, usize>,
    batch_of_layer: HashMap<(SurfaceId, usize), usize>,
    model: Model,
}

impl<'a> Check<'a> {
    fn new(scene: Scene<'a>, schedule: &'a Schedule) -> Self {
        let owners = scene.items.iter().map(|item| {
            let owner = schedule.tree.surface_of(scene.filters, item.key, item.what);
            owner.filter(|_| schedule.paints(item.what))
        });
        let owners = owners.collect();
        let mut check = Self {
            scene,
            schedule,
            owners,
            batch_of_glass: HashMap::default(),
            batch_of_layer: HashMap::default(),
            model: Model::default(),
        };
        for (index, batch) in schedule.batches.iter().enumerate() {
            match &batch.blurs {
                Blurs::Glass(glass) => check.batch_of_glass.extend(glass.iter().map(|glass| (*glass, index))),
                Blurs::Layers(layers) => check.batch_of_layer.extend(layers.iter().map(|layer| (*layer, index))),
            }
        }
        check
    }

    /// The items of a surface before a sort key.
    fn before(&self, on: SurfaceId, key: FloatOrd) -> Vec<usize> {
        let all = self.scene.items.iter().enumerate();
        let before = all.filter(|(index, item)| self.owners[*index] == Some(on) && item.key < key);
        before.map(|(index, _)| index).collect()
    }

    /// The items that are painted on a surface, in the order of their keys.
    fn painted(&self, on: SurfaceId) -> Vec<usize> {
        let mut painted = self.model.painted.get(&on).cloned().unwrap_or_default();
        painted.sort_unstable();
        painted
    }

    /// Where an item is painted.
    fn bounds(&self, item: usize) -> Option<Rect> {
        match self.scene.items[item].what {
            What::Other | What::Mark => self.scene.items[item].bounds,
            What::Glass(glass) => self.schedule.placed[glass].map(|placed| PICTURE.in_viewport(placed.region.painted)),
            What::Hole(glass) => Some(self.scene.backdrops[glass].shape.bounds()),
            What::Result(filter) => {
                let result = self.schedule.tree.result_of(filter);
                result.map(|result| self.schedule.tree.shown(result).as_rect())
            }
        }
    }

    fn run(&mut self) {
        let mut last = None;
        for step in &self.schedule.steps {
            match step {
                Step::Pass { on, clears, draws } => {
                    assert_ne!(last, Some(*on), "two passes on one target follow each other");
                    last = Some(*on);
                    self.pass(*on, *clears, draws);
                    continue;
                }
                Step::Copy(_) => {}
                Step::Take(backdrop) => {
                    assert!(self.model.taken.insert(*backdrop), "a picture is taken once");
                    self.sees(*backdrop);
                }
                Step::Blur(batch) => self.blur(*batch),
                Step::Bevy => {
                    self.model.bevy += 1;
                    let schedule = self.schedule;
                    schedule
                        .bevys
                        .iter()
                        .for_each(|keys| self.items(SurfaceId::CAMERA, keys.clone()));
                }
            }
            last = None;
        }
    }

    fn pass(&mut self, on: PaintTexture, clears: bool, draws: &[Draw]) {
        if let PaintTexture::Page(depth, page) = on {
            assert_eq!(
                self.model.cleared.insert((depth, page)),
                clears,
                "the first pass on a page clears it, and no other"
            );
        }
        for draw in draws {
            match draw {
                Draw::Items { on: surface, keys, .. } => {
                    assert_eq!(self.target_of(*surface), on);
                    self.items(*surface, keys.clone());
                }
                Draw::Layers(of) => self.layers(*of),
                Draw::Seen(backdrop) => self.sees(*backdrop),
                Draw::Glass(_) => panic!("there are no regions"),
            }
        }
    }

    fn target_of(&self, surface: SurfaceId) -> PaintTexture {
        let of = self.schedule.tree.surface(surface);
        if surface == SurfaceId::CAMERA {
            PaintTexture::Camera
        } else {
            PaintTexture::Page(of.depth, of.page)
        }
    }

    fn items(&mut self, on: SurfaceId, keys: core::ops::Range<FloatOrd>) {
        assert!(!self.model.shown.contains(&on), "{on:?} is painted after it is shown");
        for (index, item) in self.scene.items.iter().enumerate() {
            if self.owners[index] != Some(on) || !keys.contains(&item.key) {
                continue;
            }
            for later in self.painted(on) {
                let is_apart = || match (self.bounds(index), self.bounds(later)) {
                    (Some(one), Some(other)) => !overlap(one, other),
                    _ => false,
                };
                assert!(
                    later < index || later > index && is_apart(),
                    "items that overlap are painted in their order, once"
                );
            }
            self.model.painted.entry(on).or_default().push(index);
            match item.what {
                What::Glass(backdrop) => self.glass(backdrop),
                What::Result(filter) => self.layers(self.schedule.tree.result_of(filter).expect("it is painted")),
                What::Hole(_) | What::Mark | What::Other => {}
            }
        }
    }

    /// Glass is painted: its blur has run, and nothing has overwritten its levels.
    fn glass(&self, backdrop: usize) {
        let placed = self.schedule.placed[backdrop].expect("it is painted");
        if !placed.region.painted.is_empty() {
            self.holds(self.batch_of_glass[&backdrop]);
        }
    }

    /// The levels of a batch are still there.
    fn holds(&self, batch: usize) {
        let of = &self.schedule.batches[batch];
        assert_eq!(self.model.levels.get(&of.pages), Some(&batch), "the levels of {of:?}");
    }

    /// The layers of a surface are painted: everything is on it, and its blurs have run.
    fn layers(&mut self, of: SurfaceId) {
        let surface = self.schedule.tree.surface(of);
        let all = self.before(of, FloatOrd(f32::INFINITY));
        assert_eq!(self.painted(of), all, "all items of {of:?} are painted");
        for index in surface.layers.clone() {
            let layer = &self.schedule.tree.layers[index];
            if layer.blurs() && !layer.shown.is_empty() {
                self.holds(self.batch_of_layer[&(of, index)]);
            }
        }
        self.model.shown.insert(of);
    }

    fn blur(&mut self, batch: usize) {
        let of = &self.schedule.batches[batch];
        match &of.blurs {
            Blurs::Glass(glass) => glass.iter().for_each(|backdrop| self.sees(*backdrop)),
            Blurs::Layers(layers) => {
                for (surface, _) in layers {
                    let all = self.before(*surface, FloatOrd(f32::INFINITY));
                    assert_eq!(self.painted(*surface), all, "all items of {surface:?} are painted");
                }
            }
        }
        self.model.levels.insert(of.pages, batch);
    }

    /// What glass sees now is what its definition says: everything before its cut that can touch what it reads, on its surface and on
    /// those below.
    fn sees(&self, backdrop: usize) {
        let placed: Placed = self.schedule.placed[backdrop].expect("it has a place");
        let Some(reads) = placed.region.sees.map(|texels| PICTURE.in_viewport(texels)) else {
            return;
        };
        let (mut on, mut cut) = (placed.on, placed.cut);
        loop {
            let touches = |index: &usize| self.bounds(*index).is_none_or(|bounds| overlap(bounds, reads));
            let expected: Vec<usize> = self.before(on, cut).into_iter().filter(touches).collect();
            let seen: Vec<usize> = self.painted(on).into_iter().filter(touches).collect();
            assert_eq!(seen, expected, "what backdrop {backdrop} sees on {on:?}");
            if on == SurfaceId::CAMERA {
                return;
            }
            let filter = self.schedule.tree.surface(on).filter;
            cut = self.scene.filters[filter].key();
            let result = self.schedule.tree.result_of(filter).expect("it is visible");
            on = self.schedule.tree.surface(result).parent;
        }
    }

    /// Everything visible has been painted, and nothing else.
    fn finish(&self) {
        assert_eq!(self.model.bevy, 1);
        let is_seen = |on: SurfaceId| on == SurfaceId::CAMERA || self.schedule.tree.surface(on).is_seen();
        for (index, owner) in self.owners.iter().enumerate() {
            let Some(on) = owner else {
                continue;
            };
            let times = self.painted(*on).iter().filter(|painted| **painted == index).count();
            assert_eq!(times, usize::from(is_seen(*on)), "item {index} on {on:?}");
        }
        for (index, placed) in self.schedule.glass() {
            let takes = self.scene.backdrops[index].takes();
            assert_eq!(
                self.model.taken.contains(&index),
                takes && is_seen(placed.on),
                "backdrop {index}"
            );
        }
        let pages: usize = self.schedule.tree.pages.iter().map(Vec::len).sum();
        let most = 6 * (self.scene.backdrops.len() + self.schedule.tree.surfaces.len() + pages) + 2;
        assert!(self.schedule.steps.len() <= most);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1500, ..ProptestConfig::default() })]

    /// Items are painted once, in their order, on their surface; glass sees what lies before its cut; blurs run before what shows
    /// them, and hold until then.
    #[test]
    fn schedules_paint_what_their_definition_says(nodes in proptest::collection::vec(node(), 0..70)) {
        let parts = Parts::new(&nodes);
        for is_flat in [false, true] {
            let scene = parts.scene(is_flat);
            let schedule = Schedule::new(&scene);
            let mut check = Check::new(scene, &schedule);
            check.run();
            check.finish();
            prop_assert_eq!(&schedule, &Schedule::new(&scene));
        }
    }

    /// A flat scene is planned as the same scene without its visible filters, except for scissors.
    #[test]
    fn flat_groups_are_no_groups(nodes in proptest::collection::vec(node(), 0..40)) {
        let mut parts = Parts::new(&nodes);
        for filter in &mut parts.filters {
            (filter.clip, filter.opacity) = (None, 1.0);
        }
        let flat = Schedule::new(&parts.scene(true));
        parts.filters.clear();
        for item in &mut parts.items {
            if matches!(item.what, What::Result(_) | What::Hole(_)) {
                item.what = What::Mark;
            }
        }
        let none = Schedule::new(&parts.scene(false));
        prop_assert_eq!(flat.steps, none.steps);
        prop_assert_eq!(flat.placed, none.placed);
    }

    /// What cannot be seen costs nothing: a scene without backdrops and filters, or with all of them outside, is Bevy's.
    #[test]
    fn what_is_unseen_costs_nothing(nodes in proptest::collection::vec(node(), 0..40)) {
        let outside: Vec<Node> = nodes.into_iter().map(|node| Node { place: [2000, 2000], flags: node.flags & !96 | 1, ..node }).collect();
        let parts = Parts::new(&outside);
        let schedule = Schedule::new(&parts.scene(false));
        prop_assert_eq!(schedule.steps, vec![Step::Bevy]);
    }
}
