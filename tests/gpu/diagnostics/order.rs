//! Plugins may be added in any order, and one of them may be missing.

use super::value;
use super::*;
use bevy::render::diagnostic::RenderDiagnosticsPlugin;

/// A plugin that the app adds.
type Add = fn(&mut App);

const BLUR: Add = |app| crate::support::add_blur(app, BlurBackend::Fragment);
const FIGURES: Add = |app| {
    app.add_plugins(GaussianBlurDiagnosticsPlugin);
};
const BEVYS: Add = |app| {
    app.add_plugins(RenderDiagnosticsPlugin);
};

fn app(plugins: &[Add]) -> Headless {
    Headless::new(|app| {
        outcomes::record(app);
        plugins.iter().for_each(|add| add(app));
    })
}

#[test]
fn every_order_of_plugins_publishes_figures() {
    let orders: [&[Add]; 8] = [
        &[BLUR, FIGURES],
        &[FIGURES, BLUR],
        &[BLUR, FIGURES, BEVYS],
        &[BLUR, BEVYS, FIGURES],
        &[FIGURES, BLUR, BEVYS],
        &[FIGURES, BEVYS, BLUR],
        &[BEVYS, BLUR, FIGURES],
        &[BEVYS, FIGURES, BLUR],
    ];
    for (index, plugins) in orders.into_iter().enumerate() {
        let mut headless = app(plugins);
        assert!(
            headless.app.is_plugin_added::<RenderDiagnosticsPlugin>(),
            "order {index}"
        );
        scene::spawn(&mut headless, Kind::Core2d, 1.0);
        let camera = camera(&mut headless, "Main");
        blur(&mut headless, camera, STRONG);
        headless.warm_up();
        let label = BlurLabel::new("Main");
        let is_timed = headless.frames_until(15, |world| value(world, &label.elapsed_cpu()).is_some());
        assert!(is_timed, "order {index}: no time");
        if super::has_timestamps(&headless) {
            assert!(waited(&mut headless, &label, true), "order {index}: no time of the GPU");
        }
    }
}

#[test]
fn figures_of_nothing_are_said_to_be_missing() {
    let mut headless = app(&[FIGURES]);
    let target = scene::target(&mut headless, SIZE, LDR);
    scene::camera(&mut headless, Kind::Core2d, &target, Msaa::Off);
    headless.frames(10);
    assert_eq!(logs::count("GaussianBlurDiagnosticsPlugin has nothing to publish"), 1);
}
