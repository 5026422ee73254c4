//! What cannot be blurred is reported once, and everything stays as it was.

use crate::support::headless::Headless;
use crate::support::images::{replace_image, spawn, target_of};
use crate::support::outcomes::{failures, finished, frames, record};
use crate::support::{formats, gpu, inputs};
use bevy::asset::RenderAssetUsages;
use bevy::image::{TextureFormatPixelInfo, TextureSrgbViewFormats};
use bevy::prelude::*;
use bevy::render::render_resource::{Extent3d, TextureDimension, TextureFormat, TextureUsages, TextureViewDescriptor};
use bevy_gaussian_blur::prelude::*;

const FORMAT: TextureFormat = TextureFormat::Rgba8Unorm;

/// A picture of the format in [`FORMAT`].
fn image(width: usize, height: usize) -> Image {
    formats::to_image(&inputs::patterns(width, height)[0], FORMAT)
}

/// An image of zeros.
fn zeros(size: [u32; 3], dimension: TextureDimension, format: TextureFormat) -> Image {
    let [width, height, depth_or_array_layers] = size;
    let size = Extent3d {
        width,
        height,
        depth_or_array_layers,
    };
    Image::new_fill(
        size,
        dimension,
        &[0; 16][..format.pixel_size().unwrap_or(1)],
        format,
        RenderAssetUsages::default(),
    )
}

/// Blurs `source` into a target of the plugin's own, over many frames, and expects exactly one failure.
fn assert_fails_once(source: Image, error: &BlurError) {
    let Some(mut headless) = gpu(record) else {
        return;
    };
    let source = headless.add_image(source);
    spawn(&mut headless, GaussianBlur::from_sigma(4.0), BlurImage::new(source));
    assert_eq!(failures(&mut headless, 30), core::slice::from_ref(error));
    assert_alive(&mut headless);
}

/// Blurs something else: what went wrong has not gone farther.
fn assert_alive(headless: &mut Headless) {
    let source = headless.add_image(image(16, 16));
    let target = headless.blur(GaussianBlur::from_sigma(2.0), BlurImage::new(source.clone()));
    let target = target.expect("an ordinary blur still works");
    assert_ne!(headless.read_image(&target).bytes, headless.read_image(&source).bytes);
}

#[test]
fn a_target_of_another_size() {
    let Some(mut headless) = gpu(record) else {
        return;
    };
    let source = headless.add_image(image(40, 30));
    let target = headless.add_image(image(30, 40));
    headless.frame();
    let before = headless.read_image(&target).bytes;
    let blur = BlurImage::new(source.clone()).with_target(target.clone());
    let entity = spawn(&mut headless, GaussianBlur::from_sigma(4.0), blur);
    let expected = BlurError::SizeMismatch {
        source: UVec2::new(40, 30),
        target: UVec2::new(30, 40),
    };
    assert_eq!(failures(&mut headless, 60), core::slice::from_ref(&expected));
    assert_eq!(headless.read_image(&target).bytes, before, "the target is not touched");

    replace_image(&mut headless, &target, image(40, 30));
    assert_eq!(finished(&mut headless, 15), 1, "a target that fits is blurred into");
    replace_image(&mut headless, &target, image(30, 40));
    assert_eq!(failures(&mut headless, 15), [expected], "a new failure is a new report");
    assert!(headless.app.world().get::<BlurImage>(entity).is_some());
}

#[test]
fn formats_that_hold_no_floating_point() {
    let source = zeros([20, 10, 1], TextureDimension::D2, TextureFormat::R8Uint);
    assert_fails_once(source, &BlurError::UnsupportedSource(TextureFormat::R8Uint));
}

#[test]
fn formats_that_cannot_be_rendered_to() {
    let source = zeros([20, 10, 1], TextureDimension::D2, TextureFormat::Rgb9e5Ufloat);
    assert_fails_once(source, &BlurError::UnsupportedTarget(TextureFormat::Rgb9e5Ufloat));
}

#[test]
fn compressed_formats() {
    let format = TextureFormat::Bc1RgbaUnorm;
    if gpu(|_| {}).is_none_or(|headless| headless.available(&[format]).is_empty()) {
        return;
    }
    let mut source = zeros([16, 16, 1], TextureDimension::D2, TextureFormat::Rgba8Unorm);
    source.texture_descriptor.format = TextureFormat::Bc1RgbaUnorm;
    source.data = Some(vec![0; 16 / 4 * 16 / 4 * 8]);
    assert_fails_once(source, &BlurError::UnsupportedTarget(TextureFormat::Bc1RgbaUnorm));
}

#[test]
fn a_target_that_cannot_be_rendered_to() {
    let Some(mut headless) = gpu(record) else {
        return;
    };
    let source = headless.add_image(image(20, 10));
    let mut target = image(20, 10);
    target.texture_descriptor.usage.remove(TextureUsages::RENDER_ATTACHMENT);
    let target = headless.add_image(target);
    let blur = BlurImage::new(source).with_target(target);
    spawn(&mut headless, GaussianBlur::from_sigma(4.0), blur);
    let (image, usage) = ("target", "RENDER_ATTACHMENT");
    assert_eq!(failures(&mut headless, 30), [BlurError::MissingUsage { image, usage }]);
    assert_alive(&mut headless);
}

