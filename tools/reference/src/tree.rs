//! A compositor of user interfaces: trees of coloured boxes with glass and filters, in float64.
//!
//! It computes what is right by the rules that the crate documents, in two steps that know nothing of pages, passes or batches:
//!
//! 1. `resolve` turns the tree into a list of things to paint, in the order in which they are painted; a filtered group is one
//!    of them and has its own list. Here are the rules for stacking, transforms, clips and visibility.
//! 2. `paint` paints such a list, over the surfaces that lie below. Here are the rules for what glass sees and what a filter
//!    does to a picture.
//!
//! # Clips
//!
//! A node is clipped by the overflow of its ancestors. The ancestors of a filtered node clip the result of the filter, and the
//! picture of its group only at a distance, the reach of the filter, from where nothing reaches the visible pixels. So a pane in
//! a group mirrors at its box, cut by the clips inside the group and by the grown clips of the ancestors.
//!
//! A group that contains a node which is free of its ancestors' clips cannot be clipped as one picture: its nodes are clipped before
//! the group is filtered.

mod paint;
mod resolve;
mod surface;
#[cfg(test)]
mod tests;

use crate::color::Functions;
use crate::lens::Lens;
use crate::panel::Ramp;
use crate::storage::Storage;
use crate::{EdgeMode, Picture};
use core::fmt;
use std::sync::Arc;

/// A user interface on a viewport.
#[derive(Clone, Debug, PartialEq)]
pub struct Tree {
    /// The size of the viewport.
    pub size: [usize; 2],
    /// What the camera clears its picture to: light multiplied by alpha, and alpha.
    pub clear: [f64; 4],
    /// The children of a root that covers the viewport and paints nothing.
    pub nodes: Vec<Node>,
}

/// A node, whose position is absolute. Lengths are in physical pixels.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// The top left corner, from that of the parent's padding box.
    pub origin: [f64; 2],
    pub size: [f64; 2],
    /// Top left, top right, bottom right, bottom left.
    pub radii: [f64; 4],
    pub transform: Transform,
    /// Light that is not multiplied by alpha, and alpha.
    pub color: [f64; 4],
    pub border: Option<Border>,
    /// A line around it, as `Outline` of Bevy draws it.
    pub ring: Option<Ring>,
    /// What it shows beside boxes.
    pub stamp: Option<Arc<Stamp>>,
    /// Where it is among its siblings.
    pub z: i32,
    /// If it leaves its parent's order, where it is among all that do so. The root is at 0. No two are the same.
    pub global_z: Option<i32>,
    /// Whether it clips its descendants along x and along y.
    pub clips: [bool; 2],
    /// By how much its children are moved to the left and up.
    pub scroll: [f64; 2],
    /// Whether it and its descendants are laid out. Others are not there, but for what shares a backdrop.
    pub is_displayed: bool,
    /// Whether the clips of its ancestors do not apply to it and its descendants.
    pub is_free: bool,
    pub visibility: Visibility,
    pub glass: Option<Glass>,
    /// Whether all glass of the node and its descendants sees what lies below the first pane of them.
    pub shares_backdrop: bool,
    pub filter: Option<Filter>,
    pub children: Vec<Node>,
}

/// The border of a node, inside of its box.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Border {
    /// Left, top, right, bottom.
    pub widths: [f64; 4],
    /// Light that is not multiplied by alpha, and alpha.
    pub color: [f64; 4],
}

/// A line around a node.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ring {
    pub width: f64,
    /// From the node's box.
    pub offset: f64,
    /// Light that is not multiplied by alpha, and alpha.
    pub color: [f64; 4],
}

/// Something that a node shows, as a picture that is known from elsewhere: text, or the shadow of a box. Its node is on whole pixels, and
/// as large as the one that the picture was taken of.
#[derive(Clone, PartialEq)]
pub struct Stamp {
    pub name: &'static str,
    /// The size of the node.
    pub size: [f64; 2],
    /// Colours are multiplied by alpha.
    pub picture: Picture,
    /// The place of the node in the picture.
    pub place: [i64; 2],
    /// Whether it lies below the node's glass and background, rather than over them.
    pub is_below: bool,
}

impl fmt::Debug for Stamp {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        formatter.write_str(self.name)
    }
}

/// A transform about the centre of a node, which its descendants inherit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Transform {
    pub offset: [f64; 2],
    /// Clockwise, in radians.
    pub angle: f64,
    pub scale: [f64; 2],
}

/// Whether a node is visible, as Bevy has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Visibility {
    Inherited,
    Hidden,
    Visible,
}

