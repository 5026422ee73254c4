//! A scene that two cameras show in an app that runs as games do, one of them with a pane of glass.

use super::*;
use crate::support::compositor::{assert_composed, compose};
use std::collections::HashMap;

/// Small, because there are many pictures to compare.
pub const SIZE: UVec2 = UVec2::new(60, 40);

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
    pub fn new(backend: BlurBackend) -> Self {
        Self::of(Live::with_ui(backend, |_| {}))
    }

    /// The same in an app that is [alone](Live::alone).
    pub fn alone(backend: BlurBackend) -> Self {
        Self::of(Live::alone(backend, |_| {}))
    }

    /// The same in an app that compiles the pipelines of glass and filters when the first of them is spawned.
    pub fn late(backend: BlurBackend) -> Self {
        Self::of(Live::late(backend, |_| {}))
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
        show.live.wait_until_seen();
        show
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
        self.live.headless.insert(pane, components);
    }

    /// Waits until blurs are ready after a change that needs other pipelines.
    pub fn settle(&mut self) {
        self.live.frames(4);
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
            self.live.headless.set(camera, Hdr, is_hdr);
        }
    }

    /// Simulates a frame without a pane.
    pub fn bare_frame(&mut self) {
        if let Some(entity) = self.pane.take() {
            self.live.headless.despawn(entity);
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
