//! Reduces trees that are shown wrongly to what is needed to show it.

use super::describe::describe;
use super::features::{change, count};
use super::generate::restrain;
use super::*;
use crate::support::difference::write_failure;
use crate::support::reference::tree::{Filter, Transform, Visibility};
use crate::support::reference::{EdgeMode, Functions};
use std::time::Instant;

/// How long trees are reduced.
const PATIENCE: Duration = Duration::from_secs(60);

/// Reduces the trees of a frame in which one was shown wrongly, writes pictures, and panics.
pub fn report(name: &str, screen: &mut Screen, without: &[Feature], seeds: &[u64], mut trees: Vec<Tree>) -> ! {
    let seed = |index: usize| seeds.iter().find(|seed| place(**seed) == index).copied().unwrap_or(0);
    let Some(first) = judge(screen, &trees) else {
        panic!("random trees, {name}: a frame with seeds {seeds:?} was wrong, and is right when it is shown again");
    };
    let failing = first.wrong[0].0;
    let is_lasting = {
        let shot = screen.show_settled(&trees);
        screen.judge(shot, &trees).is_wrong()
    };
    // A tree fails alone, or beside the others.
    let mut last = first.clone();
    for index in 0..trees.len() {
        let others = core::mem::take(&mut trees[index].nodes);
        match judge(screen, &trees) {
            Some(verdict) => last = verdict,
            None => trees[index].nodes = others,
        }
    }
    let start = Instant::now();
    while start.elapsed() < PATIENCE {
        let reduced = candidates(&trees, screen.is_hdr(), without).find_map(|candidate| {
            let verdict = judge(screen, &candidate)?;
            Some((candidate, verdict))
        });
        let Some((reduced, verdict)) = reduced else {
            break;
        };
        (trees, last) = (reduced, verdict);
    }
    let (_, worst, [got, expected]) = &last.wrong[0];
    let folder = write_failure(&format!("trees-{name}-{}", seed(failing)), got, expected);
    let described: Vec<String> = trees
        .iter()
        .filter(|tree| !tree.nodes.is_empty())
        .map(describe)
        .collect();
    panic!(
        "random trees, {name}: seed {} of the frame {seeds:?}, {:?}{}\nreduced to {worst:?}, which is {:.2}/255:\n{}see {}",
        seed(failing),
        first.wrong[0].1,
        if is_lasting { "" } else { ", in its first frame only" },
        worst.value * 255.0,
        described.concat(),
        folder.display()
    );
}

/// The verdict on trees that are shown wrongly.
fn judge(screen: &mut Screen, trees: &[Tree]) -> Option<Verdict> {
    let shot = screen.show(trees);
    let verdict = screen.judge(shot, trees);
    verdict.is_wrong().then_some(verdict)
}

/// Simpler trees, the simplest first.
fn candidates(trees: &[Tree], is_hdr: bool, without: &[Feature]) -> impl Iterator<Item = Vec<Tree>> {
    let changes = (0..trees.len()).flat_map(|index| {
        let nodes = count(&trees[index].nodes, &|_| true);
        (0..SIMPLER.len()).flat_map(move |simpler| (0..nodes).map(move |node| (index, simpler, node)))
    });
    let mut found = Vec::new();
    for (index, simpler, node) in changes {
        let mut simple = trees.to_vec();
        if simpler < 2 {
            let mut left = node;
            remove(&mut simple[index].nodes, &mut left, simpler == 1);
        } else {
            let mut left = node as isize;
            change(&mut simple[index].nodes, &mut |node, _| {
                if left == 0 {
                    SIMPLER[simpler](node);
                }
                left -= 1;
            });
        }
        // A tree that would be changed is drawn wrongly by Bevy, for example.
        if simple != trees && restrain(&mut simple[index], index, is_hdr, without) {
            found.push(simple);
        }
    }
    found.into_iter()
}

/// Removes a node, counted with parents first; with its children, or in their favour.
fn remove(nodes: &mut Vec<Node>, left: &mut usize, keeps_children: bool) -> bool {
    for index in 0..nodes.len() {
        if *left == 0 {
            let node = nodes.remove(index);
            if keeps_children {
                for (place, mut child) in node.children.into_iter().enumerate() {
                    (0..2).for_each(|axis| child.origin[axis] += node.origin[axis]);
                    nodes.insert(index + place, child);
                }
            }
            return true;
        }
        *left -= 1;
        if remove(&mut nodes[index].children, left, keeps_children) {
            return true;
        }
    }
    false
}

/// What may be simpler about a node. The first two remove it.
const SIMPLER: [fn(&mut Node); 33] = [
    |_| {},
    |_| {},
    |node| node.filter = None,
    |node| node.glass = None,
    |node| node.clips = [false; 2],
    |node| node.is_free = false,
    |node| node.transform = Transform::NONE,
    |node| node.radii = [0.0; 4],
    |node| node.global_z = None,
    |node| node.z = 0,
    |node| node.border = None,
    |node| node.ring = None,
    |node| node.stamp = None,
    |node| node.scroll = [0.0; 2],
    |node| node.is_displayed = true,
    |node| of_filter(node, |filter| filter.ramp = None),
    |node| of_glass(node, |glass| glass.fallback = [0.0; 4]),
    |node| node.visibility = Visibility::Inherited,
    |node| node.color[3] = 0.0,
    |node| node.color = [1.0; 4],
    |node| {
        of_filter(node, |filter| {
            filter.shadows.truncate(filter.shadows.len().saturating_sub(1))
        })
    },
    |node| {
        of_filter(node, |filter| {
            filter.shadows = filter.shadows.split_off(filter.shadows.len().min(1))
        })
    },
    |node| of_filter(node, |filter| filter.functions = Functions::NEUTRAL),
    |node| of_filter(node, |filter| filter.opacity = 1.0),
    |node| of_filter(node, |filter| filter.is_rounded = false),
    |node| of_filter(node, |filter| filter.outline = None),
    |node| of_filter(node, |filter| filter.fade = [0.0; 4]),
    |node| node.shares_backdrop = false,
    |node| of_filter(node, |filter| filter.sigma = [0.0; 2]),
    |node| {
        of_glass(node, |glass| {
            (glass.functions, glass.ramp, glass.edge) = (Functions::NEUTRAL, None, EdgeMode::Mirror)
        })
    },
    |node| of_glass(node, |glass| glass.opacity = 1.0),
    |node| of_glass(node, |glass| glass.lens = None),
    |node| of_glass(node, |glass| glass.sees_surroundings = false),
];

fn of_glass(node: &mut Node, simplify: impl Fn(&mut Glass)) {
    node.glass.iter_mut().for_each(simplify);
}

fn of_filter(node: &mut Node, simplify: impl Fn(&mut Filter)) {
    if let Some(filter) = &mut node.filter {
        simplify(filter);
        if *filter == Filter::NEUTRAL {
            node.filter = None;
        }
    }
}
