//! Bevy's glass next to a browser's: panes over a picture and text, and the same panes as a page with `backdrop-filter`.
//!
//! The test compares the panes with the compositor, like all tests of glass. If `BLUR_BROWSER` names a folder, the test also
//! writes the page into it, and its pictures with and without glass. The page's background is the picture without glass, so
//! the pixels below the glass are the same to the last bit, text included. `measure_panes` then reads the browser's picture of the
//! page and prints how far it is from Bevy's, and why. `scripts/browser-picture` runs everything.

use super::*;
use crate::support::browser::{self, css_step, leave, read};
use crate::support::bundled;
use crate::support::compositor::{Layer, Panel, assert_composed, compose};
use crate::support::reference::Clip;
use std::fmt::Write;

const SIZE: UVec2 = UVec2::new(480, 300);
/// The position of `assets/scene.png` in the viewport, in pixels.
const ORIGIN: Vec2 = Vec2::new(-330.0, -180.0);

/// A pane, and the box to which its parent clips it: `[left, top, width, height]`.
struct Card {
    name: &'static str,
    pane: Pane,
    clip: Option<[f32; 4]>,
}

/// All panes, in the order in which they are painted.
fn cards() -> Vec<Card> {
    let card = |name, pane| Card { name, pane, clip: None };
    let colours = glass(0.0)
        .with_color(ColorStep::Saturate(1.8))
        .with_color(ColorStep::Brightness(0.8));
    let turned = Pane::new([26.0, 122.0, 120.0, 64.0], glass(6.0)).turned(0.3);
    let clipped = Pane::new([150.0, 120.0, 150.0, 84.0], glass(8.0)).with_radii([20.0; 4]);
    vec![
        card("weak", Pane::new([12.0, 12.0, 104.0, 82.0], glass(2.0))),
        card(
            "round",
            Pane::new([128.0, 12.0, 104.0, 82.0], glass(6.0)).with_radii([20.0; 4]),
        ),
        card(
            "four radii",
            Pane::new([244.0, 12.0, 104.0, 82.0], glass(12.0)).with_radii([0.0, 10.0, 24.0, 41.0]),
        ),
        card(
            "colours",
            Pane::new([360.0, 12.0, 108.0, 82.0], colours).with_radii([12.0; 4]),
        ),
        card("turned", turned.with_radii([14.0; 4])),
        Card {
            clip: Some([172.0, 110.0, 120.0, 80.0]),
            ..card("clipped", clipped)
        },
        card(
            "strong",
            Pane::new([312.0, 106.0, 156.0, 182.0], glass(24.0)).with_radii([28.0; 4]),
        ),
        card(
            "stacked",
            Pane::new([340.0, 150.0, 100.0, 60.0], glass(3.0)).with_radii([12.0; 4]),
        ),
        card(
            "over text",
            Pane::new([12.0, 212.0, 230.0, 76.0], glass(4.0)).with_radii([38.0; 4]),
        ),
    ]
}

impl Card {
    fn panel(&self) -> Panel {
        let clip = self.clip.map(|[left, top, width, height]| Clip {
            min: [left, top].map(f64::from),
            max: [left + width, top + height].map(f64::from),
        });
        Panel {
            clip: clip.unwrap_or(Clip::EVERYTHING),
            ..self.pane.panel(1.0)
        }
    }

    fn spawn(&self, world: &mut World, root: Entity) {
        let [left, top, width, height] = self.clip.unwrap_or([0.0, 0.0, SIZE.x as f32, SIZE.y as f32]);
        let origin = Vec2::new(left, top);
        let clip = Node {
            overflow: if self.clip.is_some() {
                Overflow::clip()
            } else {
                Overflow::visible()
            },
            ..node(origin, Vec2::new(width, height))
        };
        let parent = world.spawn((clip, ChildOf(root))).id();
        let pane = &self.pane;
        world.spawn((
            pane.node_in(origin),
            pane.transform(),
            pane.glass.clone(),
            ChildOf(parent),
        ));
    }

    /// The same as an element of a page.
    fn html(&self) -> String {
        let [left, top, width, height] = self.clip.unwrap_or([0.0, 0.0, SIZE.x as f32, SIZE.y as f32]);
        let overflow = if self.clip.is_some() { "hidden" } else { "visible" };
        let Pane {
            origin,
            size,
            radii,
            angle,
            glass,
            ..
        } = &self.pane;
        let [a, b, c, d] = radii;
        let mut filter = String::new();
        let sigma = glass.blur.sigma();
        if sigma > 0.0 {
            let _ = write!(filter, " blur({sigma}px)");
        }
        for step in &glass.colors {
            filter += &css_step(*step);
        }
        format!(
            "<div style=\"left:{left}px;top:{top}px;width:{width}px;height:{height}px;overflow:{overflow}\">\
             <div style=\"left:{}px;top:{}px;width:{}px;height:{}px;border-radius:{a}px {b}px {c}px {d}px;\
             transform:rotate({angle}rad);backdrop-filter:{filter}\"></div></div>\n",
            origin.x - left,
            origin.y - top,
            size.x,
            size.y,
        )
    }
}