/// Glass behind a node.
#[derive(Clone, Debug, PartialEq)]
pub struct Glass {
    pub sigma: [f64; 2],
    /// The share of sigma that each place of the box gets.
    pub ramp: Option<Ramp>,
    pub edge: EdgeMode,
    pub sees_surroundings: bool,
    pub functions: Functions,
    pub opacity: f64,
    /// How it refracts.
    pub lens: Option<Lens>,
    /// What it is if it is plain: light that is not multiplied by alpha, and alpha.
    pub fallback: [f64; 4],
    /// Whether it is only its fallback.
    pub is_plain: bool,
}

/// A filter of a node and its descendants.
#[derive(Clone, Debug, PartialEq)]
pub struct Filter {
    pub sigma: [f64; 2],
    /// The share of sigma that each place of the node's box gets.
    pub ramp: Option<Ramp>,
    /// What the blur reads beyond the bounds of the node's box, which nothing crosses unless this is `Transparent`.
    pub edge: EdgeMode,
    pub functions: Functions,
    /// The line around the blurred and coloured group.
    pub outline: Option<Outline>,
    /// The first one lies on top. They fall from the group with its line, except those that fall into the group.
    pub shadows: Vec<Shadow>,
    pub opacity: f64,
    /// Whether the group is clipped to the node's rounded box before everything else.
    pub is_rounded: bool,
    /// Over which lengths the group fades before everything else, inwards from the left, top, right and bottom of the node's box, before
    /// its transform; 0 where it does not.
    pub fade: [f64; 4],
}

/// A line around a group.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Outline {
    pub width: f64,
    /// Light that is not multiplied by alpha, and alpha.
    pub color: [f64; 4],
}

/// A shadow or a glow of a group.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Shadow {
    pub offset: [f64; 2],
    pub sigma: [f64; 2],
    /// Light that is not multiplied by alpha, and alpha.
    pub color: [f64; 4],
    /// Whether it is added as light.
    pub is_glow: bool,
    /// Whether it falls into the group.
    pub is_inset: bool,
}

impl Transform {
    pub const NONE: Self = Self {
        offset: [0.0; 2],
        angle: 0.0,
        scale: [1.0; 2],
    };
}

impl Node {
    /// A box without anything else.
    #[must_use]
    pub fn new(origin: [f64; 2], size: [f64; 2], color: [f64; 4]) -> Self {
        Self {
            origin,
            size,
            radii: [0.0; 4],
            transform: Transform::NONE,
            color,
            border: None,
            ring: None,
            stamp: None,
            z: 0,
            global_z: None,
            clips: [false; 2],
            scroll: [0.0; 2],
            is_displayed: true,
            is_free: false,
            visibility: Visibility::Inherited,
            glass: None,
            shares_backdrop: false,
            filter: None,
            children: Vec::new(),
        }
    }
}

impl Glass {
    /// A blur of what lies inside the box.
    #[must_use]
    pub fn new(sigma: f64) -> Self {
        Self {
            sigma: [sigma; 2],
            ramp: None,
            edge: EdgeMode::Mirror,
            sees_surroundings: false,
            functions: Functions::NEUTRAL,
            opacity: 1.0,
            lens: None,
            fallback: [0.0; 4],
            is_plain: false,
        }
    }
}

impl Filter {
    pub const NEUTRAL: Self = Self {
        sigma: [0.0; 2],
        ramp: None,
        edge: EdgeMode::Transparent,
        functions: Functions::NEUTRAL,
        outline: None,
        shadows: Vec::new(),
        opacity: 1.0,
        is_rounded: false,
        fade: [0.0; 4],
    };
}

impl Tree {
    /// The same with blurs switched off: glass is its fallback, and of filters everything stays but blurs and shadows.
    #[must_use]
    pub fn switched_off(&self) -> Self {
        Self {
            nodes: self.nodes.iter().map(switched_off).collect(),
            ..self.clone()
        }
    }

    /// The picture of the camera, stored after everything that is painted.
    #[must_use]
    pub fn picture(&self, storage: Storage) -> Picture {
        let [width, height] = self.size;
        let below = Picture::new(width, height, vec![storage.stored(self.clear); width * height]);
        paint::paint(&below, &resolve::items(self), storage)
    }

    /// Whether no edge of a turned box is so near to the centre of a pixel that a rasteriser may round it to either side.
    #[must_use]
    pub fn is_certain(&self) -> bool {
        resolve::shapes(&resolve::items(self))
            .iter()
            .all(|shape| shape.is_certain(self.size))
    }
}

fn switched_off(node: &Node) -> Node {
    let mut node = Node {
        children: node.children.iter().map(switched_off).collect(),
        ..node.clone()
    };
    if let Some(glass) = &mut node.glass {
        glass.is_plain = true;
    }
    if let Some(filter) = &mut node.filter {
        (filter.sigma, filter.shadows) = ([0.0; 2], Vec::new());
    }
    node
}
