//! The mip levels of a target are regenerated after every blur: each is the mean of the stored level before it.

use super::*;
use crate::support::alpha::{premultiplied, unpremultiplied, weighted};
use crate::support::executors::general_executors;
use std::ops::Range;

/// The allowed error of a mean, as a share of the format's range: half a step and a little, if rounding does not depend
/// on the value.
const FORMATS: [(TextureFormat, f64); 9] = [
    (TextureFormat::Rgba8Unorm, 0.6 / 255.0),
    (TextureFormat::Rgba8UnormSrgb, 0.4 / 255.0),
    (TextureFormat::Rgba8Snorm, 0.6 / 254.0),
    (TextureFormat::R16Float, 1e-5),
    (TextureFormat::Rgba16Float, 1e-5),
    (TextureFormat::Rgba32Float, 4e-6),
    (TextureFormat::Rgba8Uint, 0.501 / 255.0),
    (TextureFormat::R8Sint, 0.501 / 255.0),
    (TextureFormat::R16Uint, 0.55 / 65535.0),
];

/// With and without a remainder, and with a side that cannot be halved.
const SIZES: [[usize; 2]; 3] = [[16, 16], [61, 47], [1, 9]];

const FORMAT: TextureFormat = TextureFormat::Rgba8Unorm;
const SIGMA: f32 = 2.0;

/// The number of levels down to a single texel.
fn level_count([width, height]: [usize; 2]) -> u32 {
    width.max(height).ilog2() + 1
}

/// A picture, and levels below it that are not its means.
fn with_levels(picture: &Picture, format: TextureFormat) -> Vec<Picture> {
    let stripes = |level: u32| {
        let [width, height] = [picture.width, picture.height].map(|side| (side >> level).max(1));
        let stripes = Picture::from_fn(width, height, |x, y| [if (x + y) % 2 == 0 { 0.9 } else { 0.2 }; 4]);
        formats::quantised(&Span::of(format).spread(&stripes), format)
    };
    let below = (1..level_count([picture.width, picture.height])).map(stripes);
    core::iter::once(picture.clone()).chain(below).collect()
}

/// The texels of a side that each texel of the next level covers, with their shares in it.
fn shares(length: usize) -> Vec<Vec<(usize, f64)>> {
    let halved = (length / 2).max(1);
    // All lengths are integers in a unit in which a texel is `halved` long, and a texel of the next level `length`.
    let of = |target: usize| -> Vec<(usize, f64)> {
        let (start, end) = (target * length, (target + 1) * length);
        let covered = |texel: usize| ((texel + 1) * halved).min(end) - (texel * halved).max(start);
        let texels = start / halved..end.div_ceil(halved);
        texels
            .map(|texel| (texel, covered(texel) as f64 / length as f64))
            .collect()
    };
    (0..halved).map(of).collect()
}

/// The level that follows a picture.
fn next_level(picture: &Picture) -> Picture {
    let [across, down] = [picture.width, picture.height].map(shares);
    Picture::from_fn(across.len(), down.len(), |x, y| {
        let mut mean = [0.0; 4];
        for &(row, height) in &down[y] {
            for &(column, width) in &across[x] {
                let texel = picture.at(column, row);
                mean.iter_mut()
                    .zip(texel)
                    .for_each(|(sum, value)| *sum += width * height * value);
            }
        }
        mean
    })
}

/// The same with colours that count as much as they are visible.
fn next_level_of_straight(picture: &Picture) -> Picture {
    unpremultiplied(&next_level(&premultiplied(picture)))
}

/// The expected value, moved towards the actual one by the allowed rounding, if that depends on the value.
fn within_rounding(got: &Picture, expected: &Picture, format: TextureFormat) -> Picture {
    if !matches!(format, TextureFormat::R16Float | TextureFormat::Rgba16Float) {
        return formats::within_storage(got, expected, format);
    }
    Picture::from_fn(got.width, got.height, |x, y| {
        let (got, expected) = (got.at(x, y), expected.at(x, y));
        core::array::from_fn(|channel| {
            let step = 1e-3 * expected[channel].abs();
            expected[channel] + (got[channel] - expected[channel]).clamp(-step, step)
        })
    })
}

