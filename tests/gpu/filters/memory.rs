//! The textures that filters hold and release.

use super::*;
use crate::backdrop::pane::Pane;
use crate::backdrop::stage::{SIZE, Stage, Ui};
use crate::support::counters::{intermediates, texture_memory};
use crate::support::pool;
use crate::support::scene::whole;
use bevy::render::renderer::RenderAdapterInfo;
use bevy::render::view::ExtractedView;
use wgpu::DeviceType;

fn stage(backend: BlurBackend) -> Stage {
    Stage::with(backend, Kind::Core2d, LDR, pool::with_figures)
}

fn figure(stage: &Stage) -> f64 {
    intermediates(&stage.headless)
}

/// The bytes of pages with these sides. On software rasterisers, one that is a power of two is a texel longer.
fn pages<const COUNT: usize>(stage: &Stage, sizes: [[u32; 2]; COUNT]) -> f64 {
    let adapter = stage.headless.render_world().resource::<RenderAdapterInfo>();
    let is_software = adapter.device_type == DeviceType::Cpu;
    let side = |side: u32| f64::from(side + u32::from(is_software && side.is_power_of_two()));
    sizes.iter().map(|size| 4.0 * side(size[0]) * side(size[1])).sum()
}

fn held(stage: &Stage) -> isize {
    texture_memory(&stage.headless)
}

/// The views that Bevy renders with.
fn views(stage: &Stage) -> usize {
    let world = stage.headless.render_world();
    let query = world.try_query::<&ExtractedView>();
    query.map_or(0, |mut views| views.iter(world).count())
}

/// Within this many frames unused textures must be released.
const SOON: usize = 15;

fn show(stage: &mut Stage, build: impl Fn(&mut Ui)) {
    stage.clear();
    stage.add(stage.glass.camera, true, &build);
    stage.headless.warm_up();
}

/// A group without a blur holds a texture of its own size, with sides of multiples of 32 texels.
#[test]
fn a_group_that_fades_holds_its_picture() {
    for backend in one_backend() {
        let mut stage = stage(backend);
        let faded = |ui: &mut Ui, [left, top]: [f32; 2]| {
            let node = node(Vec2::new(left, top), Vec2::new(80.0, 60.0));
            ui.spawn((node, BackgroundColor(Color::WHITE), UiFilter::opacity(0.5)));
        };
        show(&mut stage, |ui| faded(ui, [20.0, 15.0]));
        assert_eq!(figure(&stage), pages(&stage, [[96, 64]]), "{backend:?}: one group");
        // Without a blur, the part beyond the viewport contributes nothing and needs no texels.
        let [width, height] = SIZE.to_array().map(|side| side as f32);
        stage.clear();
        stage.headless.frames(SOON);
        show(&mut stage, |ui| faded(ui, [width - 30.0, height - 20.0]));
        assert_eq!(
            figure(&stage),
            pages(&stage, [[32, 32]]),
            "{backend:?}: a group at the corner"
        );
    }
}

/// Groups of all kinds, all with glass inside, release all textures when they are despawned.
#[test]
fn bytes_return_to_nothing() {
    for backend in one_backend() {
        let mut stage = stage(backend);
        let shadow = UiFilter::shadow(Vec2::new(4.0, 3.0), 6.0, Color::BLACK).with_opacity(0.5);
        let pane = Pane::new([40.0, 20.0, 100.0, 70.0], BackdropBlur::from_sigma(3.0));
        // Bevy's user interface must allocate its own textures first.
        show(&mut stage, |ui| boxes(ui, ui.root));
        stage.clear();
        stage.headless.warm_up();
        let (before, views_before) = (held(&stage), views(&stage));
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
            stage.headless.frames(SOON);
            assert_eq!(figure(&stage), 0.0, "{backend:?}: {filter:?}");
            assert_eq!(held(&stage), before, "{backend:?}: {filter:?}");
            assert_eq!(views(&stage), views_before, "{backend:?}: {filter:?}");
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
    let mut stage = stage(BACKENDS[0]);
    let [small, large] = [stage.plain.camera, stage.glass.camera];
    stage.clear();
    stage.add(small, false, &|ui: &mut Ui| faded(ui, 20.0));
    stage.add(large, true, &|ui: &mut Ui| faded(ui, 100.0));
    stage.headless.warm_up();
    assert_eq!(figure(&stage), pages(&stage, [[32, 32], [128, 128]]));
}

/// A group whose size goes back and forth between two classes of pages needs no new texture after the first time.
#[test]
fn sizes_go_back_and_forth() {
    let mut stage = stage(BACKENDS[0]);
    let mut frames_of = |side: f32| {
        stage.clear();
        stage.add(stage.glass.camera, true, &|ui: &mut Ui| faded(ui, side));
        stage.headless.frames(2);
        held(&stage)
    };
    frames_of(50.0);
    frames_of(90.0);
    let first = [frames_of(50.0), frames_of(90.0)];
    for _ in 0..3 {
        assert_eq!([frames_of(50.0), frames_of(90.0)], first);
    }
}
