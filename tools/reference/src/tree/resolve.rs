//! What a tree paints, and in which order.

use super::surface::Pixels;
use super::{Filter, Node, Stamp, Transform, Tree, Visibility, surface};
use crate::panel::Panel;
use crate::shape::{Clip, Shape};
use crate::{EdgeMode, SMALLEST_SIGMA};
use std::sync::Arc;

/// The widest line around a group, in pixels.
const WIDEST: f64 = 16.0;

/// Something that is painted.
#[derive(Clone, Debug)]
pub enum Item {
    Box(Painted),
    Stamp(Stamped),
    Glass(Pane),
    /// What is below glass of this shape and opacity is taken out of the picture.
    Hole(Shape, f64),
    Group(Group),
}

/// A box with a border.
#[derive(Clone, Copy, Debug)]
pub struct Painted {
    pub shape: Shape,
    pub clip: Clip,
    pub color: [f64; 4],
    /// Left, top, right, bottom.
    pub border: [f64; 4],
    /// Whether the border is painted, rather than what it surrounds.
    pub is_border: bool,
}

/// A known picture.
#[derive(Clone, Debug)]
pub struct Stamped {
    pub stamp: Arc<Stamp>,
    /// Where its first pixel is.
    pub origin: [i64; 2],
    pub clip: Clip,
}

impl Stamped {
    /// The visible pixels of it.
    pub fn pixels(&self) -> Pixels {
        let size = [self.stamp.picture.width, self.stamp.picture.height];
        Pixels::of_size(size).moved(self.origin).and(Pixels::inside(self.clip))
    }
}

/// A pane of glass, and the number of the node with which it shares its backdrop.
#[derive(Clone, Debug)]
pub struct Pane {
    pub panel: Panel,
    pub shares: Option<usize>,
    /// What it is instead of what it sees: light that is not multiplied by alpha, and alpha.
    pub plain: Option<[f64; 4]>,
    /// The shadow of its own node, which it covers and does not see.
    pub shadow: Option<Stamped>,
}

/// A filtered group. Lengths of the filter are in pixels of the viewport.
#[derive(Clone, Debug)]
pub struct Group {
    pub filter: Filter,
    /// The box of its node.
    pub shape: Shape,
    /// The same without its border: what the curve clips to, and where it fades.
    pub padding: Shape,
    /// Applies to the result.
    pub clip: Clip,
    pub items: Vec<Item>,
}

/// What a node inherits.
#[derive(Clone, Copy)]
struct Context {
    /// The box of the parent.
    parent: Shape,
    /// The clips of the ancestors, as they apply to the picture that the node is painted on.
    clip: Clip,
    /// The same if there were no filters.
    unfiltered: Clip,
    is_visible: bool,
    /// Whether it is laid out.
    is_displayed: bool,
    shares: Option<usize>,
}

/// A walk over a tree.
struct Walk<'a> {
    /// Nodes that leave their parents' order.
    global: Vec<(i32, i32, &'a Node, Context)>,
    /// The number of nodes that share backdrops.
    sharing: usize,
}

/// Everything that a tree paints.
pub fn items(tree: &Tree) -> Vec<Item> {
    let size = tree.size.map(|side| side as f64);
    let context = Context {
        parent: Shape {
            centre: size.map(|side| 0.5 * side),
            size,
            axes: [[1.0, 0.0], [0.0, 1.0]],
            radii: [0.0; 4],
        },
        clip: Clip::EVERYTHING,
        unfiltered: Clip::EVERYTHING,
        is_visible: true,
        is_displayed: true,
        shares: None,
    };
    let mut walk = Walk {
        global: Vec::new(),
        sharing: 0,
    };
    let mut root = Vec::new();
    walk.children(&tree.nodes, context, &mut root);
    let mut lists = vec![(0, 0, root)];
    // Such nodes may contain others.
    while let Some((global_z, z, node, context)) = walk.global.pop() {
        let mut items = Vec::new();
        walk.node(node, context, &mut items);
        lists.push((global_z, z, items));
    }
    lists.sort_by_key(|(global_z, z, _)| (*global_z, *z));
    lists.into_iter().flat_map(|(.., items)| items).collect()
}

