//! The textures that filters hold and release.

use super::content::boxes;
use super::group::whole;
use crate::backdrop::pane::{Pane, node};
use crate::backdrop::stage::{BACKENDS, LDR, SIZE, Stage, Ui};
use crate::support::scene::Kind;
use bevy::diagnostic::DiagnosticsStore;
use bevy::prelude::*;
use bevy::render::renderer::RenderDevice;
use bevy_gaussian_blur::diagnostics::TEXTURE_BYTES;
use bevy_gaussian_blur::prelude::*;

fn stage(backend: BlurBackend) -> Option<Stage> {
    Stage::with(backend, Kind::Core2d, LDR, |app| {
        app.add_plugins(GaussianBlurDiagnosticsPlugin);
    })
}

fn figure(stage: &Stage) -> f64 {
    let store = stage.headless.app.world().resource::<DiagnosticsStore>();
    let figure = store.get(&TEXTURE_BYTES).and_then(|figure| figure.value());
    figure.expect("the bytes are always known")
}

/// The bytes that the driver has allocated for textures.
fn held(stage: &Stage) -> isize {
    let device = stage.headless.render_world().resource::<RenderDevice>();
    device.wgpu_device().get_internal_counters().hal.texture_memory.read()
}

/// Within this many frames unused textures must be released.
const SOON: usize = 15;

fn frames(stage: &mut Stage, count: usize) {
    for _ in 0..count {
        stage.headless.frame();
    }
}

fn show(stage: &mut Stage, build: impl Fn(&mut Ui)) {
    stage.clear();
    stage.add(stage.glass.camera, true, &build);
    stage.headless.warm_up();
}

/// A group without a blur holds a texture of its own size, with sides of multiples of 32 texels.
#[test]
fn a_group_that_fades_holds_its_picture() {
    for backend in BACKENDS {
        let Some(mut stage) = stage(backend) else {
            return;
        };
        let faded = |ui: &mut Ui, [left, top]: [f32; 2]| {
            let node = node(Vec2::new(left, top), Vec2::new(80.0, 60.0));
            ui.spawn((node, BackgroundColor(Color::WHITE), UiFilter::opacity(0.5)));
        };
        show(&mut stage, |ui| faded(ui, [20.0, 15.0]));
        assert_eq!(figure(&stage), 96.0 * 64.0 * 4.0, "{backend:?}: one group");
        // Without a blur, the part beyond the viewport contributes nothing and needs no texels.
        let [width, height] = SIZE.to_array().map(|side| side as f32);
        stage.clear();
        frames(&mut stage, SOON);
        show(&mut stage, |ui| faded(ui, [width - 30.0, height - 20.0]));
        assert_eq!(figure(&stage), 32.0 * 32.0 * 4.0, "{backend:?}: a group at the corner");
    }
}

/// Groups of all kinds, all with glass inside, release all textures when they are despawned.
#[test]
fn bytes_return_to_nothing() {
    for backend in BACKENDS {
        let Some(mut stage) = stage(backend) else {
            return;
        };
        let shadow = UiFilter::shadow(Vec2::new(4.0, 3.0), 6.0, Color::BLACK).with_opacity(0.5);
        let pane = Pane::new([40.0, 20.0, 100.0, 70.0], BackdropBlur::from_sigma(3.0));
        // Bevy's user interface must allocate its own textures first.
        show(&mut stage, |ui| boxes(ui, ui.root));
        stage.clear();
        stage.headless.warm_up();
        let before = held(&stage);
        for filter in [UiFilter::from_sigma(2.0), UiFilter::from_sigma(20.0), shadow] {
            show(&mut stage, |ui| {
                let outer = ui.spawn((whole(), filter.clone()));
                boxes(ui, outer);
                let inner = ui.spawn_in(outer, (whole(), filter.clone()));
                ui.pane_in(inner, pane.bundle());
            });
            let busy = figure(&stage);
            assert!(
                busy > 0.0 && held(&stage) > before,
                "{backend:?}: filters hold textures"
            );
            stage.clear();
            frames(&mut stage, SOON);
            assert_eq!(figure(&stage), 0.0, "{backend:?}: {filter:?}");
            assert_eq!(held(&stage), before, "{backend:?}: {filter:?}");
        }
    }
}

fn faded(ui: &mut Ui, side: f32) {
    let node = node(Vec2::splat(4.0), Vec2::splat(side));
    ui.spawn((node, BackgroundColor(Color::WHITE), UiFilter::opacity(0.5)));
}

/// A camera with a small group clears and stores a small page, whatever another camera needs.
#[test]
fn cameras_have_pages_of_their_size() {
    let Some(mut stage) = stage(BACKENDS[0]) else {
        return;
    };
    let [small, large] = [stage.plain.camera, stage.glass.camera];
    stage.clear();
    stage.add(small, false, &|ui: &mut Ui| faded(ui, 20.0));
    stage.add(large, true, &|ui: &mut Ui| faded(ui, 100.0));
    stage.headless.warm_up();
    assert_eq!(figure(&stage), (32.0 * 32.0 + 128.0 * 128.0) * 4.0);
}

/// A group whose size goes back and forth between two classes of pages needs no new texture after the first time.
#[test]
fn sizes_go_back_and_forth() {
    let Some(mut stage) = stage(BACKENDS[0]) else {
        return;
    };
    let mut frames_of = |side: f32| {
        stage.clear();
        stage.add(stage.glass.camera, true, &|ui: &mut Ui| faded(ui, side));
        frames(&mut stage, 2);
        held(&stage)
    };
    frames_of(50.0);
    frames_of(90.0);
    let first = [frames_of(50.0), frames_of(90.0)];
    for _ in 0..3 {
        assert_eq!([frames_of(50.0), frames_of(90.0)], first);
    }
}
