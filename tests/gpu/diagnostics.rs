//! The plugin's figures about cameras: times here, bytes in a separate module.

mod memory;
mod order;

use crate::support::counters::{figure as value, latest};
use crate::support::gpu_without;
use crate::support::prelude::*;
use bevy_gaussian_blur::diagnostics::{DOWNSAMPLE, HORIZONTAL, PASSES, TEXTURE_BYTES, UPSAMPLE, VERTICAL};

const SIZE: UVec2 = UVec2::new(160, 90);
/// A figure must appear or disappear within this many frames.
const SOON: usize = 15;
/// Neither standard deviation is near a change of the plan: no octave here, one there.
const WEAK: f32 = 1.5;
const STRONG: f32 = 4.0;

/// Timestamps between passes, which browsers do not support.
const BETWEEN_PASSES: wgpu::Features =
    wgpu::Features::TIMESTAMP_QUERY_INSIDE_ENCODERS.union(wgpu::Features::TIMESTAMP_QUERY_INSIDE_PASSES);

/// An app with figures. Timestamps of a software renderer cover render passes only.
fn app() -> Headless {
    with_scene(gpu_with(BlurBackend::Fragment, measure))
}

/// The same if this GPU has timestamps.
fn timed_app() -> Option<Headless> {
    Some(app()).filter(has_timestamps)
}

/// The same with timestamps only at the ends of passes.
fn app_as_in_browsers() -> Headless {
    with_scene(gpu_without(BETWEEN_PASSES, measure))
}

fn measure(app: &mut App) {
    outcomes::record(app);
    app.add_plugins(GaussianBlurDiagnosticsPlugin);
}

fn with_scene(mut headless: Headless) -> Headless {
    scene::spawn(&mut headless, Kind::Core2d, 1.0);
    headless
}

fn camera(headless: &mut Headless, name: &'static str) -> Entity {
    let view = View::new(headless, Kind::Core2d, SIZE, LDR);
    view.insert(headless, Name::new(name));
    view.camera
}

fn blur(headless: &mut Headless, camera: Entity, sigma: f32) {
    let blur = GaussianBlur::from_sigma(sigma);
    headless.insert(camera, blur);
}

fn unblur(headless: &mut Headless, camera: Entity) {
    headless.remove::<GaussianBlur>(camera);
}

fn label(headless: &Headless, camera: Entity) -> BlurLabel {
    let label = headless.app.world().get::<BlurLabel>(camera);
    label.expect("a blurred camera has a label").clone()
}

/// As many frames as figures may take to appear and disappear.
fn settle(headless: &mut Headless) {
    headless.warm_up();
    headless.frames(SOON);
}

/// Whether the GPU has timestamps; without them its times are absent, and the tests of times do nothing.
fn has_timestamps(headless: &Headless) -> bool {
    has(
        headless,
        wgpu::Features::TIMESTAMP_QUERY | wgpu::Features::TIMESTAMP_QUERY_INSIDE_ENCODERS,
    )
}

fn has(headless: &Headless, needed: wgpu::Features) -> bool {
    let features = headless.render_world().resource::<RenderDevice>().features();
    let has = features.contains(needed);
    if !has {
        eprintln!("SKIPPED, this GPU has no timestamps");
    }
    has
}

/// The passes with current figures.
fn passes(world: &World, label: &BlurLabel) -> Vec<&'static str> {
    let has_figure = |pass: &&str| value(world, &label.pass_elapsed_gpu(pass)).is_some();
    PASSES.into_iter().filter(has_figure).collect()
}

/// Waits for a figure of the GPU to appear or disappear. Returns whether it did.
fn waited(headless: &mut Headless, label: &BlurLabel, present: bool) -> bool {
    headless.frames_until(SOON, |world| {
        value(world, &label.elapsed_gpu()).is_some() == present && passes(world, label).is_empty() != present
    })
}

#[test]
fn figures_appear_and_add_up() {
    if let Some(headless) = timed_app() {
        appear_and_add_up(headless);
    }
}

#[test]
fn figures_of_passes_alone_appear_and_add_up() {
    let has_queries = |headless: &Headless| has(headless, wgpu::Features::TIMESTAMP_QUERY);
    let headless = app_as_in_browsers();
    if has_queries(&headless) {
        assert!(
            !headless
                .render_world()
                .resource::<RenderDevice>()
                .features()
                .intersects(BETWEEN_PASSES)
        );
        appear_and_add_up(headless);
    }
}

