//! Trees next to a browser's: boxes with rounded clips, shadows that fall inwards, glass and sides that fade; groups under filters; and
//! the same boxes as a page.
//!
//! The tests compare the pictures with the compositor, like all tests of trees. Browsers blend and blur encoded values, so the tests
//! show the boxes twice: as light, and with the encoded values in place of light. Others then read the browser's picture of the
//! page and print how far it is from both. `scripts/browser-picture` runs everything, with as many device pixels for each pixel of CSS
//! as `BLUR_BROWSER_SCALE` says.

use super::show::{compare, tolerance};
use super::spawn::spawn;
use super::*;
use crate::support::browser::{css_step, difference, leave, read};
use crate::support::difference::write_failure;
use crate::support::functions::steps;
use crate::support::reference::tree::{Filter, Shadow, Transform};
use crate::support::reference::{Functions, Step, Storage, decode_srgb, encode_srgb};
use std::fmt::Write;

/// The format that stores numbers as they are.
const NUMBERS: TextureFormat = TextureFormat::Rgba8Unorm;

/// Cells in rows, from the left and the top. Lengths are in pixels of CSS.
struct Sheet {
    columns: usize,
    cell: [usize; 2],
    cells: Vec<(&'static str, Node)>,
}

const SHADOW: Shadow = Shadow {
    offset: [6.0, 4.0],
    sigma: [3.0; 2],
    color: [0.0, 0.0, 0.0, 0.7],
    is_glow: false,
    is_inset: false,
};

/// The device pixels along the side of a pixel of CSS.
fn scale() -> u32 {
    number("BLUR_BROWSER_SCALE", 1) as u32
}

fn light(levels: [u8; 3], alpha: f64) -> [f64; 4] {
    let [red, green, blue] = levels.map(|level| decode_srgb(f64::from(level) / 255.0));
    [red, green, blue, alpha]
}

/// A card whose content is larger than the card.
fn card(radii: [f64; 4], shadows: Vec<Shadow>) -> Node {
    let filter = Filter {
        shadows,
        is_rounded: true,
        ..Filter::NEUTRAL
    };
    Node {
        radii,
        filter: Some(filter),
        children: vec![
            Node::new([-10.0, -10.0], [60.0, 90.0], light([230, 110, 40], 1.0)),
            Node::new([40.0, 20.0], [70.0, 60.0], light([50, 100, 255], 0.5)),
        ],
        ..Node::new([18.0, 16.0], [80.0, 64.0], light([240, 235, 225], 1.0))
    }
}

/// A box with a shadow that falls into it.
fn pressed(radii: [f64; 4], offset: [f64; 2], sigma: f64) -> Node {
    let shadow = Shadow {
        offset,
        sigma: [sigma; 2],
        is_inset: true,
        ..SHADOW
    };
    let filter = Filter {
        shadows: vec![shadow],
        ..Filter::NEUTRAL
    };
    Node {
        radii,
        filter: Some(filter),
        ..Node::new([18.0, 16.0], [80.0, 64.0], light([240, 200, 120], 1.0))
    }
}

/// A list that fades towards its sides.
fn fading(fade: [f64; 4], angle: f64) -> Node {
    let filter = Filter {
        fade,
        ..Filter::NEUTRAL
    };
    let row = |index: usize| {
        let color = [light([230, 110, 40], 1.0), light([50, 100, 255], 0.5)][index % 2];
        Node::new([6.0, 4.0 + 15.0 * index as f64], [68.0, 11.0], color)
    };
    Node {
        filter: Some(filter),
        transform: Transform {
            angle,
            ..Transform::NONE
        },
        children: (0..4).map(row).collect(),
        ..Node::new([18.0, 16.0], [80.0, 64.0], light([240, 235, 225], 1.0))
    }
}

/// A pane over stripes.
fn pane(radii: [f64; 4], sigma: f64) -> Node {
    let stripe = |index: usize| {
        let color = [light([200, 60, 90], 1.0), light([60, 160, 110], 1.0)][index % 2];
        Node::new([8.0 + 16.0 * index as f64, 8.0], [8.0, 84.0], color)
    };
    let pane = Node {
        radii,
        glass: Some(Glass::new(sigma)),
        ..Node::new([18.0, 16.0], [80.0, 64.0], [0.0; 4])
    };
    Node {
        children: (0..6).map(stripe).chain([pane]).collect(),
        ..Node::new([0.0; 2], [120.0, 100.0], [0.0; 4])
    }
}

fn boxes() -> Sheet {
    // A box that is larger than the card on all sides: where a turned edge ends is up to the rasteriser, but this clip is smooth.
    let content = Node::new([-30.0, -30.0], [140.0, 124.0], light([230, 110, 40], 1.0));
    let turned = Node {
        color: [0.0; 4],
        transform: Transform {
            angle: 0.3,
            ..Transform::NONE
        },
        children: vec![content],
        ..card([0.0, 10.0, 20.0, 32.0], Vec::new())
    };
    // The same goes for sides: this box is transparent at all of them.
    let turned_fade = Node {
        children: Vec::new(),
        ..fading([30.0, 12.0, 16.0, 20.0], 0.3)
    };
    let cells = vec![
        ("rounded clip", card([20.0; 4], vec![SHADOW])),
        ("inset shadow", pressed([16.0; 4], [4.0, 3.0], 3.0)),
        ("glass", pane([16.0; 4], 4.0)),
        ("turned clip", turned),
        ("vignette", pressed([0.0; 4], [0.0; 2], 8.0)),
        ("strong glass", pane([0.0, 10.0, 24.0, 32.0], 10.0)),
        ("fading ends", fading([0.0, 24.0, 0.0, 16.0], 0.0)),
        ("fading corners", fading([40.0, 24.0, 12.0, 48.0], 0.0)),
        ("turned fade", turned_fade),
    ];
    Sheet {
        columns: 3,
        cell: [120, 100],
        cells,
    }
}

/// The same group of boxes under twelve filters.
fn filters() -> Sheet {
    let plain = || Filter::NEUTRAL;
    let colored = |steps: &[Step]| Filter {
        functions: Functions(steps.to_vec()),
        ..plain()
    };
    let group = |filter| Node {
        filter: Some(filter),
        children: vec![
            Node::new([18.0, 16.0], [36.0, 30.0], light([230, 110, 40], 1.0)),
            Node::new([42.0, 24.0], [36.0, 26.0], light([51, 102, 255], 0.5)),
            Node {
                radii: [14.0; 4],
                ..Node::new([26.0, 36.0], [28.0, 28.0], light([60, 170, 90], 1.0))
            },
            Node::new([50.0, 42.0], [24.0, 16.0], light([240, 235, 225], 1.0)),
        ],
        ..Node::new([0.0; 2], [96.0, 80.0], [0.0; 4])
    };
    let cells = [
        ("no filter", plain()),
        (
            "blur",
            Filter {
                sigma: [4.0; 2],
                ..plain()
            },
        ),
        (
            "drop shadow",
            Filter {
                shadows: vec![SHADOW],
                ..plain()
            },
        ),
        (
            "opacity",
            Filter {
                opacity: 0.5,
                ..plain()
            },
        ),
        ("saturate 0.3", colored(&[Step::Saturate(0.3)])),
        ("saturate 2", colored(&[Step::Saturate(2.0)])),
        ("brightness 1.4", colored(&[Step::Brightness(1.4)])),
        ("contrast 0.5", colored(&[Step::Contrast(0.5)])),
        ("contrast 1.5", colored(&[Step::Contrast(1.5)])),
        ("invert", colored(&[Step::Invert(1.0)])),
        ("hue rotate", colored(&[Step::HueRotate(90.0)])),
        ("sepia, hue rotate", colored(&[Step::Sepia(0.6), Step::HueRotate(40.0)])),
    ];
    Sheet {
        columns: 4,
        cell: [96, 80],
        cells: cells.map(|(name, filter)| (name, group(filter))).into(),
    }
}

impl Sheet {
    fn size(&self) -> [usize; 2] {
        let rows = self.cells.len().div_ceil(self.columns);
        [self.columns * self.cell[0], rows * self.cell[1]]
    }

