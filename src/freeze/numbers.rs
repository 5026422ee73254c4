//! Numbers every freeze of every entity, so that a blur that is frozen again is told apart from one that still is.
//!
//! Change ticks could tell, too, but Bevy moves old ones after some hours.

use crate::settings::FreezeBlur;
use bevy::ecs::entity::EntityHashMap;
use bevy::prelude::*;

/// The number of each current [`FreezeBlur`]. In the main world.
#[derive(Resource, Default)]
pub struct FreezeNumbers {
    current: EntityHashMap<u64>,
    last: u64,
}

impl FreezeNumbers {
    /// The number of an entity's current freeze. 0 if it was frozen before the plugin was added.
    #[must_use]
    pub fn of(&self, entity: Entity) -> u64 {
        self.current.get(&entity).copied().unwrap_or(0)
    }
}

pub fn number_freeze(added: On<Add, FreezeBlur>, mut numbers: ResMut<FreezeNumbers>) {
    numbers.last += 1;
    let number = numbers.last;
    numbers.current.insert(added.entity, number);
}

pub fn forget_number(removed: On<Remove, FreezeBlur>, mut numbers: ResMut<FreezeNumbers>) {
    numbers.current.remove(&removed.entity);
}
