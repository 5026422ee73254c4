//! Bevy's filters next to a browser's: a grid of cells, each with the same group of boxes under its own filter, and the same
//! cells as a page with CSS `filter` and `opacity`.
//!
//! The test compares the cells with the float64 filters, like all tests of filters. `measure` then reads the browser's picture
//! of the page and prints how far it is from Bevy's, and why. `scripts/browser-picture` runs everything.

use super::group::{layers, measured, over, paint};
use crate::backdrop::pane::{Pane, node};
use crate::backdrop::stage::LDR;
use crate::support::browser::{css_step, difference, leave, read};
use crate::support::compositor::tolerance;
use crate::support::formats::{decode_srgb, encode_srgb, to_picture};
use crate::support::headless::{Headless, Pixels};
use crate::support::reference::Picture;
use crate::support::scene::Kind;
use crate::support::twins::View;
use crate::support::{assert_close, gpu, within_rounding};
use bevy::prelude::*;
use bevy::render::render_resource::TextureFormat;
use bevy_gaussian_blur::prelude::*;
use std::fmt::Write;

const COLUMNS: usize = 4;
const ROWS: usize = 3;
const CELL: [usize; 2] = [96, 80];
const SIZE: UVec2 = UVec2::new((COLUMNS * CELL[0]) as u32, (ROWS * CELL[1]) as u32);
const BACKGROUND: Color = Color::srgb_u8(190, 205, 220);

/// A box of every group: `[left, top, width, height]` in its cell, the radius of its corners, and its colour.
struct Part([f32; 4], f32, Color);

/// From the bottom to the top. The margin of the cell around them is wide enough for every filter.
const PARTS: [Part; 4] = [
    Part([18.0, 16.0, 36.0, 30.0], 0.0, Color::srgb_u8(230, 110, 40)),
    Part([42.0, 24.0, 36.0, 26.0], 0.0, Color::srgba(0.2, 0.4, 1.0, 0.5)),
    Part([26.0, 36.0, 28.0, 28.0], 14.0, Color::srgb_u8(60, 170, 90)),
    Part([50.0, 42.0, 24.0, 16.0], 0.0, Color::srgb_u8(240, 235, 225)),
];

