//! Many groups side by side. Those close together are painted with one view.

use super::group::{Group, clipped, layers, nothing, on_one, paint, whole};
use crate::backdrop::pane::node;
use crate::backdrop::stage::{HDR, LDR, Ui};
use crate::support::formats::quantised;
use crate::support::reference::Picture;
use crate::support::scene::Kind;
use bevy::prelude::*;
use bevy_gaussian_blur::prelude::*;

const COLUMNS: usize = 11;
const COUNT: usize = 5 * COLUMNS;
const SIDE: usize = 17;

/// Where the list of icons ends: in the last column.
const CLIP: usize = 192;

/// The first texel of an icon. One texel lies between neighbours.
fn place(index: usize) -> Vec2 {
    let steps = UVec2::new((index % COLUMNS) as u32, (index / COLUMNS) as u32);
    Vec2::new(4.0, 12.0) + (steps * (SIDE as u32 + 1)).as_vec2()
}

/// The filter of an icon, and the one inside of it.
fn filters(index: usize) -> [UiFilter; 2] {
    let outer = match index % 7 {
        0 => UiFilter::opacity(0.6),
        1 => UiFilter::from_sigma(1.2),
        2 => UiFilter::shadow(Vec2::new(2.0, 3.0), 4.0, Color::BLACK.with_alpha(0.6)),
        3 => UiFilter::default().with_color(ColorStep::HueRotate(100.0)),
        4 => UiFilter::from_sigma(2.0).with_opacity(0.8),
        5 => UiFilter::opacity(0.7),
        _ => UiFilter::default(),
    };
    let inner = if index % 7 == 5 {
        UiFilter::from_sigma(0.9)
    } else {
        UiFilter::default()
    };
    [outer, inner]
}

fn icons(ui: &mut Ui, parent: Entity, filters: impl Fn(usize) -> [UiFilter; 2]) {
    for index in 0..COUNT {
        let [outer, inner] = filters(index);
        let icon = ui.spawn_in(parent, (node(place(index), Vec2::splat(SIDE as f32)), outer));
        let color = Color::hsl(index as f32 * 47.0, 0.9, 0.5).with_alpha(0.9);
        let inside = ui.spawn_in(icon, (whole(), BackgroundColor(color), inner));
        let disk = Node {
            border_radius: BorderRadius::MAX,
            ..node(Vec2::new(3.0, 4.0), Vec2::new(12.0, 9.0))
        };
        ui.spawn_in(inside, (disk, BackgroundColor(Color::WHITE.with_alpha(0.7))));
    }
}

/// The rectangle of an icon.
fn rect(index: usize) -> [usize; 4] {
    let [left, top] = place(index).to_array().map(|value| value as usize);
    [left, top, left + SIDE, top + SIDE]
}

fn check(group: &mut Group) {
    let format = group.stage.format;
    group.show((), |ui, parent| {
        icons(ui, parent, |_| [(); 2].map(|()| UiFilter::default()))
    });
    let [below, _, all] = group.pictures();
    group.show((), |ui, parent| {
        let list = Node {
            width: Val::Px(CLIP as f32),
            overflow: Overflow::clip(),
            ..whole()
        };
        let list = ui.spawn_in(parent, list);
        icons(ui, list, filters);
    });
    let [_, got, _] = group.pictures();
    let mut painted = below;
    for index in 0..COUNT {
        let [outer, inner] = filters(index);
        let mut icon = clipped(&all, rect(index));
        if inner != UiFilter::default() {
            let layers = layers(&icon, &inner, 1.0, format);
            icon = quantised(&paint(&nothing(&icon), &layers, format), format);
        }
        let layers = layers(&icon, &outer, 1.0, format);
        let list = [0, 0, CLIP, all.height];
        let layers: Vec<Picture> = layers.iter().map(|layer| clipped(layer, list)).collect();
        painted = paint(&quantised(&painted, format), &layers, format);
    }
    // The blurs of several neighbours lie over each other, and each is dithered on its own.
    group.assert_within("crowded", &got, &painted, 1.0 / 255.0);
}

#[test]
fn icons_side_by_side() {
    on_one(Kind::Core2d, LDR, check);
}

#[test]
fn icons_side_by_side_with_a_high_dynamic_range() {
    on_one(Kind::Core3d, HDR, check);
}