#[test]
fn a_source_that_cannot_be_read() {
    let mut source = image(20, 10);
    source.texture_descriptor.usage.remove(TextureUsages::TEXTURE_BINDING);
    let (image, usage) = ("source", "TEXTURE_BINDING");
    assert_fails_once(source, &BlurError::MissingUsage { image, usage });
}

#[test]
fn volumes() {
    let source = zeros([8, 8, 4], TextureDimension::D3, FORMAT);
    assert_fails_once(source, &BlurError::NotTwoDimensional);
}

#[test]
fn lines() {
    let source = zeros([8, 1, 1], TextureDimension::D1, FORMAT);
    assert_fails_once(source, &BlurError::NotTwoDimensional);
}

#[test]
fn layers() {
    let source = zeros([8, 8, 6], TextureDimension::D2, FORMAT);
    assert_fails_once(source, &BlurError::NotTwoDimensional);
}

#[test]
fn radii_out_of_range_copy() {
    let Some(mut headless) = gpu(record) else {
        return;
    };
    let invalid = |radius: f32, aspect: Vec2| GaussianBlur::new(radius).with_aspect(aspect);
    for blur in [
        invalid(f32::NAN, Vec2::ONE),
        invalid(f32::INFINITY, Vec2::ONE),
        invalid(-1.0, Vec2::ONE),
        invalid(9.0, Vec2::new(1.0, f32::NAN)),
        invalid(9.0, Vec2::new(-1.0, 1.0)),
    ] {
        let source = headless.add_image(image(40, 30));
        let entity = spawn(&mut headless, blur, BlurImage::new(source.clone()));
        let outcomes = frames(&mut headless, 30);
        let failures: Vec<&BlurError> = outcomes
            .iter()
            .filter_map(|(_, outcome)| outcome.as_ref().err())
            .collect();
        match failures[..] {
            [BlurError::InvalidRadius(radius)] => assert_eq!(radius.to_bits(), blur.radius.to_bits()),
            [BlurError::InvalidAspect(aspect)] => assert_eq!(aspect.to_string(), blur.aspect.to_string()),
            _ => panic!("{blur:?}: {failures:?}"),
        }
        let target = target_of(&headless, entity);
        assert_eq!(
            headless.read_image(&target).bytes,
            headless.read_image(&source).bytes,
            "{blur:?}"
        );
        headless.app.world_mut().despawn(entity);
    }
}

#[test]
fn a_file_that_is_not_there() {
    let Some(mut headless) = gpu(record) else {
        return;
    };
    let source = headless
        .app
        .world()
        .resource::<AssetServer>()
        .load("no such picture.png");
    spawn(&mut headless, GaussianBlur::from_sigma(4.0), BlurImage::new(source));
    let mut found = Vec::new();
    for _ in 0..100 {
        found.extend(failures(&mut headless, 1));
        std::thread::sleep(std::time::Duration::from_millis(2));
    }
    assert_eq!(found, [BlurError::SourceNotLoaded]);
}

#[test]
fn mipmaps_are_no_obstacle() {
    let Some(mut headless) = gpu(record) else {
        return;
    };
    let mut image = zeros([16, 16, 1], TextureDimension::D2, FORMAT);
    image.texture_descriptor.mip_level_count = 2;
    image.texture_descriptor.usage |= TextureUsages::RENDER_ATTACHMENT;
    image.data = Some((0..(16 * 16 + 8 * 8) * 4).map(|byte: u32| byte as u8).collect());
    let image = headless.add_image(image);
    let blur = GaussianBlur::from_sigma(2.0);
    let apart = spawn(&mut headless, blur, BlurImage::new(image.clone()));
    let in_place = spawn(&mut headless, blur, BlurImage::in_place(image));
    let outcomes = frames(&mut headless, 20);
    assert!(outcomes.iter().all(|(_, outcome)| outcome.is_ok()), "{outcomes:?}");
    let count = |entity: Entity| outcomes.iter().filter(|(heard, _)| *heard == entity).count();
    assert_eq!(count(in_place), 1, "{outcomes:?}");
    // If it was there first, its source has changed since.
    assert!((1..=2).contains(&count(apart)), "{outcomes:?}");
    assert_alive(&mut headless);
}

#[test]
fn views_in_another_format_are_no_obstacle() {
    let Some(mut headless) = gpu(record) else {
        return;
    };
    let mut source = image(20, 10);
    source.texture_descriptor.view_formats = FORMAT.srgb_view_formats();
    source.texture_view_descriptor = Some(TextureViewDescriptor {
        format: Some(TextureFormat::Rgba8UnormSrgb),
        ..default()
    });
    let source = headless.add_image(source);
    spawn(&mut headless, GaussianBlur::from_sigma(2.0), BlurImage::new(source));
    assert_eq!(finished(&mut headless, 20), 1);
    assert_alive(&mut headless);
}
