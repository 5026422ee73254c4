//! Counts changes of the masks of frozen blurs. Requests name masks, but not their contents.

use crate::settings::{BlurImage, BlurProfile, FreezeBlur};
use bevy::camera::{Camera, RenderTarget};
use bevy::platform::collections::{HashMap, HashSet};
use bevy::prelude::*;

/// How often the masks of frozen blurs have changed. In the main world.
#[derive(Resource, Default)]
pub struct MaskRevisions {
    counted: HashMap<AssetId<Image>, u64>,
    /// Masks that may have been painted in the last frame, after they were read.
    painted: HashSet<AssetId<Image>>,
}

impl MaskRevisions {
    /// How often the mask of a profile has changed; 0 without one.
    #[must_use]
    pub fn of(&self, profile: Option<&BlurProfile>) -> u64 {
        let mask = profile.and_then(mask_of);
        mask.and_then(|mask| self.counted.get(&mask)).copied().unwrap_or(0)
    }
}

fn mask_of(profile: &BlurProfile) -> Option<AssetId<Image>> {
    match profile {
        BlurProfile::Mask(mask) => Some(mask.id()),
        _ => None,
    }
}

/// Counts changes of masks: as assets, by cameras that paint them, and by blurs that write them.
pub fn follow_masks(
    profiles: Query<&BlurProfile, With<FreezeBlur>>,
    cameras: Query<(&Camera, &RenderTarget)>,
    blurs: Query<&BlurImage>,
    mut events: MessageReader<AssetEvent<Image>>,
    mut revisions: ResMut<MaskRevisions>,
) {
    let masks: HashSet<AssetId<Image>> = profiles.iter().filter_map(mask_of).collect();
    if masks.is_empty() {
        events.clear();
        return;
    }
    let changed = events.read().filter_map(|event| match event {
        AssetEvent::Added { id } | AssetEvent::Modified { id } => Some(*id),
        _ => None,
    });
    let by_cameras = cameras.iter().filter_map(|(camera, target)| match target {
        RenderTarget::Image(image) if camera.is_active => Some(image.handle.id()),
        _ => None,
    });
    let by_blurs = blurs.iter().filter_map(|blur| Some(blur.target.as_ref()?.id()));
    let painted: HashSet<AssetId<Image>> = by_cameras.chain(by_blurs).filter(|id| masks.contains(id)).collect();
    let before = core::mem::replace(&mut revisions.painted, painted.clone());
    let all: HashSet<AssetId<Image>> = changed.chain(painted).chain(before).collect();
    for mask in all.intersection(&masks) {
        *revisions.counted.entry(*mask).or_default() += 1;
    }
}
