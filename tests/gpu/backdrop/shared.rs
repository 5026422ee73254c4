//! Glass that shares a backdrop, and glass with grain.

use super::*;
use crate::support::counters::latest;
use bevy_gaussian_blur::diagnostics::BlurLabel;

/// A node that fills the viewport, whose glass shares a backdrop.
fn group() -> (Node, BackdropGroup) {
    (node(Vec2::ZERO, Vec2::new(203.0, 117.0)), BackdropGroup)
}

/// Forty cards that overlap are blurred at once.
#[test]
fn cards_that_overlap_are_one_group() {
    let mut stage = Stage::with_figures(BlurBackend::Compute, LDR);
    stage.show(|ui| {
        let group = ui.spawn(group());
        for index in 0..40 {
            let place = Vec2::new(4.0 * index as f32, 2.0 * index as f32);
            ui.pane_in(group, (node(place, Vec2::new(30.0, 20.0)), glass(3.0)));
        }
    });
    stage.headless.warm_up();
    stage.headless.frames(12);
    let label = BlurLabel::of_nodes(stage.glass.camera);
    let value = |path| latest(stage.headless.app.world(), &path);
    assert_eq!([value(label.panels()), value(label.groups())], [Some(40.0), Some(1.0)]);
}

/// Over one colour, a lens without light shows what flat glass shows, and the noise is the same.
#[test]
fn grain_lies_on_a_lens() {
    on_one(Kind::Core2d, LDR, |stage| {
        let grey = Square::new([0.0, 0.0, 203.0, 117.0], [0.2, 0.2, 0.2, 1.0]);
        let pane = Pane::new([20.0, 10.0, 120.0, 80.0], BackdropBlur::from_sigma(4.0).with_grain(1.0));
        let lens = BackdropLens {
            rim_light: 0.0,
            ..default()
        };
        let mut shown = |lens: Option<BackdropLens>| {
            let [_, got] = stage.shown(|ui| {
                ui.paint(grey.bundle());
                match lens {
                    Some(lens) => ui.pane_of((pane.bundle(), lens)),
                    None => ui.pane_of(pane.bundle()),
                };
            });
            got
        };
        let (flat, bent) = (shown(None), shown(Some(lens)));
        assert_close("grain-on-a-lens", &bent, &flat, &RGBA, 1.01 / 255.0);
    });
}

/// The noise has the mean 0 and, at 1, a standard deviation of 8/255 in encoded values. It moves with the glass, and leaves alpha
/// alone.
#[test]
fn grain_is_fixed_to_the_glass() {
    on_one(Kind::Core2d, LDR, |stage| {
        let grey = Square::new([0.0, 0.0, 203.0, 117.0], [0.2, 0.2, 0.2, 1.0]);
        let encoded = |value: f64| 1.055 * value.powf(1.0 / 2.4) - 0.055;
        let mut noise = |left: f32| {
            let pane = Pane::new([left, 10.0, 120.0, 80.0], BackdropBlur::new(0.0).with_grain(1.0));
            let [_, got] = stage.shown(|ui| {
                ui.paint(grey.bundle());
                ui.pane(&pane);
            });
            let below = encoded(got.at(0, 0)[0]);
            let got = got.crop([left as usize, 10], [120, 80]);
            let texels = (0..80).flat_map(|y| (0..120).map(move |x| (x, y)));
            texels
                .map(|(x, y)| 255.0 * (encoded(got.at(x, y)[0]) - below))
                .collect::<Vec<f64>>()
        };
        let (first, moved) = (noise(20.0), noise(43.0));
        assert_eq!(first, moved, "it moves with the glass");
        let count = first.len() as f64;
        let mean = first.iter().sum::<f64>() / count;
        let deviation = (first.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / count).sqrt();
        assert!(mean.abs() < 0.5, "the mean is {mean}/255");
        assert!(
            (deviation - 8.0).abs() < 0.3,
            "the standard deviation is {deviation}/255"
        );
    });
}
