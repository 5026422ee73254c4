//! When image blurs run, and what they follow: settings, sources, handles, sizes, and their own removal.

mod bindings;
mod disabled;
mod ownership;

use crate::support::headless::Headless;
use crate::support::images::{self, plain, replace_image, target_of};
use crate::support::outcomes::{finished, record};
use crate::support::pool::warm;
use crate::support::reference::{Picture, gaussian_blur};
use crate::support::{assert_close, formats, gpu, inputs};
use bevy::asset::RenderAssetUsages;
use bevy::prelude::*;
use bevy::render::render_asset::RenderAssets;
use bevy::render::render_resource::TextureFormat;
use bevy::render::renderer::RenderDevice;
use bevy::render::texture::GpuImage;
use bevy_gaussian_blur::prelude::*;

const FORMAT: TextureFormat = TextureFormat::Rgba16Float;
const SIGMA: f32 = 3.5;

fn picture(width: usize, height: usize) -> Picture {
    inputs::patterns(width, height)[0].clone()
}

/// Spawns a blur of `picture` into a target that the plugin allocates.
fn spawn(headless: &mut Headless, picture: &Picture, update: BlurUpdate) -> (Entity, Handle<Image>) {
    let source = headless.add_image(formats::to_image(picture, FORMAT));
    let image = plain(source.clone()).with_update(update);
    let entity = images::spawn(headless, GaussianBlur::from_sigma(SIGMA), image);
    (entity, source)
}

fn set_sigma(headless: &mut Headless, entity: Entity, sigma: f32) {
    let mut blur = headless
        .app
        .world_mut()
        .get_mut::<GaussianBlur>(entity)
        .expect("it was spawned");
    *blur = GaussianBlur::from_sigma(sigma);
}

fn replace(headless: &mut Headless, image: &Handle<Image>, picture: &Picture) {
    replace_image(headless, image, formats::to_image(picture, FORMAT));
}

/// Compares the result of a blur with the reference.
fn assert_blurred(headless: &Headless, entity: Entity, picture: &Picture, sigma: f32) {
    let got = formats::to_picture(&headless.read_image(&target_of(headless, entity)));
    let sigma = f64::from(sigma);
    let expected = gaussian_blur(&formats::quantised(picture, FORMAT), [sigma, sigma], EdgeMode::Clamp);
    assert_eq!([got.width, got.height], [picture.width, picture.height]);
    assert_close("lifecycle", &got, &expected, &[0, 1, 2, 3], 0.6 / 255.0);
}

#[test]
fn on_change_blurs_once_for_every_change() {
    let Some(mut headless) = warm(BlurBackend::Compute) else {
        return;
    };
    let first = picture(61, 47);
    let (entity, source) = spawn(&mut headless, &first, BlurUpdate::OnChange);
    assert_eq!(finished(&mut headless, 15), 1, "the first blur");
    assert_blurred(&headless, entity, &first, SIGMA);
    assert_eq!(finished(&mut headless, 15), 0, "nothing changes");

    set_sigma(&mut headless, entity, 9.0);
    assert_eq!(finished(&mut headless, 15), 1, "the settings change");
    assert_blurred(&headless, entity, &first, 9.0);

    let second = inputs::patterns(61, 47)[1].clone();
    replace(&mut headless, &source, &second);
    assert_eq!(finished(&mut headless, 15), 1, "the source's pixels change");
    assert_blurred(&headless, entity, &second, 9.0);

    let other = headless.add_image(formats::to_image(&first, FORMAT));
    assert_eq!(
        finished(&mut headless, 5),
        0,
        "no blur of the new image has been requested"
    );
    let mut image = headless
        .app
        .world_mut()
        .get_mut::<BlurImage>(entity)
        .expect("it was spawned");
    image.source = other;
    assert_eq!(finished(&mut headless, 15), 1, "the source's handle changes");
    assert_blurred(&headless, entity, &first, 9.0);
    replace(&mut headless, &source, &second);
    assert_eq!(finished(&mut headless, 15), 0, "the old source is no longer followed");
}

#[test]
fn every_frame_blurs_every_frame() {
    let Some(mut headless) = warm(BlurBackend::Compute) else {
        return;
    };
    let picture = picture(33, 20);
    let (entity, _) = spawn(&mut headless, &picture, BlurUpdate::EveryFrame);
    finished(&mut headless, 10);
    assert_eq!(finished(&mut headless, 25), 25);
    assert_blurred(&headless, entity, &picture, SIGMA);
}

