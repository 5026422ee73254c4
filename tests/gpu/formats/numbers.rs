//! Integers are plain numbers: copied to the bit, blurred as they are, rounded to the nearest one, and clamped to the
//! largest.

use super::*;
use crate::support::images::{all_blurred, asset, converting};

/// Formats with one channel and with all, of each kind and size of integers.
const INTEGERS: [TextureFormat; 13] = [
    TextureFormat::R8Uint,
    TextureFormat::Rgba8Uint,
    TextureFormat::R8Sint,
    TextureFormat::Rgba8Sint,
    TextureFormat::R16Uint,
    TextureFormat::Rgba16Uint,
    TextureFormat::R16Sint,
    TextureFormat::Rgba16Sint,
    TextureFormat::R32Uint,
    TextureFormat::Rgba32Uint,
    TextureFormat::R32Sint,
    TextureFormat::Rgba32Sint,
    TextureFormat::Rgb10a2Uint,
];

const FORMATS_OF_32_BITS: [TextureFormat; 2] = [TextureFormat::R32Uint, TextureFormat::R32Sint];

/// A picture of one number.
fn flat(number: f64) -> Picture {
    Picture::from_fn(37, 22, |_, _| [number; 4])
}

/// The channels of one colour in a format, or the position where the picture is not flat.
fn colour_of(picture: &Picture, format: TextureFormat) -> Result<Vec<f64>, String> {
    let of = |texel: &[f64; 4]| -> Vec<f64> {
        let stored = formats::stored_channels(format);
        stored.into_iter().map(|channel| texel[channel]).collect()
    };
    let first = of(&picture.texels[0]);
    match picture.texels.iter().position(|texel| of(texel) != first) {
        None => Ok(first),
        Some(index) => Err(format!(
            "texel {index} is {:?}, the first {first:?}",
            of(&picture.texels[index])
        )),
    }
}

#[test]
fn copies_keep_every_bit() {
    by_general_executors(|headless| {
        for (index, format) in headless.available(&formats::all()).into_iter().enumerate() {
            let picture = Span::of(format).spread(&small_picture(index));
            let mut image = to_image(&picture, format);
            if formats::is_integer(format) {
                // Arbitrary bits.
                for (index, byte) in image.data.iter_mut().flatten().enumerate() {
                    *byte = (index * 151 + index / 256 * 17) as u8;
                }
            }
            let expected = image.data.clone().expect("the image has data");
            let source = headless.add_image(image);
            for alpha in [BlurAlpha::Premultiplied, BlurAlpha::Straight] {
                if alpha == BlurAlpha::Straight && !formats::is_integer(format) {
                    continue;
                }
                let blur = BlurImage::new(source.clone()).with_alpha(alpha);
                let target = headless.blur(GaussianBlur::new(0.0), blur).expect("the copy succeeds");
                let target_format = asset(headless, &target).texture_descriptor.format;
                assert_eq!(target_format, format, "the target has the source's format");
                let got = headless.read_image(&target).bytes;
                let differing = got.iter().zip(&expected).filter(|(got, expected)| got != expected);
                let differing = differing.count();
                let is_same = got.len() == expected.len() && differing == 0;
                assert!(is_same, "{format:?}, {alpha:?}: {differing} bytes differ");
            }
        }
    });
}

/// Runs a check for every format of integers with one kind of passes, which take turns; with `BLUR_FULL`, with both.
fn for_each_integer(first: usize, check: fn(&mut Headless, TextureFormat)) {
    for (turn, mut executor) in general_executors().enumerate() {
        println!("{}", executor.name);
        let available = executor.headless.available(&INTEGERS);
        for (index, format) in available.into_iter().enumerate() {
            // Of each kind and size, one with one channel and one with all.
            if is_turn(first + index + index / 2, turn, BACKENDS.len()) {
                check(&mut executor.headless, format);
            }
        }
    }
}

/// Blurs flat pictures of these numbers in a format, each with three strengths.
fn blurred_flat(headless: &mut Headless, format: TextureFormat, numbers: &[f64]) -> Vec<((f64, f32), Picture)> {
    let mut blurs = Vec::new();
    for number in numbers {
        let source = headless.add_image(to_image(&flat(*number), format));
        for sigma in [0.8, 2.9, 13.0] {
            blurs.push(((*number, sigma), GaussianBlur::from_sigma(sigma), plain(source.clone())));
        }
    }
    all_blurred(headless, blurs)
}

#[test]
fn flat_pictures_stay_as_they_are() {
    for_each_integer(0, |headless, format| {
        let Span { low, high } = Span::of(format);
        let ends = [low[0], high[0]];
        let numbers = [0.0, 1.0, 2.0, 99.0, 127.0, 200.0, 254.0, 1000.0, 65535.0, 100_003.0];
        let is_stored = |number: &f64| (low[0]..=high[0]).contains(number);
        // A sum of floats is not exact for larger numbers.
        let is_exact = |number: &f64| number.abs() < 200_000.0;
        let all = ends.into_iter().chain(numbers).filter(is_stored).filter(is_exact);
        assert_stay(headless, format, &all.collect::<Vec<_>>());
    });
}

fn assert_stay(headless: &mut Headless, format: TextureFormat, numbers: &[f64]) {
    for ((number, sigma), got) in blurred_flat(headless, format, numbers) {
        let stored = formats::quantised(&flat(number), format);
        let [got, expected] = [&got, &stored].map(|picture| colour_of(picture, format));
        assert_eq!(got, expected, "{format:?}, {number}, sigma {sigma}");
    }
}