/// The milliseconds that a GPU takes to end a pass and begin another one: an empty pass on a data-centre GPU takes about as long.
const MOST_BETWEEN_PASSES: f64 = 0.005;

fn appear_and_add_up(mut headless: Headless) {
    headless.warm_up();
    let camera = camera(&mut headless, "Main/camera");
    for sigma in [WEAK, STRONG] {
        blur(&mut headless, camera, sigma);
        headless.warm_up();
        unblur(&mut headless, camera);
        headless.warm_up();
        headless.warm_up();
        blur(&mut headless, camera, sigma);
        let label = BlurLabel::new("Main/camera");
        assert!(
            label
                .elapsed_gpu()
                .as_str()
                .starts_with("render/gaussian_blur/Main_camera/")
        );
        let appeared = headless.frames_until(10, |world| value(world, &label.elapsed_gpu()).is_some());
        assert!(appeared, "σ {sigma}: no figure within ten frames");
        let mut shares = Vec::new();
        for _ in 0..21 {
            headless.frame();
            let world = headless.app.world();
            let time = |path| latest(world, &path).unwrap_or_default();
            let whole = time(label.elapsed_gpu());
            let each: Vec<f64> = PASSES.iter().map(|pass| time(label.pass_elapsed_gpu(pass))).collect();
            let sum: f64 = each.iter().sum();
            let present = passes(world, &label);
            assert!(whole > 0.0 && !present.is_empty(), "σ {sigma}: {whole} ms, {present:?}");
            for (pass, time) in PASSES.iter().zip(&each) {
                assert_eq!(*time > 0.0, present.contains(pass), "σ {sigma}: {pass} took {time} ms");
            }
            // Timestamps are rounded.
            assert!(sum <= whole * 1.001 + 1e-4, "σ {sigma}: {each:?} are more than {whole}");
            // A GPU that is done in no time spends most of the whole on the way from one pass to the next.
            let gaps = MOST_BETWEEN_PASSES * each.iter().filter(|time| **time > 0.0).count() as f64;
            shares.push((sum + gaps) / whole);
        }
        // A software renderer may be interrupted between two passes, so the median is checked.
        shares.sort_by(f64::total_cmp);
        println!("σ {sigma}: the passes are {:.2} of the whole (median)", shares[10]);
        assert!(
            shares[10] >= 0.5,
            "σ {sigma}: the passes are too little of the whole: {shares:?}"
        );
    }
}

/// A change after which a camera is no longer blurred.
type End = fn(&mut Headless, Entity);

#[test]
fn figures_vanish() {
    let Some(mut headless) = timed_app() else {
        return;
    };
    let camera = camera(&mut headless, "Main");
    let label = BlurLabel::new("Main");
    let ends: [(&str, End); 4] = [
        ("the component goes", unblur),
        ("the radius goes to 0", |headless, camera| blur(headless, camera, 0.0)),
        ("the camera is inactive", |headless, camera| {
            set_active(headless, camera, false)
        }),
        ("the camera goes", |headless, camera| {
            headless.despawn(camera);
        }),
    ];
    for (name, end) in ends {
        set_active(&mut headless, camera, true);
        blur(&mut headless, camera, STRONG);
        headless.warm_up();
        assert!(waited(&mut headless, &label, true), "{name}: no figure before");
        assert!(value(headless.app.world(), &label.elapsed_cpu()).is_some(), "{name}");
        end(&mut headless, camera);
        assert!(waited(&mut headless, &label, false), "{name}: a figure stays");
        for _ in 0..SOON {
            headless.frame();
            let world = headless.app.world();
            assert_eq!(passes(world, &label), [""; 0], "{name}: a figure returns");
            let whole = [label.elapsed_gpu(), label.elapsed_cpu()];
            assert!(
                whole.iter().all(|path| value(world, path).is_none()),
                "{name}: a figure returns"
            );
        }
        assert_eq!(value(headless.app.world(), &TEXTURE_BYTES), Some(0.0), "{name}");
    }
}

