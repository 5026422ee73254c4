//! While no pipeline compiles, blurs go on as they were. These tests fill the threads that compile, so `scripts/test` runs them
//! after all others: with `held` in their names.

use super::*;
use crate::support::images::assert_pixels;
use bevy::render::{Render, RenderSystems};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// While pipelines for a profile compile, a blur goes on as it was. If it was neutral, the picture stays sharp.
#[test]
fn a_neutral_blur_does_not_come_back_with_its_old_strength() {
    let live = Live::alone(BlurBackend::Compute, |_| {});
    let mut show = Show::of(live);
    show.live.wait_until_ready();
    for radius in [12.0, 0.0] {
        (0..5).for_each(|_| show.frame(GaussianBlur::new(radius)));
    }
    let held = show.live.hold_compiler();
    let profile = linear([Vec2::ZERO, Vec2::ONE], [0.0, 1.0]);
    for entity in &show.blurred {
        show.live.headless.insert(*entity, profile.clone());
    }
    show.live.shots();
    let mut first = usize::MAX;
    for _ in 0..12 {
        show.frame(GaussianBlur::new(3.0));
        first = first.min(*show.asked.keys().max().expect("a frame was shown"));
    }
    let shots = show.live.shots();
    held.release();
    let mut seen = 0;
    for shot in shots.iter().filter(|shot| shot.frame >= first) {
        for pair in &show.pairs {
            if let (Some(sharp), Some(blurred)) = (&shot.images[pair.sharp], &shot.images[pair.blurred]) {
                let worst = worst_difference(&to_picture(blurred), &to_picture(sharp));
                assert!(worst.value < 1e-3, "{} in frame {}: {worst:?}", pair.name, shot.frame);
                seen += 1;
            }
        }
    }
    assert!(seen > 0, "nothing was shown");
}

/// The last result stays until the pipelines for another format are compiled.
#[test]
fn a_target_of_the_plugins_own_keeps_its_result_while_pipelines_compile() {
    for backend in one_backend() {
        let mut live = Live::alone(backend, |_| {});
        let [old, _] = inputs::patterns(33, 21);
        let source = live.headless.add_image(to_image(&old, HDR));
        let blur = GaussianBlur::from_sigma(4.0);
        let entity = spawn(&mut live.headless, blur, plain(source.clone()));
        live.frames(5);
        live.wait_until_ready();
        live.frames(5);
        let target = target_of(&live.headless, entity);
        live.watch(&target);
        live.frames(2);
        live.shots();
        let held = live.hold_compiler();
        let [_, new] = inputs::patterns(50, 40);
        replace_image(&mut live.headless, &source, to_image(&new, TextureFormat::R8Unorm));
        live.frames(12);
        let shots = live.shots();
        held.release();
        assert!(shots.len() >= 10, "{backend:?}: {} frames were rendered", shots.len());
        for shot in &shots {
            let pixels = shot.images[0].as_ref().expect("the target is on the GPU");
            let name = format!("kept-{backend:?}-{}", shot.frame);
            assert_pixels(&name, pixels, &old, 4.0);
        }
        live.wait_until_ready();
        live.frames(5);
        let last = live.shots().pop().expect("frames were rendered");
        let pixels = last.images[0].as_ref().expect("the target is on the GPU");
        assert_eq!(pixels.format, TextureFormat::R8Unorm);
        assert_pixels(&format!("kept-{backend:?}-then"), pixels, &new, 4.0);
    }
}

/// A blur is carried out when its own pipelines draw it, and not while the one before stands in for it.
#[test]
fn what_stands_in_is_not_reported() {
    let mut live = Live::alone(BlurBackend::Compute, outcomes::record);
    // Cameras do not announce the dithering of this format.
    let picture = to_image(&inputs::patterns(33, 21)[0], TextureFormat::Rgba8Unorm);
    let source = live.headless.add_image(picture);
    let entity = spawn(&mut live.headless, GaussianBlur::from_sigma(4.0), plain(source));
    live.frames(5);
    live.wait_until_ready();
    live.frames(5);
    assert_eq!(finished(&mut live.headless, 0), 1);
    let held = live.hold_compiler();
    live.headless.get_mut::<BlurImage>(entity).dither = true;
    live.frames(8);
    assert_eq!(finished(&mut live.headless, 0), 0, "nothing dithers yet");
    held.release();
    live.wait_until_ready();
    live.frames(5);
    assert_eq!(finished(&mut live.headless, 0), 1);
}

/// The number of this crate's pipelines, from the render world.
#[derive(Resource, Clone, Default)]
struct Pipelines(Arc<AtomicUsize>);

impl Pipelines {
    fn count(&self) -> usize {
        self.0.load(Ordering::Relaxed)
    }
}

fn count_pipelines(cache: Res<PipelineCache>, pipelines: Res<Pipelines>) {
    pipelines.0.store(labels_of(&cache).count(), Ordering::Relaxed);
}

/// Pipelines for kernels that no blur has drawn are requested when nothing else compiles.
#[test]
fn kernels_that_nothing_draws_wait() {
    let pipelines = Pipelines::default();
    let count = pipelines.clone();
    let setup = |app: &mut App| {
        app.sub_app_mut(RenderApp)
            .insert_resource(count)
            .add_systems(Render, count_pipelines.in_set(RenderSystems::Cleanup));
    };
    let mut live = Live::alone(BlurBackend::Compute, setup);
    let view = View::new(&mut live.headless, Kind::Core2d, SIZE, LDR);
    live.wait_until_ready();
    let held = live.hold_compiler();
    live.frames(5);
    let general = pipelines.count();
    view.insert(&mut live.headless, GaussianBlur::new(9.0));
    live.frames(30);
    let own = pipelines.count();
    assert!((general + 1..=general + 10).contains(&own), "{general}, then {own}");
    held.release();
    for _ in 0..1000 {
        let before = pipelines.count();
        live.frame();
        let now = pipelines.count();
        assert!(now <= before + 6, "not all at once: {before}, then {now}");
        if now > own + 10 {
            return;
        }
        sleep(Duration::from_millis(5));
    }
    panic!("the others do not follow: {own}, then {}", pipelines.count());
}
