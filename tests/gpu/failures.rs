//! Failures are reported once and change nothing, and the blur resumes when the cause is gone.
//!
//! Two errors do not occur here: this GPU can render to the formats of all intermediate textures, and sources have the
//! same size limit as intermediate textures, so none of those is too large.

mod masks;
mod settings;
mod targets;
mod unsupported;

use crate::support::prelude::*;
use bevy::image::{TextureFormatPixelInfo, TextureSrgbViewFormats};
use bevy::render::render_resource::{Extent3d, TextureDimension};
use bevy_gaussian_blur::FormatCapability;

const FORMAT: TextureFormat = TextureFormat::Rgba8Unorm;
const SIGMA: f32 = 4.0;

/// The picture to blur in the end.
fn picture() -> Picture {
    inputs::patterns(40, 30)[0].clone()
}

/// A picture of the format in [`FORMAT`].
fn image(width: usize, height: usize) -> Image {
    to_image(&inputs::patterns(width, height)[0], FORMAT)
}

/// An image of [`picture`].
fn good_image() -> Image {
    image(40, 30)
}

/// An image that stays in the main world.
fn hidden_image() -> Image {
    Image {
        asset_usage: RenderAssetUsages::MAIN_WORLD,
        ..good_image()
    }
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

/// An unwritten image of the size of [`picture`].
fn empty(format: TextureFormat, usages: TextureUsages) -> Image {
    let size = Extent3d {
        width: 40,
        height: 30,
        depth_or_array_layers: 1,
    };
    let mut image = Image::new_uninit(size, TextureDimension::D2, format, RenderAssetUsages::default());
    image.texture_descriptor.usage |= usages;
    image
}

/// Spawns a blur and expects exactly one failure. Then `mend` removes the cause, so that the source is [`picture`],
/// which must be blurred.
fn assert_recovers(
    error: &BlurError,
    start: impl FnOnce(&mut Headless) -> BlurImage,
    mend: impl FnOnce(&mut Headless, Entity),
) {
    let mut headless = warm(BlurBackend::Compute);
    let image = start(&mut headless);
    let entity = spawn(&mut headless, GaussianBlur::from_sigma(SIGMA), image);
    assert_eq!(failures(&mut headless, 30), core::slice::from_ref(error));
    assert_alive(&mut headless);
    mend(&mut headless, entity);
    assert_is_blurred(&mut headless, entity, &error.to_string());
}

/// The same for a source that cannot be blurred, and is replaced by one that can.
fn assert_source_recovers(source: Image, error: &BlurError) {
    let start = |headless: &mut Headless| plain(headless.add_image(source));
    assert_recovers(error, start, |headless, entity| {
        let source = image_of(headless, entity).source.clone();
        replace_image(headless, &source, good_image());
    });
}

/// The images of a blur.
fn image_of(headless: &mut Headless, entity: Entity) -> Mut<'_, BlurImage> {
    let image = headless.app.world_mut().get_mut::<BlurImage>(entity);
    image.expect("it was spawned")
}

/// Expects that a blur runs again, and then rests.
fn assert_is_blurred(headless: &mut Headless, entity: Entity, name: &str) {
    assert!(finished(headless, 20) > 0, "no blur after: {name}");
    let target = target_of(headless, entity);
    assert_blur(name, headless, &target, &picture(), SIGMA);
    assert_eq!(finished(headless, 10), 0, "again and again after: {name}");
}

/// Blurs something else: the failure has not spread.
fn assert_alive(headless: &mut Headless) {
    let source = headless.add_image(image(16, 16));
    let target = headless.blur(GaussianBlur::from_sigma(2.0), BlurImage::new(source.clone()));
    let target = target.expect("an ordinary blur still works");
    assert_ne!(headless.read_image(&target).bytes, headless.read_image(&source).bytes);
    finished(headless, 1);
}

#[test]
fn sources_that_cannot_be_blurred() {
    let mut unread = image(20, 10);
    unread.texture_descriptor.usage.remove(TextureUsages::TEXTURE_BINDING);
    let (image, usage) = ("source", "TEXTURE_BINDING");
    assert_source_recovers(unread, &BlurError::MissingUsage { image, usage });
    let mut multisampled = empty(FORMAT, TextureUsages::RENDER_ATTACHMENT);
    multisampled.texture_descriptor.sample_count = 4;
    let volume = zeros([8, 8, 4], TextureDimension::D3, FORMAT);
    let line = zeros([8, 1, 1], TextureDimension::D1, FORMAT);
    for source in [multisampled, volume, line] {
        assert_source_recovers(source, &BlurError::NotTwoDimensional);
    }
}

#[test]
fn a_file_that_is_not_there() {
    let mut headless = warm(BlurBackend::Compute);
    let assets = headless.app.world().resource::<AssetServer>();
    let source = assets.load("no such picture.png");
    let entity = spawn(&mut headless, GaussianBlur::from_sigma(SIGMA), plain(source));
    assert_eq!(failures_in_time(&mut headless), [BlurError::SourceNotLoaded]);
    assert_alive(&mut headless);
    let source = headless.add_image(good_image());
    image_of(&mut headless, entity).source = source;
    assert_is_blurred(&mut headless, entity, "a missing file");
}