/// Asserts that each level of a layer except the first is the mean of the one before it.
fn assert_means(
    name: &str,
    headless: &Headless,
    image: &Handle<Image>,
    layer: u32,
    levels: Range<u32>,
    alpha: BlurAlpha,
) {
    for level in levels.start + 1..levels.end {
        let [from, to] = [level - 1, level].map(|level| headless.read_part(image, layer, level));
        let format = to.format;
        let [from, got] = [from, to].map(|pixels| to_picture(&pixels));
        let is_straight = alpha == BlurAlpha::Straight;
        let expected = if is_straight {
            next_level_of_straight(&from)
        } else {
            next_level(&from)
        };
        let name = format!("{name}-layer-{layer}-level-{level}");
        assert_eq!([got.width, got.height], [expected.width, expected.height], "{name}");
        let within = within_rounding(&got, &expected, format);
        let [got, within] = if is_straight {
            [got, within].map(|picture| weighted(&picture, &expected))
        } else {
            [got, within]
        };
        let [got, within] = [got, within].map(|picture| Span::of(format).unit(&picture));
        let known = FORMATS.iter().find(|(known, _)| *known == format);
        let tolerance = known.expect("the format has a tolerance").1;
        assert_close(&name, &got, &within, &formats::stored_channels(format), tolerance);
    }
}

#[test]
fn own_targets_have_the_levels_of_their_source() {
    // The kinds of passes take turns: levels are made by the same program.
    for (turn, mut executor) in general_executors().enumerate() {
        let headless = &mut executor.headless;
        let available = headless.available(&FORMATS.map(|(format, _)| format));
        for (index, format) in available.into_iter().enumerate() {
            let sizes = SIZES.into_iter().enumerate();
            for (_, size) in sizes.filter(|(step, _)| is_turn(index + step, turn, 2)) {
                let sharp = &pictures(1, size, format)[0];
                let source = layered(&[with_levels(sharp, format)], format);
                let source = headless.add_image(source);
                // A copy has mip levels, too.
                for sigma in [SIGMA, 0.0] {
                    let blur = GaussianBlur::from_sigma(sigma);
                    let target = headless.blur(blur, plain(source.clone()));
                    let target = target.expect("the blur succeeds");
                    let name = format!("levels-{format:?}-{size:?}-{sigma}");
                    let levels = asset(headless, &target).texture_descriptor.mip_level_count;
                    assert_eq!(levels, level_count(size), "{name}");
                    assert_blur_of(&name, &headless.read_image(&target), sharp, sigma);
                    assert_means(&name, headless, &target, 0, 0..levels, BlurAlpha::Premultiplied);
                }
            }
        }
    }
}

#[test]
fn own_targets_have_no_more_levels_than_their_source() {
    let mut headless = warm(BlurBackend::Compute);
    let layers = pictures(1, [61, 47], FORMAT);
    let one = image_of(&layers, FORMAT);
    let all = layered(&[with_levels(&layers[0], FORMAT)], FORMAT);
    let shown = |base_mip_level: u32, mip_level_count: Option<u32>| {
        let mut image = all.clone();
        image.texture_view_descriptor = Some(TextureViewDescriptor {
            base_mip_level,
            mip_level_count,
            ..default()
        });
        image
    };
    let cases = [
        (one, 0, 1),
        (shown(0, Some(1)), 0, 1),
        (shown(1, Some(1)), 1, 1),
        (shown(1, Some(2)), 1, 2),
        (shown(2, None), 2, 4),
        (shown(5, None), 5, 1),
    ];
    for (source, first, count) in cases {
        let sharp = with_levels(&layers[0], FORMAT).swap_remove(first);
        let source = headless.add_image(source);
        let target = headless.blur(GaussianBlur::from_sigma(SIGMA), plain(source));
        let target = target.expect("the blur succeeds");
        let name = format!("levels-{first}-{count}");
        let levels = asset(&headless, &target).texture_descriptor.mip_level_count;
        assert_eq!(levels, count, "{name}");
        assert_blur_of(&name, &headless.read_image(&target), &sharp, SIGMA);
        assert_means(&name, &headless, &target, 0, 0..levels, BlurAlpha::Premultiplied);
    }
}

#[test]
fn straight_alpha_weighs_colours() {
    by_one_executor(|headless| {
        for format in [FORMAT, TextureFormat::Rgba8UnormSrgb, TextureFormat::Rgba16Float] {
            let [picture, _] = inputs::patterns(61, 47);
            let noise = inputs::pink_noise(61, 47);
            let sprite = Picture::from_fn(61, 47, |x, y| {
                let [red, green, blue, _] = picture.at(x, y);
                let alpha = (2.0 * noise.values[y * 61 + x] - 0.6).clamp(0.0, 1.0);
                [red, green, blue, alpha]
            });
            let source = layered(&[with_levels(&sprite, format)], format);
            let source = headless.add_image(source);
            for alpha in [BlurAlpha::Straight, BlurAlpha::Opaque] {
                let image = BlurImage::new(source.clone()).with_alpha(alpha);
                let target = headless.blur(GaussianBlur::from_sigma(0.6), image);
                let target = target.expect("the blur succeeds");
                let name = format!("{alpha:?}-{format:?}");
                assert_means(&name, headless, &target, 0, 0..6, alpha);
                let last = to_picture(&headless.read_part(&target, 0, 5)).at(0, 0)[3];
                assert_eq!(
                    last == 1.0,
                    alpha == BlurAlpha::Opaque,
                    "{name}: the last alpha is {last}"
                );
            }
        }
    });
}

