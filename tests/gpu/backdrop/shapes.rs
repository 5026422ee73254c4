//! Where glass is painted: transforms, corners, clips, borders of the viewport, and places between pixels.

use super::pane::{Pane, Square, layers, node};
use super::stage::{LDR, SIZE, Stage, Ui, on_one};
use super::{PLACES, glass};
use crate::support::compositor::{Layer, Panel, tolerance};
use crate::support::reference::Clip;
use crate::support::scene::Kind;
use crate::support::{assert_close, within_rounding};
use bevy::prelude::*;
use bevy_gaussian_blur::prelude::*;
use std::f32::consts::{FRAC_PI_2, PI};

const AROUND: BackdropSampling = BackdropSampling::Surroundings;

fn check(stage: &mut Stage, name: &str, panes: &[Pane]) {
    stage.show(|ui| ui.panes(panes));
    stage.check(name, &layers(panes));
}

#[test]
fn rotated_scaled_and_mirrored() {
    on_one(Kind::Core2d, LDR, |stage| {
        let turned = [
            Pane::new([20.0, 15.0, 80.0, 36.0], glass(3.0)).turned(0.4),
            Pane::new([120.0, 40.0, 64.0, 41.0], glass(6.0))
                .turned(-1.1)
                .with_radii([9.0; 4]),
            Pane::new([30.0, 70.0, 70.0, 30.0], glass(4.0).with_sampling(AROUND)).turned(2.7),
            Pane::new([110.0, 8.0, 60.0, 20.0], glass(2.0)).turned(FRAC_PI_2),
        ];
        check(stage, "turned", &turned);
        // The radius grows with the square root of the area.
        let scaled = [
            Pane::new([30.0, 20.0, 60.0, 30.0], glass(3.0))
                .scaled(1.3, 0.8)
                .with_radii([3.0, 8.0, 12.0, 0.0]),
            Pane::new([120.0, 20.0, 50.0, 40.0], glass(2.0))
                .scaled(-1.2, 1.5)
                .with_radii([2.0, 9.0, 14.0, 19.0]),
            Pane::new([60.0, 70.0, 60.0, 30.0], glass(4.0))
                .scaled(0.5, -0.8)
                .with_radii([0.0, 12.0, 4.0, 9.0]),
        ];
        check(stage, "scaled", &scaled);
        let both = [
            Pane::new([40.0, 30.0, 60.0, 30.0], glass(3.0))
                .scaled(1.4, 0.7)
                .turned(0.5),
            Pane::new([120.0, 40.0, 50.0, 40.0], glass(5.0).with_sampling(AROUND))
                .scaled(-0.8, 1.3)
                .turned(PI / 3.0),
        ];
        check(stage, "turned-scaled", &both);
    });
}

/// The transforms of parents reach their children.
#[test]
fn turned_with_the_parent() {
    on_one(Kind::Core2d, LDR, |stage| {
        // Parent and pane share their centre, about which the parent turns and grows.
        let parent = Pane::new([40.0, 20.0, 120.0, 70.0], glass(0.0))
            .scaled(1.1, 1.1)
            .turned(0.3);
        let pane = Pane::new([60.0, 30.0, 80.0, 50.0], glass(4.0)).with_radii([8.0; 4]);
        stage.show(|ui| {
            let outer = ui.spawn((parent.node(), parent.transform()));
            ui.pane_in(outer, (pane.node_in(parent.origin), pane.glass.clone()));
        });
        let seen = Pane {
            angle: parent.angle,
            scale: parent.scale,
            ..pane
        };
        stage.check("turned-parent", &[seen.layer()]);
    });
}

#[test]
fn corners_and_places_between_pixels() {
    on_one(Kind::Core3d, LDR, |stage| {
        let radii = [
            [3.0, 11.0, 17.0, 20.0],
            [0.0, 14.0, 0.0, 9.0],
            [200.0; 4],
            [1.0, 0.5, 2.0, 24.0],
            [25.0, 1.0, 25.0, 1.0],
        ];
        let panes: Vec<Pane> = PLACES
            .into_iter()
            .zip(radii)
            .map(|(place, radii)| Pane::new(place, glass(5.0)).with_radii(radii))
            .collect();
        check(stage, "radii", &panes);
        let offsets = [(0.4, 0.3), (0.75, 0.1), (-0.2, 0.6), (0.25, -0.3), (-0.6, -0.8)];
        let moved = |(pane, (x, y)): (&Pane, (f32, f32))| pane.clone().moved(x, y);
        let between: Vec<Pane> = panes.iter().zip(offsets).map(moved).collect();
        check(stage, "between-pixels", &between);
    });
}

