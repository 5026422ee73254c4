//! Nodes that are painted before a pane, and after it: order, visibility, and the pane's own parts.

use super::glass;
use super::pane::{Pane, Square, layers, node};
use super::stage::{LDR, Stage, Ui, on_one};
use crate::support::compositor::{Layer, assert_painted, assert_untouched, compose, glass_over};
use crate::support::scene::Kind;
use bevy::prelude::*;
use bevy_gaussian_blur::prelude::*;

const GREEN: [f32; 4] = [0.0, 1.0, 0.0, 1.0];
const WHITE: [f32; 4] = [1.0; 4];

/// Background, border, outline, and children with text are painted over the glass of their node.
#[test]
fn what_belongs_to_a_pane_stays_sharp() {
    on_one(Kind::Core2d, LDR, |stage| {
        let pane = Pane::new([40.0, 20.0, 120.0, 80.0], glass(6.0));
        let inner = Square::new([43.0, 23.0, 114.0, 74.0], [1.0, 0.0, 0.0, 0.5]);
        let label = Square::new([60.0, 40.0, 80.0, 40.0], GREEN);
        stage.headless.warm_up();
        let [scene, _] = stage.pictures();
        let [labelled, got] = stage.shown(|ui| decorated(ui, &pane, inner.origin, &label));

        let mut layers = vec![pane.layer(), inner.layer()];
        layers.extend(frame([40.0, 20.0, 120.0, 80.0], 3.0, WHITE));
        layers.extend(frame([38.0, 18.0, 124.0, 84.0], 2.0, [0.0, 0.0, 0.0, 1.0]));
        layers.push(label.layer());
        let mut expected = compose(&scene, &layers, LDR);
        let mut is_text_seen = false;
        for (x, y) in (40..80).flat_map(|y| (60..140).map(move |x| (x, y))) {
            let texel = labelled.at(x, y);
            assert_eq!(got.at(x, y), texel, "{x}, {y} of the label");
            expected.texels[y * scene.width + x] = texel;
            is_text_seen |= texel[1] < 0.5;
        }
        assert!(is_text_seen, "there is text on the label");
        let name = stage.name("decorated");
        assert_untouched(&name, &got, &scene, &layers);
        assert_painted(&name, &got, &expected, &layers, LDR);
    });
}

/// A pane with everything that a node can have, and a label in it, whose position is relative to `inner`. Without glass
/// there is only the label.
fn decorated(ui: &mut Ui, pane: &Pane, inner: Vec2, label: &Square) {
    let framed = Node {
        border: UiRect::all(Val::Px(3.0)),
        ..pane.node()
    };
    let colours = (
        BackgroundColor(Color::linear_rgba(1.0, 0.0, 0.0, 0.5)),
        BorderColor::all(Color::WHITE),
        Outline::new(Val::Px(2.0), Val::Px(0.0), Color::BLACK),
    );
    let (alone, green) = label.bundle();
    let child = match ui.pane_of((framed, pane.glass.clone(), colours)) {
        Some(parent) => ui.spawn_in(parent, (node(label.origin - inner, label.size), green)),
        None => ui.spawn((alone, green)),
    };
    let text = (
        Text::new("Glass"),
        TextFont::from_font_size(24.0),
        TextColor(Color::BLACK),
    );
    ui.spawn_in(child, text);
}

/// The four painted sides of a frame, from its outer box.
fn frame([left, top, width, height]: [f32; 4], thick: f32, colour: [f32; 4]) -> Vec<Layer> {
    let sides = [
        [left, top, width, thick],
        [left, top + height - thick, width, thick],
        [left, top, thick, height],
        [left + width - thick, top, thick, height],
    ];
    sides.map(|side| Square::new(side, colour).layer()).to_vec()
}

/// Bevy also draws the shadow of a node below its box. The node's glass does not see the shadow, and covers it there. Glass
/// above sees the rest of the shadow.
#[test]
fn the_own_shadow_is_not_seen() {
    on_one(Kind::Core2d, LDR, |stage| {
        for sampling in [BackdropSampling::Inside, BackdropSampling::Surroundings] {
            check_shadow(stage, sampling);
        }
    });
}