/// All boxes that are painted or that round groups.
pub fn shapes(items: &[Item]) -> Vec<Shape> {
    let of = |item: &Item| match item {
        Item::Box(painted) => vec![painted.shape],
        Item::Stamp(_) | Item::Hole(..) => Vec::new(),
        Item::Glass(pane) => vec![pane.panel.shape],
        Item::Group(group) => {
            let rounded = Some(group.padding).filter(|_| group.filter.is_rounded);
            shapes(&group.items).into_iter().chain(rounded).collect()
        }
    };
    items.iter().flat_map(of).collect()
}

impl<'a> Walk<'a> {
    fn children(&mut self, children: &'a [Node], context: Context, items: &mut Vec<Item>) {
        let mut sorted: Vec<&Node> = children.iter().collect();
        sorted.sort_by_key(|node| node.z);
        for node in sorted {
            if let Some(global_z) = node.global_z {
                let context = Context {
                    clip: context.unfiltered,
                    shares: None,
                    ..context
                };
                self.global.push((global_z, node.z, node, context));
            } else {
                self.node(node, context, items);
            }
        }
    }

    fn node(&mut self, node: &'a Node, inherited: Context, items: &mut Vec<Item>) {
        let shape = shape_of(node, &inherited.parent);
        let mut context = Context {
            parent: shape,
            is_visible: match node.visibility {
                Visibility::Inherited => inherited.is_visible,
                Visibility::Hidden => false,
                Visibility::Visible => true,
            },
            is_displayed: inherited.is_displayed && node.is_displayed,
            ..inherited
        };
        if node.is_free {
            (context.clip, context.unfiltered) = (Clip::EVERYTHING, Clip::EVERYTHING);
        }
        if node.shares_backdrop {
            self.sharing += 1;
            context.shares = Some(self.sharing);
        }
        let shadow = stamped(node, &context, true);
        let filter = node
            .filter
            .as_ref()
            .filter(|filter| context.is_displayed && changes(filter));
        let Some(filter) = filter else {
            match self.glass(node, &context, 1.0) {
                Some(pane) => items.push(Item::Glass(Pane { shadow, ..pane })),
                None => items.extend(shadow.map(Item::Stamp)),
            }
            self.content(node, context, items);
            return;
        };
        let pane = self.glass(node, &context, filter.opacity);
        let filter = on_screen(filter, &shape);
        let mut inside = context;
        let clip = if node.children.iter().any(contains_free) {
            Clip::EVERYTHING
        } else {
            inside.clip = context.clip.grown(reach(&filter));
            context.clip
        };
        let mut content = Vec::new();
        content.extend(stamped(node, &inside, true).map(Item::Stamp));
        let covers = |pane: &Pane| pane.plain.map_or(1.0, |color| color[3]);
        let hole = pane.as_ref().filter(|pane| pane.panel.opacity > 0.0);
        let of_glass = node.glass.as_ref().map_or(0.0, |glass| glass.opacity);
        content.extend(hole.map(|pane| Item::Hole(shape, of_glass * covers(pane))));
        items.extend(pane.map(Item::Glass));
        self.content(node, inside, &mut content);
        items.push(Item::Group(Group {
            filter: Filter {
                is_rounded: false,
                ..filter
            },
            shape,
            padding: shape.inset(widths_of(node)),
            clip,
            items: content,
        }));
    }

