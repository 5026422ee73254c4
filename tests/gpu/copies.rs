//! A blur that changes nothing copies every bit, and a blur in place has the same result as a blur into a target.

use crate::support::prelude::*;

const COPIED: [TextureFormat; 5] = [
    TextureFormat::Rgba8Unorm,
    TextureFormat::Rgba8UnormSrgb,
    TextureFormat::Rgba16Float,
    TextureFormat::Rgba32Float,
    TextureFormat::Rg11b10Ufloat,
];

/// Formats with infinities.
const FLOATS: [TextureFormat; 5] = [
    TextureFormat::R16Float,
    TextureFormat::Rgba16Float,
    TextureFormat::R32Float,
    TextureFormat::Rgba32Float,
    TextureFormat::Rg11b10Ufloat,
];

/// Pictures in a format, with all values of ordinary images: every level of eight bits, or negative, tiny and large
/// floats.
fn sources(format: TextureFormat) -> [Image; 2] {
    let [first, second] = inputs::patterns(64, 33);
    let levels = Picture::from_fn(64, 33, |x, y| {
        let byte = |shift| ((x + 64 * y) / 4 * 4 + x % 4 + shift) % 256;
        [0, 64, 128, 192].map(|shift| {
            let value = byte(shift) as f64 / 255.0;
            if format == TextureFormat::Rgba8UnormSrgb && shift < 192 {
                formats::decode_srgb(value)
            } else {
                value
            }
        })
    });
    let floats = Picture::from_fn(64, 33, |x, y| {
        let scale = 2.0_f64.powi(x as i32 / 2 - 16) * if y % 2 == 0 { 1.0 } else { -1.0 };
        first.at(x, y).map(|value| (value + 0.125) * scale)
    });
    let special = match format {
        TextureFormat::Rgba8Unorm | TextureFormat::Rgba8UnormSrgb => levels,
        _ => floats,
    };
    [to_image(&second, format), to_image(&special, format)]
}

/// Blurs into another image with other contents.
fn blur_into(headless: &mut Headless, blur: GaussianBlur, image: Image, alpha: BlurAlpha) -> Handle<Image> {
    let mut other = image.clone();
    let bytes = other.data.iter_mut().flatten();
    bytes.for_each(|byte| *byte = 0x31);
    let (source, target) = (headless.add_image(image), headless.add_image(other));
    let image = BlurImage::new(source).with_target(target).with_alpha(alpha);
    headless.blur(blur, image).expect("the blur succeeds")
}

#[test]
fn radius_zero_copies_every_bit() {
    let mut headless = warm(BlurBackend::Compute);
    for format in headless.available(&COPIED) {
        for image in sources(format) {
            for radius in [0.0, 0.05] {
                let expected = image.data.clone().expect("the image has data");
                let blur = GaussianBlur::new(radius);
                let target = blur_into(&mut headless, blur, image.clone(), BlurAlpha::Premultiplied);
                assert_bytes(&headless.read_image(&target).bytes, &expected, &format!("{format:?}"));
            }
        }
    }
}

#[test]
fn radius_zero_copies_straight_alpha() {
    let mut headless = warm(BlurBackend::Compute);
    for format in headless.available(&COPIED) {
        let [image, _] = sources(format);
        let expected = image.data.clone().expect("the image has data");
        let target = blur_into(&mut headless, GaussianBlur::new(0.0), image, BlurAlpha::Straight);
        assert_bytes(
            &headless.read_image(&target).bytes,
            &expected,
            &format!("{format:?}, straight"),
        );
    }
}

#[test]
fn radius_zero_copies_special_values() {
    let mut headless = warm(BlurBackend::Compute);
    let mut changed = Vec::new();
    for format in headless.available(&FLOATS) {
        for value in [f64::INFINITY, f64::NEG_INFINITY, f64::NAN, -0.0] {
            let image = to_image(&Picture::from_fn(8, 8, |_, _| [value; 4]), format);
            let expected = image.data.clone().expect("the image has data");
            let target = blur_into(&mut headless, GaussianBlur::new(0.0), image, BlurAlpha::Premultiplied);
            let pixels = headless.read_image(&target);
            if pixels.bytes != expected {
                changed.push(format!(
                    "{format:?}: {value} became {}",
                    to_picture(&pixels).at(0, 0)[0]
                ));
            }
        }
    }
    assert!(changed.is_empty(), "{}", changed.join("\n"));
}

