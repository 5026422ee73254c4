//! What happens to images. One system answers this for every input of every front end.

use crate::settings::BlurProfile;
use crate::systems::BlurSystems;
use bevy::asset::AssetEventSystems;
use bevy::camera::RenderTarget;
use bevy::platform::collections::HashMap;
use bevy::prelude::*;

/// Follows images in the main world.
pub fn plugin(app: &mut App) {
    let watch = watch_images.after(AssetEventSystems).in_set(BlurSystems::Collect);
    app.init_resource::<ImageChanges>().add_systems(PostUpdate, watch);
}

/// When an image changed, in numbers that only differ or not: each is the last frame in which that happened.
/// Numbers are compared with earlier ones wherever an image is used, so no reader can miss a change.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Numbers {
    /// The asset was added or modified.
    pub asset: u64,
    /// The same, with pixels that are uploaded to the GPU.
    pub pixels: u64,
    /// A camera or a blur has written it.
    written: u64,
    /// An active camera has painted it.
    painted: u64,
}

/// The changes of all images so far.
#[derive(Resource, Default)]
pub struct ImageChanges {
    frame: u64,
    /// Images that never changed have no entry, nor have those that nothing uses any more.
    numbers: HashMap<AssetId<Image>, Numbers>,
    /// Whether an asset was modified in this frame, or a camera paints an image.
    are_any: bool,
}

impl ImageChanges {
    /// Whether no asset was modified in this frame, and no camera paints an image.
    pub fn are_none(&self) -> bool {
        !self.are_any
    }

    /// When an image changed.
    pub fn numbers(&self, id: AssetId<Image>) -> Numbers {
        self.numbers.get(&id).copied().unwrap_or_default()
    }

    /// Whether an image exists, or was added and is still used. If its asset was removed to save memory, the GPU has it.
    pub fn know(&self, id: AssetId<Image>, images: &Assets<Image>) -> bool {
        images.contains(id) || self.numbers(id).asset > 0
    }

    /// How many images have numbers.
    #[cfg(test)]
    pub fn len(&self) -> usize {
        self.numbers.len()
    }

    /// A number that differs if what an image shows may differ from what a reader saw in the frame before. What was written then,
    /// perhaps after it was read, differs for one more frame.
    fn contents(&self, id: AssetId<Image>) -> u64 {
        let Numbers { asset, written, .. } = self.numbers(id);
        let last = if written > 0 { written + 1 } else { 0 };
        last.min(self.frame).max(asset)
    }

    /// A number that changes with what the mask of a profile shows; 0 without a mask.
    pub fn number_of_mask(&self, profile: Option<&BlurProfile>) -> u64 {
        let mask = profile.and_then(BlurProfile::mask);
        mask.map_or(0, |mask| self.contents(mask))
    }

    /// Whether an active camera paints it.
    pub fn is_painted(&self, id: AssetId<Image>) -> bool {
        self.frame > 0 && self.numbers(id).painted == self.frame
    }

    /// Notes that a blur may write an image in this frame.
    pub fn write(&mut self, id: AssetId<Image>) {
        self.numbers.entry(id).or_default().written = self.frame;
    }
}

/// Collects the changes by assets and cameras. Blurs note theirs later in the frame.
pub fn watch_images(
    mut changes: ResMut<ImageChanges>,
    mut events: MessageReader<AssetEvent<Image>>,
    images: Res<Assets<Image>>,
    cameras: Query<(&Camera, &RenderTarget)>,
) {
    let ImageChanges {
        frame,
        numbers,
        are_any,
    } = &mut *changes;
    *frame += 1;
    *are_any = false;
    for event in events.read() {
        match *event {
            AssetEvent::Added { id } | AssetEvent::Modified { id } if images.contains(id) => {
                let number = numbers.entry(id).or_default();
                number.asset = *frame;
                if images.get(id).is_some_and(|image| image.data.is_some()) {
                    number.pixels = *frame;
                }
                *are_any = true;
            }
            AssetEvent::Unused { id } => {
                numbers.remove(&id);
            }
            _ => {}
        }
    }
    for (camera, target) in &cameras {
        if let RenderTarget::Image(image) = target
            && camera.is_active
        {
            let number = numbers.entry(image.handle.id()).or_default();
            (number.written, number.painted) = (*frame, *frame);
            *are_any = true;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bevy::asset::AssetPlugin;

    /// An app with images, which writes the one that it is told to.
    fn app() -> App {
        let mut app = App::new();
        app.add_plugins((TaskPoolPlugin::default(), AssetPlugin::default(), plugin))
            .init_asset::<Image>();
        app
    }

    fn numbers(app: &mut App, image: &Handle<Image>) -> Numbers {
        app.update();
        app.world().resource::<ImageChanges>().numbers(image.id())
    }

    fn contents(app: &App, image: &Handle<Image>) -> u64 {
        app.world().resource::<ImageChanges>().contents(image.id())
    }

    #[test]
    fn a_change_is_seen_by_whoever_compares_later() {
        let mut app = app();
        let blank = Image {
            data: None,
            ..Image::default()
        };
        let image = app.world_mut().resource_mut::<Assets<Image>>().add(blank);
        let added = numbers(&mut app, &image);
        assert!(added.asset > 0 && added.pixels == 0, "it has no pixels: {added:?}");
        let before = contents(&app, &image);
        assert_eq!(numbers(&mut app, &image), added, "nothing has changed");
        assert_eq!(contents(&app, &image), before);
        let mut images = app.world_mut().resource_mut::<Assets<Image>>();
        *images.get_mut(&image).expect("it is alive") = Image::default();
        (0..3).for_each(|_| app.update());
        let modified = numbers(&mut app, &image);
        assert!(
            modified.asset > added.asset && modified.pixels > added.pixels,
            "{modified:?}"
        );
        assert!(contents(&app, &image) > before, "{modified:?}");
    }

    /// A frozen blur may have read a mask before a camera painted it.
    #[test]
    fn what_is_painted_or_written_differs_for_one_more_frame() {
        let mut app = app();
        let image = app.world_mut().resource_mut::<Assets<Image>>().add(Image::default());
        let camera = (Camera::default(), RenderTarget::from(image.clone()));
        let camera = app.world_mut().spawn(camera).id();
        let mut last = 0;
        let mut differs = |app: &mut App| {
            app.update();
            core::mem::replace(&mut last, contents(app, &image)) != contents(app, &image)
        };
        assert!((0..3).all(|_| differs(&mut app)), "it is painted in every frame");
        app.world_mut().despawn(camera);
        assert_eq!([(); 3].map(|()| differs(&mut app)), [true, false, false]);
        app.world_mut().resource_mut::<ImageChanges>().write(image.id());
        assert_eq!([(); 3].map(|()| differs(&mut app)), [true, false, false]);
        let asset = app.world().resource::<ImageChanges>().numbers(image.id()).asset;
        assert!(asset < last, "no asset was modified: {asset}, {last}");
    }

    #[test]
    fn images_that_nothing_uses_are_forgotten() {
        let mut app = app();
        let image = app.world_mut().resource_mut::<Assets<Image>>().add(Image::default());
        assert!(numbers(&mut app, &image).asset > 0);
        drop(image);
        app.update();
        app.update();
        assert!(app.world().resource::<ImageChanges>().numbers.is_empty());
    }
}
