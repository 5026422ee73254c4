//! The picture through panels: alone, side by side, and one over the other.

use super::pane::{Pane, Square, layers};
use super::stage::{HDR, LDR, SIZE, Stage, on_one};
use super::{PLACES, glass, one_of_each_edge};
use crate::support::compositor::Layer;
use crate::support::scene::Kind;
use bevy::prelude::*;
use bevy_gaussian_blur::prelude::*;

const WHITE: [f32; 4] = [1.0; 4];

/// Later panels that read their surroundings see the glass of earlier ones.
#[test]
fn every_edge_and_sampling() {
    on_one(Kind::Core2d, LDR, |stage| {
        for sampling in [BackdropSampling::Inside, BackdropSampling::Surroundings] {
            // No octave, one, two, and more than there are texels.
            for sigma in [0.8, 2.2, 4.0, 9.0, 40.0] {
                let panes = one_of_each_edge(glass(sigma).with_sampling(sampling));
                stage.show(|ui| ui.panes(&panes));
                stage.check(&format!("edges-{sampling:?}-{sigma}"), &layers(&panes));
            }
        }
    });
}

#[test]
fn one_panel_of_any_size() {
    let whole = [0.0, 0.0, SIZE.x as f32, SIZE.y as f32];
    on_one(Kind::Core3d, LDR, |stage| {
        for place in [whole, [61.0, 20.0, 101.0, 67.0], [90.0, 40.0, 17.0, 13.0]] {
            for sigma in [1.0, 6.0, 25.0] {
                let pane = Pane::new(place, glass(sigma));
                stage.show(|ui| ui.pane(&pane));
                stage.check(&format!("one-{}x{}-{sigma}", place[2], place[3]), &[pane.layer()]);
            }
        }
    });
}

#[test]
fn glass_over_glass() {
    on_one(Kind::Core3d, LDR, |stage| {
        let around = BackdropSampling::Surroundings;
        let panes = [
            Pane::new([20.0, 15.0, 110.0, 70.0], glass(3.0)),
            Pane::new([60.0, 40.0, 120.0, 60.0], glass(9.0).with_opacity(0.8)),
            Pane::new([90.0, 25.0, 60.0, 80.0], glass(1.2).with_sampling(around)),
        ];
        stage.show(|ui| ui.panes(&panes));
        stage.check("stacked", &layers(&panes));

        // Only the upper pane sees a square between two panes, even if the square only touches pixels that the pane reads.
        let squares = [
            Square::new([80.0, 50.0, 30.0, 20.0], WHITE),
            Square::new([152.0, 60.0, 3.0, 30.0], [0.0, 1.0, 0.0, 1.0]),
        ];
        stage.show(|ui| {
            ui.pane(&panes[0]);
            ui.paint(squares[0].bundle());
            ui.pane(&panes[1]);
            ui.paint(squares[1].bundle());
            ui.pane(&panes[2]);
        });
        let [first, second, third] = panes.map(|pane| pane.layer());
        let [lower, upper] = squares.map(|square| square.layer());
        stage.check("stacked-between", &[first, lower, second, upper, third]);
    });
}

/// A pile of glass, in half floats: eight bits would round again on every floor.
#[test]
fn eight_panes_in_a_pile() {
    on_one(Kind::Core2d, HDR, |stage| {
        let floor = |floor: usize| {
            let at = 10.0 + 4.0 * floor as f32;
            Pane::new([at, at, 90.0, 60.0], glass(1.5)).with_radii([6.0; 4])
        };
        let panes: Vec<Pane> = (0..8).map(floor).collect();
        stage.show(|ui| ui.panes(&panes));
        stage.check("pile", &layers(&panes));
    });
}

#[test]
fn saturation_brightness_and_opacity() {
    let filters: [fn(BackdropBlur) -> BackdropBlur; 5] = [
        |glass| glass.with_color(ColorStep::Saturate(0.0)),
        |glass| glass.with_color(ColorStep::Saturate(1.6)),
        |glass| glass.with_color(ColorStep::Brightness(0.5)),
        |glass| glass.with_opacity(0.4),
        |glass| {
            glass
                .with_color(ColorStep::Brightness(1.3))
                .with_color(ColorStep::Saturate(0.6))
                .with_opacity(0.7)
        },
    ];
    on_one(Kind::Core2d, LDR, |stage| {
        // Without a blur the colours still change.
        for sigma in [0.0, 3.0, 12.0] {
            let panes = coloured(&filters, sigma);
            stage.show(|ui| ui.panes(&panes));
            stage.check(&format!("filters-{sigma}"), &layers(&panes));
        }
    });
}

