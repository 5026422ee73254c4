//! Blurs of cameras and of glass that are disabled and enabled, removed and inserted, in any order: whatever came before, what is
//! there shows what it shows in a new app.

use super::*;
use crate::backdrop::pane::Pane;
use crate::backdrop::stage::Stage;
use Change::{Disable, Enable, Insert, Remove};
use bevy::ecs::entity_disabling::Disabled;

/// What happens to a blur: its component is inserted or removed, its entity disabled or enabled.
#[derive(Clone, Copy, Debug)]
enum Change {
    Insert,
    Remove,
    Disable,
    Enable,
}

/// What happens in each frame. In the last one, the blur is there.
const HISTORIES: [&[&[Change]]; 8] = [
    &[&[Disable], &[Enable]],
    &[&[Disable, Enable]],
    &[&[Remove, Insert]],
    &[&[Disable], &[Remove], &[Enable], &[Insert]],
    &[&[Disable], &[Remove, Insert], &[Enable]],
    &[&[Remove], &[Disable], &[Insert], &[Enable]],
    &[&[Disable, Remove, Enable, Insert]],
    &[&[Remove], &[Disable, Insert], &[], &[Enable, Disable], &[Enable]],
];

/// An app with a region, a pane, and a blurred camera.
struct Blurs {
    stage: Stage,
    all: Vec<Entity>,
}

impl Blurs {
    fn new(backend: BlurBackend) -> Self {
        let mut stage = Stage::new(backend, Kind::Core2d, LDR);
        let pane = Pane::new([30.0, 20.0, 60.0, 50.0], BackdropBlur::from_sigma(4.0));
        stage.show(|ui| ui.pane(&pane));
        let region = BackdropRegion::new(stage.glass.camera, Rect::new(100.0, 20.0, 150.0, 90.0));
        let mut all = vec![stage.glass.camera, stage.spawn(region)];
        all.extend(&stage.panes);
        let mut blurs = Self { stage, all };
        for index in 0..blurs.all.len() {
            blurs.happen(index, Insert);
        }
        blurs.stage.headless.warm_up();
        blurs
    }

    fn happen(&mut self, index: usize, event: Change) {
        let entity = self.all[index];
        let is_camera = entity == self.stage.glass.camera;
        let mut entity = self.stage.headless.app.world_mut().entity_mut(entity);
        match event {
            // Bevy 0.19 goes on rendering a disabled camera, and draws no sprites once it is enabled again, blurred or not.
            Disable | Enable if is_camera => return,
            Insert if is_camera => entity.insert(GaussianBlur::from_sigma(2.0)),
            Insert => entity.insert(BackdropBlur::from_sigma(4.0)),
            Remove => entity.remove::<(GaussianBlur, BackdropBlur)>(),
            Disable => entity.insert(Disabled),
            Enable => entity.remove::<Disabled>(),
        };
    }

    fn pixels(&self) -> Vec<u8> {
        self.stage.pixels().bytes
    }
}

#[test]
fn a_blur_that_is_back_is_as_new() {
    for backend in one_backend() {
        let mut blurs = Blurs::new(backend);
        let expected = blurs.pixels();
        for history in HISTORIES {
            for index in 0..blurs.all.len() {
                for events in history {
                    for event in *events {
                        blurs.happen(index, *event);
                    }
                    blurs.stage.headless.frame();
                }
                blurs.stage.headless.frame();
                let is_same = blurs.pixels() == expected;
                assert!(is_same, "{backend:?}: blur {index} after {history:?}");
            }
        }
    }
}

/// Spawned disabled, as a pool or a prefab does, and enabled later.
#[test]
fn a_blur_that_was_spawned_disabled_is_drawn_when_it_is_enabled() {
    for backend in one_backend() {
        let mut blurs = Blurs::new(backend);
        let expected = blurs.pixels();
        let region = blurs.all[1];
        let world = blurs.stage.headless.app.world_mut();
        world.entity_mut(region).remove::<BackdropBlur>();
        let place = BackdropRegion::new(blurs.all[0], Rect::new(100.0, 20.0, 150.0, 90.0));
        let pooled = world.spawn((place, BackdropBlur::from_sigma(4.0), Disabled)).id();
        blurs.stage.headless.frame();
        assert!(blurs.pixels() != expected, "{backend:?}: it is disabled");
        for _ in 0..2 {
            let world = blurs.stage.headless.app.world_mut();
            world.entity_mut(pooled).remove::<Disabled>();
            blurs.stage.headless.frame();
            assert!(blurs.pixels() == expected, "{backend:?}: it is enabled");
            let world = blurs.stage.headless.app.world_mut();
            world.entity_mut(pooled).insert(Disabled);
            blurs.stage.headless.frame();
        }
        // What is despawned while it is disabled leaves nothing behind.
        let world = blurs.stage.headless.app.world_mut();
        world.despawn(pooled);
        world.entity_mut(region).insert(BackdropBlur::from_sigma(4.0));
        blurs.stage.headless.frame();
        assert!(blurs.pixels() == expected, "{backend:?}: another one is in its place");
    }
}
