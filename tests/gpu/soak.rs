//! A long run with continuous change: memory stays flat, and the GPU does not become slower. `scripts/soak` runs it.

use crate::support::counters::Held;
use crate::support::prelude::*;
use crate::support::process::Process;
use bevy::diagnostic::DiagnosticsStore;

const SIZE: UVec2 = UVec2::splat(64);

/// One app with a little of everything, small enough for very many frames.
struct Soak {
    headless: Headless,
    camera: Entity,
    region: Entity,
    pane: Entity,
    images: [Entity; 2],
    source: Handle<Image>,
    visitor: Option<Entity>,
}

impl Soak {
    fn new() -> Self {
        let mut headless = gpu_with(BlurBackend::Fragment, |app| {
            outcomes::record(app);
            app.add_plugins(GaussianBlurDiagnosticsPlugin);
        });
        scene::spawn(&mut headless, Kind::Core2d, 1.0);
        let [blurred, glass] = [(); 2].map(|()| View::new(&mut headless, Kind::Core2d, SIZE, HDR));
        blurred.insert(&mut headless, (Name::new("soak"), GaussianBlur::new(1.0)));
        let source = headless.add_image(image(0));
        let images = [BlurUpdate::EveryFrame, BlurUpdate::OnChange].map(|update| {
            spawn(
                &mut headless,
                GaussianBlur::new(9.0),
                plain(source.clone()).with_update(update),
            )
        });
        let world = headless.app.world_mut();
        let rect = Rect::new(5.0, 5.0, 30.0, 30.0);
        let region = world
            .spawn((BackdropRegion::new(glass.camera, rect), BackdropBlur::new(9.0)))
            .id();
        let node = Node {
            position_type: PositionType::Absolute,
            width: px(20),
            height: px(15),
            ..default()
        };
        let pane = world
            .spawn((node, UiTargetCamera(glass.camera), BackdropBlur::new(9.0)))
            .id();
        Self {
            headless,
            camera: blurred.camera,
            region,
            pane,
            images,
            source,
            visitor: None,
        }
    }

    /// Changes strengths and positions in every frame, the source and its size every 50 frames, and spawns or despawns a
    /// blur every 100 frames. The changes repeat after 1000 frames.
    fn change(&mut self, frame: usize) {
        let phase = (frame % 1000) as f32;
        let strength = 30.0 * (1.0 + (phase * 0.0628).sin());
        let world = self.headless.app.world_mut();
        let mut set = |entity, blur| *world.get_mut::<GaussianBlur>(entity).expect("it stays") = blur;
        set(self.camera, GaussianBlur::new(strength));
        set(self.images[0], GaussianBlur::new(60.0 - strength));
        let glass = BackdropBlur::new(strength).with_opacity(phase / 1000.0);
        *world.get_mut::<BackdropBlur>(self.pane).expect("it stays") = glass;
        let corner = Vec2::splat(phase % 40.0);
        let mut region = world.get_mut::<BackdropRegion>(self.region).expect("it stays");
        region.rect = Rect::from_corners(corner, corner + 20.0 + phase % 7.0);
        if frame.is_multiple_of(50) {
            replace_image(&mut self.headless, &self.source.clone(), image(frame / 50 % 5));
        }
        if frame.is_multiple_of(100) {
            if let Some(visitor) = self.visitor.take() {
                self.headless.despawn(visitor);
            } else {
                let image = plain(self.source.clone());
                self.visitor = Some(spawn(&mut self.headless, GaussianBlur::new(15.0), image));
            }
        }
    }

    /// The GPU time of the camera's blur in the last measured frame, in milliseconds.
    fn gpu_time(&self) -> Option<f64> {
        let world = self.headless.app.world();
        let label = world.get::<BlurLabel>(self.camera)?;
        let diagnostic = world.resource::<DiagnosticsStore>().get(&label.elapsed_gpu())?;
        diagnostic.measurement().map(|measurement| measurement.value)
    }
}

fn image(kind: usize) -> Image {
    let side = [40, 17, 64, 1, 33][kind];
    to_image(&inputs::patterns(side, 40)[0], TextureFormat::Rgba8UnormSrgb)
}

fn median(times: &mut [f64]) -> f64 {
    times.sort_unstable_by(f64::total_cmp);
    times.get(times.len() / 2).copied().unwrap_or(0.0)
}

#[test]
#[ignore = "it takes many minutes: scripts/soak runs it"]
fn very_many_frames() {
    let frames: usize = std::env::var("BLUR_SOAK_FRAMES").map_or(2000, |text| text.parse().expect("a number"));
    let mut soak = Soak::new();
    soak.headless.warm_up();
    // Two rounds of all changes, in which caches fill.
    let warm_up = (frames / 10).max(2000).next_multiple_of(1000);
    let total = warm_up + frames.next_multiple_of(1000);
    let mut curve = Vec::with_capacity(total);
    // Filled, so that the test itself allocates all its memory before it starts to measure.
    let mut times = vec![f64::NAN; total];
    times.clear();
    let mut held = None;
    for frame in 0..total {
        soak.change(frame);
        soak.headless.frame();
        if frame.is_multiple_of(1000) {
            // The test's own records of every blur must not look like a leak.
            outcomes::frames(&mut soak.headless, 0);
        }
        if frame >= warm_up {
            times.extend(soak.gpu_time());
        }
        if (frame + 1).is_multiple_of(1000) && frame + 1 >= warm_up {
            let now = Held::by(&soak.headless.app);
            now.assert_no_more_than(held.get_or_insert_with(|| now.clone()), &[]);
            curve.push(Process::now().map_or(0, |process| process.resident));
        }
    }
    let tenth = times.len() / 10;
    let last = times.len() - tenth;
    let (first, last) = (
        median(&mut times[..tenth].to_vec()),
        median(&mut times[last..].to_vec()),
    );
    let drift = 100.0 * (last / first - 1.0);
    // Allocators and drivers take a while to fill their caches, longer than any object that the counters see.
    let second_half = &curve[curve.len() / 2..];
    let grown = second_half.iter().max().unwrap_or(&0) - second_half[0];
    report::row(
        "frames of the soak",
        &format!("{} after {warm_up} of warming up, 64x64", total - warm_up),
    );
    let tenths: Vec<String> = (0..=10)
        .map(|tenth| format!("{:.1}", curve[tenth * (curve.len() - 1) / 10] as f64 / 1024.0))
        .collect();
    report::row("resident memory, every tenth of the soak, MiB", &tenths.join(", "));
    report::row(
        "resident memory, most above its start in the second half, KiB",
        &grown.to_string(),
    );
    report::row(
        "held on the GPU, at the start and the end",
        "the same, by wgpu's counters, every 1000 frames",
    );
    report::row(
        "GPU time of the camera's blur, median",
        &format!("{first:.4} ms in the first tenth, {last:.4} ms in the last: {drift:+.1} %"),
    );
    assert!(grown <= 1024, "memory grows: {curve:?} KiB");
}