/// The figures of filters vanish with the last filter of a camera.
#[test]
fn figures_of_filters_vanish() {
    let Some(mut headless) = timed_app() else {
        return;
    };
    let camera = camera(&mut headless, "Main");
    let label = BlurLabel::of_filters(camera);
    let node = Node {
        width: Val::Px(40.0),
        height: Val::Px(30.0),
        ..default()
    };
    let node = (node, BackgroundColor(Color::WHITE), UiTargetCamera(camera));
    let node = headless.spawn((node, UiFilter::from_sigma(2.0)));
    headless.warm_up();
    let waited = |headless: &mut Headless, present: bool| {
        headless.frames_until(SOON, |world| value(world, &label.elapsed_cpu()).is_some() == present)
    };
    assert!(waited(&mut headless, true), "no figure");
    headless.remove::<UiFilter>(node);
    assert!(waited(&mut headless, false), "a figure stays");
}

#[test]
fn figures_follow_the_plan() {
    let Some(mut headless) = timed_app() else {
        return;
    };
    let camera = camera(&mut headless, "Main");
    let weak = vec![HORIZONTAL, VERTICAL];
    let strong = vec![DOWNSAMPLE, HORIZONTAL, VERTICAL, UPSAMPLE];
    let label = BlurLabel::new("Main");
    for (sigma, expected) in [(WEAK, &weak), (STRONG, &strong), (WEAK, &weak), (60.0, &strong)] {
        blur(&mut headless, camera, sigma);
        let arrived = headless.frames_until(SOON, |world| passes(world, &label) == *expected);
        let found = passes(headless.app.world(), &label);
        assert!(arrived, "σ {sigma}: {found:?} instead of {expected:?}");
    }
}

#[test]
fn two_cameras_never_mix_their_figures() {
    let Some(mut headless) = timed_app() else {
        return;
    };
    let [one, other, sharp] = ["Player", "Player", "Player"].map(|name| camera(&mut headless, name));
    blur(&mut headless, one, WEAK);
    blur(&mut headless, other, STRONG);
    settle(&mut headless);
    let labels = [one, other].map(|camera| label(&headless, camera));
    assert_ne!(labels[0], labels[1]);
    for _ in 0..SOON {
        headless.frame();
        let world = headless.app.world();
        assert_eq!(passes(world, &labels[0]), [HORIZONTAL, VERTICAL]);
        assert_eq!(passes(world, &labels[1]), [DOWNSAMPLE, HORIZONTAL, VERTICAL, UPSAMPLE]);
        for label in &labels {
            assert!(value(world, &label.elapsed_gpu()).is_some_and(|time| time > 0.0));
        }
        assert_eq!(world.get::<BlurLabel>(sharp), None, "the third camera is not blurred");
        assert_eq!(value(world, &BlurLabel::new("Player").elapsed_gpu()), None);
    }
    // The remaining camera's name is unique again.
    unblur(&mut headless, one);
    settle(&mut headless);
    let world = headless.app.world();
    for old in &labels {
        assert_eq!(passes(world, old), [""; 0], "{} is no more", old.as_str());
        assert_eq!(value(world, &old.elapsed_gpu()), None, "{} is no more", old.as_str());
    }
    assert_eq!(label(&headless, other), BlurLabel::new("Player"));
    let left = passes(world, &BlurLabel::new("Player"));
    assert_eq!(left, [DOWNSAMPLE, HORIZONTAL, VERTICAL, UPSAMPLE]);
}

#[test]
fn encoding_is_timed() {
    let mut headless = app();
    let camera = camera(&mut headless, "Main");
    let path = BlurLabel::new("Main").elapsed_cpu();
    for sigma in [WEAK, STRONG, 40.0] {
        blur(&mut headless, camera, sigma);
        headless.warm_up();
        let mut times = Vec::new();
        for _ in 0..60 {
            headless.frame();
            times.extend(latest(headless.app.world(), &path));
        }
        assert!(times.len() >= 50, "σ {sigma}: only {} figures", times.len());
        assert!(times.iter().all(|time| *time > 0.0));
        times.sort_by(f64::total_cmp);
        println!(
            "σ {sigma}: encoded in {:.1} us (median)",
            times[times.len() / 2] * 1000.0
        );
    }
}
