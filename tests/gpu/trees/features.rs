//! Features of trees, which can be left out: to look at one of them, or because it is known to be drawn wrongly.

use super::*;
use crate::support::reference::Functions;
use crate::support::reference::tree::{Filter, Transform};

/// Features that are known to be drawn wrongly. No tree has them.
const DRAWN_WRONGLY: [Feature; 0] = [];

/// A feature of trees.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Feature {
    /// `own-glass`: glass on filtered nodes, beside other filters.
    OwnGlass,
    /// `glow`: with a low dynamic range, glows in coloured groups.
    Glow,
    /// `free`: nodes with `OverrideClip` in groups.
    Free,
    /// `clip`: glass in groups whose ancestors clip them.
    Clip,
    /// `rounded`: groups that are clipped to the rounded box of their node.
    Rounded,
    /// `shared`: glass that shares a backdrop.
    Shared,
    /// `scaled`: nodes with different scales along x and y.
    Scaled,
    /// `edge`: blurs of groups that end at the box of their node.
    Edge,
    /// `inset`: shadows that fall into their group.
    Inset,
    /// `lens`: glass that refracts.
    Lens,
    /// `fade`: groups that fade towards sides of their node.
    Fade,
    /// `outline`: lines around groups.
    Outline,
    /// `border`: nodes with borders.
    Border,
    /// `ring`: nodes with outlines.
    Ring,
    /// `stamp`: text, and shadows of boxes.
    Stamp,
    /// `profile`: groups whose blur varies.
    Profile,
    /// `undisplayed`: nodes that are not laid out.
    Undisplayed,
    /// `scroll`: lists that are scrolled.
    Scroll,
}

/// All features by their names.
const ALL: [(&str, Feature); 18] = [
    ("own-glass", Feature::OwnGlass),
    ("glow", Feature::Glow),
    ("free", Feature::Free),
    ("clip", Feature::Clip),
    ("rounded", Feature::Rounded),
    ("shared", Feature::Shared),
    ("scaled", Feature::Scaled),
    ("edge", Feature::Edge),
    ("inset", Feature::Inset),
    ("lens", Feature::Lens),
    ("fade", Feature::Fade),
    ("outline", Feature::Outline),
    ("border", Feature::Border),
    ("ring", Feature::Ring),
    ("stamp", Feature::Stamp),
    ("profile", Feature::Profile),
    ("undisplayed", Feature::Undisplayed),
    ("scroll", Feature::Scroll),
];

impl Feature {
    /// The features that trees do without: those that are drawn wrongly, and those that `BLUR_TREES_WITHOUT` names.
    pub fn left_out() -> Vec<Self> {
        let names = std::env::var("BLUR_TREES_WITHOUT").unwrap_or_default();
        let named = names.split(',').filter(|name| !name.is_empty()).map(|name| {
            let found = ALL.iter().find(|(known, _)| *known == name);
            let (_, feature) =
                found.unwrap_or_else(|| panic!("BLUR_TREES_WITHOUT={names}: there is no feature {name}"));
            *feature
        });
        named.chain(DRAWN_WRONGLY).collect()
    }

    /// Removes the feature from a tree.
    pub fn remove(self, tree: &mut Tree, is_hdr: bool) {
        match self {
            Self::OwnGlass => {
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
            Self::Rounded => of_filters(tree, |filter| filter.is_rounded = false),
            Self::Edge => of_filters(tree, |filter| filter.edge = EdgeMode::Transparent),
            Self::Inset => of_filters(tree, |filter| filter.shadows.retain(|shadow| !shadow.is_inset)),
            Self::Fade => of_filters(tree, |filter| filter.fade = [0.0; 4]),
            Self::Outline => of_filters(tree, |filter| filter.outline = None),
            Self::Shared => change(&mut tree.nodes, &mut |node, _| node.shares_backdrop = false),
            Self::Lens => of_glass(tree, |glass| glass.lens = None),
            Self::Border => change(&mut tree.nodes, &mut |node, _| node.border = None),
            Self::Ring => change(&mut tree.nodes, &mut |node, _| node.ring = None),
            Self::Stamp => change(&mut tree.nodes, &mut |node, _| node.stamp = None),
            Self::Profile => of_filters(tree, |filter| filter.ramp = None),
            Self::Undisplayed => change(&mut tree.nodes, &mut |node, _| node.is_displayed = true),
            Self::Scroll => change(&mut tree.nodes, &mut |node, _| node.scroll = [0.0; 2]),
            Self::Scaled => change(&mut tree.nodes, &mut |node, _| {
                node.transform.scale[1] = node.transform.scale[0];
            }),
        }
    }
}

fn of_filters(tree: &mut Tree, simplify: impl Fn(&mut Filter)) {
    change(&mut tree.nodes, &mut |node, _| {
        node.filter.iter_mut().for_each(&simplify)
    });
}

fn of_glass(tree: &mut Tree, simplify: impl Fn(&mut Glass)) {
    change(&mut tree.nodes, &mut |node, _| {
        node.glass.iter_mut().for_each(&simplify)
    });
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
    /// Whether an ancestor has a transform.
    pub is_moved: bool,
    /// Whether an ancestor is not laid out.
    pub is_undisplayed: bool,
    /// Whether a group around it has a line around it.
    pub is_lined: bool,
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
        around.is_moved |= node.transform != Transform::NONE;
        around.is_undisplayed |= !node.is_displayed;
        if let Some(filter) = &node.filter {
            around.is_group = true;
            around.groups += 1;
            around.is_clipped_group |= around.is_clipped;
            around.is_colored |= !filter.functions.is_neutral();
            around.is_lined |= filter.outline.is_some();
        }
        around.is_clipped |= node.clips != [false; 2];
        change_in(&mut node.children, around, visit);
    }
}

/// The number of nodes of a kind.
pub fn count(nodes: &[Node], is_one: &impl Fn(&Node) -> bool) -> usize {
    let of = |node: &Node| usize::from(is_one(node)) + count(&node.children, is_one);
    nodes.iter().map(of).sum()
}
