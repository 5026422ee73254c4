//! What happens to images in a frame. One system answers this for every input of every front end.

use crate::systems::BlurSystems;
use bevy::asset::AssetEventSystems;
use bevy::camera::{Camera, RenderTarget};
use bevy::platform::collections::HashSet;
use bevy::prelude::*;

/// Follows images in the main world.
pub struct ImageChangesPlugin;

impl Plugin for ImageChangesPlugin {
    fn build(&self, app: &mut App) {
        let watch = watch_images.after(AssetEventSystems).in_set(BlurSystems::Collect);
        app.init_resource::<ImageChanges>().add_systems(PostUpdate, watch);
    }
}

/// The images whose contents change in this frame.
#[derive(Resource, Default)]
pub struct ImageChanges {
    /// Assets that were added or modified.
    modified: HashSet<AssetId<Image>>,
    /// Painted by active cameras.
    painted: HashSet<AssetId<Image>>,
    /// Written by blurs.
    written: HashSet<AssetId<Image>>,
    /// Painted or written in the last frame, perhaps after they were read.
    before: HashSet<AssetId<Image>>,
}

impl ImageChanges {
    /// Whether no asset was modified, and no camera paints an image.
    #[must_use]
    pub fn are_none(&self) -> bool {
        self.modified.is_empty() && self.painted.is_empty()
    }

    /// Whether the asset was added or modified.
    #[must_use]
    pub fn is_modified(&self, id: AssetId<Image>) -> bool {
        self.modified.contains(&id)
    }

    /// Whether an active camera paints it.
    #[must_use]
    pub fn is_painted(&self, id: AssetId<Image>) -> bool {
        self.painted.contains(&id)
    }

    /// Whether its contents may differ from what a reader saw in the last frame.
    #[must_use]
    pub fn differs(&self, id: AssetId<Image>) -> bool {
        let all = [&self.modified, &self.painted, &self.written, &self.before];
        all.into_iter().any(|set| set.contains(&id))
    }

    /// Notes that a blur may write an image in this frame.
    pub fn write(&mut self, id: AssetId<Image>) {
        self.written.insert(id);
    }

    /// Forgets a modification that the plugin itself has made.
    pub fn forget_modified(&mut self, id: AssetId<Image>) {
        self.modified.remove(&id);
    }
}

/// Collects the changes by assets and cameras. Blurs note theirs later in the frame.
pub fn watch_images(
    mut changes: ResMut<ImageChanges>,
    mut events: MessageReader<AssetEvent<Image>>,
    cameras: Query<(&Camera, &RenderTarget)>,
) {
    let ImageChanges {
        modified,
        painted,
        written,
        before,
    } = &mut *changes;
    before.clear();
    before.extend(painted.drain().chain(written.drain()));
    modified.clear();
    modified.extend(events.read().filter_map(|event| match event {
        AssetEvent::Added { id } | AssetEvent::Modified { id } => Some(*id),
        _ => None,
    }));
    painted.extend(cameras.iter().filter_map(|(camera, target)| match target {
        RenderTarget::Image(image) if camera.is_active => Some(image.handle.id()),
        _ => None,
    }));
}