/// A blur in place keeps the sharp picture, and can restore it to the bit.
#[test]
fn the_kept_picture_keeps_every_bit() {
    let mut headless = warm(BlurBackend::Compute);
    for format in headless.available(&COPIED) {
        let [mut image, _] = sources(format);
        if FLOATS.contains(&format) {
            let infinite = to_image(&Picture::from_fn(1, 1, |_, _| [f64::INFINITY; 4]), format);
            let texel = infinite.data.expect("the image has data");
            let bytes = image.data.as_mut().expect("the image has data");
            bytes[..texel.len()].copy_from_slice(&texel);
        }
        let expected = image.data.clone().expect("the image has data");
        let image = headless.add_image(image);
        let in_place = BlurImage::in_place(image.clone()).with_alpha(BlurAlpha::Premultiplied);
        let blur = GaussianBlur::from_sigma(3.0);
        let entity = headless.spawn((blur, in_place));
        headless.warm_up();
        assert!(headless.read_image(&image).bytes != expected, "{format:?} is blurred");
        set_blur(&mut headless, entity, GaussianBlur::new(0.0));
        headless.warm_up();
        assert_bytes(
            &headless.read_image(&image).bytes,
            &expected,
            &format!("{format:?}, kept"),
        );
        headless.despawn(entity);
    }
}

#[test]
fn radius_zero_in_place_touches_nothing() {
    let mut headless = warm(BlurBackend::Compute);
    for format in headless.available(&COPIED) {
        for alpha in [BlurAlpha::Premultiplied, BlurAlpha::Straight, BlurAlpha::Opaque] {
            // Arbitrary bits, including NaN.
            let [mut image, _] = sources(format);
            for (index, byte) in image.data.iter_mut().flatten().enumerate() {
                *byte = (index * 151 + index / 256) as u8;
            }
            let expected = image.data.clone().expect("the image has data");
            let image = headless.add_image(image);
            let entity = (
                GaussianBlur::new(0.0),
                BlurImage::in_place(image.clone()).with_alpha(alpha),
            );
            headless.spawn(entity);
            finished(&mut headless, 8);
            assert_bytes(
                &headless.read_image(&image).bytes,
                &expected,
                &format!("{format:?}, {alpha:?}"),
            );
        }
    }
}

fn assert_bytes(got: &[u8], expected: &[u8], name: &str) {
    let differing: Vec<usize> = (0..got.len()).filter(|&index| got[index] != expected[index]).collect();
    let first = differing.first().map(|&index| (index, got[index], expected[index]));
    assert!(
        got.len() == expected.len() && differing.is_empty(),
        "{name}: {} of {} bytes differ, the first (index, got, expected): {first:?}",
        differing.len(),
        expected.len()
    );
}

#[test]
fn in_place_equals_into_a_target() {
    let mut headless = warm(BlurBackend::Compute);
    let aspects = [Vec2::ONE, Vec2::X, Vec2::Y, Vec2::new(1.0, 0.1)];
    for format in headless.available(&COPIED) {
        for (step, sigma) in [0.6, 2.0, 9.0, 40.0].into_iter().enumerate() {
            let turns = aspects.into_iter().enumerate();
            for (_, aspect) in turns.filter(|(turn, _)| is_turn(step, turn % 2, 2)) {
                let [image, _] = sources(format);
                let blur = GaussianBlur::from_sigma(sigma).with_aspect(aspect);
                let target = blur_into(&mut headless, blur, image.clone(), BlurAlpha::Premultiplied);
                let image = headless.add_image(image);
                let in_place = headless
                    .blur(
                        blur,
                        BlurImage::in_place(image.clone()).with_alpha(BlurAlpha::Premultiplied),
                    )
                    .expect("the blur succeeds");
                assert_eq!(in_place, image);
                let [got, expected] = [&in_place, &target].map(|image| headless.read_image(image).bytes);
                assert_bytes(&got, &expected, &format!("{format:?}, sigma {sigma}, {aspect}"));
            }
        }
    }
}
