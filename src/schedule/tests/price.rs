//! How many passes schedules have, as far as that is known without a GPU.

use super::super::place::GlassRounds;
use super::super::scene::{Backdrop, Filter, GlassOrder, Item, What};
use super::super::shape::Shape;
use super::super::steps::{Schedule, Step};
use super::steps::{Node, PICTURE, Parts, filter, node};
use crate::settings::BackdropBlur;
use bevy::math::{FloatOrd, Rect, Vec2};
use bevy::prelude::Entity;
use proptest::prelude::*;

/// How many passes and batches a schedule has.
fn passes(schedule: &Schedule) -> usize {
    let is_pass = |step: &&Step| matches!(step, Step::Pass { .. } | Step::Blur(_));
    schedule.steps.iter().filter(is_pass).count()
}

/// Where something lies in a picture.
fn at(index: usize) -> Rect {
    let min = Vec2::new((index % 8) as f32 * 48.0, (index / 8) as f32 * 48.0);
    Rect::from_corners(min + 2.0, min + 40.0)
}

/// Nodes that fill the picture: a group, and then for each place in it what `add` adds, with its place in the stack.
fn crowd(count: usize, fades: bool, add: impl Fn(&mut Parts, u32, Rect)) -> Parts {
    let mut parts = Parts {
        items: Vec::new(),
        backdrops: Vec::new(),
        filters: Vec::new(),
    };
    for index in 0..count {
        add(&mut parts, 1 + 4 * index as u32, at(index));
    }
    let whole = PICTURE.in_viewport(PICTURE.viewport);
    let node = Node {
        kind: [9, 0],
        place: [0; 2],
        size: [1; 2],
        sigma: 0,
        opacity: 4,
        length: 1,
        flags: 0,
    };
    if fades {
        parts.filters.insert(0, filter(&node, 0..1 + 4 * count as u32, whole));
    }
    parts.items.extend((0..1 + 4 * count as u32).map(|node| Item {
        key: FloatOrd(node as f32),
        bounds: Some(if node == 0 { whole } else { at((node as usize - 1) / 4) }),
        what: What::Other,
    }));
    parts.add_own();
    parts
}

fn pane(parts: &mut Parts, node: u32, rect: Rect) {
    let settings = BackdropBlur::from_sigma(3.0);
    let glass = Backdrop {
        order: GlassOrder::Node(node),
        ..Backdrop::plain(Shape::of_rect(rect), &settings, &PICTURE)
    };
    parts.backdrops.extend(glass.if_seen(false));
}

/// The number of passes depends on how deep glass and groups lie in each other, and not on how many there are.
#[test]
fn the_price_is_that_of_the_depth() {
    let count = |count: usize, fades: bool, add: &dyn Fn(&mut Parts, u32, Rect)| {
        let parts = crowd(count, fades, add);
        passes(&Schedule::new(&parts.scene(false)))
    };
    let rounded = |parts: &mut Parts, node: u32, rect: Rect| {
        let group = Filter {
            nodes: node + 1..node + 4,
            outline: Some(Shape::of_rect(rect)),
            opacity: 1.0,
            ..parts
                .filters
                .first()
                .cloned()
                .unwrap_or(Filter::neutral(Entity::PLACEHOLDER))
        };
        parts.filters.push(Filter { node, ..group });
        pane(parts, node + 2, rect);
    };
    let stacked = |parts: &mut Parts, node: u32, rect: Rect| (0..3).for_each(|above| pane(parts, node + above, rect));
    for (name, add, bound) in [
        ("panes", &pane as &dyn Fn(&mut Parts, u32, Rect), [2, 5]),
        ("rounded cards with a pane", &rounded, [6, 8]),
        ("stacks of three panes", &stacked, [6, 11]),
    ] {
        for fades in [false, true] {
            let [one, many] = [1, 40].map(|number| count(number, fades, add));
            println!("{name}, fading: {fades}: {one} passes, {many} for forty");
            assert_eq!(one, many, "{name}, fading: {fades}");
            assert!(
                many <= bound[usize::from(fades)],
                "{name}, fading: {fades}: {many} passes"
            );
        }
    }
}

/// The most surfaces of a group: one that fades it, and one each for its blur, its shadows inside, its line, its shadows and its opacity.
const SURFACES: usize = 6;

