//! Counts changes of the masks of frozen blurs. Requests name masks, but not their contents.

use crate::image_changes::ImageChanges;
use crate::settings::{BlurProfile, FreezeBlur};
use bevy::platform::collections::HashMap;
use bevy::prelude::*;

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
