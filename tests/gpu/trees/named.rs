//! Named trees: what glass and filters are for, in small user interfaces, against the compositor. Random trees show all of it as well,
//! in combinations; these say what each part is.

mod beside;
mod colors;
mod edges;
mod fades;
mod glass;
mod groups;
mod inside;
mod lenses;
mod lines;
mod places;
mod regressions;
mod rounded;
mod shadows;

use super::show::expected;
use super::*;
use crate::support::difference::write_failure;
use crate::support::precision::error_of_blending;
use crate::support::reference::tree::{Filter, Shadow};
use crate::support::reference::{Functions, Step};
use core::fmt::Display;

const WHITE: [f64; 4] = [1.0; 4];
const NOTHING: [f64; 4] = [0.0; 4];
const GREEN: [f64; 4] = [0.0, 1.0, 0.0, 1.0];

pub type Named<N = String> = (N, Tree);

/// Asserts that trees of the usual size are shown as the compositor paints them, with [one kind of passes](one_backend).
pub fn assert_shown(format: TextureFormat, trees: &[Named<impl Display>]) {
    show_all(format, BlurSwitch::On, trees);
}

/// Asserts that they are shown so while blurs are switched off.
fn assert_switched_off(format: TextureFormat, trees: &[Named<impl Display>]) {
    show_all(format, BlurSwitch::Off, trees);
}

/// The levels by which a picture may be off, beyond the rounding of its format, if eight bits round it once before it is stored: the
/// compositor and the GPU may round to neighbours, of which rounding makes up 0.6, and a blur is off by 0.35.
const ROUNDED_ONCE: f64 = 1.0 - 0.6 + 0.35;

/// The same for glass whose edges cover a part of a pixel: it is mixed in by two draws, each of which misses its level by as much as the
/// GPU blends roughly.
fn rounded_twice() -> f64 {
    ROUNDED_ONCE.max(2.0 * error_of_blending() - 0.6 + 0.35)
}

/// Asserts that trees are shown within so many levels, with the kind of passes that is the test's turn, that their glass and filters
/// can be seen, and that nothing else changes.
fn assert_within(format: TextureFormat, levels: f64, trees: &[Named<impl Display>]) {
    for (name, tree) in trees {
        let mut plain = tree.clone();
        super::features::change(&mut plain.nodes, &mut |node, _| {
            (node.glass, node.filter) = (None, None)
        });
        let [with, without] = [tree, &plain].map(|tree| tree.picture(super::show::storage(format)));
        let seen = 255.0 * worst_difference(&with, &without).value;
        assert!(seen > 3.0 * levels, "{name}: it can hardly be seen: {seen}/255");
    }
    beside::assert_within(format, levels, trees);
}

fn show_all(format: TextureFormat, switch: BlurSwitch, trees: &[Named<impl Display>]) {
    let screen = |backend| (backend, Screen::of_one_size(backend, format));
    let mut screens: Vec<_> = one_backend().into_iter().map(screen).collect();
    // Everything compiles first.
    for (_, screen) in &mut screens {
        screen.set_switch(switch);
        trees.chunks(4).for_each(|batch| screen.show_anew(&trees_of(batch)));
        screen.settle();
    }
    for named in trees.chunks(4) {
        let batch = trees_of(named);
        let expected = expected(&batch, format, switch == BlurSwitch::Off);
        for (backend, screen) in &mut screens {
            let shot = screen.show(&batch);
            let verdict = screen.judge_by(shot, &batch, &expected);
            if let Some((camera, worst, [got, expected])) = verdict.wrong.first() {
                let name = &named[*camera].0;
                let folder = write_failure(&format!("tree-{name}-{backend:?}"), got, expected);
                let levels = worst.value * 255.0;
                panic!(
                    "{name}, {backend:?}: {worst:?} is {levels:.2}/255; see {}",
                    folder.display()
                );
            }
            println!("from {} on, {backend:?}: {:.2}/255", named[0].0, verdict.worst * 255.0);
        }
    }
    for (_, screen) in &mut screens {
        screen.set_switch(BlurSwitch::On);
    }
}

fn trees_of<N>(batch: &[Named<N>]) -> Vec<Tree> {
    batch.iter().map(|(_, tree)| tree.clone()).collect()
}

/// Nodes over an opaque colour.
fn over_nothing(nodes: impl IntoIterator<Item = Node>) -> Tree {
    Tree {
        size: SIZES[0],
        clear: [0.1, 0.2, 0.4, 1.0],
        nodes: nodes.into_iter().collect(),
    }
}

