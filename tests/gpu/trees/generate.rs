//! Makes random trees from seeds.

use super::features::{Around, change};
use super::show::SHARED;
use super::*;
use crate::support::inputs::mix;
use crate::support::reference::tree::{Border, Filter, Outline, Ring, Shadow, Stamp, Transform, Visibility};
use crate::support::reference::{EdgeMode, Functions, Lens, Step};

/// The most nodes of a tree.
const MOST_NODES: usize = 25;

/// The deepest nesting of groups.
const MOST_GROUPS: usize = 4;

/// Pseudo-random numbers: SplitMix64.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        let mixed = mix(self.0);
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        mixed
    }

    fn below(&mut self, end: usize) -> usize {
        (self.next() % end as u64) as usize
    }

    /// A whole number from `first` to `last`.
    fn whole(&mut self, first: i64, last: i64) -> f64 {
        (first + self.below((last - first + 1) as usize) as i64) as f64
    }

    /// Whether something happens that happens in so many of 100 cases.
    fn percent(&mut self, share: usize) -> bool {
        self.below(100) < share
    }

    fn one_of<T: Copy>(&mut self, values: &[T]) -> T {
        values[self.below(values.len())]
    }
}

/// The tree of a seed for one of the cameras. It has none of the features that trees do without.
pub fn generate(seed: u64, place: usize, is_hdr: bool, without: &[Feature]) -> Tree {
    let size = SIZES[place % SIZES.len()];
    let mut random = Random(seed.wrapping_mul(2).wrapping_add(u64::from(is_hdr)));
    let mut tree = Tree {
        size,
        clear: clear(&mut random),
        nodes: Vec::new(),
    };
    let count = 1 + random.below(MOST_NODES);
    for _ in 0..count {
        let node = node(&mut random, size, is_hdr);
        let (nodes, size) = home(&mut random, &mut tree.nodes, size);
        nodes.push(placed(&mut random, node, size));
    }
    while !restrain(&mut tree, place, is_hdr, without) {}
    tree
}

/// Removes what Bevy draws wrongly, what has no certain picture, and the features that trees do without. Returns whether there was
/// nothing of that.
pub fn restrain(tree: &mut Tree, place: usize, is_hdr: bool, without: &[Feature]) -> bool {
    let before = tree.clone();
    remove_wrong(tree, is_hdr);
    if place % SIZES.len() >= SHARED {
        make_opaque(tree);
    }
    without.iter().for_each(|feature| feature.remove(tree, is_hdr));
    turn_off_edges(tree);
    *tree == before
}

/// The pictures of two cameras with one target lie over each other where they are transparent.
fn make_opaque(tree: &mut Tree) {
    tree.clear[3] = 1.0;
    change(&mut tree.nodes, &mut |node, _| {
        if let Some(glass) = node.glass.as_mut().filter(|glass| glass.edge == EdgeMode::Transparent) {
            glass.edge = EdgeMode::Clamp;
        }
    });
}

fn clear(random: &mut Random) -> [f64; 4] {
    if random.percent(15) {
        return [0.0; 4];
    }
    let [red, green, blue] = light(random, 1.0);
    [red, green, blue, 1.0]
}

/// The children that get the next node, and the size of their parent.
fn home<'a>(random: &mut Random, nodes: &'a mut Vec<Node>, size: [usize; 2]) -> (&'a mut Vec<Node>, [f64; 2]) {
    let mut home = (nodes, size.map(|side| side as f64));
    while !home.0.is_empty() && random.percent(65) {
        let index = random.below(home.0.len());
        let node = &mut home.0[index];
        home = (&mut node.children, node.size);
    }
    home
}

/// A node somewhere in its parent, and partly outside.
fn placed(random: &mut Random, mut node: Node, parent: [f64; 2]) -> Node {
    if node.stamp.as_ref().is_some_and(|stamp| stamp.is_below) {
        node.radii = [stamps::RADIUS; 4];
    }
    for (axis, most) in parent.into_iter().enumerate() {
        let most = most as i64;
        let side = match &node.stamp {
            Some(stamp) => stamp.size[axis],
            None => random.whole(3, most.max(12) * 9 / 8),
        };
        node.size[axis] = side;
        node.origin[axis] = random.whole(-(side as i64) / 3, (most - side as i64 * 2 / 3).max(1));
    }
    node
}

fn light(random: &mut Random, most: f64) -> [f64; 3] {
    [(); 3].map(|()| random.one_of(&[0.0, 0.02, 0.1, 0.3, 0.6, 0.9, 1.0]) * most)
}

