//! The main world: numbers every freeze of every entity, so that a blur that is frozen again is told apart from one that still is;
//! turns what happens to pictures into events; and counts changes of masks, because requests name masks, but not their contents.
//!
//! Change ticks could tell freezes apart, too, but Bevy moves old ones after some hours.

use crate::errors::lock;
use crate::image_changes::ImageChanges;
use crate::settings::{BlurProfile, FreezeBlur, FreezeLost, FreezeTaken};
use bevy::ecs::entity::EntityHashMap;
use bevy::platform::collections::HashMap;
use bevy::prelude::*;
use std::sync::{Arc, Mutex};

/// The number of each current [`FreezeBlur`]. In the main world.
#[derive(Resource, Default)]
pub struct FreezeNumbers {
    current: EntityHashMap<Numbered>,
    last: u64,
}

#[derive(Clone, Copy)]
struct Numbered {
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
        numbers.current.insert(inserted.entity, Numbered { number, is_lost });
    }
}

pub fn forget_number(removed: On<Remove, FreezeBlur>, mut numbers: ResMut<FreezeNumbers>) {
    numbers.current.remove(&removed.entity);
}

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
        lock(&self.0).push((freeze, news));
    }
}

/// Turns the news into events. A blur that has been frozen again since gets news of its own.
pub fn report_news(
    mut commands: Commands,
    losses: Res<Losses>,
    mut numbers: ResMut<FreezeNumbers>,
    frozen: Query<(), With<FreezeBlur>>,
) {
    let news = core::mem::take(&mut *lock(&losses.0));
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

/// How often the masks of frozen blurs have changed. In the main world.
#[derive(Resource, Default)]
pub struct MaskRevisions(HashMap<AssetId<Image>, u64>);

impl MaskRevisions {
    /// A number that changes with the mask of a profile; 0 without one.
    #[must_use]
    pub fn of(&self, profile: Option<&BlurProfile>) -> u64 {
        let mask = profile.and_then(BlurProfile::mask);
        mask.and_then(|mask| self.0.get(&mask)).copied().unwrap_or(0)
    }
}

/// Counts the changes of this frame.
pub fn count_changes(
    profiles: Query<&BlurProfile, With<FreezeBlur>>,
    changes: Res<ImageChanges>,
    mut revisions: ResMut<MaskRevisions>,
) {
    let masks = profiles.iter().filter_map(BlurProfile::mask);
    for mask in masks.filter(|mask| changes.differs(*mask)) {
        *revisions.0.entry(mask).or_default() += 1;
    }
}