    /// The box and the descendants of a node.
    fn content(&mut self, node: &'a Node, mut context: Context, items: &mut Vec<Item>) {
        let shape = context.parent;
        let padding = shape.inset(widths_of(node));
        if context.is_visible && context.is_displayed {
            boxes(node, &context, items);
            items.extend(stamped(node, &context, false).map(Item::Stamp));
        }
        context.parent = Shape {
            centre: moved(&padding, node.scroll.map(|by| -by)),
            ..padding
        };
        if node.clips != [false; 2] {
            let mut own = padding.bounds();
            for axis in (0..2).filter(|axis| !node.clips[*axis]) {
                (own.min[axis], own.max[axis]) = (f64::NEG_INFINITY, f64::INFINITY);
            }
            context.clip = context.clip.and(own);
            context.unfiltered = context.unfiltered.and(own);
        }
        let is_rounded = node.filter.as_ref().is_some_and(|filter| filter.is_rounded);
        if !is_rounded || !context.is_displayed {
            self.children(&node.children, context, items);
            return;
        }
        let mut content = Vec::new();
        self.children(&node.children, context, &mut content);
        items.push(Item::Group(Group {
            filter: Filter {
                is_rounded: true,
                ..Filter::NEUTRAL
            },
            shape,
            padding,
            clip: Clip::EVERYTHING,
            items: content,
        }));
    }

    fn glass(&self, node: &Node, context: &Context, opacity: f64) -> Option<Pane> {
        let glass = node.glass.as_ref()?;
        let stretch = stretch(&context.parent);
        let panel = Panel {
            shape: context.parent,
            clip: context.clip,
            is_soft: true,
            sigma: [0, 1].map(|axis| glass.sigma[axis] * stretch[axis]),
            ramp: glass.ramp,
            edge: glass.edge,
            sees_surroundings: glass.sees_surroundings,
            functions: glass.functions.clone(),
            opacity: glass.opacity * opacity,
            lens: glass.lens,
        };
        let is_neutral = panel.sigma.iter().all(|sigma| *sigma < SMALLEST_SIGMA)
            && glass.functions.is_neutral()
            && glass.lens.is_none_or(|lens| lens.is_neutral());
        let plain = glass.is_plain.then_some(glass.fallback);
        let is_there = context.is_visible && context.is_displayed && !is_neutral;
        let is_drawn = is_there && panel.opacity > 0.0 && plain.is_none_or(|color| color[3] > 0.0);
        // Others see what lies below it, even if it is not drawn.
        let opacity = if is_drawn { panel.opacity } else { 0.0 };
        (is_drawn || context.shares.is_some()).then_some(Pane {
            panel: Panel { opacity, ..panel },
            shares: context.shares,
            plain,
            shadow: None,
        })
    }
}

/// The box of a node without its border, the border, and the ring around it.
fn boxes(node: &Node, context: &Context, items: &mut Vec<Item>) {
    let widths = widths_of(node);
    let mut paint = |shape: Shape, color: [f64; 4], border: [f64; 4], is_border: bool| {
        if color[3] > 0.0 {
            items.push(Item::Box(Painted {
                shape,
                clip: context.clip,
                color,
                border,
                is_border,
            }));
        }
    };
    paint(context.parent, node.color, widths, false);
    if let Some(border) = node.border {
        paint(context.parent, border.color, widths, true);
    }
    if let Some(ring) = node.ring {
        let around = context.parent.grown(ring.offset + ring.width);
        paint(around, ring.color, [ring.width; 4], true);
    }
}

/// The widths of a node's border.
fn widths_of(node: &Node) -> [f64; 4] {
    node.border.map_or([0.0; 4], |border| border.widths)
}

/// The known picture that a node shows, if it lies below its background or not.
fn stamped(node: &Node, context: &Context, is_below: bool) -> Option<Stamped> {
    let stamp = node.stamp.clone().filter(|stamp| stamp.is_below == is_below)?;
    let Clip { min, .. } = context.parent.bounds();
    let origin = [0, 1].map(|axis| min[axis].round() as i64 - stamp.place[axis]);
    (context.is_visible && context.is_displayed).then_some(Stamped {
        stamp,
        origin,
        clip: context.clip,
    })
}

