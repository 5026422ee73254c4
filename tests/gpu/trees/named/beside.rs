//! Trees beside the same trees without glass and filters: what neither touches keeps its bits, and the rest is as near to the
//! compositor as each pixel allows.

use super::*;
use crate::support::difference::Difference;
use crate::support::precision::error_of_blurs;
use crate::support::reference::Storage;
use crate::support::reference::tree::Transform;
use crate::trees::features::change;
use crate::trees::show::{compare, storage};

/// Asserts that trees are shown within so many levels, and farther off only as far as vertices at 1/256 of a pixel move them.
pub fn assert_within(format: TextureFormat, levels: f64, trees: &[Named<impl Display>]) {
    for backend in one_backend() {
        let mut screen = Screen::of_one_size(backend, format);
        screen.set_switch(BlurSwitch::On);
        // Everything compiles first.
        trees.chunks(2).for_each(|two| screen.show_anew(&pairs(two)));
        screen.settle();
        for two in trees.chunks(2) {
            screen.show_anew(&pairs(two));
            let shown = screen.pictures();
            for ((name, tree), shown) in two.iter().zip(shown.chunks(2)) {
                let name = format!("{name}-{backend:?}");
                assert_near(&name, tree, &shown[0], format, levels);
                assert_untouched(&name, tree, shown);
            }
        }
    }
}

/// Each of two trees, followed by what is left of it without glass and without groups.
fn pairs<N>(trees: &[Named<N>]) -> [Tree; 4] {
    core::array::from_fn(|index| match trees.get(index / 2) {
        Some((_, tree)) if index.is_multiple_of(2) => tree.clone(),
        Some((_, tree)) => Tree {
            nodes: bare(&tree.nodes),
            ..tree.clone()
        },
        None => over_nothing([]),
    })
}

fn bare(nodes: &[Node]) -> Vec<Node> {
    let rest = nodes.iter().filter(|node| node.filter.is_none());
    let bare = rest.map(|node| Node {
        glass: None,
        children: bare(&node.children),
        ..node.clone()
    });
    bare.collect()
}

fn assert_near(name: &str, tree: &Tree, got: &Picture, format: TextureFormat, levels: f64) {
    let expected = tree.picture(storage(format));
    let moved = farthest(tree, format);
    let within = Picture::from_fn(got.width, got.height, |x, y| {
        let (got, expected, moved) = (got.at(x, y), expected.at(x, y), moved.at(x, y));
        core::array::from_fn(|i| expected[i] + (got[i] - expected[i]).clamp(-moved[i], moved[i]))
    });
    let worst: Difference = compare(got, &within, format);
    let peak = expected.texels.iter().flatten().copied().fold(1.0, f64::max);
    let off = 255.0 * worst.value / peak;
    println!("{name}: {off:.2}/255");
    if worst.value > peak * (levels / 255.0 + error_of_blurs()) {
        let folder = write_failure(&format!("tree-{name}"), got, &expected);
        panic!("{name}: {worst:?} is {off:.2}/255; see {}", folder.display());
    }
}

/// How far every pixel moves if boxes that are not on whole pixels lie a 256th of a pixel beside their place: rasterisers round vertices.
fn farthest(tree: &Tree, format: TextureFormat) -> Picture {
    const STEP: f64 = 1.0 / 256.0;
    let exact = if format == HDR {
        Storage::Half
    } else {
        Storage::Off(0.0)
    };
    let here = tree.picture(exact);
    let mut farthest = Picture::from_fn(here.width, here.height, |_, _| [0.0; 4]);
    for offset in [[STEP, 0.0], [-STEP, 0.0], [0.0, STEP], [0.0, -STEP]] {
        let (mut beside, mut is_moved) = (tree.clone(), false);
        change(&mut beside.nodes, &mut |node, _| {
            if node.transform != Transform::NONE {
                node.transform.offset = [0, 1].map(|axis| node.transform.offset[axis] + offset[axis]);
                is_moved = true;
            }
        });
        if !is_moved {
            break;
        }
        let beside = beside.picture(exact);
        let both = here.texels.iter().flatten().zip(beside.texels.iter().flatten());
        for (farthest, (here, beside)) in farthest.texels.iter_mut().flatten().zip(both) {
            *farthest = farthest.max((here - beside).abs());
        }
    }
    farthest
}

/// Asserts that pixels which no glass and no group touches have the bits that they have without these.
fn assert_untouched(name: &str, tree: &Tree, shown: &[Picture]) {
    let [one, other] =
        [[1.0, 0.0, 1.0], [0.0, 1.0, 0.0]].map(|color| recolored(tree, color).picture(Storage::Off(0.0)));
    for (x, y) in (0..one.height).flat_map(|y| (0..one.width).map(move |x| (x, y))) {
        if one.at(x, y) == other.at(x, y) {
            let [with, without] = [0, 1].map(|index| shown[index].at(x, y));
            assert_eq!(with, without, "{name}: ({x}, {y}) is off glass and groups");
        }
    }
}

/// A tree in which all that glass and groups paint has one colour, over a black one, to which a glow adds light.
fn recolored(tree: &Tree, color: [f64; 3]) -> Tree {
    let mut tree = tree.clone();
    tree.clear[..3].fill(0.0);
    tree.nodes.iter_mut().for_each(|node| recolor(node, false, color));
    tree
}

fn recolor(node: &mut Node, is_grouped: bool, color: [f64; 3]) {
    let paint = |painted: &mut [f64; 4]| painted[..3].copy_from_slice(&color);
    if let Some(glass) = &mut node.glass {
        (glass.is_plain, glass.fallback) = (true, [color[0], color[1], color[2], 1.0]);
    }
    if let Some(filter) = &mut node.filter {
        filter.functions = Functions(Vec::new());
        filter.shadows.iter_mut().for_each(|shadow| paint(&mut shadow.color));
        filter.outline.iter_mut().for_each(|outline| paint(&mut outline.color));
    }
    let is_grouped = is_grouped || node.filter.is_some();
    let own = if is_grouped { color } else { [0.0; 3] };
    let borders = node.border.iter_mut().map(|border| &mut border.color);
    let rings = node.ring.iter_mut().map(|ring| &mut ring.color);
    for painted in [&mut node.color].into_iter().chain(borders).chain(rings) {
        painted[..3].copy_from_slice(&own);
    }
    node.children
        .iter_mut()
        .for_each(|child| recolor(child, is_grouped, color));
}
