//! Pixels that must not change by a single bit: the inside of glass, whatever lies beside it, and pictures without glass.
//! Every comparison of glass with the compositor asserts the same for the pixels off the glass.

use super::*;
use crate::support::compositor::Panel;

/// Bright pixels right around a box.
fn surround(ui: &mut Ui, [left, top, width, height]: [f32; 4], light: f32) {
    let sides = [
        [left - 1.0, top - 1.0, width + 2.0, 1.0],
        [left - 1.0, top + height, width + 2.0, 1.0],
        [left - 1.0, top, 1.0, height],
        [left + width, top, 1.0, height],
    ];
    for side in sides {
        ui.spawn(Square::new(side, [light, light, light, 1.0]).bundle());
    }
}

/// Whether two pictures have the same bits: in the pixels that a panel fully covers, and in all others.
fn same(panel: &Panel, [one, other]: &[Picture; 2]) -> [bool; 2] {
    let mut same = [true; 2];
    for (x, y) in (0..one.height).flat_map(|y| (0..one.width).map(move |x| (x, y))) {
        let group = usize::from(!panel.is_inside(x, y));
        same[group] &= one.at(x, y) == other.at(x, y);
    }
    same
}

/// Both cameras show the same glass, one of them with light beside it.
#[test]
fn light_beside_a_panel_changes_nothing_inside() {
    for (format, light) in [(LDR, 1.0), (HDR, 4000.0)] {
        on_one(Kind::Core2d, format, |stage| {
            for sigma in [0.8, 2.5, 7.0, 30.0] {
                let panes = one_of_each_edge(glass(sigma));
                let pictures = stage.shown(|ui| {
                    if ui.is_glass {
                        PLACES.into_iter().for_each(|place| surround(ui, place, light));
                    }
                    panes.iter().for_each(|pane| {
                        ui.spawn(pane.bundle());
                    });
                });
                for pane in &panes {
                    let [inside, _] = same(&pane.panel(1.0), &pictures);
                    assert!(inside, "{}: light comes in, {pane:?}", stage.name("beside"));
                }
                assert!(pictures[0] != pictures[1], "there is light");
            }
            turned(stage, light);
        });
    }
}

/// Glass in a turned box reads the axis-aligned bounds of the box. Glass that reads its surroundings sees the light.
fn turned(stage: &mut Stage, light: f32) {
    let pane = Pane::new([60.0, 40.0, 80.0, 40.0], glass(5.0)).turned(0.4);
    let around = pane.glass.clone().with_sampling(BackdropSampling::Surroundings);
    let panel = pane.panel(1.0);
    let [columns, rows] = panel.region([203, 117]);
    let bounds = [columns.start, rows.start, columns.len(), rows.len()].map(|side| side as f32);
    for (glass, is_same) in [(pane.glass.clone(), true), (around, false)] {
        let pictures = stage.shown(|ui| {
            if ui.is_glass {
                surround(ui, bounds, light);
            }
            ui.spawn((pane.node(), pane.transform(), glass.clone()));
        });
        let [inside, outside] = same(&panel, &pictures);
        assert_eq!([inside, outside], [is_same, false], "{}", stage.name("turned-beside"));
    }
}

/// A scene with an interface but without glass, in two apps: with the plugin and without.
#[test]
fn without_glass_all_is_as_without_the_plugin() {
    for (kind, format, msaa) in [(Kind::Core2d, LDR, Msaa::Off), (Kind::Core3d, HDR, Msaa::Sample4)] {
        for backend in one_backend() {
            let with = Stage::new(backend, kind, format);
            let without = Headless::new(|app| scene::add_plugins(app, kind));
            let without = Stage::of(without, "no-plugin".into(), kind, format);
            let [with, without] = [with, without].map(|stage| bytes(stage, msaa));
            assert!(
                with == without,
                "{backend:?}, {kind:?}, {format:?}: the plugin changes the picture"
            );
        }
    }
}

fn bytes(mut stage: Stage, msaa: Msaa) -> Vec<u8> {
    stage.insert(msaa);
    stage.show(|ui| {
        ui.spawn(Square::new([20.0, 15.0, 70.0, 40.0], [1.0, 0.4, 0.1, 0.6]).bundle());
        let text = (
            Text::new("No glass"),
            TextFont::from_font_size(20.0),
            TextColor(Color::WHITE),
        );
        let place = Pane::new([50.0, 30.0, 140.0, 40.0], BackdropBlur::default());
        ui.spawn((place.node(), text));
        let shadow = BoxShadow::new(Color::BLACK, Val::Px(3.0), Val::Px(4.0), Val::Px(2.0), Val::Px(3.0));
        let place = Pane {
            radii: [9.0; 4],
            ..place.turned(0.2).moved(0.0, 30.0)
        };
        ui.spawn((
            place.node(),
            place.transform(),
            shadow,
            BackgroundColor(Color::WHITE.with_alpha(0.3)),
        ));
    });
    stage.headless.warm_up();
    stage.pixels().bytes
}