#[test]
fn the_largest_number_stays_the_largest() {
    by_general_executors(|headless| {
        for format in headless.available(&FORMATS_OF_32_BITS) {
            assert_stay(headless, format, &[Span::of(format).high[0]]);
        }
    });
}

#[test]
fn large_numbers_keep_what_floats_carry() {
    by_general_executors(|headless| {
        for format in headless.available(&FORMATS_OF_32_BITS) {
            let Span { low, high } = Span::of(format);
            let limit = 2.0_f64.powi(24);
            let numbers = [limit, limit + 1.0, 123_456_789.0, high[0] / 3.0, -limit, low[0]];
            for ((number, sigma), got) in blurred_flat(headless, format, &numbers) {
                let stored = formats::quantised(&flat(number), format).at(0, 0)[0];
                let error = |texel: &[f64; 4]| (texel[0] - stored).abs();
                let worst = got.texels.iter().map(error).fold(0.0, f64::max);
                // The last five of a float's 24 bits.
                let allowed = stored.abs() * 0.5_f64.powi(19);
                assert!(worst <= allowed, "{format:?}, {number}, sigma {sigma}: {worst} off");
            }
        }
    });
}

#[test]
fn means_are_rounded_to_the_nearest_integer() {
    for_each_integer(1, |headless, format| {
        let is_signed = Span::of(format).low[0] < 0.0;
        let mut blurs = Vec::new();
        for (one_in_four, others, expected) in [
            (11.0, 10.0, 10.0),
            (10.0, 11.0, 11.0),
            (-11.0, -10.0, -10.0),
            (-10.0, -11.0, -11.0),
        ] {
            if expected < 0.0 && !is_signed {
                continue;
            }
            // One column in four differs, and the picture repeats: a wide blur is the mean, a quarter off the expected integer.
            let columns = Picture::from_fn(64, 12, |x, _| [if x % 4 == 0 { one_in_four } else { others }; 4]);
            let source = headless.add_image(to_image(&columns, format));
            for sigma in [6.0, 30.0] {
                let blur = GaussianBlur::from_sigma(sigma).with_edge(EdgeMode::Wrap);
                blurs.push(((expected, sigma), blur, plain(source.clone())));
            }
        }
        for ((expected, sigma), got) in all_blurred(headless, blurs) {
            let colour = colour_of(&got, format).expect("a wide blur of columns is flat");
            // Only red: an alpha of two bits is clamped to its maximum.
            assert_eq!(colour[0], expected, "{format:?}, sigma {sigma}");
        }
    });
}

#[test]
fn numbers_are_no_shares() {
    by_general_executors(|headless| {
        // A blur of strength 0 is a copy.
        for sigma in [0.0, 0.8, 13.0] {
            let blurs = FLAT_CONVERSIONS.map(|case| {
                let (from, number, to, _) = case;
                let image = converting(headless, to_image(&flat(number), from), to);
                (case, GaussianBlur::from_sigma(sigma), image)
            });
            for ((from, number, to, expected), got) in all_blurred(headless, blurs) {
                let is_right = |texel: &[f64; 4]| (texel[0] - expected).abs() <= 1e-5 * expected.abs();
                let wrong = got.texels.iter().find(|texel| !is_right(texel));
                assert!(wrong.is_none(), "{from:?} {number} to {to:?}, sigma {sigma}: {wrong:?}");
            }
        }
    });
}

/// A number in one format, and the result of a blur of a flat picture of it into another format.
const FLAT_CONVERSIONS: [(TextureFormat, f64, TextureFormat, f64); 16] = [
    (TextureFormat::R8Uint, 200.0, TextureFormat::R32Float, 200.0),
    (TextureFormat::R8Uint, 200.0, TextureFormat::R8Unorm, 1.0),
    (TextureFormat::R8Uint, 0.0, TextureFormat::R8Unorm, 0.0),
    (TextureFormat::R8Unorm, 0.8, TextureFormat::R8Uint, 1.0),
    (TextureFormat::R8Unorm, 0.2, TextureFormat::R8Uint, 0.0),
    (TextureFormat::R16Uint, 255.0, TextureFormat::R8Uint, 255.0),
    (TextureFormat::R16Uint, 256.0, TextureFormat::R8Uint, 255.0),
    (TextureFormat::R16Uint, 65535.0, TextureFormat::R8Uint, 255.0),
    (TextureFormat::R32Uint, 4_294_967_295.0, TextureFormat::R16Uint, 65535.0),
    (TextureFormat::R16Sint, -3.0, TextureFormat::R8Uint, 0.0),
    (TextureFormat::R16Sint, -300.0, TextureFormat::R8Sint, -128.0),
    (TextureFormat::R16Sint, 300.0, TextureFormat::R8Sint, 127.0),
    (TextureFormat::R32Float, 99.6, TextureFormat::R8Uint, 100.0),
    (TextureFormat::R32Float, -99.6, TextureFormat::R16Sint, -100.0),
    (TextureFormat::R32Float, 1e20, TextureFormat::R32Sint, 2_147_483_647.0),
    (TextureFormat::R32Uint, 1_000_000.0, TextureFormat::R16Float, 65504.0),
];