fn color(random: &mut Random, is_hdr: bool) -> [f64; 4] {
    let most = if is_hdr && random.percent(20) { 4.0 } else { 1.0 };
    let [red, green, blue] = light(random, most);
    [red, green, blue, random.one_of(&[0.0, 0.2, 0.5, 0.8, 1.0, 1.0])]
}

fn node(random: &mut Random, size: [usize; 2], is_hdr: bool) -> Node {
    let mut node = Node::new([0.0; 2], size.map(|side| side as f64), color(random, is_hdr));
    if random.percent(25) {
        node.radii = [(); 4].map(|()| random.one_of(&[0.0, 2.0, 5.0, 9.0, 40.0]));
    }
    node.transform = transform(random);
    if random.percent(25) {
        node.z = random.one_of(&[-2, -1, 1, 2]);
    }
    if random.percent(5) {
        node.global_z = Some(random.one_of(&[-3, -2, -1, 1, 2, 3]));
    }
    if random.percent(15) {
        node.clips = random.one_of(&[[true, true], [true, true], [true, false], [false, true]]);
    }
    if node.clips != [false; 2] && random.percent(40) {
        node.scroll = [(); 2].map(|()| random.one_of(&[0.0, 3.0, 11.0]));
    }
    node.is_displayed = !random.percent(3);
    if random.percent(15) {
        let widths = [(); 4].map(|()| random.one_of(&[1.0, 2.0, 3.0, 5.0]));
        let [width, ..] = widths;
        node.border = Some(Border {
            widths: random.one_of(&[widths, [width; 4]]),
            color: color(random, is_hdr),
        });
    }
    if random.percent(8) {
        node.ring = Some(Ring {
            width: random.one_of(&[1.0, 2.0, 4.0]),
            offset: random.one_of(&[0.0, 1.0, 3.0]),
            color: color(random, is_hdr),
        });
    }
    if random.percent(10) {
        let stamps = stamps::all();
        node.stamp = Some(stamps[random.below(stamps.len())].clone());
    }
    node.is_free = random.percent(4);
    node.shares_backdrop = random.percent(5);
    node.visibility = random.one_of(
        &[
            [Visibility::Inherited; 30].as_slice(),
            &[Visibility::Hidden, Visibility::Visible],
        ]
        .concat(),
    );
    if random.percent(30) {
        node.glass = Some(glass(random));
    }
    if random.percent(25) {
        node.filter = filter(random);
    }
    node
}

fn transform(random: &mut Random) -> Transform {
    let mut transform = Transform::NONE;
    if random.percent(10) {
        // Pixels have their centres at halves, so these edges are clear of them.
        transform.offset = [(); 2].map(|()| random.one_of(&[-0.25, 0.0, 0.25, 0.4, 0.8, 4.0]));
    }
    if random.percent(7) {
        transform.angle = 0.1 + 6.0 * random.below(1000) as f64 / 1000.0;
        // No offset of a shadow becomes a half: hard shadows move by whole pixels.
        let scale = random.one_of(&[0.8, 1.0, 1.15]);
        transform.scale = [scale; 2];
    } else if random.percent(4) {
        transform.scale = random.one_of(&[[1.15, 0.8], [0.8, 1.15], [1.15, 1.15]]);
    }
    transform
}

/// Up to nine steps: all kinds, in any order.
fn functions(random: &mut Random) -> Functions {
    let mut steps = Vec::new();
    let mut add = |percent, random: &mut Random, step: fn(&mut Random) -> Step| {
        if random.percent(percent) {
            steps.insert(random.below(steps.len() + 1), step(random));
        }
    };
    add(60, random, |random| {
        Step::Saturate(random.one_of(&[0.0, 0.3, 0.7, 1.5]))
    });
    add(60, random, |random| {
        Step::Brightness(random.one_of(&[0.3, 0.6, 0.8, 1.3]))
    });
    add(10, random, |random| Step::Contrast(random.one_of(&[0.5, 1.25])));
    add(10, random, |random| Step::Invert(random.one_of(&[0.5, 1.0])));
    add(10, random, |random| {
        Step::HueRotate(random.one_of(&[60.0, 180.0, -30.0]))
    });
    add(10, random, |random| Step::Sepia(random.one_of(&[0.4, 1.0])));
    add(10, random, |random| {
        Step::Tint(random.one_of(&[[0.9, 0.7, 0.5], [0.2, 1.0, 0.6]]))
    });
    add(10, random, |random| {
        Step::Cover(random.one_of(&[[1.0, 1.0, 1.0, 0.4], [0.1, 0.2, 0.3, 0.7]]))
    });
    add(5, random, |_| {
        // Channels in another order, with a constant.
        Step::Matrix([[0.0, 0.8, 0.0, 0.1], [0.0, 0.0, 0.9, 0.0], [0.7, 0.0, 0.2, 0.05]])
    });
    Functions(steps)
}

