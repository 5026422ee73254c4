//! Pixels whose upload Bevy postpones are blurred when they arrive.

use super::*;
use crate::support::images::{ready, touch};
use bevy::render::render_asset::RenderAssetBytesPerFrame;

/// How many images are uploaded before any other.
const QUEUE: usize = 6;

/// Lets Bevy upload one image per frame, while many images wait: later additions and changes arrive frames later. The
/// images wait as long as the returned handles are kept.
#[must_use]
pub fn congest(headless: &mut Headless) -> Vec<Handle<Image>> {
    let waiting = queue(headless);
    // Uploads from an earlier frame come first.
    headless.frame();
    waiting
}

/// The same from the next frame on.
pub fn queue(headless: &mut Headless) -> Vec<Handle<Image>> {
    headless.app.insert_resource(RenderAssetBytesPerFrame::new(1));
    let images = (0..QUEUE).map(|_| headless.add_image(image(&pictures(8, 8)[0])));
    images.collect()
}

/// What a source of 61x47 half floats becomes: another size, another format, or both.
pub const OTHERS: [([usize; 2], TextureFormat); 3] = [
    ([90, 30], TextureFormat::Rgba16Float),
    ([61, 47], TextureFormat::Rgba8Unorm),
    ([20, 70], TextureFormat::Rgba8Unorm),
];

/// A source, its blur, and the target of the plugin's own, which shows the result.
fn blurred(headless: &mut Headless, picture: &Picture) -> (Handle<Image>, Entity, Handle<Image>) {
    let source = headless.add_image(image(picture));
    let entity = spawn(headless, GaussianBlur::from_sigma(3.5), plain(source.clone()));
    finished(headless, 10);
    let target = target_of(headless, entity);
    (source, entity, target)
}

fn is_on_gpu(headless: &Headless, image: &Handle<Image>) -> bool {
    let images = headless.render_world().resource::<RenderAssets<GpuImage>>();
    images.get(image).is_some()
}

/// Whether Bevy was told in this frame that an image has changed.
fn is_flagged(headless: &Headless, image: &Handle<Image>) -> bool {
    let mut events = headless
        .app
        .world()
        .resource::<Messages<AssetEvent<Image>>>()
        .iter_current_update_messages();
    events.any(|event| event.is_modified(image.id()))
}

#[test]
fn new_pixels_are_blurred_when_they_arrive() {
    for update in [BlurUpdate::OnChange, BlurUpdate::Once, BlurUpdate::EveryFrame] {
        let mut headless = ready();
        let [old, new] = pictures(61, 47);
        let source = headless.add_image(image(&old));
        let blur = GaussianBlur::from_sigma(3.5);
        let entity = spawn(&mut headless, blur, plain(source.clone()).with_update(update));
        finished(&mut headless, 10);
        let target = target_of(&headless, entity);
        let _waiting = congest(&mut headless);
        frames(&mut headless, 0);
        replace_image(&mut headless, &source, image(&new));
        if update == BlurUpdate::Once {
            touch(&mut headless, entity);
        }
        let mut late = 0;
        for frame in 0..20 {
            headless.frame();
            let has_arrived = is_on_gpu(&headless, &source);
            late += usize::from(!has_arrived);
            let shown = if has_arrived { &new } else { &old };
            assert_blur(&format!("late-{update:?}-{frame}"), &headless, &target, shown, 3.5);
        }
        assert!((3..15).contains(&late), "{update:?}: they came {late} frames late");
        if update != BlurUpdate::EveryFrame {
            assert_eq!(finished(&mut headless, 1), 1, "{update:?}: it was blurred once");
        }
    }
}

#[test]
fn new_pixels_are_blurred_in_place() {
    let mut headless = ready();
    let [old, new] = pictures(61, 47);
    let handle = headless.add_image(image(&old));
    let in_place = BlurImage::in_place(handle.clone()).with_alpha(BlurAlpha::Premultiplied);
    spawn(&mut headless, GaussianBlur::from_sigma(3.5), in_place);
    assert_eq!(finished(&mut headless, 10), 1);
    assert_blur("late-in-place-old", &headless, &handle, &old, 3.5);
    let _waiting = congest(&mut headless);
    replace_image(&mut headless, &handle, image(&new));
    headless.frame();
    assert!(!is_on_gpu(&headless, &handle), "they come late");
    assert_eq!(finished(&mut headless, 20), 1);
    assert_blur("late-in-place-new", &headless, &handle, &new, 3.5);
}