#[test]
fn once_blurs_once() {
    let Some(mut headless) = warm(BlurBackend::Compute) else {
        return;
    };
    let picture = picture(33, 20);
    let (entity, source) = spawn(&mut headless, &picture, BlurUpdate::Once);
    assert_eq!(finished(&mut headless, 15), 1);
    replace(&mut headless, &source, &inputs::patterns(33, 20)[1].clone());
    set_sigma(&mut headless, entity, 9.0);
    assert_eq!(finished(&mut headless, 15), 0, "only BlurImage itself counts");
    assert_blurred(&headless, entity, &picture, SIGMA);
    let mut image = headless
        .app
        .world_mut()
        .get_mut::<BlurImage>(entity)
        .expect("it was spawned");
    image.set_changed();
    assert_eq!(finished(&mut headless, 15), 1, "BlurImage changes");
    assert_blurred(&headless, entity, &inputs::patterns(33, 20)[1].clone(), 9.0);
}

#[test]
fn a_source_that_is_not_there_yet_is_waited_for() {
    let Some(mut headless) = warm(BlurBackend::Compute) else {
        return;
    };
    for update in [BlurUpdate::OnChange, BlurUpdate::Once] {
        let source = headless.app.world().resource::<Assets<Image>>().reserve_handle();
        let image = plain(source.clone()).with_update(update);
        let entity = images::spawn(&mut headless, GaussianBlur::from_sigma(SIGMA), image);
        assert_eq!(finished(&mut headless, 10), 0, "{update:?}: there is no source");
        let picture = picture(40, 31);
        let mut images = headless.app.world_mut().resource_mut::<Assets<Image>>();
        images
            .insert(source.id(), formats::to_image(&picture, FORMAT))
            .expect("the handle is alive");
        assert_eq!(finished(&mut headless, 15), 1, "{update:?}");
        assert_blurred(&headless, entity, &picture, SIGMA);
    }
}

#[test]
fn a_source_that_lives_on_the_gpu_alone_is_blurred() {
    let Some(mut headless) = warm(BlurBackend::Compute) else {
        return;
    };
    let picture = picture(40, 31);
    let mut image = formats::to_image(&picture, FORMAT);
    image.asset_usage = RenderAssetUsages::RENDER_WORLD;
    let source = headless.add_image(image);
    let blur = GaussianBlur::from_sigma(SIGMA);
    let entity = images::spawn(&mut headless, blur, plain(source));
    assert_eq!(finished(&mut headless, 15), 1);
    assert_blurred(&headless, entity, &picture, SIGMA);
    set_sigma(&mut headless, entity, 9.0);
    assert_eq!(finished(&mut headless, 15), 1);
    assert_blurred(&headless, entity, &picture, 9.0);
}

#[test]
fn the_own_target_follows_the_size_of_its_source() {
    let Some(mut headless) = warm(BlurBackend::Compute) else {
        return;
    };
    let (entity, source) = spawn(&mut headless, &picture(61, 47), BlurUpdate::OnChange);
    assert_eq!(finished(&mut headless, 15), 1);
    let target = target_of(&headless, entity);
    for (width, height) in [(90, 30), (7, 80), (1, 1), (61, 47)] {
        let picture = picture(width, height);
        replace(&mut headless, &source, &picture);
        assert!(finished(&mut headless, 15) > 0, "{width}x{height}");
        assert_eq!(target_of(&headless, entity), target, "the handle stays");
        assert_blurred(&headless, entity, &picture, SIGMA);
    }
}

