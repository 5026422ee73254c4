//! Groups that do not fit on one page, because textures of the device are small.

use super::group::measured;
use super::*;
use crate::backdrop::stage::{SIZE, Stage, Ui};
use crate::support::compositor::tolerance;
use crate::support::formats::quantised;
use crate::support::gpu_with_side;

/// Two groups of the viewport's size fit on a page of this size, but not three.
const SIDE: u32 = 256;
const COUNT: usize = 3;

/// Two corners of the viewport, which make the group as large as that, and a box of its own.
fn boxes_of(index: usize) -> [[usize; 4]; 3] {
    let [width, height] = SIZE.to_array().map(|side| side as usize);
    [
        [0, 0, 2, 2],
        [width - 2, height - 2, 2, 2],
        [12 + 65 * index, 40, 40, 20],
    ]
}

fn colour_of(index: usize) -> [f64; 3] {
    [0.1 + 0.3 * index as f64, 0.9 - 0.3 * index as f64, 0.5]
}

fn filter_of(index: usize) -> UiFilter {
    UiFilter::from_sigma(3.0 + 2.0 * index as f32)
}

fn alone(index: usize) -> Picture {
    let [width, height] = SIZE.to_array().map(|side| side as usize);
    let [red, green, blue] = colour_of(index);
    Picture::from_fn(width, height, |x, y| {
        let holds = |[left, top, width, height]: [usize; 4]| {
            (left..left + width).contains(&x) && (top..top + height).contains(&y)
        };
        if boxes_of(index).into_iter().any(holds) {
            [red, green, blue, 1.0]
        } else {
            [0.0; 4]
        }
    })
}

fn shown(index: usize) -> Picture {
    filtered(&alone(index), &filter_of(index), LDR)
}

fn spawn(ui: &mut Ui, index: usize) {
    let [width, height] = SIZE.to_array().map(|side| side as f32);
    let group = ui.spawn((node(Vec2::ZERO, Vec2::new(width, height)), filter_of(index)));
    let [red, green, blue] = colour_of(index).map(|value| value as f32);
    for sides in boxes_of(index) {
        let [left, top, width, height] = sides.map(|side| side as f32);
        let node = node(Vec2::new(left, top), Vec2::new(width, height));
        ui.spawn_in(group, (node, BackgroundColor(Color::linear_rgb(red, green, blue))));
    }
}

/// Each page is blurred with levels of its own: all blurs are read after the last page is blurred.
#[test]
fn groups_on_several_pages() {
    let headless = gpu_with_side(SIDE, |app| {
        outcomes::record(app);
        scene::add_plugins(app, Kind::Core2d);
    });
    let mut stage = Stage::of(headless, "small".into(), Kind::Core2d, LDR);
    let camera = stage.glass.camera;
    stage.add(camera, true, &|ui: &mut Ui| {
        (0..COUNT).for_each(|index| spawn(ui, index))
    });
    stage.headless.warm_up();
    let [below, got] = stage.pictures();
    let painted = (0..COUNT).fold(below, |below, index| over(&quantised(&below, LDR), &shown(index)));
    let expected = within_rounding(&got, &painted, LDR);
    let (got, expected) = measured(&got, &expected, LDR);
    let worst = assert_close(
        "filter-pages",
        &got,
        &expected,
        &RGBA,
        tolerance(LDR, 1.0) + 1.0 / 255.0,
    );
    println!("groups on several pages: {:.3}/255", worst * 255.0);
}

/// A group as wide as a texture of the device can be is whole: its page has no room for a border.
#[test]
fn a_group_as_wide_as_a_texture() {
    let headless = gpu_with_side(SIZE.x, |app| {
        outcomes::record(app);
        scene::add_plugins(app, Kind::Core2d);
    });
    let mut stage = Stage::of(headless, "as wide".into(), Kind::Core2d, LDR);
    let camera = stage.glass.camera;
    for index in 0..COUNT {
        stage.clear();
        stage.add(camera, true, &|ui: &mut Ui| spawn(ui, index));
        stage.headless.warm_up();
        let [below, got] = stage.pictures();
        let expected = within_rounding(&got, &over(&below, &shown(index)), LDR);
        let (got, expected) = measured(&got, &expected, LDR);
        let name = format!("filter-as-wide-{index}");
        assert_close(&name, &got, &expected, &RGBA, tolerance(LDR, 1.0) + 1.0 / 255.0);
    }
}
