//! When image blurs run, and what they follow: settings, sources, handles, sizes, and their own removal.

mod bindings;
mod disabled;
mod ownership;

use crate::support::counters::texture_memory;
use crate::support::images;
use crate::support::outcomes::record;
use crate::support::prelude::*;

const FORMAT: TextureFormat = TextureFormat::Rgba16Float;
const SIGMA: f32 = 3.5;

fn picture(width: usize, height: usize) -> Picture {
    inputs::patterns(width, height)[0].clone()
}

/// Spawns a blur of `picture` into a target that the plugin allocates.
fn spawn(headless: &mut Headless, picture: &Picture, update: BlurUpdate) -> (Entity, Handle<Image>) {
    let source = headless.add_image(to_image(picture, FORMAT));
    let image = plain(source.clone()).with_update(update);
    let entity = images::spawn(headless, GaussianBlur::from_sigma(SIGMA), image);
    (entity, source)
}

fn replace(headless: &mut Headless, image: &Handle<Image>, picture: &Picture) {
    replace_image(headless, image, to_image(picture, FORMAT));
}

/// Compares the result of a blur with the reference.
fn assert_blurred(headless: &Headless, entity: Entity, picture: &Picture, sigma: f32) {
    assert_blur("lifecycle", headless, &target_of(headless, entity), picture, sigma);
}

#[test]
fn on_change_blurs_once_for_every_change() {
    let mut headless = warm(BlurBackend::Compute);
    let first = picture(61, 47);
    let (entity, source) = spawn(&mut headless, &first, BlurUpdate::OnChange);
    assert_eq!(finished(&mut headless, 15), 1, "the first blur");
    assert_blurred(&headless, entity, &first, SIGMA);
    assert_eq!(finished(&mut headless, 15), 0, "nothing changes");

    set_blur(&mut headless, entity, GaussianBlur::from_sigma(9.0));
    assert_eq!(finished(&mut headless, 15), 1, "the settings change");
    assert_blurred(&headless, entity, &first, 9.0);

    for edge in [EdgeMode::Mirror, EdgeMode::Clamp] {
        headless.get_mut::<GaussianBlur>(entity).edge = edge;
        assert_eq!(finished(&mut headless, 15), 1, "the edge changes");
    }

    let second = inputs::patterns(61, 47)[1].clone();
    replace(&mut headless, &source, &second);
    assert_eq!(finished(&mut headless, 15), 1, "the source's pixels change");
    assert_blurred(&headless, entity, &second, 9.0);

    let other = headless.add_image(to_image(&first, FORMAT));
    assert_eq!(
        finished(&mut headless, 5),
        0,
        "no blur of the new image has been requested"
    );
    headless.get_mut::<BlurImage>(entity).source = other;
    assert_eq!(finished(&mut headless, 15), 1, "the source's handle changes");
    assert_blurred(&headless, entity, &first, 9.0);
    replace(&mut headless, &source, &second);
    assert_eq!(finished(&mut headless, 15), 0, "the old source is no longer followed");
}

#[test]
fn a_source_that_lives_on_the_gpu_alone_is_blurred() {
    let mut headless = warm(BlurBackend::Compute);
    let picture = picture(40, 31);
    let mut image = to_image(&picture, FORMAT);
    image.asset_usage = RenderAssetUsages::RENDER_WORLD;
    let source = headless.add_image(image);
    let blur = GaussianBlur::from_sigma(SIGMA);
    let entity = images::spawn(&mut headless, blur, plain(source));
    assert_eq!(finished(&mut headless, 15), 1);
    assert_blurred(&headless, entity, &picture, SIGMA);
    set_blur(&mut headless, entity, GaussianBlur::from_sigma(9.0));
    assert_eq!(finished(&mut headless, 15), 1);
    assert_blurred(&headless, entity, &picture, 9.0);
}

#[test]
fn what_is_not_used_is_given_back() {
    let mut headless = gpu(record);
    let source = headless.add_image(to_image(&picture(256, 128), FORMAT));
    headless.warm_up();
    let before = texture_memory(&headless);
    let image = plain(source.clone()).with_update(BlurUpdate::EveryFrame);
    let blur = GaussianBlur::from_sigma(20.0);
    let entity = images::spawn(&mut headless, blur, image);
    finished(&mut headless, 10);
    let busy = texture_memory(&headless);
    let target = 256 * 128 * 8;
    assert!(
        busy > before + target,
        "a target and its intermediates: {before}, then {busy}"
    );
    finished(&mut headless, 10);
    assert_eq!(texture_memory(&headless), busy, "nothing piles up");

    headless.get_mut::<BlurImage>(entity).update = BlurUpdate::OnChange;
    finished(&mut headless, 15);
    let idle = texture_memory(&headless);
    // A driver rounds sizes up.
    let target_alone = before + target..before + target + 4096;
    assert!(
        target_alone.contains(&idle),
        "an idle blur keeps its target alone: {before}, then {idle}"
    );

    headless.remove::<(GaussianBlur, BlurImage)>(entity);
    assert_eq!(finished(&mut headless, 15), 0);
    assert_eq!(texture_memory(&headless), before, "the target is released");
}

/// A mask is no longer held when its blur has ended, or no longer varies.
#[test]
fn masks_are_given_back() {
    let mut headless = gpu(record);
    for (update, is_replaced) in [(BlurUpdate::OnChange, false), (BlurUpdate::EveryFrame, true)] {
        let picture = picture(64, 48);
        let mask = headless.add_image(to_image(&picture, FORMAT));
        let (entity, _) = spawn(&mut headless, &picture, update);
        let profile = BlurProfile::Mask(mask.clone());
        headless.insert(entity, profile);
        finished(&mut headless, 10);
        let held = {
            let images = headless.render_world().resource::<RenderAssets<GpuImage>>();
            images.get(&mask).expect("it was blurred with it").texture.clone()
        };
        if is_replaced {
            headless.insert(entity, BlurProfile::Uniform);
        } else {
            headless.remove::<BlurProfile>(entity);
            headless.frame();
        }
        drop(mask);
        finished(&mut headless, 15);
        let before = texture_memory(&headless);
        drop(held);
        finished(&mut headless, 15);
        let after = texture_memory(&headless);
        assert!(
            after < before,
            "{update:?}: {before}, then {after}: something holds the mask"
        );
        headless.despawn(entity);
    }
}
