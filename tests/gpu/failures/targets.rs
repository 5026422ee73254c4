//! Targets that cannot take a blur.

use super::*;
use crate::support::events::{heard, listen};
use crate::support::images::{layered, touch};
use crate::support::inputs::patterns;
use crate::support::outcomes::record;

/// A blur of a valid source into a target, which is replaced by a valid one after the failure.
fn assert_target_recovers(target: Image, error: &BlurError) {
    let start = |headless: &mut Headless| {
        let source = headless.add_image(good_image());
        plain(source).with_target(headless.add_image(target))
    };
    assert_recovers(error, start, replace_target);
}

fn replace_target(headless: &mut Headless, entity: Entity) {
    let target = target_of(headless, entity);
    replace_image(headless, &target, good_image());
}

#[test]
fn a_target_of_another_size() {
    let mut headless = warm(BlurBackend::Compute);
    let source = headless.add_image(good_image());
    let target = headless.add_image(image(30, 40));
    headless.frame();
    let before = headless.read_image(&target).bytes;
    let blur = plain(source).with_target(target.clone());
    let entity = spawn(&mut headless, GaussianBlur::from_sigma(SIGMA), blur);
    let expected = BlurError::SizeMismatch {
        source: UVec2::new(40, 30),
        target: UVec2::new(30, 40),
    };
    assert_eq!(failures(&mut headless, 60), core::slice::from_ref(&expected));
    assert_eq!(headless.read_image(&target).bytes, before, "the target is not touched");

    replace_target(&mut headless, entity);
    assert_is_blurred(&mut headless, entity, "a target of another size");
    replace_image(&mut headless, &target, image(30, 40));
    assert_eq!(failures(&mut headless, 15), [expected], "a new failure is a new report");
    assert!(headless.app.world().get::<BlurImage>(entity).is_some());
}

#[test]
fn targets_that_cannot_be_written() {
    let mut layers = zeros([40, 30, 2], TextureDimension::D2, FORMAT);
    layers.texture_descriptor.usage |= TextureUsages::RENDER_ATTACHMENT;
    assert_target_recovers(layers, &BlurError::LayerMismatch { source: 1, target: 2 });
    let volume = zeros([40, 30, 2], TextureDimension::D3, FORMAT);
    assert_target_recovers(volume, &BlurError::NotTwoDimensional);
    let mut unwritten = good_image();
    unwritten
        .texture_descriptor
        .usage
        .remove(TextureUsages::RENDER_ATTACHMENT);
    // Nothing can be rendered to this format.
    let shared_exponent = zeros([40, 30, 1], TextureDimension::D2, TextureFormat::Rgb9e5Ufloat);
    // Its levels are computed from each other.
    let levels = [(40, 30), (20, 15)].map(|(width, height)| patterns(width, height)[1].clone());
    let mut unread = layered(&[levels.to_vec()], FORMAT);
    unread.texture_descriptor.usage.remove(TextureUsages::TEXTURE_BINDING);
    for (target, usage) in [
        (unwritten, "RENDER_ATTACHMENT"),
        (shared_exponent, "RENDER_ATTACHMENT"),
        (unread, "TEXTURE_BINDING"),
    ] {
        let image = "target";
        assert_target_recovers(target, &BlurError::MissingUsage { image, usage });
    }
}

#[test]
fn a_target_whose_pixels_cannot_be_copied() {
    let setup = |app: &mut App| {
        record(app);
        listen::<BlurredPixels>(app);
    };
    let mut headless = gpu(setup);
    let source = headless.add_image(good_image());
    let mut target = good_image();
    target.texture_descriptor.usage.remove(TextureUsages::COPY_SRC);
    let target = headless.add_image(target);
    let blur = plain(source).with_target(target.clone());
    let world = headless.app.world_mut();
    let entity = world
        .commands()
        .blur_for_pixels(GaussianBlur::from_sigma(SIGMA), blur)
        .id();
    world.flush();
    let outcomes = frames(&mut headless, 30).into_iter();
    let failed: Vec<BlurError> = outcomes.filter_map(|(_, outcome)| outcome.err()).collect();
    let (image, usage) = ("target", "COPY_SRC");
    assert_eq!(failed, [BlurError::MissingUsage { image, usage }]);

    replace_image(&mut headless, &target, good_image());
    touch(&mut headless, entity);
    headless.frames(30);
    assert_eq!(
        heard::<BlurredPixels>(&headless),
        [entity],
        "the pixels are handed over"
    );
}
