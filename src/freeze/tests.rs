//! Random histories of frozen blurs, without a GPU: both maps of freezes as they are, with the numbers of frames for pictures.
//!
//! The main world and the render world are as far apart as in an app: a report arrives one frame after the frame that it is of, or
//! two frames after it, and components change before the freezes are looked at, or after that.

use super::freezes::{FreezeKey, FreezeReport, FreezeState, Freezes, FrozenBlur};
use super::kept::KeptPictures;
use super::picture::{Shot, Wanted};
use crate::errors::BlurError;
use crate::settings::{BlurStage, FreezeArea};
use bevy::camera::CompositingSpace;
use bevy::platform::collections::{HashMap, HashSet};
use bevy::prelude::*;
use bevy::render::render_resource::TextureFormat;
use core::sync::atomic::{AtomicU32, Ordering};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;

const STAGES: [BlurStage; 3] = [
    BlurStage::BeforeTonemapping,
    BlurStage::AfterTonemapping,
    BlurStage::AfterUi,
];

/// The frames without a change after which both worlds must agree: a picture is taken, its report arrives two frames later.
const QUIET_FRAMES: usize = 4;

/// What happens in a frame. The number is that of an entity.
#[derive(Clone, Copy, Debug)]
enum Event {
    /// `FreezeBlur` is inserted, or inserted again.
    Insert(usize),
    Remove(usize),
    /// The blur of this kind is inserted or removed.
    Blur(usize, FrozenBlur, bool),
    /// The entity is disabled by whatever component, or enabled.
    Enable(usize, bool),
    /// The camera is active, or the glass is visible.
    Show(usize, bool),
    Stage(usize, BlurStage),
    Resize(usize, u32),
    Switch(bool),
    /// Whether there is memory for pictures.
    Memory(bool),
    /// Whether passes are encoded. Cameras whose pipelines compile draw nothing yet.
    Draw(bool),
    LoseDevice,
}

/// A frame: what happens before and after the freezes are looked at, and whether its report is a frame late.
type Frame = (Vec<Event>, Vec<Event>, bool);

#[derive(Clone)]
struct Thing {
    is_frozen: bool,
    is_enabled: bool,
    is_shown: bool,
    stage: BlurStage,
    size: u32,
    /// Whether it has a blur of each kind.
    blurs: [bool; 2],
}

const KINDS: [FrozenBlur; 2] = [FrozenBlur::Camera, FrozenBlur::Glass];

/// What a blur shows: the number of a frame, and the stage that it is painted at.
type Shown = (u32, BlurStage);

/// What a test knows of a blur that is frozen.
#[derive(Clone, Copy, Debug, Default)]
struct History {
    /// What the last event said.
    said: Option<FreezeState>,
    /// The picture that was shown last.
    shown: Option<Shown>,
    /// The first frame whose picture may be shown.
    since: u32,
    /// Whether there was no memory for a picture, or it was lost.
    has_failed: bool,
    /// Whether the device was lost since the blur was drawn last.
    has_new_device: bool,
}

struct Walk {
    things: [Thing; 2],
    is_on: bool,
    has_memory: bool,
    draws: bool,
    loses_device: bool,
    frame: u32,
    freezes: Freezes,
    kept: KeptPictures<AtomicU32>,
    /// Reports that have not arrived, with the frame in which they do.
    reports: Vec<(u32, FreezeReport)>,
    histories: HashMap<FreezeKey, History>,
}

fn entity(index: usize) -> Entity {
    Entity::from_raw_u32(index as u32 + 1).expect("a small number")
}

fn index(entity: Entity) -> usize {
    entity.index_u32() as usize - 1
}