#[test]
fn every_layer_has_levels_of_its_own() {
    by_one_executor(|headless| {
        for (dimension, count, size) in [
            (TextureViewDimension::D2Array, 3, [61, 47]),
            (TextureViewDimension::Cube, 6, [33, 33]),
        ] {
            let layers = pictures(count, size, FORMAT);
            let levels: Vec<Vec<Picture>> = layers.iter().map(|picture| with_levels(picture, FORMAT)).collect();
            let mut source = layered(&levels, FORMAT);
            source.texture_view_descriptor = Some(view_of(dimension));
            let source = headless.add_image(source);
            let target = headless.blur(GaussianBlur::from_sigma(SIGMA), plain(source));
            let target = target.expect("the blur succeeds");
            let name = format!("levels-{dimension:?}");
            assert_layers(&name, headless, &target, 0, &layers, SIGMA);
            for layer in 0..count as u32 {
                let levels = 0..level_count(size);
                assert_means(&name, headless, &target, layer, levels, BlurAlpha::Premultiplied);
            }
        }
    });
}

/// Blurs the picture of a level into that level of a target whose view shows some levels. The levels from `written` on
/// are written, and no others.
fn assert_written(headless: &mut Headless, name: &str, levels: (u32, Option<u32>), written: Range<u32>) {
    let all = with_levels(&pictures(1, [61, 47], FORMAT)[0], FORMAT);
    let shown = &all[levels.0 as usize];
    let sharp = &pictures(1, [shown.width, shown.height], FORMAT)[0];
    let mut target = filled_like(&layered(&[all], FORMAT));
    target.texture_view_descriptor = Some(TextureViewDescriptor {
        base_mip_level: levels.0,
        mip_level_count: levels.1,
        ..default()
    });
    let source = headless.add_image(image_of(core::slice::from_ref(sharp), FORMAT));
    let target = headless.add_image(target);
    let image = plain(source).with_target(target.clone());
    let blurred = headless.blur(GaussianBlur::from_sigma(SIGMA), image);
    blurred.expect("the blur succeeds");
    for level in 0..6 {
        let pixels = headless.read_part(&target, 0, level);
        if level == written.start {
            assert_blur_of(name, &pixels, sharp, SIGMA);
        }
        let is_untouched = pixels.bytes.iter().all(|byte| *byte == 0x31);
        assert_eq!(is_untouched, !written.contains(&level), "{name}, level {level}");
    }
    assert_means(name, headless, &target, 0, written, BlurAlpha::Premultiplied);
}

#[test]
fn the_levels_that_a_target_shows_are_written() {
    by_one_executor(|headless| {
        assert_written(headless, "all-levels", (0, None), 0..6);
        assert_written(headless, "first-level", (0, Some(1)), 0..1);
        assert_written(headless, "second-level", (1, Some(1)), 1..2);
        assert_written(headless, "from-the-second", (1, None), 1..6);
        assert_written(headless, "some-levels", (2, Some(3)), 2..5);
        assert_written(headless, "last-level", (5, None), 5..6);
    });
}

#[test]
fn in_place_the_levels_follow() {
    let mut headless = warm(BlurBackend::Compute);
    let layers = pictures(2, [61, 47], FORMAT);
    let levels: Vec<Vec<Picture>> = layers.iter().map(|picture| with_levels(picture, FORMAT)).collect();
    let handle = headless.add_image(layered(&levels, FORMAT));
    let blur = plain(handle.clone()).with_target(handle.clone());
    let entity = spawn(&mut headless, GaussianBlur::from_sigma(SIGMA), blur);
    for (step, sigma) in [2.0, 9.0, 0.0, 0.6, 0.0].into_iter().enumerate() {
        set_blur(&mut headless, entity, GaussianBlur::from_sigma(sigma));
        assert!(finished(&mut headless, 4) > 0, "step {step}");
        let name = format!("levels-in-place-{step}");
        assert_layers(&name, &headless, &handle, 0, &layers, sigma);
        for layer in 0..2 {
            if sigma == 0.0 {
                let sharp = to_picture(&headless.read_part(&handle, layer, 0));
                assert!(sharp == layers[layer as usize], "{name}: every bit is given back");
            }
            assert_means(&name, &headless, &handle, layer, 0..6, BlurAlpha::Premultiplied);
        }
    }
}
