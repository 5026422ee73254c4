//! Formats that hold no colours, or that the device does not support.

use super::*;

const DEPTH: TextureFormat = TextureFormat::Depth32Float;

/// Depths, as a camera writes them.
fn depths() -> Image {
    empty(DEPTH, TextureUsages::RENDER_ATTACHMENT)
}

const NO_COLOURS: BlurError = BlurError::UnsupportedSource {
    format: DEPTH,
    lacks: FormatCapability::Colour,
};

#[test]
fn depths_hold_no_colours() {
    assert_source_recovers(depths(), &NO_COLOURS);
    let into_colours = |headless: &mut Headless| {
        let source = headless.add_image(depths());
        plain(source).with_target(headless.add_image(good_image()))
    };
    assert_recovers(&NO_COLOURS, into_colours, |headless, entity| {
        let source = image_of(headless, entity).source.clone();
        replace_image(headless, &source, good_image());
    });
    let error = BlurError::UnsupportedTarget {
        format: DEPTH,
        lacks: FormatCapability::Colour,
    };
    let of_colours = |headless: &mut Headless| {
        let source = headless.add_image(good_image());
        plain(source).with_target(headless.add_image(depths()))
    };
    assert_recovers(&error, of_colours, |headless, entity| {
        let target = target_of(headless, entity);
        replace_image(headless, &target, good_image());
    });
}

#[test]
fn a_feature_that_the_device_lacks() {
    let format = TextureFormat::Etc2Rgb8Unorm;
    if !warm(BlurBackend::Compute).available(&[format]).is_empty() {
        return;
    }
    // Such a texture cannot be created, so the image must stay in the main world.
    let mut source = empty(format, TextureUsages::empty());
    source.asset_usage = RenderAssetUsages::MAIN_WORLD;
    let lacks = FormatCapability::Feature(format.required_features());
    assert_source_recovers(source, &BlurError::UnsupportedSource { format, lacks });
}