impl Walk {
    fn new() -> Self {
        let thing = Thing {
            is_frozen: false,
            is_enabled: true,
            is_shown: true,
            stage: BlurStage::AfterTonemapping,
            size: 10,
            blurs: [true, false],
        };
        let glass = Thing {
            blurs: [false, true],
            ..thing.clone()
        };
        Self {
            things: [thing, glass],
            is_on: true,
            has_memory: true,
            draws: true,
            loses_device: false,
            frame: 0,
            freezes: Freezes::default(),
            kept: KeptPictures::default(),
            reports: Vec::new(),
            histories: HashMap::default(),
        }
    }

    /// Whether a blur is there: what a query with the default filters sees.
    fn is_there(&self, (entity, blur): FreezeKey) -> bool {
        let thing = &self.things[index(entity)];
        thing.is_enabled && thing.is_frozen && thing.blurs[usize::from(blur == FrozenBlur::Glass)]
    }

    fn happen(&mut self, event: Event) {
        match event {
            Event::Insert(index) => {
                self.things[index].is_frozen = true;
                for kind in KINDS {
                    let history = self.histories.entry((entity(index), kind)).or_insert_with(|| History {
                        since: self.frame,
                        ..default()
                    });
                    if history.said == Some(FreezeState::Lost) {
                        *history = History {
                            since: self.frame,
                            ..default()
                        };
                    }
                }
                self.freezes.start(entity(index));
            }
            Event::Remove(index) => {
                self.things[index].is_frozen = false;
                self.histories.retain(|(frozen, _), _| *frozen != entity(index));
                self.freezes.end(entity(index));
            }
            Event::Blur(index, kind, is_there) => {
                self.things[index].blurs[usize::from(kind == FrozenBlur::Glass)] = is_there;
            }
            Event::Enable(index, is_enabled) => self.things[index].is_enabled = is_enabled,
            Event::Show(index, is_shown) => self.things[index].is_shown = is_shown,
            Event::Stage(index, stage) => self.things[index].stage = stage,
            Event::Resize(index, size) => self.things[index].size = size,
            Event::Switch(is_on) => self.is_on = is_on,
            Event::Memory(has_memory) => self.has_memory = has_memory,
            Event::Draw(draws) => self.draws = draws,
            Event::LoseDevice => self.loses_device = true,
        }
    }

    /// Notes an event of the plugin.
    fn hear(&mut self, key: FreezeKey, state: FreezeState) {
        let frame = self.frame;
        let history = self.histories.get_mut(&key);
        let history = history.unwrap_or_else(|| panic!("frame {frame}: {state:?} of {key:?}, which is not frozen"));
        let before = history.said;
        assert!(
            before < Some(state),
            "frame {frame}: {state:?} of {key:?} follows {before:?}"
        );
        history.said = Some(state);
    }

    /// A frame of both worlds.
    fn step(&mut self, (before, after, is_late): &Frame) {
        self.frame += 1;
        let (arrived, waiting) = self.reports.drain(..).partition(|(frame, _)| *frame <= self.frame);
        self.reports = waiting;
        let arrived: Vec<(u32, FreezeReport)> = arrived;
        for (_, (key, id, state)) in arrived {
            if self.freezes.learn(key, id, state) {
                self.hear(key, state);
            }
        }
        before.iter().for_each(|event| self.happen(*event));
        self.look();
        after.iter().for_each(|event| self.happen(*event));
        self.render(*is_late);
    }

    fn look(&mut self) {
        let there: HashSet<FreezeKey> = self
            .histories
            .keys()
            .copied()
            .filter(|key| self.is_there(*key))
            .collect();
        let is_on = self.is_on;
        let ended = self.freezes.look(|key| is_on && there.contains(&key));
        for (key, history) in &mut self.histories {
            if is_on && there.contains(key) {
                continue;
            }
            // A picture ends with the first frame in which its blur is not seen, and the event says so in that frame.
            assert_eq!(
                history.said == Some(FreezeState::Taken),
                ended.contains(key),
                "frame {}: {key:?} is not seen",
                self.frame
            );
            *history = History {
                said: history.said.filter(|said| *said == FreezeState::Lost),
                since: self.frame + 1,
                has_failed: history.said == Some(FreezeState::Lost),
                ..default()
            };
        }
    }