#[test]
fn a_chain_is_blurred_in_one_frame() {
    let Some(mut headless) = warm(BlurBackend::Compute) else {
        return;
    };
    let start = picture(120, 90);
    let mut empty = start.clone();
    empty.texels.fill([0.0; 4]);
    let sigmas = [2.0_f32, 3.0, 6.0];
    let images: Vec<Handle<Image>> = core::iter::once(&start)
        .chain([&empty; 3])
        .map(|picture| headless.add_image(formats::to_image(picture, FORMAT)))
        .collect();
    // The last link comes first, so that the order of spawning differs from the order of blurring.
    for (link, sigma) in sigmas.into_iter().enumerate().rev() {
        let image = plain(images[link].clone()).with_target(images[link + 1].clone());
        let image = image.with_update(BlurUpdate::EveryFrame);
        images::spawn(&mut headless, GaussianBlur::from_sigma(sigma), image);
    }
    headless.warm_up();
    let changed = inputs::patterns(120, 90)[1].clone();
    replace(&mut headless, &images[0], &changed);
    headless.frame();
    let got = formats::to_picture(&headless.read_image(&images[3]));
    let sigma = sigmas.iter().map(|sigma| f64::from(sigma * sigma)).sum::<f64>().sqrt();
    // Clamping three times differs from clamping once, so the comparison leaves out the border.
    let expected = gaussian_blur(&formats::quantised(&changed, FORMAT), [sigma, sigma], EdgeMode::Clamp);
    let [got, expected] = [got, expected].map(|picture| picture.without_border(30));
    let worst = assert_close("chain", &got, &expected, &[0, 1, 2, 3], 1.0 / 255.0);
    println!("a chain of three: {:.3}/255", worst * 255.0);
}

#[test]
fn what_is_not_used_is_given_back() {
    let Some(mut headless) = gpu(record) else {
        return;
    };
    let source = headless.add_image(formats::to_image(&picture(256, 128), FORMAT));
    headless.warm_up();
    let before = texture_bytes(&headless);
    let image = plain(source.clone()).with_update(BlurUpdate::EveryFrame);
    let blur = GaussianBlur::from_sigma(20.0);
    let entity = images::spawn(&mut headless, blur, image);
    finished(&mut headless, 10);
    let busy = texture_bytes(&headless);
    let target = 256 * 128 * 8;
    assert!(
        busy > before + target,
        "a target and its intermediates: {before}, then {busy}"
    );
    finished(&mut headless, 10);
    assert_eq!(texture_bytes(&headless), busy, "nothing piles up");

    let mut image = headless
        .app
        .world_mut()
        .get_mut::<BlurImage>(entity)
        .expect("it was spawned");
    image.update = BlurUpdate::OnChange;
    finished(&mut headless, 15);
    let idle = texture_bytes(&headless);
    // A driver rounds sizes up.
    let target_alone = before + target..before + target + 4096;
    assert!(
        target_alone.contains(&idle),
        "an idle blur keeps its target alone: {before}, then {idle}"
    );

    headless
        .app
        .world_mut()
        .entity_mut(entity)
        .remove::<(GaussianBlur, BlurImage)>();
    assert_eq!(finished(&mut headless, 15), 0);
    assert_eq!(texture_bytes(&headless), before, "the target is released");
}

/// A mask is no longer held when its blur has ended, or no longer varies.
#[test]
fn masks_are_given_back() {
    let Some(mut headless) = gpu(record) else {
        return;
    };
    for (update, is_replaced) in [(BlurUpdate::OnChange, false), (BlurUpdate::EveryFrame, true)] {
        let picture = picture(64, 48);
        let mask = headless.add_image(formats::to_image(&picture, FORMAT));
        let (entity, _) = spawn(&mut headless, &picture, update);
        let profile = BlurProfile::Mask(mask.clone());
        headless.app.world_mut().entity_mut(entity).insert(profile);
        finished(&mut headless, 10);
        let held = {
            let images = headless.render_world().resource::<RenderAssets<GpuImage>>();
            images.get(&mask).expect("it was blurred with it").texture.clone()
        };
        if is_replaced {
            headless.app.world_mut().entity_mut(entity).insert(BlurProfile::Uniform);
        } else {
            headless.app.world_mut().entity_mut(entity).remove::<BlurProfile>();
            headless.frame();
        }
        drop(mask);
        finished(&mut headless, 15);
        let before = texture_bytes(&headless);
        drop(held);
        finished(&mut headless, 15);
        let after = texture_bytes(&headless);
        assert!(
            after < before,
            "{update:?}: {before}, then {after}: something holds the mask"
        );
        headless.app.world_mut().despawn(entity);
    }
}

/// The bytes that the driver has allocated for textures.
fn texture_bytes(headless: &Headless) -> isize {
    let device = headless.render_world().resource::<RenderDevice>();
    device.wgpu_device().get_internal_counters().hal.texture_memory.read()
}