#[test]
fn beyond_the_viewport() {
    on_one(Kind::Core2d, LDR, |stage| {
        for sampling in [BackdropSampling::Inside, AROUND] {
            let glass = |sigma: f32| glass(sigma).with_sampling(sampling);
            let panes = [
                Pane::new([-40.0, 30.0, 80.0, 50.0], glass(4.0)).with_radii([20.0; 4]),
                Pane::new([150.0, -25.0, 90.0, 60.0], glass(7.0)),
                Pane::new([70.0, 80.0, 60.0, 300.0], glass(2.0)).turned(0.1),
            ];
            check(stage, &format!("beyond-{sampling:?}"), &panes);
            let all = Pane::new([-500.0, -300.0, 1300.0, 900.0], glass(12.0)).turned(0.2);
            check(stage, &format!("beyond-all-{sampling:?}"), &[all]);
        }
    });
}

#[test]
fn slivers() {
    on_one(Kind::Core2d, LDR, |stage| {
        for sampling in [BackdropSampling::Inside, AROUND] {
            let glass = |sigma: f32| glass(sigma).with_sampling(sampling);
            let panes = [
                Pane::new([70.0, 20.0, 1.0, 80.0], glass(6.0)),
                Pane::new([80.0, 60.0, 90.0, 1.0], glass(6.0)),
                Pane::new([100.0, 40.0, 1.0, 1.0], glass(3.0)),
                Pane::new([120.0, 30.0, 2.0, 3.0], glass(20.0)),
                Pane::new([140.0, 20.0, 3.0, 90.0], glass(2.0)),
                Pane::new([85.0, 70.0, 60.0, 5.0], glass(9.0)).turned(0.3),
            ];
            check(stage, &format!("slivers-{sampling:?}"), &panes);
        }
        // No pixel's centre is covered.
        let thin = Pane::new([60.0, 20.0, 1.0, 80.0], glass(6.0))
            .scaled(0.3, 1.0)
            .moved(0.4, 0.0);
        stage.show(|ui| ui.pane(&thin));
        stage.headless.warm_up();
        stage.assert_identical("between-centres");
    });
}

/// A pane in a node that clips.
fn clipped(ui: &mut Ui, frame: [f32; 4], overflow: Overflow, pane: &Pane) {
    let [left, top, width, height] = frame;
    let clip = Node {
        overflow,
        ..node(Vec2::new(left, top), Vec2::new(width, height))
    };
    let clip = ui.spawn(clip);
    let inner = pane.node_in(Vec2::new(left, top));
    ui.pane_in(clip, (inner, pane.transform(), pane.glass.clone()));
}

fn within(pane: &Pane, min: [f64; 2], max: [f64; 2]) -> Layer {
    Layer::glass(Panel {
        clip: Clip { min, max },
        ..pane.panel(1.0)
    })
}

#[test]
fn clipped_by_overflow() {
    const FREE: f64 = f64::INFINITY;
    on_one(Kind::Core2d, LDR, |stage| {
        let frame = [30.0, 20.0, 110.0, 60.0];
        let panes = [
            Pane::new([60.0, 40.0, 120.0, 70.0], glass(4.0)).with_radii([15.0; 4]),
            // Bevy clips by moving corners, which does not clip rotated nodes.
            Pane::new([50.0, 25.0, 70.0, 60.0], glass(3.0)).turned(0.7),
            Pane::new([10.0, 30.0, 60.0, 70.0], glass(5.0).with_sampling(AROUND)).scaled(1.2, 0.8),
        ];
        for (index, pane) in panes.iter().enumerate() {
            stage.show(|ui| clipped(ui, frame, Overflow::clip(), pane));
            let layer = within(pane, [30.0, 20.0], [140.0, 80.0]);
            stage.check(&format!("clipped-{index}"), &[layer]);
        }
        stage.show(|ui| clipped(ui, frame, Overflow::clip_x(), &panes[0]));
        stage.check("clipped-x", &[within(&panes[0], [30.0, -FREE], [140.0, FREE])]);
        stage.show(|ui| clipped(ui, frame, Overflow::hidden_y(), &panes[1]));
        stage.check("clipped-y", &[within(&panes[1], [-FREE, 20.0], [FREE, 80.0])]);
        nested(stage, &panes[0]);
    });
}

/// A clip inside a clip, in a scrolled list; and a pane that ignores both.
fn nested(stage: &mut Stage, pane: &Pane) {
    stage.show(|ui| scrolled(ui, pane, false));
    // A list that scrolls along y leaves x free.
    stage.check("clipped-nested", &[within(pane, [50.0, 18.0], [170.0, 90.0])]);
    stage.show(|ui| scrolled(ui, pane, true));
    stage.check("clipped-not", &[pane.layer()]);
}

