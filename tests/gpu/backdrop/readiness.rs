//! Glass in an app that compiles pipelines in the background and renders a frame behind, as games do: once blurs are
//! ready, every frame shows what was asked for in it.

use super::glass;
use super::pane::Pane;
use super::stage::{BACKENDS, LDR};
use crate::support::compositor::{assert_composed, compose};
use crate::support::difference::worst_difference;
use crate::support::formats::to_picture;
use crate::support::gpu;
use crate::support::headless::{Headless, Pixels, label_of};
use crate::support::live::{Live, Shot};
use crate::support::reference::Picture;
use crate::support::scene::{self, Kind};
use crate::support::twins::View;
use bevy::camera::Hdr;
use bevy::prelude::*;
use bevy::render::render_resource::PipelineCache;
use bevy_gaussian_blur::prelude::*;
use std::collections::HashMap;

/// Small, because there are many pictures to compare.
const SIZE: UVec2 = UVec2::new(64, 40);

/// A camera without glass and one with a pane that changes from frame to frame.
struct Show {
    live: Live,
    /// Without glass and with it.
    cameras: [Entity; 2],
    pane: Option<Entity>,
    /// What was asked for in each frame.
    asked: HashMap<usize, Pane>,
    /// Shots with a blur that can be told from the sharp picture.
    blurred: usize,
}

impl Show {
    /// A scene that is seen, in an app whose blurs are ready.
    fn new(backend: BlurBackend) -> Option<Self> {
        let mut live = Live::new(backend, |_| {})?;
        scene::spawn(&mut live.headless, Kind::Core2d, 1.0);
        let views = [(); 2].map(|()| View::new(&mut live.headless, Kind::Core2d, SIZE, LDR));
        views.iter().for_each(|view| live.watch(&view.target));
        live.wait_until_ready();
        let mut show = Self {
            live,
            cameras: views.map(|view| view.camera),
            pane: None,
            asked: HashMap::new(),
            blurred: 0,
        };
        show.wait_until_seen();
        Some(show)
    }

    /// Waits for the pipelines of the scene, which is without glass.
    fn wait_until_seen(&mut self) {
        let first = self.live.frame();
        let mut is_seen = false;
        let mut frame = first;
        while frame < first + 30 || !is_seen {
            frame = self.live.frame();
            let shots = self.live.shots();
            let mut later = shots.iter().filter(|shot| shot.frame >= first);
            is_seen |= later.any(|shot| shot.images[0].iter().any(|sharp| !is_flat(sharp)));
            assert!(frame < first + 10_000, "the scene is not seen");
        }
    }

    /// Simulates a frame with a pane.
    fn frame(&mut self, pane: Pane) {
        let world = self.live.headless.app.world_mut();
        if let Some(entity) = self.pane {
            world.entity_mut(entity).insert(pane.bundle());
        } else {
            let entity = world.spawn((pane.bundle(), UiTargetCamera(self.cameras[1])));
            self.pane = Some(entity.id());
        }
        let frame = self.live.frame();
        self.asked.insert(frame, pane);
        self.check();
    }

    /// Gives both cameras a high dynamic range, or takes it away.
    fn set_hdr(&mut self, is_hdr: bool) {
        for camera in self.cameras {
            let mut camera = self.live.headless.app.world_mut().entity_mut(camera);
            if is_hdr {
                camera.insert(Hdr);
            } else {
                camera.remove::<Hdr>();
            }
        }
    }

    /// Simulates a frame without a pane.
    fn bare_frame(&mut self) {
        if let Some(entity) = self.pane.take() {
            self.live.headless.app.world_mut().despawn(entity);
        }
        self.live.frame();
        self.check();
    }

    /// Compares all shots with what was asked for in their frames.
    fn check(&mut self) {
        for shot in self.live.shots() {
            if let Some(pane) = self.asked.get(&shot.frame) {
                self.blurred += usize::from(check_shot(&shot, pane));
            }
        }
    }
}

/// Whether there is nothing to be seen.
fn is_flat(pixels: &Pixels) -> bool {
    let texel = pixels.bytes.len() / (pixels.width * pixels.height) as usize;
    pixels.bytes.chunks(texel).all(|bytes| *bytes == pixels.bytes[..texel])
}

