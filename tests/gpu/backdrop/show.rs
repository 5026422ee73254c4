//! A scene that two cameras show in an app that runs as games do, one of them with a pane of glass.

use super::pane::Pane;
use super::stage::LDR;
use crate::support::compositor::{assert_composed, compose};
use crate::support::difference::worst_difference;
use crate::support::formats::to_picture;
use crate::support::headless::Pixels;
use crate::support::live::{Live, Shot};
use crate::support::reference::Picture;
use crate::support::scene::{self, Kind};
use crate::support::twins::View;
use bevy::camera::Hdr;
use bevy::prelude::*;
use bevy_gaussian_blur::prelude::*;
use std::collections::HashMap;

/// Small, because there are many pictures to compare.
pub const SIZE: UVec2 = UVec2::new(64, 40);

/// A camera without glass and one with a pane that changes from frame to frame.
pub struct Show {
    pub live: Live,
    /// Without glass and with it.
    pub cameras: [Entity; 2],
    pub pane: Option<Entity>,
    /// The pane of each frame.
    asked: HashMap<usize, Pane>,
    /// The number of shots whose blur differs from the sharp picture.
    pub blurred: usize,
}

impl Show {
    /// A visible scene, in an app whose blurs are ready.
    pub fn new(backend: BlurBackend) -> Option<Self> {
        Some(Self::of(Live::new(backend, |_| {})?))
    }

    /// The same in an app that is [alone](Live::alone).
    pub fn alone(backend: BlurBackend) -> Option<Self> {
        Some(Self::of(Live::alone(backend, |_| {})?))
    }

    /// The same in an app that compiles the pipelines of glass and filters when the first of them is spawned.
    pub fn late(backend: BlurBackend) -> Option<Self> {
        Some(Self::of(Live::late(backend, |_| {})?))
    }

    fn of(mut live: Live) -> Self {
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
        show
    }

    /// Waits for the pipelines of the scene, which is without glass.
    pub fn wait_until_seen(&mut self) {
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

    /// Spawns the pane, which appears in the next frame at the earliest.
    pub fn spawn(&mut self, pane: &Pane, components: impl Bundle) {
        let world = self.live.headless.app.world_mut();
        let pane = world.spawn((pane.bundle(), UiTargetCamera(self.cameras[1]), components));
        self.pane = Some(pane.id());
    }

    /// Gives the pane components.
    pub fn change(&mut self, components: impl Bundle) {
        let pane = self.pane.expect("it was spawned");
        self.live.headless.app.world_mut().entity_mut(pane).insert(components);
    }

    /// Waits until blurs are ready after a change that needs other pipelines.
    pub fn settle(&mut self) {
        for _ in 0..4 {
            self.live.frame();
        }
        self.live.wait_until_ready();
        self.live.shots();
    }

    /// Simulates a frame with a pane.
    pub fn frame(&mut self, pane: Pane) {
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
    pub fn set_hdr(&mut self, is_hdr: bool) {
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
    pub fn bare_frame(&mut self) {
        if let Some(entity) = self.pane.take() {
            self.live.headless.app.world_mut().despawn(entity);
        }
        self.live.frame();
        self.check();
    }

    /// Compares all shots with the panes of their frames.
    pub fn check(&mut self) {
        for shot in self.live.shots() {
            if let Some(pane) = self.asked.get(&shot.frame) {
                self.blurred += usize::from(check_shot(&shot, pane));
            }
        }
    }
}

/// Whether all pixels are equal.
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