    /// Where a cell begins.
    fn origin(&self, index: usize) -> [usize; 2] {
        [index % self.columns * self.cell[0], index / self.columns * self.cell[1]]
    }

    /// The cells over a background, each after a change.
    fn tree(&self, change: impl Fn(&mut Node)) -> Tree {
        let size = self.size();
        let background = Node::new([0.0; 2], size.map(|side| side as f64), light([190, 205, 220], 1.0));
        let cells = self.cells.iter().enumerate().map(|(index, (_, node))| {
            let origin = self.origin(index);
            let mut node = node.clone();
            node.origin = [0, 1].map(|axis| node.origin[axis] + origin[axis] as f64);
            node
        });
        let mut nodes: Vec<Node> = [background].into_iter().chain(cells).collect();
        nodes.iter_mut().for_each(|node| changed(node, &change));
        Tree {
            size,
            clear: [0.0, 0.0, 0.0, 1.0],
            nodes,
        }
    }

    /// Compares the sheet with the compositor, and leaves it with its page.
    fn compare(&self) {
        let mut headless = warm(BlurBackend::Compute);
        let scale = scale();
        let [plain, encoded] = [self.tree(|_| {}), self.tree(encode)];
        let bevy = show(&mut headless, &plain, scale, LDR);
        let numbers = show(&mut headless, &encoded, scale, NUMBERS);
        leave(&page(&plain), &[("bevy", &bevy), ("numbers", &numbers)]);
        assert_composed("light", &bevy, &scaled(plain, scale), Storage::Srgb8);
        assert_composed("numbers", &numbers, &scaled(encoded, scale), Storage::Off(0.0));
    }