    fn render(&mut self, is_late: bool) {
        if core::mem::take(&mut self.loses_device) {
            self.kept = KeptPictures::default();
            self.histories
                .values_mut()
                .for_each(|history| history.has_new_device = true);
        }
        self.kept.follow(
            self.freezes
                .seen()
                .map(|(key, freeze)| (key, freeze, FreezeArea::Viewport, 0)),
        );
        let keys: Vec<FreezeKey> = self.histories.keys().copied().collect();
        for key in keys {
            let thing = self.things[index(key.0)].clone();
            if thing.is_shown && self.is_on && self.is_there(key) {
                let shown = self.draw(key, &thing);
                self.check(key, &thing, shown);
            }
        }
        let arrives = self.frame + 1 + u32::from(is_late);
        self.reports.extend(self.kept.reports().map(|report| (arrives, report)));
    }

    /// Without memory, everything is drawn: what has no room is lost at once.
    fn draws(&self) -> bool {
        self.draws || !self.has_memory
    }

    /// Draws a blur as front ends do. Returns what it shows, if that is a picture.
    fn draw(&mut self, key: FreezeKey, thing: &Thing) -> Option<Shown> {
        let stage = match key.1 {
            FrozenBlur::Camera => self.kept.stage(key.0).unwrap_or(thing.stage),
            FrozenBlur::Glass => BlurStage::AfterTonemapping,
        };
        let area = URect::new(0, 0, thing.size, thing.size);
        let camera = Wanted {
            format: TextureFormat::Rgba16Float,
            space: CompositingSpace::Linear,
            viewport: area,
        };
        let has_memory = self.has_memory;
        let make = || match has_memory {
            true => Ok(AtomicU32::new(0)),
            false => Err(BlurError::OutOfMemory {
                size: area.size(),
                format: camera.format,
            }),
        };
        let shot = Shot { stage, camera, area };
        if let Err(error) = self.kept.room(key, shot, make) {
            self.kept.lose(key, error);
        }
        if self.draws()
            && let Some(room) = self.kept.due(key)
        {
            assert_eq!(room.shot, shot, "frame {}: {key:?} is taken as it was", self.frame);
            room.picture.store(self.frame, Ordering::Relaxed);
        }
        let room = self.kept.taken(key)?;
        Some((room.picture.load(Ordering::Relaxed), room.shot.stage))
    }

    /// A taken picture is shown at its stage until removal, switch, absence or loss; a picture is of the first frame that can have
    /// one.
    fn check(&mut self, key: FreezeKey, thing: &Thing, shown: Option<Shown>) {
        let (frame, has_memory, draws) = (self.frame, self.has_memory, self.draws());
        let Some(history) = self.histories.get_mut(&key) else {
            return;
        };
        let stage = match key.1 {
            FrozenBlur::Camera => thing.stage,
            FrozenBlur::Glass => BlurStage::AfterTonemapping,
        };
        let has_new_device = core::mem::take(&mut history.has_new_device);
        // A freeze of which no event has told starts again on a new device, until the report of its failure arrives.
        let is_lost = history.said == Some(FreezeState::Lost);
        let starts_again = has_new_device && history.said.is_none();
        history.has_failed = is_lost || history.has_failed && !starts_again;
        let is_kept = history.shown.is_some() && shown == history.shown;
        assert!(
            is_kept || history.shown.is_none() || has_new_device || is_lost,
            "frame {frame}: {key:?} shows {shown:?} and no longer {:?}",
            history.shown
        );
        match shown {
            Some(_) if is_kept => {}
            Some(shown) => {
                assert!(
                    history.since <= frame && !history.has_failed,
                    "frame {frame}: {key:?} is frozen"
                );
                assert_eq!(shown, (frame, stage), "frame {frame}: {key:?}");
            }
            // The freeze of a blur that came after the look starts in the next frame.
            None if history.since > frame => {}
            None => {
                let is_known = draws || history.said.is_some();
                history.has_failed |= !has_memory || has_new_device && history.shown.is_some() && is_known;
                assert!(history.has_failed || !draws, "frame {frame}: {key:?} is not frozen");
                if has_new_device && !is_known {
                    // Whether the picture is missed depends on what is said until something is drawn.
                    history.has_new_device = true;
                    return;
                }
            }
        }
        history.shown = shown;
    }

