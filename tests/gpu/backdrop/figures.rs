//! The diagnostics of a camera's glass.

use super::stage::SIZE;
use super::*;
use crate::support::counters::latest;
use bevy::diagnostic::{DiagnosticPath, DiagnosticsStore};
use bevy_gaussian_blur::diagnostics::BlurLabel;

/// The number of frames after which figures have arrived, or are withdrawn.
const LATE: usize = 12;

fn stage(backend: BlurBackend) -> Stage {
    Stage::with_figures(backend, LDR)
}

fn value(stage: &Stage, path: &DiagnosticPath) -> Option<f64> {
    latest(stage.headless.app.world(), path)
}

/// Panels, groups and texels.
fn counts(stage: &Stage, label: &BlurLabel) -> [Option<f64>; 3] {
    [label.panels(), label.groups(), label.texels()].map(|path| value(stage, &path))
}

fn settle(stage: &mut Stage) {
    stage.headless.warm_up();
    stage.headless.frames(LATE);
}

/// The counts of two panels of one size. Their levels may differ by a texel, depending on where they begin.
fn assert_of_two(counts: &[Option<f64>; 3], groups: f64, texels_of_one: f64) {
    let [panels, grouped, texels] = counts.map(|count| count.expect("it is counted"));
    assert_eq!([panels, grouped], [2.0, groups]);
    assert!(
        (texels / (2.0 * texels_of_one) - 1.0).abs() < 0.03,
        "{texels} texels, {texels_of_one} for one"
    );
}

/// Whether the app's GPU has timestamps. Its figures are absent otherwise.
fn is_timed(stage: &Stage) -> bool {
    let device = stage.headless.render_world().resource::<RenderDevice>();
    device
        .features()
        .contains(wgpu::Features::TIMESTAMP_QUERY_INSIDE_ENCODERS)
}

#[test]
fn panels_groups_and_texels_are_those_of_the_camera() {
    for backend in one_backend() {
        let mut stage = stage(backend);
        let label = BlurLabel::of_nodes(stage.glass.camera);
        let one = Pane::new([10.0, 10.0, 40.0, 30.0], glass(6.0));
        stage.show(|ui| ui.pane(&one));
        settle(&mut stage);
        let [panels, groups, texels] = counts(&stage, &label);
        assert_eq!([panels, groups], [Some(1.0); 2], "{backend:?}");
        let texels = texels.expect("it is counted");
        // Reduced levels of a panel are less than the panel, which is less than the picture.
        assert!(texels > 0.0 && texels < f64::from(SIZE.element_product()), "{texels}");

        // A panel beside it is blurred together with it, a panel over it is blurred after it.
        let beside = Pane::new([80.0, 10.0, 40.0, 30.0], glass(6.0));
        stage.show(|ui| ui.panes(&[one.clone(), beside.clone()]));
        settle(&mut stage);
        assert_of_two(&counts(&stage, &label), 1.0, texels);
        let over = Pane::new([30.0, 20.0, 40.0, 30.0], glass(6.0));
        stage.show(|ui| ui.panes(&[one.clone(), over.clone()]));
        settle(&mut stage);
        assert_of_two(&counts(&stage, &label), 2.0, texels);

        // The other camera has no glass.
        let other = BlurLabel::of_nodes(stage.plain.camera);
        assert_eq!(counts(&stage, &other), [None; 3]);
        stage.clear();
        settle(&mut stage);
        assert_eq!(counts(&stage, &label), [None; 3], "{backend:?}: it is gone");
        assert_eq!(value(&stage, &label.elapsed_gpu()), None, "{backend:?}: it is gone");
    }
}

#[test]
fn regions_have_figures_of_their_own() {
    let mut stage = stage(BlurBackend::Compute);
    let camera = stage.glass.camera;
    let layers = [BackdropLayer::BelowUi, BackdropLayer::AboveUi];
    for layer in layers {
        let region = BackdropRegion::new(camera, Rect::new(5.0, 5.0, 60.0, 40.0)).with_layer(layer);
        stage.spawn((region, glass(4.0)));
    }
    settle(&mut stage);
    for layer in layers {
        let label = BlurLabel::of_regions(camera, layer);
        assert_eq!(counts(&stage, &label)[..2], [Some(1.0); 2], "{layer:?}");
        let time = value(&stage, &label.elapsed_gpu());
        assert_eq!(time.is_some(), is_timed(&stage), "{layer:?}");
    }
    assert_eq!(counts(&stage, &BlurLabel::of_nodes(camera)), [None; 3]);
}

/// Three hundred panels side by side, each with a different strength.
#[test]
fn three_hundred_panels_have_a_few_spans() {
    for backend in one_backend() {
        let mut stage = stage(backend);
        let pane = |index: usize| {
            let place = [index % 20, index / 20].map(|cell| cell as f32);
            let sigma = 0.6 + 0.02 * index as f32;
            Pane::new([10.0 * place[0] + 1.0, 7.0 * place[1] + 4.0, 9.0, 6.0], glass(sigma))
        };
        let panes: Vec<Pane> = (0..300).map(pane).collect();
        stage.show(|ui| ui.panes(&panes));
        stage.check("three-hundred", &layers(&panes));
        settle(&mut stage);
        let label = BlurLabel::of_nodes(stage.glass.camera);
        let prefix = format!("render/gaussian_blur/{}/", label.as_str());
        let store = stage.headless.app.world().resource::<DiagnosticsStore>();
        let is_time = |path: &&str| path.starts_with(&prefix) && path.ends_with("/elapsed_gpu");
        let times = store
            .iter()
            .map(|figure| figure.path().as_str())
            .filter(is_time)
            .count();
        assert!(times <= 8, "{backend:?}: {times} spans");
        let whole = value(&stage, &label.elapsed_gpu());
        assert_eq!(
            whole.is_some_and(|time| time > 0.0),
            is_timed(&stage),
            "{backend:?}: {whole:?}"
        );
    }
}