fn glass(random: &mut Random) -> Glass {
    let sigma = random.one_of(&[0.8, 1.0, 1.5, 2.0, 3.0, 4.5, 7.0, 12.0]);
    let mut glass = Glass::new(sigma);
    if random.percent(10) {
        glass.sigma = random.one_of(&[[sigma, 0.0], [0.5 * sigma + 0.5, sigma], [0.0, sigma]]);
    }
    if random.percent(6) {
        glass.ramp = Some(ramp(random));
    }
    if random.percent(15) {
        glass.edge = random.one_of(&EdgeMode::ALL);
    }
    glass.sees_surroundings = random.percent(35);
    if random.percent(35) {
        glass.functions = functions(random);
    }
    if random.percent(35) {
        glass.opacity = random.one_of(&[0.25, 0.5, 0.8]);
    }
    if random.percent(60) {
        let [red, green, blue] = light(random, 1.0);
        glass.fallback = [red, green, blue, random.one_of(&[0.01, 0.4, 1.0])];
    }
    if random.percent(20) {
        glass.lens = Some(lens(random));
        if random.percent(10) {
            glass.sigma = [0.0; 2];
        }
    }
    glass
}

fn ramp(random: &mut Random) -> Ramp {
    Ramp {
        start: [random.one_of(&[0.0, 0.25]), random.one_of(&[0.0, 0.5])],
        end: [random.one_of(&[0.75, 1.0]), random.one_of(&[0.5, 1.0])],
        from: random.one_of(&[0.0, 0.25, 1.0]),
        to: random.one_of(&[0.5, 1.0]),
    }
}

fn lens(random: &mut Random) -> Lens {
    Lens {
        bevel: random.one_of(&[3.0, 8.0, 24.0]),
        displacement: random.one_of(&[-9.0, -3.5, 0.0, 4.0, 11.0]),
        dispersion: random.one_of(&[0.0, 0.0, 0.4, 1.0]),
        rim_light: random.one_of(&[0.0, 0.3, 1.0]),
        light_angle: random.one_of(&[-0.785, 0.0, 2.0]),
    }
}

fn filter(random: &mut Random) -> Option<Filter> {
    let mut filter = Filter::NEUTRAL;
    if random.percent(50) {
        let sigma = random.one_of(&[0.8, 1.0, 1.5, 2.0, 3.0, 5.0]);
        filter.sigma = [sigma; 2];
        if random.percent(10) {
            filter.sigma = random.one_of(&[[sigma, 0.0], [0.5 * sigma + 0.5, sigma]]);
        }
        if random.percent(8) {
            filter.ramp = Some(ramp(random));
        }
    }
    if random.percent(35) {
        filter.functions = functions(random);
    }
    if random.percent(40) {
        let count = 1 + random.below(2);
        filter.shadows.extend((0..count).map(|_| shadow(random)));
    }
    if random.percent(50) {
        filter.opacity = random.one_of(&[0.0, 0.3, 0.6, 0.6, 0.9, 0.9]);
    }
    filter.is_rounded = random.percent(15);
    if random.percent(20) {
        filter.edge = random.one_of(&EdgeMode::ALL);
    }
    if random.percent(15) {
        let [red, green, blue, alpha] = color(random, false);
        filter.outline = Some(Outline {
            width: random.one_of(&[0.25, 1.0, 1.0, 2.5, 4.0]),
            color: [red, green, blue, alpha.max(0.3)],
        });
    }
    if random.percent(10) {
        filter.fade = random.one_of(&[[0.0, 12.0, 0.0, 7.0], [20.0, 0.0, 0.0, 0.0], [5.0, 9.0, 3.0, 40.0]]);
    }
    (filter != Filter::NEUTRAL).then_some(filter)
}

/// A node with a shadow of every kind.
pub fn with_all_shadows() -> Node {
    let shadow = |is_inset, is_glow| Shadow {
        offset: [2.0; 2],
        sigma: [1.5; 2],
        color: [1.0; 4],
        is_glow,
        is_inset,
    };
    let kinds = [(false, false), (false, true), (true, false), (true, true)];
    Node {
        filter: Some(Filter {
            shadows: kinds.map(|(is_inset, is_glow)| shadow(is_inset, is_glow)).to_vec(),
            ..Filter::NEUTRAL
        }),
        ..Node::new([9.0; 2], [20.0; 2], [0.5, 0.5, 0.5, 1.0])
    }
}