/// Nodes over boxes of many colours, of which every blur shows.
fn over_scene(nodes: impl IntoIterator<Item = Node>) -> Tree {
    const COLORS: [[f64; 3]; 7] = [
        [0.9, 0.1, 0.05],
        [0.05, 0.6, 0.9],
        [1.0, 0.9, 0.2],
        [0.02, 0.02, 0.1],
        [0.3, 0.9, 0.3],
        [1.0; 3],
        [0.6, 0.1, 0.7],
    ];
    let scene = (0..32).map(|index| {
        let [red, green, blue] = COLORS[(5 * index + index / 8) % COLORS.len()];
        let [x, y] = [12 * (index % 8), 16 * (index / 8)].map(|side| side as f64);
        Node::new([x, y + 1.0], [9.0, 12.0], [red, green, blue, 1.0])
    });
    over_nothing(scene.chain(nodes))
}

/// Nodes over stripes.
fn over_stripes(color: [f64; 4], nodes: impl IntoIterator<Item = Node>) -> Tree {
    let stripe = |index: usize| plain([index as f64 * 12.0, 0.0, 6.0, 64.0], color);
    Tree {
        clear: [0.3, 0.4, 0.5, 1.0],
        ..over_nothing((0..8).map(stripe).chain(nodes))
    }
}

/// A plain box.
fn plain([left, top, width, height]: [f64; 4], color: [f64; 4]) -> Node {
    Node::new([left, top], [width, height], color)
}

/// A box of glass.
fn pane(place: [f64; 4], glass: Glass) -> Node {
    Node {
        glass: Some(glass),
        ..plain(place, NOTHING)
    }
}

/// A group in a node that covers the viewport.
fn group(filter: Filter, children: Vec<Node>) -> Node {
    let [width, height] = SIZES[0].map(|side| side as f64);
    Node {
        filter: Some(filter),
        children,
        ..plain([0.0, 0.0, width, height], NOTHING)
    }
}

/// Glass that sees what is around its box.
fn open(sigma: f64) -> Glass {
    Glass {
        sees_surroundings: true,
        ..Glass::new(sigma)
    }
}

fn rounded(radii: [f64; 4], node: Node) -> Node {
    Node { radii, ..node }
}

fn turned(angle: f64, mut node: Node) -> Node {
    node.transform.angle = angle;
    node
}

fn scaled(scale: [f64; 2], mut node: Node) -> Node {
    node.transform.scale = scale;
    node
}

fn moved(offset: [f64; 2], mut node: Node) -> Node {
    node.transform.offset = offset;
    node
}

fn soft(sigma: f64) -> Filter {
    Filter {
        sigma: [sigma; 2],
        ..Filter::NEUTRAL
    }
}

fn faded(opacity: f64) -> Filter {
    Filter {
        opacity,
        ..Filter::NEUTRAL
    }
}

fn colored(steps: impl Into<Vec<Step>>) -> Filter {
    Filter {
        functions: Functions(steps.into()),
        ..Filter::NEUTRAL
    }
}

fn curved(filter: Filter) -> Filter {
    let is_rounded = true;
    Filter { is_rounded, ..filter }
}

/// A shadow beside its group.
fn shadow(offset: [f64; 2], sigma: f64, color: [f64; 4]) -> Shadow {
    Shadow {
        offset,
        sigma: [sigma; 2],
        color,
        is_glow: false,
        is_inset: false,
    }
}

fn glowing(shadow: Shadow) -> Shadow {
    let is_glow = true;
    Shadow { is_glow, ..shadow }
}

/// A shadow that falls into its group.
fn inset(shadow: Shadow) -> Shadow {
    let is_inset = true;
    Shadow { is_inset, ..shadow }
}

fn casting(shadows: impl Into<Vec<Shadow>>, filter: Filter) -> Filter {
    let shadows = shadows.into();
    Filter { shadows, ..filter }
}

/// Boxes in the middle of the viewport, round and half transparent.
fn boxes() -> Vec<Node> {
    vec![
        rounded([5.0; 4], plain([22.0, 16.0, 30.0, 22.0], [0.9, 0.3, 0.05, 0.8])),
        plain([42.0, 24.0, 26.0, 16.0], [0.05, 0.2, 0.9, 0.6]),
        plain([30.0, 27.0, 31.0, 5.0], WHITE),
    ]
}