    /// After a while without a change, both worlds agree, and hold nothing else.
    fn settle(&mut self) {
        self.happen(Event::Memory(true));
        self.happen(Event::Draw(true));
        for _ in 0..QUIET_FRAMES {
            self.step(&(Vec::new(), Vec::new(), true));
        }
        assert_eq!(self.kept.reports().count(), 0, "they differ");
        for (key, history) in &self.histories {
            let thing = &self.things[index(key.0)];
            let is_seen = self.is_on && self.is_there(*key);
            assert_eq!(self.kept.mask(*key).is_some(), is_seen, "{key:?}");
            if is_seen && thing.is_shown {
                assert!(history.said.is_some(), "{key:?}: no event came");
                assert_eq!(
                    history.said == Some(FreezeState::Taken),
                    history.shown.is_some(),
                    "{key:?}"
                );
            }
        }
        let frozen = self.things.iter().filter(|thing| thing.is_frozen).count();
        assert_eq!(self.histories.len(), 2 * frozen);
        assert!(self.freezes.seen().count() <= self.histories.len());
    }
}

fn event() -> impl Strategy<Value = Event> {
    let index = 0..2_usize;
    prop_oneof![
        4 => index.clone().prop_map(Event::Insert),
        2 => index.clone().prop_map(Event::Remove),
        2 => (index.clone(), select(KINDS.to_vec()), any::<bool>()).prop_map(|(index, kind, is)| Event::Blur(index, kind, is)),
        2 => (index.clone(), any::<bool>()).prop_map(|(index, is)| Event::Enable(index, is)),
        2 => (index.clone(), any::<bool>()).prop_map(|(index, is)| Event::Show(index, is)),
        1 => (index.clone(), select(STAGES.to_vec())).prop_map(|(index, stage)| Event::Stage(index, stage)),
        1 => (index, 10..13_u32).prop_map(|(index, size)| Event::Resize(index, size)),
        1 => any::<bool>().prop_map(Event::Switch),
        1 => any::<bool>().prop_map(Event::Memory),
        1 => any::<bool>().prop_map(Event::Draw),
        1 => Just(Event::LoseDevice),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(20_000))]

    #[test]
    fn a_taken_picture_is_shown_at_its_stage_until_its_freeze_ends(
        frames in vec((vec(event(), 0..3), vec(event(), 0..2), any::<bool>()), 1..30),
    ) {
        let mut walk = Walk::new();
        for frame in &frames {
            walk.step(frame);
        }
        walk.settle();
    }
}

/// A part of a viewport stays at least a texel in a smaller one, and inside of it.
#[test]
fn a_part_of_a_viewport_never_vanishes() {
    let shot = |area: URect| Shot {
        stage: BlurStage::AfterTonemapping,
        camera: Wanted {
            format: TextureFormat::Rgba16Float,
            space: CompositingSpace::Linear,
            viewport: URect::new(10, 20, 110, 120),
        },
        area,
    };
    let small = URect::new(3, 4, 8, 9);
    let texel = |x: u32, y: u32| URect::new(x, y, x + 1, y + 1);
    assert_eq!(shot(URect::new(10, 20, 11, 21)).area_in(small), texel(3, 4));
    assert_eq!(shot(URect::new(109, 119, 110, 120)).area_in(small), texel(7, 8));
    assert_eq!(shot(URect::new(30, 40, 70, 80)).area_in(small), URect::new(4, 5, 6, 7));
}