#[test]
fn contrast_invert_and_hue() {
    let filters: [fn(BackdropBlur) -> BackdropBlur; 5] = [
        |glass| glass.with_color(ColorStep::Contrast(0.4)),
        |glass| glass.with_color(ColorStep::Contrast(1.3)),
        |glass| glass.with_color(ColorStep::Invert(1.0)),
        |glass| glass.with_color(ColorStep::Invert(0.3)).with_opacity(0.6),
        |glass| {
            glass
                .with_color(ColorStep::Saturate(0.6))
                .with_color(ColorStep::HueRotate(70.0))
        },
    ];
    for (kind, format) in [(Kind::Core2d, LDR), (Kind::Core3d, HDR)] {
        on_one(kind, format, |stage| {
            for sigma in [0.0, 3.0, 12.0] {
                let panes = coloured(&filters, sigma);
                stage.show(|ui| ui.panes(&panes));
                stage.check(&format!("functions-{sigma}"), &layers(&panes));
            }
        });
    }
}

fn coloured(filters: &[fn(BackdropBlur) -> BackdropBlur], sigma: f32) -> Vec<Pane> {
    let panes = PLACES.into_iter().zip(filters);
    let panes = panes.map(|(place, filter)| Pane::new(place, filter(glass(sigma))).with_radii([9.0; 4]));
    panes.collect()
}

#[test]
fn strengths_of_each_axis_and_unit() {
    on_one(Kind::Core2d, LDR, |stage| {
        let aspects = [
            Vec2::X,
            Vec2::Y,
            Vec2::new(1.0, 0.25),
            Vec2::new(0.1, 2.0),
            Vec2::new(0.5, 0.02),
        ];
        let panes: Vec<Pane> = PLACES
            .into_iter()
            .zip(aspects)
            .map(|(place, aspect)| {
                let blur = GaussianBlur::from_sigma(6.0).with_aspect(aspect);
                Pane::new(place, BackdropBlur::default().with_blur(blur))
            })
            .collect();
        stage.show(|ui| ui.panes(&panes));
        stage.check("aspects", &layers(&panes));
        check_unit(stage, BlurUnit::PhysicalPixels, 7.0);
        check_unit(stage, BlurUnit::ViewportHeight, 0.07 * f64::from(SIZE.y));
    });
}

/// Checks that a sigma of seven units is `sigma` texels.
fn check_unit(stage: &mut Stage, unit: BlurUnit, sigma: f64) {
    let pane = Pane::new([30.0, 20.0, 120.0, 70.0], glass(7.0));
    stage.show(|ui| {
        ui.pane_of((pane.node(), pane.glass.clone().with_unit(unit)));
    });
    let mut panel = pane.panel(1.0);
    panel.sigma = [sigma; 2];
    stage.check(&format!("{unit:?}"), &[Layer::glass(panel)]);
}

#[test]
fn defaults_are_those_of_css() {
    let glass = BackdropBlur::default();
    assert_eq!(glass, BackdropBlur::new(24.0));
    assert_eq!(glass.blur, GaussianBlur::new(24.0).with_edge(EdgeMode::Mirror));
    assert_eq!(glass.sampling, BackdropSampling::Inside);
    assert!(glass.colors.is_empty());
    assert_eq!(glass.opacity, 1.0);
    assert_eq!(BackdropBlur::from_sigma(8.0), glass);
    assert_eq!(glass.clone().with_edge(EdgeMode::Wrap).blur.edge, EdgeMode::Wrap);
    let blur = GaussianBlur::new(3.0);
    assert_eq!(glass.clone().with_blur(blur).blur, blur);
    assert_eq!(glass.clone().with_aspect(Vec2::X).blur, glass.blur.with_aspect(Vec2::X));
}
