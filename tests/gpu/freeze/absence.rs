//! What ends a freeze beside its removal: the switch, and blurs that are not there.

use super::*;
use crate::backdrop::pane::Pane;
use crate::backdrop::stage::Stage;
use crate::support::events::{listen, take_heard};
use bevy::ecs::entity_disabling::Disabled;

fn record(app: &mut App) {
    listen::<FreezeTaken>(app);
    listen::<FreezeLost>(app);
}

/// An entity of each kind that can be frozen, each with a blur of its own: a camera, a region, and a node.
struct Frozen {
    stage: Stage,
    all: Vec<Entity>,
}

impl Frozen {
    fn new(backend: BlurBackend) -> Self {
        let mut stage = Stage::with(backend, Kind::Core2d, LDR, record);
        let pane = Pane::new([30.0, 20.0, 60.0, 50.0], BackdropBlur::from_sigma(4.0));
        stage.show(|ui| ui.pane(&pane));
        let region = BackdropRegion::new(stage.glass.camera, Rect::new(100.0, 20.0, 150.0, 90.0));
        let region = stage.spawn((region, BackdropBlur::from_sigma(4.0)));
        let mut all = vec![region];
        all.extend(&stage.panes);
        all.push(stage.glass.camera);
        stage.insert(GaussianBlur::from_sigma(2.0));
        step(&mut stage.headless, 1);
        stage.headless.warm_up();
        all.sort_unstable();
        Self { stage, all }
    }

    fn freeze(&mut self) {
        freeze(&mut self.stage.headless, &self.all);
    }

    /// The events since the last call: taken and lost.
    fn events(&mut self) -> [Vec<Entity>; 2] {
        let headless = &mut self.stage.headless;
        [take_heard::<FreezeTaken>(headless), take_heard::<FreezeLost>(headless)]
    }

    fn frame(&mut self, frame: u32) {
        step(&mut self.stage.headless, frame);
    }

    fn pixels(&self) -> Vec<u8> {
        self.stage.pixels().bytes
    }

    /// Freezes everything in a frame, also what was lost before, and waits for the news, which the frame after it has.
    fn take(&mut self) -> Vec<u8> {
        self.freeze();
        self.frame(2);
        let kept = self.pixels();
        assert_eq!(self.events(), [Vec::new(), Vec::new()]);
        self.frame(3);
        assert_eq!(self.events(), [self.all.clone(), Vec::new()]);
        assert!(self.pixels() == kept, "it is frozen");
        kept
    }
}

/// What ends all freezes, and lets them start again.
type Change = (&'static str, fn(&mut Frozen), fn(&mut Frozen));

fn each(frozen: &mut Frozen, change: impl Fn(EntityWorldMut)) {
    for entity in &frozen.all {
        change(frozen.stage.headless.app.world_mut().entity_mut(*entity));
    }
}

fn set(frozen: &mut Frozen, switch: BlurSwitch) {
    frozen.stage.headless.app.insert_resource(switch);
}

/// The switch, absence by `Disabled`, and absence of the blur each end a freeze in the frame in which they take effect, and the event
/// says so in that frame. What is back takes a new picture, of the frame in which it is back.
#[test]
fn the_switch_and_absence_end_a_freeze_and_say_so() {
    let changes: [Change; 3] = [
        (
            "the switch",
            |frozen| set(frozen, BlurSwitch::Off),
            |frozen| set(frozen, BlurSwitch::On),
        ),
        (
            "no blur",
            |frozen| {
                each(frozen, |mut entity| {
                    entity.remove::<(GaussianBlur, BackdropBlur)>();
                });
            },
            |frozen| {
                let camera = frozen.stage.glass.camera;
                each(frozen, |mut entity| {
                    if entity.id() == camera {
                        entity.insert(GaussianBlur::from_sigma(2.0));
                    } else {
                        entity.insert(BackdropBlur::from_sigma(4.0));
                    }
                });
            },
        ),
        (
            "disabled",
            |frozen| {
                each(frozen, |mut entity| {
                    entity.insert(Disabled);
                });
            },
            |frozen| {
                each(frozen, |mut entity| {
                    entity.remove::<Disabled>();
                });
            },
        ),
    ];
    for backend in one_backend() {
        let mut frozen = Frozen::new(backend);
        let kept = frozen.take();
        for (what, end, start) in changes {
            let all = frozen.all.clone();
            end(&mut frozen);
            frozen.frame(4);
            assert_eq!(frozen.events(), [Vec::new(), all.clone()], "{backend:?}: {what}");
            frozen.frame(5);
            assert_eq!(frozen.events(), [Vec::new(), Vec::new()], "{backend:?}: {what}: once");
            start(&mut frozen);
            frozen.frame(6);
            let new = frozen.pixels();
            assert!(new != kept, "{backend:?}: {what}: another picture");
            frozen.frame(7);
            assert_eq!(frozen.events(), [all, Vec::new()], "{backend:?}: {what}");
            assert!(frozen.pixels() == new, "{backend:?}: {what}: frozen again");
        }
    }
}

/// A thaw is no loss, whether or not the picture is known by then.
#[test]
fn what_thaws_is_not_lost() {
    for backend in one_backend() {
        let mut frozen = Frozen::new(backend);
        // Before the news that the picture is taken.
        frozen.freeze();
        frozen.frame(2);
        each(&mut frozen, |mut entity| {
            entity.remove::<FreezeBlur>();
        });
        frozen.frame(3);
        assert_eq!(frozen.events(), [Vec::new(), Vec::new()], "{backend:?}: it has thawed");
        // Both components at once: no loss.
        frozen.take();
        each(&mut frozen, |mut entity| {
            entity.remove::<(FreezeBlur, GaussianBlur, BackdropBlur)>();
        });
        frozen.frame(4);
        frozen.frame(5);
        assert_eq!(frozen.events(), [Vec::new(), Vec::new()], "{backend:?}: it is removed");
    }
}

/// A picture that is lost stays lost until `FreezeBlur` is inserted again: the switch does not freeze it.
#[test]
fn the_switch_does_not_freeze_what_is_lost() {
    for backend in one_backend() {
        let mut frozen = Frozen::new(backend);
        frozen.stage.insert(without_copies());
        frozen.freeze();
        frozen.frame(2);
        frozen.frame(3);
        assert_eq!(frozen.events(), [Vec::new(), frozen.all.clone()], "{backend:?}");
        frozen.stage.insert(CameraMainTextureUsages::default());
        set(&mut frozen, BlurSwitch::Off);
        frozen.frame(4);
        set(&mut frozen, BlurSwitch::On);
        frozen.frame(5);
        let live = frozen.pixels();
        frozen.frame(6);
        frozen.frame(7);
        assert_eq!(frozen.events(), [Vec::new(), Vec::new()], "{backend:?}: it is lost");
        assert!(frozen.pixels() != live, "{backend:?}: it is live");
        frozen.take();
    }
}
