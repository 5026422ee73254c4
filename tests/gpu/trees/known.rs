//! Defects that are known: trees do without what shows them.

use crate::support::reference::Functions;
use crate::support::reference::tree::{Node, Tree};

/// A known defect. It is removed from here when it is mended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Defect {
    /// `hole`: the hole for the glass of a filtered node is as large as the node, and not limited to the node's own picture.
    Hole,
    /// `glow`: with a low dynamic range, colour functions darken a glow in their group.
    Glow,
    /// `free`: a node with `OverrideClip` in a group is clipped with the group.
    Free,
    /// `clip`: where glass in a group mirrors depends on what is stored of the group, if an ancestor clips the group.
    Clip,
}

/// All known defects by their names.
const KNOWN: [(&str, Defect); 4] = [
    ("hole", Defect::Hole),
    ("glow", Defect::Glow),
    ("free", Defect::Free),
    ("clip", Defect::Clip),
];

impl Defect {
    /// The defects that trees must not show: all but those in the environment.
    pub fn kept() -> Vec<Self> {
        let shown = std::env::var("BLUR_TREE_DEFECTS").unwrap_or_default();
        for name in shown.split(',').filter(|name| !name.is_empty()) {
            assert!(
                KNOWN.iter().any(|(known, _)| *known == name),
                "BLUR_TREE_DEFECTS={shown}: there is no known defect {name}"
            );
        }
        let kept = KNOWN
            .iter()
            .filter(|(name, _)| !shown.split(',').any(|shown| shown == *name));
        kept.map(|(_, defect)| *defect).collect()
    }

    /// Removes from a tree what shows the defect.
    pub fn remove(self, tree: &mut Tree, is_hdr: bool) {
        match self {
            Self::Hole => {
                let filters = count(&tree.nodes, &|node| node.filter.is_some());
                change(&mut tree.nodes, &mut |node, _| {
                    if node.filter.is_some() && filters > 1 {
                        node.glass = None;
                    }
                });
            }
            Self::Glow if is_hdr => {}
            Self::Glow => {
                let is_clear = tree.clear[3] < 1.0;
                change(&mut tree.nodes, &mut |node, around| {
                    if around.is_colored
                        && let Some(filter) = &mut node.filter
                    {
                        filter.shadows.retain(|shadow| !shadow.is_glow);
                    }
                    if is_clear && let Some(glass) = &mut node.glass {
                        glass.functions = Functions::NEUTRAL;
                    }
                });
            }
            Self::Free => change(&mut tree.nodes, &mut |node, around| {
                node.is_free &= !around.is_group;
            }),
            Self::Clip => change(&mut tree.nodes, &mut |node, around| {
                if around.is_clipped_group {
                    node.glass = None;
                }
            }),
        }
    }
}

/// What is around a node.
#[derive(Clone, Copy, Default)]
pub struct Around {
    /// Whether it is in a group.
    pub is_group: bool,
    /// The number of groups around it.
    pub groups: usize,
    /// Whether an ancestor clips it.
    pub is_clipped: bool,
    /// Whether an ancestor of a group around it clips the group.
    pub is_clipped_group: bool,
    /// Whether a group around it is coloured.
    pub is_colored: bool,
    /// Whether it is turned or scaled with an ancestor.
    pub is_transformed: bool,
}

/// Visits all nodes, parents first.
pub fn change(nodes: &mut [Node], visit: &mut impl FnMut(&mut Node, Around)) {
    change_in(nodes, Around::default(), visit);
}

fn change_in(nodes: &mut [Node], around: Around, visit: &mut impl FnMut(&mut Node, Around)) {
    for node in nodes {
        let mut around = around;
        if node.global_z.is_some() {
            // It leaves the groups, not the clips.
            (
                around.is_group,
                around.groups,
                around.is_clipped_group,
                around.is_colored,
            ) = (false, 0, false, false);
        }
        visit(node, around);
        around.is_clipped &= !node.is_free;
        if let Some(filter) = &node.filter {
            around.is_group = true;
            around.groups += 1;
            around.is_clipped_group |= around.is_clipped;
            around.is_colored |= filter.functions != Functions::NEUTRAL;
        }
        around.is_clipped |= node.clips != [false; 2];
        around.is_transformed |= node.transform.angle != 0.0 || node.transform.scale != [1.0; 2];
        change_in(&mut node.children, around, visit);
    }
}

/// The number of nodes of a kind.
pub fn count(nodes: &[Node], is_one: &impl Fn(&Node) -> bool) -> usize {
    let of = |node: &Node| usize::from(is_one(node)) + count(&node.children, is_one);
    nodes.iter().map(of).sum()
}