fn page(cards: &[Card]) -> String {
    let elements: String = cards.iter().map(Card::html).collect();
    format!(
        "<!doctype html>\n<meta charset=\"utf-8\">\n<title>Glass</title>\n\
         <style>body {{ margin: 0; background: url(below.png) no-repeat }} div {{ position: absolute }}</style>\n\
         {elements}"
    )
}

/// Shows the picture and the text, with the panes or without them.
fn show(headless: &mut Headless, cards: &[Card]) -> Pixels {
    let View { camera, target } = View::new(headless, Kind::Core2d, SIZE, LDR);
    let (image, _) = bundled::load("scene.png");
    let image_size = image.size_f32();
    let image = headless.add_image(image);
    let world = headless.app.world_mut();
    let root = world
        .spawn((node(Vec2::ZERO, SIZE.as_vec2()), UiTargetCamera(camera)))
        .id();
    world.spawn((ImageNode::new(image), node(ORIGIN, image_size), ChildOf(root)));
    for (text, size, colour, at) in [
        ("Frosted glass", 40.0, Color::WHITE, Vec2::new(20.0, 224.0)),
        ("over pictures and text", 20.0, Color::WHITE, Vec2::new(14.0, 266.0)),
        ("Light, not numbers", 26.0, Color::BLACK, Vec2::new(130.0, 138.0)),
        ("0123456789", 30.0, Color::WHITE, Vec2::new(290.0, 236.0)),
    ] {
        let style = (TextFont::from_font_size(size), TextColor(colour));
        world.spawn((Text::new(text), style, node(at, Vec2::new(400.0, 50.0)), ChildOf(root)));
    }
    cards.iter().for_each(|card| card.spawn(world, root));
    headless.warm_up();
    let pixels = headless.read_image(&target);
    headless.despawn(root);
    pixels
}

#[test]
fn panes_of_a_page_are_as_the_compositor_has_them() {
    let mut headless = warm(BlurBackend::Compute);
    let cards = cards();
    let [below, over] = [&[], &cards[..]].map(|cards| show(&mut headless, cards));
    leave(&page(&cards), &[("below", &below), ("bevy", &over)]);
    let layers: Vec<Layer> = cards.iter().map(|card| Layer::glass(card.panel())).collect();
    let [below, over] = [below, over].map(|pixels| to_picture(&pixels));
    let worst = assert_composed("backdrop-browser", &over, &below, &layers, LDR);
    println!("{:.3}/255", worst * 255.0);
}

/// The mean and the largest difference of colours, in 1/255, over the pixels that a pane fully covers and no later pane
/// touches.
fn difference(cards: &[Card], index: usize, one: &Picture, other: &Picture) -> [f64; 2] {
    let panel = cards[index].panel();
    let later: Vec<Panel> = cards[index + 1..].iter().map(Card::panel).collect();
    let is_meant = |x, y| panel.is_inside(x, y) && later.iter().all(|panel| panel.coverage(x, y) == 0.0);
    browser::difference(one, other, is_meant)
}

/// Prints how far the browser's picture is from Bevy's, which blurs light, and from two references that blur encoded numbers,
/// as browsers do: with mirrored edges, as in browsers, and with clamped edges. Both references mirror or clamp at the
/// edges of the whole box, as browsers do, and not at the edges of the clipped box.
#[test]
#[ignore = "needs a browser: scripts/browser-picture"]
fn measure_panes() {
    let [below, bevy, browser] = ["below", "bevy", "browser"].map(|name| read(name, SIZE));
    let cards = cards();
    let numbers = |edge: EdgeMode| {
        let layer = |card: &Card| {
            Layer::glass(Panel {
                edge,
                clip: Clip::EVERYTHING,
                ..card.panel()
            })
        };
        let layers: Vec<Layer> = cards.iter().map(layer).collect();
        compose(&below, &layers, TextureFormat::Rgba8Unorm)
    };
    let [mirrored, clamped] = [EdgeMode::Mirror, EdgeMode::Clamp].map(numbers);
    println!("mean (largest) difference from the browser, in 1/255");
    println!(
        "{:12}{:>8}{:>16}{:>22}{:>22}",
        "pane", "sigma", "Bevy", "numbers, mirrored", "numbers, clamped"
    );
    for (index, card) in cards.iter().enumerate() {
        let [bevy, mirrored, clamped] = [&bevy, &mirrored, &clamped].map(|picture| {
            let [mean, most] = difference(&cards, index, picture, &browser);
            format!("{mean:.2} ({most:.0})")
        });
        let sigma = card.pane.glass.blur.sigma();
        // The compositor's colour functions take light, so coloured panes have no reference in numbers.
        let is_coloured = !card.pane.glass.colors.is_empty();
        let [mirrored, clamped] = if is_coloured {
            ["-".into(), "-".into()]
        } else {
            [mirrored, clamped]
        };
        println!("{:12}{sigma:>8}{bevy:>16}{mirrored:>22}{clamped:>22}", card.name);
    }
}