/// Whether a node or a descendant in the same group is free of its ancestors' clips.
fn contains_free(node: &Node) -> bool {
    node.global_z.is_none() && (node.is_free || node.children.iter().any(contains_free))
}

/// Whether a filter changes its group, and not only clips what lies inside of the node.
fn changes(filter: &Filter) -> bool {
    filter.sigma.iter().any(|sigma| *sigma >= SMALLEST_SIGMA)
        || filter.edge != EdgeMode::Transparent
        || !filter.functions.is_neutral()
        || filter.outline.is_some()
        || !filter.shadows.is_empty()
        || filter.opacity < 1.0
        || filter.fade != [0.0; 4]
}

/// The centre of a box that is moved along its own axes.
fn moved(shape: &Shape, by: [f64; 2]) -> [f64; 2] {
    [0, 1].map(|axis| shape.centre[axis] + by[0] * shape.axes[0][axis] + by[1] * shape.axes[1][axis])
}

/// The box of a node in the viewport.
fn shape_of(node: &Node, parent: &Shape) -> Shape {
    let Transform { offset, angle, scale } = node.transform;
    let (sin, cos) = angle.sin_cos();
    let from_centre = [0, 1].map(|axis| node.origin[axis] + 0.5 * (node.size[axis] - parent.size[axis]) + offset[axis]);
    let to_viewport = |[x, y]: [f64; 2]| [0, 1].map(|axis| x * parent.axes[0][axis] + y * parent.axes[1][axis]);
    let moved = to_viewport(from_centre);
    let least = 0.5 * node.size[0].min(node.size[1]);
    Shape {
        centre: [0, 1].map(|axis| parent.centre[axis] + moved[axis]),
        size: node.size,
        axes: [
            to_viewport([cos * scale[0], sin * scale[0]]),
            to_viewport([-sin * scale[1], cos * scale[1]]),
        ],
        radii: node.radii.map(|radius| radius.min(least)),
    }
}

/// By how much a Gaussian that turns and grows with a node is wider than before, along x and along y of the viewport.
fn stretch(shape: &Shape) -> [f64; 2] {
    let [[xx, xy], [yx, yy]] = shape.axes;
    [xx.hypot(yx), xy.hypot(yy)]
}

/// The filter with its lengths in pixels of the viewport.
fn on_screen(filter: &Filter, shape: &Shape) -> Filter {
    let stretch = stretch(shape);
    let along = |length: [f64; 2]| [0, 1].map(|axis| length[axis] * stretch[axis]);
    let mut filter = filter.clone();
    filter.sigma = along(filter.sigma);
    if let Some(outline) = &mut filter.outline {
        outline.width = (outline.width * (stretch[0] * stretch[1]).sqrt()).min(WIDEST);
    }
    for shadow in &mut filter.shadows {
        shadow.offset = along(shadow.offset);
        shadow.sigma = along(shadow.sigma);
    }
    filter
}

/// The distance from which on nothing reaches a pixel of the result, along x and y.
fn reach(filter: &Filter) -> [f64; 2] {
    let of = |sigma| surface::reach(sigma).map(|length| length as f64);
    let blurs = filter.sigma.iter().any(|sigma| *sigma >= SMALLEST_SIGMA);
    // From one side of the box to the other, and otherwise from a border to the next pixel.
    let beyond = match filter.edge {
        EdgeMode::Transparent => 0.0,
        EdgeMode::Wrap if blurs => return [f64::INFINITY; 2],
        _ => 1.0,
    };
    let shadows = filter.shadows.iter();
    let farthest = shadows.fold([0.0_f64; 2], |farthest, shadow| {
        [0, 1].map(|axis| farthest[axis].max(of(shadow.sigma)[axis] + shadow.offset[axis].abs().ceil()))
    });
    let line = filter.outline.map_or(0.0, |outline| outline.width.ceil());
    [0, 1].map(|axis| of(filter.sigma)[axis] + line + farthest[axis] + beyond)
}
