//! Taken and lost pictures, on their way to the main world.

use super::numbers::FreezeNumbers;
use crate::settings::{FreezeBlur, FreezeLost, FreezeTaken};
use bevy::prelude::*;
use std::sync::{Arc, Mutex, PoisonError};

/// A freeze: the main world's entity, and the [number](FreezeNumbers) of the freeze.
pub type Freeze = (Entity, u64);

/// What has happened to a picture.
enum News {
    Taken,
    Lost,
}

/// What has happened to the pictures of freezes.
#[derive(Resource, Clone, Default)]
pub struct Losses(Arc<Mutex<Vec<(Freeze, News)>>>);

impl Losses {
    /// Logs that a picture is lost, and why.
    pub fn push(&self, freeze: Freeze, why: impl core::fmt::Display) {
        error!("the frozen blur of entity {} continues unfrozen: {why}", freeze.0);
        self.report(freeze, News::Lost);
    }

    /// Reports that a picture has been taken.
    pub fn report_taken(&self, freeze: Freeze) {
        self.report(freeze, News::Taken);
    }

    fn report(&self, freeze: Freeze, news: News) {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push((freeze, news));
    }
}

/// Turns the news into events. A blur that has been frozen again since gets news of its own.
pub fn report_news(
    mut commands: Commands,
    losses: Res<Losses>,
    mut numbers: ResMut<FreezeNumbers>,
    frozen: Query<(), With<FreezeBlur>>,
) {
    let news = core::mem::take(&mut *losses.0.lock().unwrap_or_else(PoisonError::into_inner));
    for ((entity, number), news) in news {
        if !frozen.contains(entity) || numbers.of(entity) != number {
            continue;
        }
        match news {
            News::Taken => commands.trigger(FreezeTaken { entity }),
            News::Lost => {
                numbers.lose(entity);
                commands.trigger(FreezeLost { entity });
            }
        }
    }
}
