//! The strength of glass in each unit, and the glass that settings are by default.

use super::stage::SIZE;
use super::*;
use crate::support::compositor::Layer;

#[test]
fn strengths_of_each_unit() {
    on_one(Kind::Core2d, LDR, |stage| {
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
