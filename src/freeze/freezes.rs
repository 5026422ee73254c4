//! The main world: which blurs are frozen, and what is known of their pictures.
//!
//! Change ticks could tell freezes apart, too, but Bevy moves old ones after some hours.

use crate::mailbox::Mailbox;
use crate::settings::{BackdropBlur, BlurSwitch, FreezeBlur, FreezeLost, FreezeTaken, GaussianBlur};
use bevy::platform::collections::HashMap;
use bevy::prelude::*;

/// The kinds of blurs that can be frozen. An entity with both has two freezes, each with a picture of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FrozenBlur {
    /// A camera's.
    Camera,
    /// That of a node or of a region.
    Glass,
}

/// A blur that is frozen: the main world's entity, and which of its blurs.
pub type FreezeKey = (Entity, FrozenBlur);

/// Tells a freeze apart from earlier ones of the same blur.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct FreezeId(u64);

/// What has become of the picture of a freeze, in the order in which it happens.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum FreezeState {
    /// There has been no picture to take yet.
    Untaken,
    /// The picture is kept.
    Taken,
    /// The picture is lost, or there was no room for it. The blur continues unfrozen.
    Lost,
}

/// The freeze of a blur.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Freeze {
    /// Its own.
    pub id: FreezeId,
    /// As far as the main world knows.
    pub state: FreezeState,
    /// Whether there is something to freeze in this frame.
    pub is_seen: bool,
}

/// All freezes. In the main world.
///
/// Only [`FreezeBlur`] decides which exist, so its observers need no queries, which hide disabled entities.
#[derive(Resource, Default)]
pub struct Freezes {
    all: HashMap<FreezeKey, Freeze>,
    last: u64,
}

impl Freezes {
    /// Starts the freezes of an entity whose [`FreezeBlur`] is inserted. One that exists goes on, unless its picture is lost.
    pub fn start(&mut self, entity: Entity) {
        for blur in [FrozenBlur::Camera, FrozenBlur::Glass] {
            let known = self.all.get(&(entity, blur));
            if known.is_none_or(|freeze| freeze.state == FreezeState::Lost) {
                let freeze = untaken(&mut self.last);
                self.all.insert((entity, blur), freeze);
            }
        }
    }

    /// Ends the freezes of an entity.
    pub fn end(&mut self, entity: Entity) {
        self.all.retain(|(frozen, _), _| *frozen != entity);
    }

    /// Looks at what is frozen in this frame. What is not seen keeps no picture: when it is seen again, it takes another one.
    /// Returns the blurs whose known pictures end by that.
    pub fn look(&mut self, is_seen: impl Fn(FreezeKey) -> bool) -> Vec<FreezeKey> {
        let mut ended = Vec::new();
        for (key, freeze) in &mut self.all {
            let was_seen = core::mem::replace(&mut freeze.is_seen, is_seen(*key));
            if freeze.is_seen || !was_seen || freeze.state == FreezeState::Lost {
                continue;
            }
            if freeze.state == FreezeState::Taken {
                ended.push(*key);
            }
            *freeze = Freeze {
                is_seen: false,
                ..untaken(&mut self.last)
            };
        }
        ended
    }

    /// Learns what has become of a picture. Returns whether that is news: reports repeat, and those of an earlier freeze arrive
    /// late.
    pub fn learn(&mut self, key: FreezeKey, id: FreezeId, state: FreezeState) -> bool {
        let freeze = self.all.get_mut(&key).filter(|freeze| freeze.id == id);
        freeze.is_some_and(|freeze| {
            let is_news = freeze.state < state;
            freeze.state = freeze.state.max(state);
            is_news
        })
    }

    /// The freezes of this frame.
    pub fn seen(&self) -> impl Iterator<Item = (FreezeKey, Freeze)> {
        let seen = self.all.iter().filter(|(_, freeze)| freeze.is_seen);
        seen.map(|(key, freeze)| (*key, *freeze))
    }
}

/// A new freeze. It is seen until a frame [looks](Freezes::look).
fn untaken(last: &mut u64) -> Freeze {
    *last += 1;
    Freeze {
        id: FreezeId(*last),
        state: FreezeState::Untaken,
        is_seen: true,
    }
}

type FrozenCamera = (With<FreezeBlur>, With<Camera>, With<GaussianBlur>);

type FrozenGlass = (With<FreezeBlur>, With<BackdropBlur>);

/// Looks at what is frozen in this frame, and triggers the events of the pictures that end by that.
pub fn look_at_freezes(
    mut commands: Commands,
    mut freezes: ResMut<Freezes>,
    cameras: Query<Entity, FrozenCamera>,
    glass: Query<Entity, FrozenGlass>,
    switch: Res<BlurSwitch>,
) {
    // They may have been spawned before the plugin was added.
    for entity in cameras.iter().chain(&glass) {
        if !freezes.all.contains_key(&(entity, FrozenBlur::Camera)) {
            freezes.start(entity);
        }
    }
    let ended = freezes.look(|(entity, blur)| {
        let is_there = match blur {
            FrozenBlur::Camera => cameras.contains(entity),
            FrozenBlur::Glass => glass.contains(entity),
        };
        is_there && switch.is_on()
    });
    for (entity, _) in ended {
        commands.trigger(FreezeLost { entity });
    }
}

/// A freeze, and what has become of its picture.
pub type FreezeReport = (FreezeKey, FreezeId, FreezeState);

/// Turns the reports into events.
pub fn read_reports(mut commands: Commands, reports: Res<Mailbox<FreezeReport>>, mut freezes: ResMut<Freezes>) {
    let mut taken = Vec::new();
    reports.take(&mut taken);
    for (key, id, state) in taken {
        if !freezes.learn(key, id, state) {
            continue;
        }
        let (entity, _) = key;
        if state == FreezeState::Lost {
            commands.trigger(FreezeLost { entity });
        } else {
            commands.trigger(FreezeTaken { entity });
        }
    }
}