    /// Prints how far the browser's picture is from Bevy's of light, and of encoded values in place of light. The colour functions take
    /// light, and are compared off the edges on opaque boxes alone.
    fn measure(&self) {
        let scale = scale();
        let size = UVec2::from_array(self.size().map(|side| side as u32)) * scale;
        let [light, numbers, browser] = ["bevy", "numbers", "browser"].map(|name| read(name, size));
        let shapes = scaled(self.tree(flatten), scale).picture(Storage::Half);
        // Boxes that are not opaque, in another colour.
        let marked = |node: &mut Node| {
            flatten(node);
            if (0.01..0.99).contains(&node.color[3]) {
                node.color = [1.0, 0.0, 1.0, 1.0];
            }
        };
        let marked = scaled(self.tree(marked), scale).picture(Storage::Half);
        println!(
            "{scale} device pixels: mean (largest) difference from the browser, in 1/255, off the edges and everywhere"
        );
        println!("{:18}{:>14}{:>14}{:>14}", "cell", "light", "numbers", "everywhere");
        for (index, (name, node)) in self.cells.iter().enumerate() {
            let [start, size] = [self.origin(index), self.cell].map(|pair| pair.map(|length| length * scale as usize));
            let [light, numbers, browser, shapes] =
                [&light, &numbers, &browser, &shapes].map(|picture| picture.crop(start, size));
            let marked = marked.crop(start, size);
            let is_colored = node
                .filter
                .as_ref()
                .is_some_and(|filter| !filter.functions.is_neutral());
            let shown = |[mean, most]: [f64; 2]| format!("{mean:.2} ({most:.0})");
            let is_meant = |x, y| is_flat(&shapes, x, y) && !(is_colored && marked.at(x, y) != shapes.at(x, y));
            let off_edges = |picture| shown(difference(picture, &browser, is_meant));
            let everywhere = if is_colored { &light } else { &numbers };
            let everywhere = shown(difference(everywhere, &browser, |_, _| true));
            let numbers = if is_colored { "-".into() } else { off_edges(&numbers) };
            println!("{name:18}{:>14}{numbers:>14}{everywhere:>14}", off_edges(&light));
        }
    }
}

fn changed(node: &mut Node, change: &impl Fn(&mut Node)) {
    change(node);
    node.children.iter_mut().for_each(|child| changed(child, change));
}

/// Puts encoded values in place of light. All shadows are black.
fn encode(node: &mut Node) {
    node.color[..3]
        .iter_mut()
        .for_each(|value| *value = encode_srgb(*value));
}

/// Leaves shapes only: glass becomes a plain box, and filters only clip.
fn flatten(node: &mut Node) {
    if node.glass.take().is_some() {
        node.color = [1.0; 4];
    }
    if let Some(filter) = &mut node.filter {
        let is_rounded = filter.is_rounded;
        *filter = Filter {
            is_rounded,
            ..Filter::NEUTRAL
        };
    }
}

/// The tree in physical pixels.
fn scaled(mut tree: Tree, scale: u32) -> Tree {
    let factor = f64::from(scale);
    let grow = |lengths: &mut [f64]| lengths.iter_mut().for_each(|length| *length *= factor);
    let enlarge = |node: &mut Node| {
        grow(&mut node.origin);
        grow(&mut node.size);
        grow(&mut node.radii);
        if let Some(glass) = &mut node.glass {
            grow(&mut glass.sigma);
        }
        if let Some(filter) = &mut node.filter {
            grow(&mut filter.sigma);
            grow(&mut filter.fade);
            for shadow in &mut filter.shadows {
                grow(&mut shadow.offset);
                grow(&mut shadow.sigma);
            }
        }
    };
    tree.nodes.iter_mut().for_each(|node| changed(node, &enlarge));
    tree.size = tree.size.map(|side| side * scale as usize);
    tree
}

fn css_color([red, green, blue, alpha]: [f64; 4]) -> String {
    let [red, green, blue] = [red, green, blue].map(|value| (255.0 * encode_srgb(value)).round());
    format!("rgb({red} {green} {blue} / {alpha})")
}

/// The same as an element of a page.
fn html(node: &Node) -> String {
    let Node {
        origin: [left, top],
        size: [width, height],
        radii: [a, b, c, d],
        transform: Transform { angle, .. },
        ..
    } = node;
    let mut style = format!(
        "left:{left}px;top:{top}px;width:{width}px;height:{height}px;border-radius:{a}px {b}px {c}px {d}px;\
         transform:rotate({angle}rad);background:{}",
        css_color(node.color),
    );
    if let Some(glass) = &node.glass {
        let _ = write!(style, ";backdrop-filter:blur({}px)", glass.sigma[0]);
    }
    if let Some(filter) = &node.filter {
        if filter.is_rounded {
            style += ";overflow:clip";
        }
        if filter.fade != [0.0; 4] {
            style += &mask(filter.fade);
        }
        let mut functions = String::new();
        if filter.sigma[0] > 0.0 {
            let _ = write!(functions, " blur({}px)", filter.sigma[0]);
        }
        functions.extend(steps(&filter.functions).into_iter().map(css_step));
        for shadow in &filter.shadows {
            let ([x, y], [sigma, _], color) = (shadow.offset, shadow.sigma, css_color(shadow.color));
            let _ = if shadow.is_inset {
                // Here CSS gives two standard deviations.
                write!(style, ";box-shadow:inset {x}px {y}px {}px {color}", 2.0 * sigma)
            } else {
                write!(functions, " drop-shadow({x}px {y}px {sigma}px {color})")
            };
        }
        if !functions.is_empty() {
            let _ = write!(style, ";filter:{functions}");
        }
        let _ = write!(style, ";opacity:{}", filter.opacity);
    }
    let children: String = node.children.iter().map(html).collect();
    format!("<div style=\"{style}\">{children}</div>\n")
}

/// Lengths over which an element fades, inwards from the left, top, right and bottom.
fn mask(lengths: [f64; 4]) -> String {
    let sides = ["right", "bottom", "left", "top"].into_iter().zip(lengths);
    let ramps = sides.filter(|(_, length)| *length > 0.0);
    let ramps = ramps.map(|(to, length)| format!("linear-gradient(to {to},transparent,black {length}px)"));
    let ramps: Vec<String> = ramps.collect();
    format!(";mask-image:{};mask-composite:intersect", ramps.join(","))
}

fn page(tree: &Tree) -> String {
    let elements: String = tree.nodes.iter().map(html).collect();
    format!(
        "<!doctype html>\n<meta charset=\"utf-8\">\n<title>Boxes</title>\n\
         <style>body {{ margin: 0 }} div {{ position: absolute }}</style>\n{elements}"
    )
}

/// Shows a tree whose lengths are in logical pixels, each of which has `scale` physical ones.
fn show(headless: &mut Headless, tree: &Tree, scale: u32, format: TextureFormat) -> Pixels {
    let size = UVec2::from_array(tree.size.map(|side| side as u32)) * scale;
    let mut view = View::new(headless, Kind::Core2d, size, format);
    view.retarget(headless, view.target.clone(), scale as f32);
    let root = spawn(headless.app.world_mut(), tree, view.camera);
    headless.warm_up();
    let pixels = view.pixels(headless);
    let world = headless.app.world_mut();
    world.despawn(root);
    world.despawn(view.camera);
    pixels
}

fn assert_composed(name: &str, got: &Pixels, tree: &Tree, storage: Storage) {
    let (got, expected) = (to_picture(got), tree.picture(storage));
    let format = if storage == Storage::Srgb8 { LDR } else { NUMBERS };
    let worst = compare(&got, &expected, format);
    println!("{name}: {:.2}/255", worst.value * 255.0);
    // Groups are rounded to eight bits before they are shown: half a level, widened by what their colour functions do with it.
    let rounded = if tree.nodes.iter().any(has_filter) { 1.5 } else { 0.0 };
    if worst.value > tolerance(tree) + rounded / 255.0 {
        let folder = write_failure(&format!("tree-browser-{name}"), &got, &expected);
        panic!("{name}: {worst:?}; see {}", folder.display());
    }
}

/// Whether no edge of a box lies at a pixel or its neighbours.
fn is_flat(shapes: &Picture, x: usize, y: usize) -> bool {
    let near = |at: usize, side: usize| at.saturating_sub(1)..(at + 2).min(side);
    let here = shapes.at(x, y);
    near(y, shapes.height).all(|y| near(x, shapes.width).all(|x| shapes.at(x, y) == here))
}

#[test]
fn boxes_of_a_page_are_as_the_compositor_has_them() {
    boxes().compare();
}

#[test]
fn filters_of_a_page_are_as_the_compositor_has_them() {
    filters().compare();
}

#[test]
#[ignore = "needs a browser: scripts/browser-picture"]
fn measure_boxes() {
    boxes().measure();
}

#[test]
#[ignore = "needs a browser: scripts/browser-picture"]
fn measure_filters() {
    filters().measure();
}

fn has_filter(node: &Node) -> bool {
    node.filter.is_some() || node.children.iter().any(has_filter)
}