#[test]
fn mipmaps_are_no_obstacle() {
    let mut headless = warm(BlurBackend::Compute);
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
    // It runs again if it ran before the blur in place changed its source.
    assert!((1..=2).contains(&count(apart)), "{outcomes:?}");
    assert_alive(&mut headless);
}

#[test]
fn views_in_another_format_are_no_obstacle() {
    let mut headless = warm(BlurBackend::Compute);
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

/// The failures that frames report until there is one, and that some later frames report: files take their time.
fn failures_in_time(headless: &mut Headless) -> Vec<BlurError> {
    let mut found = Vec::new();
    for _ in 0..10_000 {
        found = failures(headless, 1);
        if !found.is_empty() {
            break;
        }
        sleep(Duration::from_millis(1));
    }
    found.extend(failures(headless, 20));
    found
}

#[test]
fn a_failure_of_another_image_is_reported_too() {
    let mut headless = warm(BlurBackend::Compute);
    let assets = headless.app.world().resource::<AssetServer>().clone();
    let missing = || ["no first picture.png", "no second picture.png"].map(|path| assets.load(path));
    let pair = |headless: &mut Headless, images: [Image; 2]| images.map(|image| headless.add_image(image));
    let volume = || zeros([8, 8, 4], TextureDimension::D3, FORMAT);
    let depths = [TextureFormat::Depth32Float, TextureFormat::Depth16Unorm];
    let target = headless.add_image(good_image());
    let without_colour = |format: TextureFormat| BlurError::UnsupportedSource {
        format,
        lacks: FormatCapability::Colour,
    };
    let mismatch = |side: u32| BlurError::SizeMismatch {
        source: UVec2::splat(side),
        target: UVec2::new(40, 30),
    };
    let empty = |format: TextureFormat| empty(format, TextureUsages::empty());
    let volumes = pair(&mut headless, [volume(), volume()]);
    let depth_images = pair(&mut headless, depths.map(empty));
    let sizes = pair(&mut headless, [image(8, 8), image(9, 9)]);
    let same_size = pair(&mut headless, [image(8, 8), image(8, 8)]);
    let cases = [
        (missing(), None, [(); 2].map(|()| BlurError::SourceNotLoaded)),
        (volumes, None, [(); 2].map(|()| BlurError::NotTwoDimensional)),
        (depth_images, None, depths.map(without_colour)),
        (sizes, Some(target.clone()), [8, 9].map(mismatch)),
        (same_size, Some(target), [8, 8].map(mismatch)),
    ];
    for (index, (sources, target, errors)) in cases.into_iter().enumerate() {
        let name = format!("failure-of-another-image-{index}");
        let blur = GaussianBlur::from_sigma(SIGMA);
        let image = BlurImage {
            target,
            ..plain(sources[0].clone())
        };
        let world = headless.app.world_mut();
        let entity = world.spawn((Name::new(name.clone()), blur, image)).id();
        for (source, error) in sources.into_iter().zip(errors) {
            image_of(&mut headless, entity).source = source;
            assert_eq!(failures_in_time(&mut headless), [error], "each names its images");
        }
        assert_eq!(logs::count(&name), 2, "{name}: once for each");
        headless.despawn(entity);
    }
}

#[test]
fn images_that_never_reach_the_gpu() {
    let mut headless = warm(BlurBackend::Compute);
    let [hidden, good] = [hidden_image(), good_image()].map(|image| headless.add_image(image));
    let blur = GaussianBlur::from_sigma(SIGMA);
    let masked = BlurProfile::Mask(hidden.clone());
    for (image, profile, name) in [
        (plain(hidden.clone()), BlurProfile::Uniform, "source"),
        (plain(good.clone()), masked, "mask"),
        (plain(good).with_target(hidden.clone()), BlurProfile::Uniform, "target"),
    ] {
        let world = headless.app.world_mut();
        let entity = world.spawn((blur, image.with_update(BlurUpdate::Once), profile)).id();
        let expected = BlurError::NotOnGpu { image: name };
        assert!(expected.to_string().contains("RenderAssetUsages::MAIN_WORLD"));
        assert_eq!(failures(&mut headless, 20), [expected]);
        headless.despawn(entity);
    }
}

/// A blur of an image that never reaches the GPU does not hold up a blur of its target.
#[test]
fn a_blur_of_the_target_of_a_hidden_image_runs() {
    let mut headless = warm(BlurBackend::Compute);
    let [hidden, between] = [hidden_image(), good_image()].map(|image| headless.add_image(image));
    let blur = GaussianBlur::from_sigma(SIGMA);
    let world = headless.app.world_mut();
    let image = plain(hidden).with_target(between.clone());
    let first = world.commands().blur_for_pixels(blur, image).id();
    world.flush();
    let second = spawn(&mut headless, blur, plain(between));
    let outcomes = frames(&mut headless, 20);
    let not_on_gpu = BlurError::NotOnGpu { image: "source" };
    assert_eq!(outcomes, [(first, Err(not_on_gpu)), (second, Ok(()))]);
    let target = target_of(&headless, second);
    assert_blur("fed-by-hidden", &headless, &target, &picture(), SIGMA);
    assert!(
        headless.app.world_mut().despawn(first),
        "it stays until it is despawned"
    );
}