fn scrolled(ui: &mut Ui, pane: &Pane, is_free: bool) {
    let list = Node {
        overflow: Overflow::scroll_y(),
        ..node(Vec2::new(20.0, 10.0), Vec2::new(140.0, 80.0))
    };
    let list = ui.spawn((list, ScrollPosition(Vec2::new(0.0, 12.0))));
    let clip = Node {
        overflow: Overflow::clip(),
        ..node(Vec2::new(30.0, 20.0), Vec2::new(120.0, 200.0))
    };
    let clip = ui.spawn_in(list, clip);
    // The list has moved everything up by twelve pixels.
    let inner = pane.node_in(Vec2::new(50.0, 30.0 - 12.0));
    let pane = ui.pane_in(clip, (inner, pane.glass.clone()));
    if let (Some(pane), true) = (pane, is_free) {
        ui.insert(pane, OverrideClip);
    }
}

/// Glass has exactly the shape of Bevy's background, including its rim, antialiased or not: black glass over white is a
/// black node.
#[test]
fn the_shape_is_that_of_a_background() {
    let black = BackdropBlur::new(0.0).with_color(ColorStep::Brightness(0.0));
    let shapes = [
        Pane::new([6.0, 5.0, 60.0, 40.0], black.clone()).with_radii([3.0, 9.0, 15.0, 20.0]),
        Pane::new([80.0, 10.0, 50.0, 30.0], black.clone()).turned(0.4),
        Pane::new([145.0, 8.0, 44.0, 35.0], black.clone())
            .turned(1.9)
            .with_radii([4.0, 17.0, 0.0, 9.0]),
        Pane::new([10.0, 60.0, 50.0, 40.0], black.clone())
            .moved(0.3, 0.45)
            .with_radii([7.0; 4]),
        Pane::new([82.0, 62.0, 40.0, 36.0], black.clone())
            .scaled(1.3, 0.7)
            .with_radii([2.0, 6.0, 10.0, 14.0]),
        Pane::new([145.0, 65.0, 40.0, 36.0], black)
            .scaled(-1.2, 1.1)
            .with_radii([0.0, 18.0, 5.0, 11.0]),
    ];
    on_one(Kind::Core2d, LDR, |stage| {
        let white = Square::new([0.0, 0.0, SIZE.x as f32, SIZE.y as f32], [1.0; 4]);
        stage.show(|ui| {
            ui.spawn(white.bundle());
            ui.panes(&shapes);
            if ui.is_glass {
                return;
            }
            for shape in &shapes {
                ui.spawn((shape.node(), shape.transform(), BackgroundColor(Color::BLACK)));
            }
        });
        for anti_alias in [UiAntiAlias::On, UiAntiAlias::Off] {
            stage.insert(anti_alias);
            stage.headless.warm_up();
            let [background, glass] = stage.pictures();
            let is_shade = |texel: &&[f64; 4]| texel[0] > 0.01 && texel[0] < 0.99;
            let shades = background.texels.iter().filter(is_shade).count();
            assert_eq!(shades > 100, anti_alias == UiAntiAlias::On, "{shades} pixels of a rim");
            let name = stage.name(&format!("shape-{anti_alias:?}"));
            let expected = within_rounding(&glass, &background, LDR);
            let worst = assert_close(&name, &glass, &expected, &[0, 1, 2, 3], tolerance(LDR, 1.0));
            println!("{name}: {:.3}/255", worst * 255.0);
        }
    });
}

#[test]
fn hard_edges() {
    on_one(Kind::Core2d, LDR, |stage| {
        stage.insert(UiAntiAlias::Off);
        let panes = [
            Pane::new([20.0, 15.0, 80.0, 36.0], glass(3.0)).turned(0.4),
            Pane::new([110.0, 30.0, 70.0, 60.0], glass(6.0)).with_radii([4.0, 12.0, 20.0, 30.0]),
            Pane::new([30.0, 70.0, 60.0, 30.0], glass(3.0).with_opacity(0.6))
                .moved(0.3, 0.2)
                .with_radii([9.0; 4]),
        ];
        stage.show(|ui| ui.panes(&panes));
        let hard = |pane: &Pane| {
            let panel = pane.panel(1.0);
            Layer::glass(Panel {
                is_soft: false,
                ..panel
            })
        };
        let layers: Vec<Layer> = panes.iter().map(hard).collect();
        stage.check("hard", &layers);
    });
}