/// Compares one shot. Returns whether a sharp picture would have failed.
fn check_shot(shot: &Shot, pane: &Pane) -> bool {
    let pictures: Vec<Picture> = shot.images.iter().flatten().map(to_picture).collect();
    let [plain, got] = &pictures[..] else {
        panic!("frame {}: an image is missing", shot.frame);
    };
    let layers = [pane.layer()];
    let name = format!("backdrop-live-{}", shot.frame);
    assert_composed(&name, got, plain, &layers, LDR);
    worst_difference(&compose(plain, &layers, LDR), plain).value > 6.0 / 255.0
}

/// The first glass of the app, in all strengths that an eased one has, with every edge, and with corners and opacities
/// that take pipelines of their own.
#[test]
fn eased_glass_is_never_sharp() {
    let base = Pane::new([9.0, 6.0, 44.0, 29.0], glass(0.0));
    let edges = [
        EdgeMode::Mirror,
        EdgeMode::Clamp,
        EdgeMode::Wrap,
        EdgeMode::Transparent,
        EdgeMode::Renormalize,
    ];
    for backend in BACKENDS {
        let Some(mut show) = Show::new(backend) else {
            return;
        };
        for round in 0..3 {
            for step in 0..=120 {
                let eased = BackdropBlur::new(0.3 * step as f32);
                let sampling = match step / 31 % 2 {
                    0 => BackdropSampling::Inside,
                    _ => BackdropSampling::Surroundings,
                };
                let edge = edges[(round + step / 24) % edges.len()];
                let mut pane = Pane {
                    glass: eased.with_edge(edge).with_sampling(sampling),
                    ..base
                };
                if round > 0 {
                    pane = pane.with_radii([8.0; 4]);
                    pane.glass = pane.glass.with_opacity((0.02 * step as f32).min(1.0));
                }
                show.frame(pane);
            }
            // It goes, and comes again at another size.
            for _ in 0..5 {
                show.bare_frame();
            }
        }
        println!("{backend:?}: {} blurred pictures", show.blurred);
        assert!(show.blurred > 150, "{} pictures were blurred", show.blurred);
    }
}

/// No easing: glass that is there at once is blurred in its first frame.
#[test]
fn the_first_frame_of_the_first_glass_is_blurred() {
    for backend in BACKENDS {
        let Some(mut show) = Show::new(backend) else {
            return;
        };
        let glass = glass(5.0).with_saturation(1.4);
        for _ in 0..8 {
            show.frame(Pane::new([9.0, 6.0, 44.0, 29.0], glass).with_radii([7.0; 4]));
        }
        assert!(show.blurred >= 4, "{} pictures were blurred", show.blurred);
    }
}

/// Whichever dynamic range a camera had when glass came, the other one is ready, too.
#[test]
fn glass_stays_when_the_dynamic_range_changes() {
    for backend in BACKENDS {
        let Some(mut show) = Show::new(backend) else {
            return;
        };
        // Bevy's own pipelines are there for both, so that there is always something to be seen through the glass.
        for is_hdr in [true, false] {
            show.set_hdr(is_hdr);
            show.wait_until_seen();
        }
        let pane = Pane::new([9.0, 6.0, 44.0, 29.0], glass(5.0).with_opacity(0.8)).with_radii([7.0; 4]);
        for step in 0..48 {
            show.set_hdr(step / 6 % 2 == 1);
            show.frame(pane);
        }
        assert!(show.blurred >= 40, "{} pictures were blurred", show.blurred);
    }
}

/// How many pipelines of glass there are.
fn glass_pipelines(headless: &Headless) -> usize {
    let cache = headless.render_world().resource::<PipelineCache>();
    let labels = cache.pipelines().filter_map(|pipeline| label_of(&pipeline.descriptor));
    labels.filter(|label| *label == "gaussian_blur_glass").count()
}

#[test]
fn apps_without_glass_compile_none_of_its_pipelines() {
    for kind in [Kind::Core2d, Kind::Core3d] {
        let Some(mut headless) = gpu(|_| {}) else {
            return;
        };
        let view = View::new(&mut headless, kind, SIZE, LDR);
        view.insert(&mut headless, GaussianBlur::new(12.0));
        headless.warm_up();
        assert_eq!(glass_pipelines(&headless), 0, "{kind:?}");
        // It cannot be seen, and will be.
        let glass = (Node::default(), Visibility::Hidden, BackdropBlur::new(0.0));
        headless.app.world_mut().spawn(glass);
        headless.frame();
        let all = glass_pipelines(&headless);
        assert!(all > 0, "{kind:?}");
        view.insert(&mut headless, Hdr);
        headless.warm_up();
        assert_eq!(
            glass_pipelines(&headless),
            all,
            "{kind:?}: both dynamic ranges are there"
        );
    }
}
