//! How many passes schedules have, as far as that is known without a GPU.

use super::super::place::NodeRounds;
use super::super::scene::{Clips, Filter, Glass, GlassOrder, Item, What};
use super::super::shape::Shape;
use super::super::steps::{Schedule, Step};
use super::steps::{Node, PICTURE, Parts, filter, node};
use crate::settings::{BackdropBlur, ColorMatrices};
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
    let glass = Glass {
        order: GlassOrder::Node(node),
        ..Glass::plain(Shape::of_rect(rect), &settings)
    };
    parts.backdrops.extend(glass.backdrop(&PICTURE));
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
            ..parts.filters.first().cloned().unwrap_or(Filter {
                entity: Entity::PLACEHOLDER,
                node,
                nodes: 0..0,
                clip: None,
                clips: Clips::Result,
                sigma: Vec2::ZERO,
                border: None,
                profile: None,
                outline: None,
                fade: None,
                line: None,
                colors: ColorMatrices::NEUTRAL,
                shadows: Vec::new(),
                opacity: 1.0,
            })
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

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    /// Each round has at most one pass and one batch for each page, for the camera, and for each page of what glass sees. Groups without
    /// glass have as many for each page, and a page may be cleared in a pass of its own. So with the bound of
    /// `rounds_are_those_of_the_definition`, the number of passes is at most a multiple of the depth.
    #[test]
    fn passes_are_bounded_by_the_depth(nodes in proptest::collection::vec(node(), 0..300)) {
        let parts = Parts::new(&nodes);
        let schedule = Schedule::new(&parts.scene(false));
        let pages: usize = schedule.tree.pages.iter().map(Vec::len).sum();
        let rounds = NodeRounds::new(&parts.scene(false), &schedule.tree, &schedule.placed).rounds.len();
        let in_round = 2 * pages + 2 * schedule.seen.len() + 2;
        prop_assert!(passes(&schedule) <= 3 * pages + rounds * in_round);
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
