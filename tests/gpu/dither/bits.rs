//! What dithering must not change, to the bit.

use super::cameras::{Setup, Stage};
use super::*;
use crate::support::images::layered;
use bevy::core_pipeline::tonemapping::DebandDither;

/// The pixels of a blur into another image, without dithering and with it.
fn without_and_with(headless: &mut Headless, source: &Image, target: &Image, blur: GaussianBlur) -> [Pixels; 2] {
    let image = BlurImage::default().with_alpha(BlurAlpha::Premultiplied);
    [false, true].map(|dither| pixels(headless, source, target, blur, image.clone().with_dither(dither)))
}

fn pixels(headless: &mut Headless, source: &Image, target: &Image, blur: GaussianBlur, image: BlurImage) -> Pixels {
    let [source, target] = [source, target].map(|image| headless.add_image(image.clone()));
    let image = BlurImage { source, ..image }.with_target(target);
    let target = headless.blur(blur, image).expect("the blur succeeds");
    headless.read_image(&target)
}

#[test]
fn formats_without_eight_bits() {
    let mut headless = warm(BlurBackend::Compute);
    let smooth = gradient(UNORM);
    let source = to_image(&smooth, HDR);
    let others = [
        TextureFormat::R16Float,
        HDR,
        TextureFormat::Rgba32Float,
        TextureFormat::Rgba8Uint,
        TextureFormat::Rgb10a2Unorm,
    ];
    for format in others {
        let target = to_image(&smooth, format);
        let [without, with] = without_and_with(&mut headless, &source, &target, GaussianBlur::new(RADIUS));
        assert!(without.bytes == with.bytes, "{format:?}");
    }
}

#[test]
fn alpha() {
    let mut headless = warm(BlurBackend::Compute);
    let [pattern, _] = inputs::patterns(131, 74);
    for format in [SRGB, UNORM] {
        for alpha in [BlurAlpha::Straight, BlurAlpha::Premultiplied, BlurAlpha::Opaque] {
            let source = to_image(&pattern, format);
            let blur = GaussianBlur::from_sigma(9.0);
            let image = BlurImage::default().with_alpha(alpha);
            let [without, with] = [false, true].map(|dither| {
                let image = image.clone().with_dither(dither);
                pixels(&mut headless, &source, &source, blur, image)
            });
            let channel = |pixels: &Pixels, channel: usize| -> Vec<u8> {
                pixels.bytes.iter().skip(channel).step_by(4).copied().collect()
            };
            assert_eq!(channel(&without, 3), channel(&with, 3), "{format:?}, {alpha:?}");
            assert!(
                without.bytes != with.bytes,
                "{format:?}, {alpha:?}: nothing is dithered"
            );
        }
    }
}

/// Transparent black, black and white stay the same.
#[test]
fn what_is_no_gradient() {
    let mut headless = warm(BlurBackend::Compute);
    for (format, texel) in [SRGB, UNORM]
        .into_iter()
        .flat_map(|format| [[0.0; 4], [0.0, 0.0, 0.0, 1.0], [1.0; 4]].map(|texel| (format, texel)))
    {
        let flat = to_image(&Picture::new(200, 100, vec![texel; 200 * 100]), format);
        let [_, with] = without_and_with(&mut headless, &flat, &flat, GaussianBlur::new(RADIUS));
        assert_eq!(Some(&with.bytes), flat.data.as_ref(), "{format:?}, {texel:?}");
    }
}

#[test]
fn nothing_to_blur() {
    let mut headless = warm(BlurBackend::Compute);
    let weak = GaussianBlur::from_sigma(0.029);
    for format in [SRGB, UNORM] {
        let [pattern, _] = inputs::patterns(64, 48);
        let half = pattern.crop([0; 2], [32, 24]);
        let target = layered(&[vec![pattern.clone(), half]], format);
        let source = to_image(&pattern, format);
        let [without, with] = without_and_with(&mut headless, &source, &target, weak);
        assert!(with.bytes == without.bytes, "{format:?}");
        assert_eq!(Some(&with.bytes), source.data.as_ref(), "{format:?}");
        // Converted on the way.
        let floats = to_image(&gradient(format), HDR);
        let target = to_image(&gradient(format), format);
        let [without, with] = without_and_with(&mut headless, &floats, &target, weak);
        assert!(with.bytes == without.bytes, "{format:?} from floats");
    }
    for setup in [Setup::new(false, SRGB), Setup::new(true, SRGB)] {
        let mut stage = Stage::new(BlurBackend::Compute, setup);
        let sharp = stage.levels();
        stage.insert(weak);
        stage.add_glass(BackdropBlur::from_sigma(0.029));
        assert!(stage.levels() == sharp, "{setup:?}");
        // Coloured, and not blurred.
        stage.add_glass(BackdropBlur::from_sigma(0.0).with_color(ColorStep::Brightness(0.7)));
        let with = stage.levels();
        stage.insert(DebandDither::Disabled);
        assert!(stage.levels() == with, "{setup:?}: coloured glass");
    }
}

/// Before tonemapping, and for floats.
#[test]
fn cameras_that_are_not_dithered() {
    let unused = HDR;
    let cases = [
        (Setup::new(true, SRGB), BlurStage::BeforeTonemapping),
        (Setup::new(false, UNORM), BlurStage::BeforeTonemapping),
        (Setup::new(true, unused), BlurStage::AfterTonemapping),
        (Setup::new(false, unused), BlurStage::AfterTonemapping),
    ];
    for (setup, blur_stage) in cases {
        let mut stage = Stage::new(BlurBackend::Compute, setup);
        stage.insert((GaussianBlur::new(RADIUS), blur_stage));
        if setup.output == unused {
            stage.add_glass(BackdropBlur::new(RADIUS));
        }
        let [with, without] = [DebandDither::Enabled, DebandDither::Disabled].map(|dither| {
            stage.insert(dither);
            stage.headless.warm_up();
            stage.seen.pixels(&stage.headless)
        });
        assert_eq!(with.format, setup.output);
        assert!(with.bytes == without.bytes, "{setup:?}, {blur_stage:?}");
        assert_eq!(with.bytes.len(), (SIZE.x * SIZE.y) as usize * texel_size(setup.output));
    }
}

fn texel_size(format: TextureFormat) -> usize {
    assert_eq!(formats::stored_channels(format).len(), 4);
    if format == HDR { 8 } else { 4 }
}
