//! Filters inside filters, and glass on and over groups.

use super::content::boxes;
use super::group::{Group, layers, nothing, on_one, paint, whole};
use crate::backdrop::pane::{Pane, node};
use crate::backdrop::stage::{LDR, Ui};
use crate::support::compositor::{Layer, glass_over};
use crate::support::formats::quantised;
use crate::support::scene::Kind;
use bevy::prelude::*;
use bevy_gaussian_blur::prelude::*;

/// A filter in a filter, with boxes before and behind the inner one.
fn check_nested(group: &mut Group, name: &str, outer: &UiFilter, inner: &UiFilter) {
    let last = |ui: &mut Ui, parent: Entity| {
        let corner = node(Vec2::new(120.0, 25.0), Vec2::new(24.0, 30.0));
        ui.spawn_in(
            parent,
            (corner, BackgroundColor(Color::linear_rgba(0.2, 0.9, 0.3, 0.7))),
        );
    };
    group.show((), boxes);
    let [below, _, boxes_alone] = group.pictures();
    group.show((), last);
    let [_, _, last_alone] = group.pictures();
    group.show(outer.clone(), |ui, parent| {
        let filter = inner.clone();
        let inner = ui.spawn_in(parent, (whole(), filter));
        boxes(ui, inner);
        last(ui, parent);
    });
    let [_, got, _] = group.pictures();
    let format = group.stage.format;
    let inner = layers(&boxes_alone, inner, 1.0, format);
    let inner = quantised(&paint(&nothing(&below), &inner, format), format);
    let all = quantised(&paint(&inner, &[last_alone], format), format);
    let painted = paint(&below, &layers(&all, outer, 1.0, format), format);
    group.assert_painted(name, &got, &painted);
}

#[test]
fn filters_in_filters() {
    on_one(Kind::Core2d, LDR, |group| {
        let soft = UiFilter::from_sigma(2.0);
        let faded = UiFilter::opacity(0.6);
        let shadow = UiFilter::shadow(Vec2::new(4.0, 3.0), 6.0, Color::BLACK.with_alpha(0.7));
        check_nested(group, "faded-in-faded", &faded, &UiFilter::opacity(0.5));
        check_nested(group, "soft-in-faded", &faded, &soft);
        check_nested(group, "shadow-in-soft", &soft, &shadow);
        check_nested(group, "soft-in-shadow", &shadow.clone().with_opacity(0.8), &soft);
        check_nested(
            group,
            "soft-in-soft",
            &soft,
            &UiFilter::from_sigma(1.0).with_color(ColorStep::HueRotate(90.0)),
        );
    });
}

/// Glass on a filtered node lies under the group, and glass over a group sees it.
#[test]
fn glass_on_and_over_groups() {
    on_one(Kind::Core2d, LDR, |group| {
        let filter = UiFilter::shadow(Vec2::new(3.0, 5.0), 6.0, Color::BLACK.with_alpha(0.6)).with_radius(3.0);
        group.show((), boxes);
        let [below, _, alone] = group.pictures();
        let group_alone = layers(&alone, &filter, 1.0, LDR);
        let pane = Pane::new([40.0, 20.0, 100.0, 70.0], BackdropBlur::from_sigma(3.0));
        let Layer::Glass(panel) = pane.layer() else {
            unreachable!("a pane is glass");
        };

        group.show((), |ui, parent| {
            let own = ui.pane_in(parent, (pane.bundle(), filter.clone()));
            let inner = own.unwrap_or_else(|| ui.spawn_in(parent, node(pane.origin, pane.size)));
            let moved = ui.spawn_in(inner, node(-pane.origin, Vec2::new(203.0, 117.0)));
            boxes(ui, moved);
        });
        let [_, got, _] = group.pictures();
        let behind = glass_over(&panel, &below, &below, LDR);
        // The glass is one more rounded layer.
        let painted = paint(&quantised(&behind, LDR), &group_alone, LDR);
        group.assert_within("glass-on-a-group", &got, &painted, 0.5 / 255.0);

        group.show(filter.clone(), boxes);
        let [_, group_below, _] = group.pictures();
        group.show((), |ui, parent| {
            let node = ui.spawn_in(parent, (whole(), filter.clone()));
            boxes(ui, node);
            ui.pane(&pane);
        });
        let [_, got, _] = group.pictures();
        group.assert_painted(
            "glass-over-a-group",
            &got,
            &glass_over(&panel, &group_below, &group_below, LDR),
        );
    });
}
