//! Numbers every freeze of every entity, so that a blur that is frozen again is told apart from one that still is.
//!
//! Change ticks could tell, too, but Bevy moves old ones after some hours.

use crate::settings::FreezeBlur;
use bevy::ecs::entity::EntityHashMap;
use bevy::prelude::*;

/// The number of each current [`FreezeBlur`]. In the main world.
#[derive(Resource, Default)]
pub struct FreezeNumbers {
    current: EntityHashMap<Freeze>,
    last: u64,
}

#[derive(Clone, Copy)]
struct Freeze {
    number: u64,
    is_lost: bool,
}

impl FreezeNumbers {
    /// The number of an entity's current freeze. 0 if it was frozen before the plugin was added.
    #[must_use]
    pub fn of(&self, entity: Entity) -> u64 {
        self.current.get(&entity).map_or(0, |freeze| freeze.number)
    }

    /// Notes that the picture of an entity's freeze is lost.
    pub fn lose(&mut self, entity: Entity) {
        if let Some(freeze) = self.current.get_mut(&entity) {
            freeze.is_lost = true;
        }
    }
}

/// Numbers a freeze. Inserting the component again begins another one only if the picture is lost.
pub fn number_freeze(inserted: On<Insert, FreezeBlur>, mut numbers: ResMut<FreezeNumbers>) {
    let current = numbers.current.get(&inserted.entity);
    if current.is_none_or(|freeze| freeze.is_lost) {
        numbers.last += 1;
        let (number, is_lost) = (numbers.last, false);
        numbers.current.insert(inserted.entity, Freeze { number, is_lost });
    }
}

pub fn forget_number(removed: On<Remove, FreezeBlur>, mut numbers: ResMut<FreezeNumbers>) {
    numbers.current.remove(&removed.entity);
}