#[test]
fn a_target_with_pixels_of_its_own_may_come_late() {
    let mut headless = ready();
    let [old, new] = pictures(61, 47);
    let source = headless.add_image(image(&new));
    headless.frame();
    let _waiting = congest(&mut headless);
    let target = headless.add_image(image(&old));
    let blur = GaussianBlur::from_sigma(3.5);
    spawn(&mut headless, blur, plain(source).with_target(target.clone()));
    headless.frame();
    assert!(!is_on_gpu(&headless, &target), "it comes late");
    assert_eq!(finished(&mut headless, 20), 1);
    assert_blur("late-target", &headless, &target, &new, 3.5);
}

#[test]
fn a_target_of_the_plugins_own_keeps_its_result_until_the_next_one() {
    let mut headless = ready();
    let [old, _] = pictures(61, 47);
    for (size, format) in OTHERS {
        let (source, entity, target) = blurred(&mut headless, &old);
        let waiting = congest(&mut headless);
        let [_, new] = pictures(size[0], size[1]);
        replace_image(&mut headless, &source, to_image(&new, format));
        let mut late = 0;
        let mut flagged = Vec::new();
        for frame in 0..20 {
            headless.frame();
            let has_arrived = is_on_gpu(&headless, &source);
            late += usize::from(!has_arrived);
            let shown = if has_arrived { &new } else { &old };
            let name = format!("kept-{size:?}-{format:?}-{frame}");
            assert_blur(&name, &headless, &target, shown, 3.5);
            if is_flagged(&headless, &target) {
                flagged.push(has_arrived);
            }
        }
        assert!((3..15).contains(&late), "{size:?}: they came {late} frames late");
        assert!(
            flagged.contains(&true),
            "{size:?}: Bevy hears that the target has another texture"
        );
        assert_eq!(finished(&mut headless, 4), 1, "{size:?}: it was blurred once");
        assert_blur("kept-in-the-end", &headless, &target, &new, 3.5);
        drop(waiting);
        headless.despawn(entity);
    }
}

#[test]
fn a_target_of_the_plugins_own_keeps_its_result_while_a_mask_loads() {
    let mut headless = ready();
    let [old, new] = [pictures(61, 47)[0].clone(), pictures(90, 30)[1].clone()];
    let (source, entity, target) = blurred(&mut headless, &old);
    let mask = headless.reserve_image();
    let profile = BlurProfile::Mask(mask.clone());
    headless.insert(entity, profile);
    replace_image(&mut headless, &source, image(&new));
    for frame in 0..4 {
        headless.frame();
        assert_blur(&format!("kept-without-mask-{frame}"), &headless, &target, &old, 3.5);
    }
    let mut white = pictures(8, 8)[0].clone();
    white.texels.fill([1.0; 4]);
    headless.insert_image(&mask, image(&white));
    headless.frame();
    // It follows in the frame of the mask, which is white.
    assert_blur("kept-with-mask", &headless, &target, &new, 3.5);
}

/// Bevy keeps the texture of the first size or format, which is the last result, and hands it out again.
#[test]
fn a_source_that_goes_back_and_forth_is_followed() {
    let mut headless = ready();
    let [old, new] = pictures(61, 47);
    for (size, format) in OTHERS {
        let (source, entity, target) = blurred(&mut headless, &old);
        let waiting = congest(&mut headless);
        let [between, _] = pictures(size[0], size[1]);
        replace_image(&mut headless, &source, to_image(&between, format));
        finished(&mut headless, 2);
        assert!(!is_on_gpu(&headless, &source), "{size:?}: it comes late");
        replace_image(&mut headless, &source, image(&new));
        for frame in 0..20 {
            headless.frame();
            let shown = if is_on_gpu(&headless, &source) { &new } else { &old };
            let name = format!("back-{size:?}-{format:?}-{frame}");
            assert_blur(&name, &headless, &target, shown, 3.5);
        }
        assert_eq!(finished(&mut headless, 2), 1, "{size:?}: it was blurred once");
        drop(waiting);
        headless.despawn(entity);
    }
}

/// Its target still shows a result of another size, because the blur has failed since.
#[test]
fn a_strength_that_is_inserted_again_has_the_textures_of_its_target() {
    let mut headless = ready();
    let [old, new] = [pictures(61, 47)[0].clone(), pictures(90, 30)[1].clone()];
    let (source, entity, target) = blurred(&mut headless, &old);
    insert_unreadable_mask(&mut headless, entity);
    replace_image(&mut headless, &source, image(&new));
    frames(&mut headless, 3);
    assert_blur("before-it-failed", &headless, &target, &old, 3.5);
    headless.remove::<(GaussianBlur, BlurProfile)>(entity);
    headless.insert(entity, GaussianBlur::from_sigma(3.5));
    headless.frame();
    assert_blur("inserted-again", &headless, &target, &new, 3.5);
}
