//! Lost pictures, on their way to the main world.

use crate::settings::{FreezeBlur, FreezeLost};
use bevy::prelude::*;
use std::sync::{Arc, Mutex, PoisonError};

/// The main world's entities whose pictures are lost.
#[derive(Resource, Clone, Default)]
pub struct Losses(Arc<Mutex<Vec<Entity>>>);

impl Losses {
    /// Logs that a picture is lost, and why.
    pub fn push(&self, entity: Entity, why: impl core::fmt::Display) {
        error!("the frozen blur of entity {entity} continues unfrozen: {why}");
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(entity);
    }
}

/// Turns losses into events.
pub fn report_losses(mut commands: Commands, losses: Res<Losses>, frozen: Query<(), With<FreezeBlur>>) {
    let lost = core::mem::take(&mut *losses.0.lock().unwrap_or_else(PoisonError::into_inner));
    for entity in lost.into_iter().filter(|entity| frozen.contains(*entity)) {
        commands.trigger(FreezeLost { entity });
    }
}