/// All cells, row by row.
fn cells() -> [(&'static str, UiFilter); COLUMNS * ROWS] {
    let plain = UiFilter::default;
    let shadow = DropShadow::from_sigma(Vec2::new(6.0, 4.0), 3.0, Color::srgba(0.0, 0.0, 0.0, 0.7));
    [
        ("no filter", plain()),
        ("blur", UiFilter::from_sigma(4.0)),
        ("drop shadow", plain().with_shadow(shadow)),
        ("opacity", UiFilter::opacity(0.5)),
        ("saturate 0.3", plain().with_color(ColorStep::Saturate(0.3))),
        ("saturate 2", plain().with_color(ColorStep::Saturate(2.0))),
        ("brightness 1.4", plain().with_color(ColorStep::Brightness(1.4))),
        ("contrast 0.5", plain().with_color(ColorStep::Contrast(0.5))),
        ("contrast 1.5", plain().with_color(ColorStep::Contrast(1.5))),
        ("invert", plain().with_color(ColorStep::Invert(1.0))),
        ("hue rotate", plain().with_color(ColorStep::HueRotate(90.0))),
        (
            "sepia, then hue rotate",
            plain()
                .with_color(ColorStep::Sepia(0.6))
                .with_color(ColorStep::HueRotate(40.0)),
        ),
    ]
}

/// Where a cell begins.
fn origin(index: usize) -> [usize; 2] {
    [index % COLUMNS * CELL[0], index / COLUMNS * CELL[1]]
}

impl Part {
    /// Its box, as glass that does nothing.
    fn pane(&self) -> Pane {
        let Self(place, radius, _) = self;
        Pane::new(*place, BackdropBlur::from_sigma(0.0)).with_radii([*radius; 4])
    }

    /// The same as an element of a page.
    fn html(&self) -> String {
        let Self([left, top, width, height], radius, color) = self;
        let color = css_color(*color);
        format!(
            "<div style=\"left:{left}px;top:{top}px;width:{width}px;height:{height}px;border-radius:{radius}px;\
             background:{color}\"></div>"
        )
    }
}

fn css_color(color: Color) -> String {
    let Srgba {
        red,
        green,
        blue,
        alpha,
    } = color.to_srgba();
    let [red, green, blue] = [red, green, blue].map(|value| (255.0 * value).round());
    format!("rgb({red} {green} {blue} / {alpha})")
}

/// A filter in CSS.
fn css(filter: &UiFilter) -> String {
    let mut functions = String::new();
    let sigma = filter.blur.sigma();
    if sigma > 0.0 {
        let _ = write!(functions, " blur({sigma}px)");
    }
    for step in &filter.colors {
        functions += &css_step(*step);
    }
    for DropShadow {
        offset, radius, color, ..
    } in &filter.shadows
    {
        let color = css_color(*color);
        let sigma = radius / 3.0;
        let _ = write!(
            functions,
            " drop-shadow({}px {}px {sigma}px {color})",
            offset.x, offset.y
        );
    }
    if functions.is_empty() {
        functions += " none";
    }
    format!("filter:{functions};opacity:{}", filter.opacity)
}

fn page(cells: &[(&str, UiFilter)]) -> String {
    let parts: String = PARTS.iter().map(Part::html).collect();
    let mut elements = String::new();
    for (index, (_, filter)) in cells.iter().enumerate() {
        let ([left, top], [width, height]) = (origin(index), CELL);
        let filter = css(filter);
        let _ = writeln!(
            elements,
            "<div style=\"left:{left}px;top:{top}px;width:{width}px;height:{height}px;{filter}\">{parts}</div>"
        );
    }
    let background = css_color(BACKGROUND);
    format!(
        "<!doctype html>\n<meta charset=\"utf-8\">\n<title>Filters</title>\n\
         <style>body {{ margin: 0; background: {background} }} div {{ position: absolute }}</style>\n\
         {elements}"
    )
}

/// Shows the cells over a background.
fn show(headless: &mut Headless, background: Color, filters: &[UiFilter]) -> Pixels {
    let view = View::new(headless, Kind::Core2d, SIZE, LDR);
    let camera = Camera {
        clear_color: ClearColorConfig::Custom(background),
        ..default()
    };
    view.insert(headless, camera);
    let world = headless.app.world_mut();
    let root = world
        .spawn((node(Vec2::ZERO, SIZE.as_vec2()), UiTargetCamera(view.camera)))
        .id();
    for (index, filter) in filters.iter().enumerate() {
        let [origin, size] = [origin(index), CELL].map(|[x, y]| Vec2::new(x as f32, y as f32));
        let cell = world.spawn((node(origin, size), filter.clone(), ChildOf(root))).id();
        for part in &PARTS {
            world.spawn((part.pane().node(), BackgroundColor(part.2), ChildOf(cell)));
        }
    }
    headless.warm_up();
    let pixels = view.pixels(headless);
    headless.app.world_mut().despawn(root);
    pixels
}

/// A picture of one colour, as large as a cell.
fn flat(texel: [f64; 4]) -> Picture {
    Picture::from_fn(CELL[0], CELL[1], |_, _| texel)
}

/// The background, as numbers from 0 to 1.
fn background() -> [f64; 4] {
    BACKGROUND.to_srgba().to_f32_array().map(f64::from)
}

#[test]
fn groups_of_a_page_are_as_their_filters_have_them() {
    let Some(mut headless) = gpu(|_| {}) else {
        return;
    };
    let cells = cells();
    let filters = cells.clone().map(|(_, filter)| filter);
    let neutral = vec![UiFilter::default(); cells.len()];
    let got = show(&mut headless, BACKGROUND, &filters);
    let alone = show(&mut headless, Color::NONE, &neutral);
    leave(&page(&cells), &[("bevy", &got)]);
    let [got, alone] = [got, alone].map(|pixels| to_picture(&pixels));
    let [red, green, blue, _] = background().map(decode_srgb);
    let below = flat([red, green, blue, 1.0]);
    for (index, (name, filter)) in cells.iter().enumerate() {
        let [got, alone] = [&got, &alone].map(|picture| picture.crop(origin(index), CELL));
        let painted = paint(&below, &layers(&alone, filter, 1.0, LDR), LDR);
        let expected = within_rounding(&got, &painted, LDR);
        let (got, expected) = measured(&got, &expected, LDR);
        let name = format!("filter-browser-{name}");
        let worst = assert_close(&name, &got, &expected, &[0, 1, 2, 3], tolerance(LDR, 1.0));
        println!("{name}: {:.3}/255", worst * 255.0);
    }
}

/// The group alone, as numbers: blended as browsers do it, in float64.
fn group_in_numbers() -> Picture {
    PARTS.iter().fold(flat([0.0; 4]), |below, part| {
        let panel = part.pane().panel(1.0);
        let [red, green, blue, alpha] = part.2.to_srgba().to_f32_array().map(f64::from);
        let painted = Picture::from_fn(CELL[0], CELL[1], |x, y| {
            let share = alpha * panel.coverage(x, y);
            [red * share, green * share, blue * share, share]
        });
        over(&below, &painted)
    })
}

/// Applies `change` to the colours of a premultiplied picture, as if they were not multiplied by alpha.
fn recoded(picture: &Picture, change: fn(f64) -> f64) -> Picture {
    Picture::from_fn(picture.width, picture.height, |x, y| {
        let [red, green, blue, alpha] = picture.at(x, y);
        let changed = |value: f64| {
            if alpha > 0.0 {
                change(value / alpha) * alpha
            } else {
                0.0
            }
        };
        [changed(red), changed(green), changed(blue), alpha]
    })
}

/// Filters encoded numbers, as browsers do. Colour functions come first, which makes no difference while a cell has one filter.
fn numbers(filter: &UiFilter) -> Picture {
    let neutral = UiFilter::default();
    let colors = UiFilter {
        blur: neutral.blur,
        shadows: Vec::new(),
        opacity: 1.0,
        ..filter.clone()
    };
    let others = UiFilter {
        blur: filter.blur,
        shadows: filter.shadows.clone(),
        opacity: filter.opacity,
        ..neutral
    };
    let format = TextureFormat::Rgba8Unorm;
    // The colour functions take light.
    let light = recoded(&group_in_numbers(), decode_srgb);
    let colored = layers(&light, &colors, 1.0, format).swap_remove(0);
    let group = recoded(&colored, encode_srgb);
    paint(&flat(background()), &layers(&group, &others, 1.0, format), format)
}

/// Whether `holds` is true for a pixel and its neighbours.
fn around(x: usize, y: usize, holds: impl Fn(usize, usize) -> bool) -> bool {
    let near = |at: usize| at.saturating_sub(1)..at + 2;
    near(y).all(|y| near(x).all(|x| holds(x, y)))
}

/// Whether the group covers neither a pixel nor its neighbours.
fn is_outside(x: usize, y: usize) -> bool {
    around(x, y, |x, y| {
        PARTS.iter().all(|part| part.pane().panel(1.0).coverage(x, y) == 0.0)
    })
}

/// Whether the topmost box at a pixel, and at each of its neighbours, is opaque and covers the whole pixel.
fn is_flat(x: usize, y: usize) -> bool {
    around(x, y, |x, y| {
        let is_touching = |part: &&Part| part.pane().panel(1.0).coverage(x, y) > 0.0;
        let part = PARTS.iter().rev().find(is_touching);
        part.is_some_and(|part| part.pane().panel(1.0).is_inside(x, y) && part.2.alpha() == 1.0)
    })
}

/// The share of the background that a black shadow leaves. `blended` converts numbers to the values that are blended.
fn share_left(picture: &Picture, blended: fn(f64) -> f64) -> Picture {
    let background = background();
    Picture::from_fn(picture.width, picture.height, |x, y| {
        let texel = picture.at(x, y);
        core::array::from_fn(|channel| blended(texel[channel]) / blended(background[channel]))
    })
}

/// The smallest rectangle around all pixels that differ from the background by more than two levels.
fn bounds(picture: &Picture) -> String {
    let background = background();
    let is_seen = |&(x, y): &(usize, usize)| {
        let texel = picture.at(x, y);
        (0..3).any(|channel| (texel[channel] - background[channel]).abs() > 2.001 / 255.0)
    };
    let pixels = (0..picture.height).flat_map(|y| (0..picture.width).map(move |x| (x, y)));
    let seen: Vec<(usize, usize)> = pixels.filter(is_seen).collect();
    let columns = || seen.iter().map(|(x, _)| *x);
    let rows = || seen.iter().map(|(_, y)| *y);
    let [Some(left), Some(right), Some(top), Some(bottom)] =
        [columns().min(), columns().max(), rows().min(), rows().max()]
    else {
        return "nothing".into();
    };
    format!("{left} {top} {} {}", right + 1 - left, bottom + 1 - top)
}

/// Prints how far the browser's picture is from Bevy's, which blends and blurs light, and from a reference that blends and blurs
/// encoded numbers, as browsers do.
#[test]
#[ignore = "needs a browser: scripts/browser-picture"]
fn measure() {
    let [bevy, browser] = ["bevy", "browser"].map(|name| read(name, SIZE));
    println!("left, top, width, height of what is more than two levels off the background");
    println!("mean (largest) difference from the browser, in 1/255, of flat opaque parts and of whole cells");
    println!(
        "{:16}{:>14}{:>14}{:>14}{:>14}{:>14}{:>14}{:>14}",
        "cell", "browser", "Bevy", "numbers", "flat: Bevy", "numbers", "whole: Bevy", "numbers"
    );
    let mut shadows = String::new();
    for (index, (name, filter)) in cells().iter().enumerate() {
        let [bevy, browser] = [&bevy, &browser].map(|picture| picture.crop(origin(index), CELL));
        let numbers = numbers(filter);
        let [seen_browser, seen_bevy, seen_numbers] = [&browser, &bevy, &numbers].map(bounds);
        let shown = |[mean, most]: [f64; 2]| format!("{mean:.2} ({most:.1})");
        // A blurred group has no flat parts.
        let is_blurred = filter.blur != UiFilter::default().blur;
        let [flat_bevy, flat_numbers] = [&bevy, &numbers].map(|picture| {
            if is_blurred {
                "-".into()
            } else {
                shown(difference(picture, &browser, is_flat))
            }
        });
        if !filter.shadows.is_empty() {
            let [bevy, browser] = [share_left(&bevy, decode_srgb), share_left(&browser, |value| value)];
            let off = shown(difference(&bevy, &browser, is_outside));
            let _ = writeln!(shadows, "the share of the background that the {name} leaves: {off}");
        }
        let [bevy, numbers] = [&bevy, &numbers].map(|picture| shown(difference(picture, &browser, |_, _| true)));
        println!(
            "{name:16}{seen_browser:>14}{seen_bevy:>14}{seen_numbers:>14}{flat_bevy:>14}{flat_numbers:>14}{bevy:>14}\
             {numbers:>14}"
        );
    }
    print!("{shadows}");
}
