//! Counts changes of the masks of frozen blurs. Requests name masks, but not their contents.

use crate::settings::{BlurFinished, BlurImage, BlurProfile, BlurRevision, BlurUpdate, FreezeBlur};
use bevy::camera::{Camera, RenderTarget};
use bevy::platform::collections::{HashMap, HashSet};
use bevy::prelude::*;

/// How often the masks of frozen blurs have changed. In the main world.
#[derive(Resource, Default)]
pub struct MaskRevisions {
    counted: HashMap<AssetId<Image>, u64>,
    /// Masks that may have been painted in the last frame, after they were read.
    painted: HashSet<AssetId<Image>>,
    /// The targets of the blurs that have just been reported as done.
    blurred: HashSet<AssetId<Image>>,
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

/// Notes the target of a blur that is done.
pub fn note_finished(finished: On<BlurFinished>, blurs: Query<&BlurImage>, mut revisions: ResMut<MaskRevisions>) {
    let blur = blurs.get(finished.entity).ok();
    let target = blur.and_then(|blur| blur.target.as_ref());
    revisions.blurred.extend(target.map(Handle::id));
}

/// Counts changes of masks: as assets, by cameras that paint them, and by blurs that write them.
///
/// A blur writes its target in the frame in which its revision changes, or later if an input or a pipeline is missing.
pub fn follow_masks(
    profiles: Query<&BlurProfile, With<FreezeBlur>>,
    cameras: Query<(&Camera, &RenderTarget)>,
    blurs: Query<(&BlurImage, Ref<BlurRevision>)>,
    mut events: MessageReader<AssetEvent<Image>>,
    mut revisions: ResMut<MaskRevisions>,
) {
    let blurred = core::mem::take(&mut revisions.blurred);
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
    let writes = |(blur, revision): &(&BlurImage, Ref<BlurRevision>)| {
        blur.update == BlurUpdate::EveryFrame || revision.is_changed()
    };
    let by_blurs = blurs.iter().filter(writes);
    let by_blurs = by_blurs.filter_map(|(blur, _)| Some(blur.target.as_ref()?.id()));
    let painted = by_cameras.chain(by_blurs).chain(blurred);
    let painted: HashSet<AssetId<Image>> = painted.filter(|id| masks.contains(id)).collect();
    let before = core::mem::replace(&mut revisions.painted, painted.clone());
    let all: HashSet<AssetId<Image>> = changed.chain(painted).chain(before).collect();
    for mask in all.intersection(&masks) {
        *revisions.counted.entry(*mask).or_default() += 1;
    }
}