fn check_shadow(stage: &mut Stage, sampling: BackdropSampling) {
    let pane = Pane::new([40.0, 25.0, 90.0, 55.0], glass(5.0).with_sampling(sampling)).with_radii([12.0; 4]);
    let upper = Pane::new([100.0, 50.0, 60.0, 50.0], glass(3.0));
    let px = Val::Px;
    let shadow = || BoxShadow::new(Color::BLACK, px(8.0), px(9.0), px(5.0), px(6.0));
    let [scene, shadowed] = stage.shown(|ui| {
        ui.pane_of((pane.bundle(), shadow()));
    });
    let [_, both] = stage.shown(|ui| {
        ui.pane_of((pane.bundle(), shadow()));
        ui.pane(&upper);
    });
    // The shadow without glass, and the glass without its shadow.
    let [below, alone] = stage.shown(|ui| {
        if !ui.is_glass {
            ui.spawn((pane.node(), shadow()));
        }
        ui.pane(&pane);
    });
    assert_ne!(below.at(138, 84), scene.at(138, 84), "there is a shadow");

    let name = stage.name(&format!("shadow-{sampling:?}"));
    let panel = pane.panel(1.0);
    let lower = [pane.layer()];
    let stack = layers(&[pane, upper.clone()]);
    assert_untouched(&name, &shadowed, &below, &lower);
    assert_untouched(&name, &both, &below, &stack);
    for (x, y) in (0..scene.height).flat_map(|y| (0..scene.width).map(move |x| (x, y))) {
        if panel.is_inside(x, y) {
            assert_eq!(
                shadowed.at(x, y),
                alone.at(x, y),
                "{name}: the shadow shines through at {x}, {y}"
            );
        }
    }
    let expected = glass_over(&panel, &below, &scene, LDR);
    assert_painted(&name, &shadowed, &expected, &lower, LDR);
    let expected = glass_over(&upper.panel(1.0), &expected, &expected, LDR);
    assert_painted(&name, &both, &expected, &stack, LDR);
}

/// Every way to be invisible at once: none of them may leave a trace.
#[test]
fn what_cannot_be_seen_changes_nothing() {
    on_one(Kind::Core2d, LDR, |stage| {
        let pane = Pane::new([40.0, 20.0, 120.0, 80.0], glass(6.0));
        let none = |change: fn(&mut Node)| {
            let mut node = pane.node();
            change(&mut node);
            (node, pane.glass.clone())
        };
        stage.show(|ui| {
            ui.pane_of((pane.bundle(), Visibility::Hidden));
            ui.pane_of(none(|node| node.display = Display::None));
            ui.pane_of(none(|node| node.width = Val::Px(0.0)));
            let hidden = ui.spawn((pane.node(), Visibility::Hidden));
            ui.pane_in(hidden, pane.bundle());
            let gone = Node {
                display: Display::None,
                ..pane.node()
            };
            let gone = ui.spawn(gone);
            ui.pane_in(gone, pane.bundle());
            let clip = Node {
                overflow: Overflow::clip(),
                ..node(Vec2::ZERO, Vec2::splat(10.0))
            };
            let clip = ui.spawn(clip);
            ui.pane_in(clip, pane.bundle());
            ui.pane(&pane.clone().moved(500.0, 0.0));
            ui.pane(&pane.clone().scaled(0.0, 1.0));
            for glass in [
                pane.glass.clone().with_opacity(0.0),
                BackdropBlur::new(0.0),
                BackdropBlur::new(0.0).with_opacity(0.5),
                BackdropBlur::new(0.0).with_sampling(BackdropSampling::Surroundings),
                BackdropBlur::from_sigma(0.0299),
                BackdropBlur::new(f32::NAN),
                BackdropBlur::new(f32::INFINITY),
                BackdropBlur::new(-1.0),
                BackdropBlur::new(0.0).with_color(ColorStep::Saturate(f32::NAN)),
                BackdropBlur::new(0.0).with_color(ColorStep::Brightness(-1.0)),
            ] {
                ui.pane(&Pane { glass, ..pane });
            }
        });
        stage.headless.warm_up();
        stage.assert_identical("invisible");
    });
}

#[test]
fn visibility_and_order_count_in_the_very_frame() {
    on_one(Kind::Core2d, LDR, |stage| {
        let pane = Pane::new([40.0, 20.0, 120.0, 80.0], glass(6.0));
        stage.show(|ui| ui.pane(&pane));
        stage.check("visible", &[pane.layer()]);
        for _ in 0..3 {
            stage.change(0, Visibility::Hidden);
            stage.headless.frame();
            stage.assert_identical("hidden");
            stage.change(0, Visibility::Inherited);
            stage.headless.frame();
            stage.compare("visible-again", &[pane.layer()]);
        }
        let gone = Node {
            display: Display::None,
            ..pane.node()
        };
        stage.change(0, gone);
        stage.headless.frame();
        stage.assert_identical("display-none");
        stage.change(0, pane.node());
        stage.headless.frame();
        stage.compare("displayed", &[pane.layer()]);
        // The order may change while everything stays where it is.
        let square = Square::new([90.0, 10.0, 30.0, 50.0], GREEN);
        stage.show(|ui| {
            ui.paint(square.bundle());
            ui.pane_of((pane.bundle(), GlobalZIndex(-3)));
        });
        stage.check("below", &[pane.layer(), square.layer()]);
        stage.change(0, GlobalZIndex(1));
        stage.headless.frame();
        stage.compare("above", &[square.layer(), pane.layer()]);
    });
}