fn shadow(random: &mut Random) -> Shadow {
    let [red, green, blue] = light(random, 1.0);
    let part = random.one_of(&[0.0, 0.0, 0.25, 0.609375]);
    Shadow {
        offset: [random.whole(-7, 7) + part, random.whole(-5, 5) - part],
        sigma: [random.one_of(&[0.0, 1.0, 1.5, 2.5, 4.0]); 2],
        color: [red, green, blue, random.one_of(&[0.4, 0.8, 1.0])],
        is_glow: random.percent(30),
        is_inset: random.percent(20),
    }
}

fn remove_wrong(tree: &mut Tree, is_hdr: bool) {
    let mut taken = Vec::new();
    change(&mut tree.nodes, &mut |node: &mut Node, around: Around| {
        // Bevy orders such nodes at random if they have the same place.
        if node.global_z.is_some_and(|z| taken.contains(&z)) {
            node.global_z = None;
        }
        taken.extend(node.global_z);
        if around.groups >= MOST_GROUPS {
            node.filter = None;
        }
        // What is not laid out is clipped to nothing.
        let clips = |node: &Node| node.clips != [false; 2] || !node.is_displayed;
        let is_clipped = around.is_clipped && !node.is_free || around.is_undisplayed;
        // It moves the vertices of turned and scaled nodes wrongly: of such outlines that are not laid out, some GPUs paint a corner.
        if is_clipped || clips(node) || super::features::count(&node.children, &clips) > 0 {
            (node.transform.angle, node.transform.scale) = (0.0, [1.0; 2]);
        }
        // Light that is brighter than its alpha may be a colour of a high dynamic range.
        if is_hdr
            && around.is_colored
            && let Some(filter) = &mut node.filter
        {
            filter.shadows.retain(|shadow| !shadow.is_glow);
        }
        if node.filter == Some(Filter::NEUTRAL) {
            node.filter = None;
        }
        // A profile beside both is the profile of the glass.
        if let (Some(filter), Some(_)) = (&mut node.filter, &node.glass) {
            filter.ramp = None;
        }
        remove_unlike(node, around);
    });
}

/// Removes what Bevy shows otherwise than a node describes it.
fn remove_unlike(node: &mut Node, around: Around) {
    let is_moved = around.is_moved || node.transform != Transform::NONE;
    let is_unlike = |stamp: &Stamp| {
        let is_wrong = if stamp.is_below {
            node.radii != [stamps::RADIUS; 4]
        } else {
            // Text has no nodes inside, and moves with the border.
            !node.children.is_empty() || node.border.is_some()
        };
        // A line widens faint alpha by ten times as much as there is, and so what half floats round of it.
        let is_lined = around.is_lined || node.filter.as_ref().is_some_and(|filter| filter.outline.is_some());
        is_wrong || is_moved || is_lined || node.size != stamp.size
    };
    if node.stamp.as_deref().is_some_and(is_unlike) {
        node.stamp = None;
    }
    // Bevy draws outlines and shadows of nodes that are not laid out, unless a clip hides them.
    node.is_free &= !around.is_undisplayed;
    // Otherwise the border decides the size.
    let too_small =
        |border: Border| (0..2).any(|axis| border.widths[axis] + border.widths[axis + 2] > node.size[axis] - 2.0);
    if node.border.is_some_and(too_small) {
        node.border = None;
    }
    // A list is scrolled no farther than its content reaches.
    for axis in 0..2 {
        let displayed = node.children.iter().filter(|child| child.is_displayed);
        let farthest = displayed.fold(0.0_f64, |most, child| most.max(child.origin[axis] + child.size[axis]));
        let most = (farthest - node.size[axis]).max(0.0);
        let is_list = node.clips[axis] && node.border.is_none();
        node.scroll[axis] = if is_list { node.scroll[axis].min(most) } else { 0.0 };
    }
}

/// Turns nodes until no edge is so near to the centre of a pixel that a rasteriser may round it to either side.
fn turn_off_edges(tree: &mut Tree) {
    for attempt in 0..40 {
        if tree.is_certain() {
            return;
        }
        change(&mut tree.nodes, &mut |node, _| {
            let Transform { offset, angle, scale } = &mut node.transform;
            if attempt == 39 {
                node.transform = Transform::NONE;
            } else if *angle != 0.0 {
                *angle += 0.0137;
            } else if *scale != [1.0; 2] || *offset != [0.0; 2] {
                offset.iter_mut().for_each(|length| *length += 0.0625);
            }
        });
    }
}