/// Asserts the bound of `passes_are_bounded_by_the_depth`. Returns the schedule.
fn assert_bounded(parts: &Parts) -> Schedule {
    let scene = parts.scene(false);
    let schedule = Schedule::new(&scene);
    let pages: usize = schedule.tree.pages.iter().map(Vec::len).sum();
    let (_, runs) = GlassRounds::of_nodes(&scene, &schedule.tree, (&schedule.placed, &schedule.holes));
    let in_round = 2 * pages + 2 * schedule.seen.len() + 2;
    let most = 3 * pages + runs.len() * in_round;
    assert!(
        passes(&schedule) <= most,
        "{} passes, {most} allowed",
        passes(&schedule)
    );
    schedule
}

/// The most groups around a node.
fn nesting(parts: &Parts) -> usize {
    let around = |node: u32| {
        parts
            .filters
            .iter()
            .filter(|filter| filter.nodes.contains(&node))
            .count()
    };
    parts
        .filters
        .iter()
        .map(|filter| around(filter.nodes.start))
        .max()
        .unwrap_or(0)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, ..ProptestConfig::default() })]

    /// Thousands of small nodes, hundreds of them groups, need a page for each depth of the deepest group, and another one only where a
    /// page is full.
    #[test]
    fn crowds_have_the_pages_of_their_depth(nodes in proptest::collection::vec(node(), 1500..2500)) {
        let small = |node: Node| Node {
            size: node.size.map(|side| 1 + side % 12),
            sigma: node.sigma % 3,
            kind: node.kind.map(|kind| if kind == 0 { 0 } else { 9 }),
            ..node
        };
        let parts = Parts::new(&nodes.into_iter().map(small).collect::<Vec<_>>());
        let schedule = assert_bounded(&parts);
        prop_assert!(parts.items.len() > 3000);
        prop_assert!(schedule.tree.pages.len() <= SURFACES * nesting(&parts));
        // What two pages hold would not fit on one.
        let limit = parts.scene(false).limit;
        for pages in &schedule.tree.pages {
            let are_full = pages.windows(2).all(|pair| pair[0].y + pair[1].y > limit);
            prop_assert!(are_full, "pages of a depth: {pages:?}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    /// The bound. A round paints at most once on each page and on the camera's picture, blurs what is complete on each page, and puts
    /// together and blurs what glass sees: on the camera's picture, and on each page of it. Groups without glass are painted and blurred
    /// once for each page, and a page may be cleared in a pass of its own. So the number of passes is at most that below, in which
    ///
    /// - the rounds are one more than glass lies over glass, with what lies between: `rounds_are_those_of_the_definition`;
    /// - each group around a group adds [`SURFACES`] depths, and each depth has one page unless that is full:
    ///   `crowds_have_the_pages_of_their_depth`;
    /// - what the glass of a batch sees in groups fits on one page unless it is full.
    ///
    /// None of them grows with the number of panes, of groups, or of items.
    #[test]
    fn passes_are_bounded_by_the_depth(nodes in proptest::collection::vec(node(), 0..300)) {
        assert_bounded(&Parts::new(&nodes));
    }

    /// Glass and groups outside of the picture add no pass, beside or inside of what is seen. No group hides its items by an opacity of
    /// 0: that saves passes.
    #[test]
    fn what_is_unseen_adds_nothing(nodes in proptest::collection::vec(node(), 0..60), more in proptest::collection::vec(node(), 0..60)) {
        let unseen = more.into_iter().map(|node| Node {
            place: [2000, 2000],
            opacity: node.opacity.max(1),
            flags: node.flags & !98 | 1,
            ..node
        });
        let all: Vec<Node> = nodes.iter().cloned().chain(unseen).collect();
        let mut parts = Parts::new(&all);
        let [with, without] = [true, false].map(|has_unseen| {
            if !has_unseen {
                let is_seen = |node: u32| (node as usize) < nodes.len();
                parts.backdrops.retain(|backdrop| backdrop.node().is_none_or(is_seen));
                parts.filters.retain(|filter| is_seen(filter.node));
                parts.items.retain(|item| item.what == What::Other);
                parts.add_own();
            }
            passes(&Schedule::new(&parts.scene(false)))
        });
        prop_assert_eq!(with, without);
    }

    /// A scene that is scrolled by a pixel has as many passes.
    #[test]
    fn scrolling_changes_no_number(nodes in proptest::collection::vec(node(), 0..60)) {
        let inside = |by: i16| -> Vec<Node> {
            let of = |node: &Node| Node {
                place: [20 + node.place[0].rem_euclid(200) + by, 20 + node.place[1].rem_euclid(120)],
                flags: node.flags & !16,
                ..node.clone()
            };
            nodes.iter().map(of).collect()
        };
        let [before, after] = [0, 1].map(|by| passes(&Schedule::new(&Parts::new(&inside(by)).scene(false))));
        prop_assert_eq!(before, after);
    }
}
