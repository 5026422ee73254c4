//! Lost pictures, on their way to the main world.

use super::numbers::FreezeNumbers;
use crate::settings::{FreezeBlur, FreezeLost};
use bevy::prelude::*;
use std::sync::{Arc, Mutex, PoisonError};

/// A freeze: the main world's entity, and the [number](FreezeNumbers) of the freeze.
pub type Freeze = (Entity, u64);

/// The freezes whose pictures are lost.
#[derive(Resource, Clone, Default)]
pub struct Losses(Arc<Mutex<Vec<Freeze>>>);

impl Losses {
    /// Logs that a picture is lost, and why.
    pub fn push(&self, freeze: Freeze, why: impl core::fmt::Display) {
        error!("the frozen blur of entity {} continues unfrozen: {why}", freeze.0);
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(freeze);
    }
}

/// Turns losses into events. A blur that has been frozen again since has lost nothing.
pub fn report_losses(
    mut commands: Commands,
    losses: Res<Losses>,
    numbers: Res<FreezeNumbers>,
    frozen: Query<(), With<FreezeBlur>>,
) {
    let lost = core::mem::take(&mut *losses.0.lock().unwrap_or_else(PoisonError::into_inner));
    for (entity, number) in lost {
        if frozen.contains(entity) && numbers.of(entity) == number {
            commands.trigger(FreezeLost { entity });
        }
    }
}
