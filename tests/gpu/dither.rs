//! Blurs into eight bits have no bands, and dithering changes nothing else.
//!
//! All other tests of exactness run with dithering off, as images do by default: their cameras,
//! [`scene::camera`](crate::support::scene::camera), switch it off.
//!
//! The references are exact blurs of the values that a GPU reads. Graphics APIs let it decode sRGB with an error of up
//! to half a level. Some software rasterisers read dark light that is one part in forty too bright, and dithering makes
//! that visible. So the light of every level is read first ([`Lights`]).

mod bits;
mod cameras;
mod images;
mod live;
mod picture;

use crate::support::formats::{decode_srgb, encode_srgb, quantised};
use crate::support::precision;
use crate::support::prelude::*;

const SIZE: UVec2 = UVec2::new(1000, 96);
const RADIUS: f32 = 96.0;
const SIGMA: [f64; 2] = [RADIUS as f64 / 3.0; 2];
const SRGB: TextureFormat = TextureFormat::Rgba8UnormSrgb;
const UNORM: TextureFormat = TextureFormat::Rgba8Unorm;

/// The side of the squares whose mean the eye sees.
const BLOCK: usize = 16;

/// From 0 to 8 levels in 1,000 texels, in the values that a shader sees. Blue goes the other way.
fn gradient(format: TextureFormat) -> Picture {
    Picture::from_fn(SIZE.x as usize, SIZE.y as usize, |x, _| {
        let level = 8.0 * (x as f64 + 0.5) / f64::from(SIZE.x);
        let value = |level: f64| {
            if format == SRGB {
                decode_srgb(level / 255.0)
            } else {
                level / 255.0
            }
        };
        [value(level), value(level), value(8.0 - level), 1.0]
    })
}

/// The value that a format of eight bits stores, in levels and exactly.
fn to_levels(picture: &Picture, format: TextureFormat) -> Picture {
    Picture::from_fn(picture.width, picture.height, |x, y| {
        let texel = picture.at(x, y);
        core::array::from_fn(|channel| {
            let value = texel[channel];
            255.0
                * if format == SRGB && channel < 3 {
                    encode_srgb(value)
                } else {
                    value
                }
        })
    })
}

/// The light to which a GPU decodes the levels of sRGB.
#[derive(Clone)]
struct Lights(Vec<f64>);

impl Lights {
    /// Measures the light on the GPU, by a copy into floats.
    fn new(headless: &mut Headless) -> Self {
        let levels = Picture::from_fn(256, 1, |x, _| [decode_srgb(x as f64 / 255.0); 4]);
        let [source, target] =
            [SRGB, TextureFormat::Rgba32Float].map(|format| headless.add_image(to_image(&levels, format)));
        let copy = GaussianBlur::from_sigma(0.0);
        let target = headless
            .blur(copy, plain(source).with_target(target))
            .expect("a copy succeeds");
        let lights = headless.picture(&target).texels.iter().map(|texel| texel[0]).collect();
        let lights = Self(lights);
        assert!(lights.error() <= 0.5, "sRGB is decoded wrongly: {}", lights.error());
        lights
    }

    /// The largest error of a level, in levels.
    fn error(&self) -> f64 {
        (0..=255).map(|level| self.error_of(level)).fold(0.0, f64::max)
    }

    fn error_of(&self, level: u8) -> f64 {
        (255.0 * encode_srgb(self.0[usize::from(level)]) - f64::from(level)).abs()
    }

    /// The light that the GPU reads after a format has stored a picture.
    fn read(&self, picture: &Picture, format: TextureFormat) -> Picture {
        let stored = quantised(picture, format);
        if format != SRGB {
            return stored;
        }
        Picture::from_fn(picture.width, picture.height, |x, y| {
            let [red, green, blue, alpha] = stored.at(x, y);
            let [red, green, blue] =
                [red, green, blue].map(|light| self.0[(255.0 * encode_srgb(light)).round() as usize]);
            [red, green, blue, alpha]
        })
    }
}

/// The stored levels.
fn levels(pixels: &Pixels) -> Picture {
    assert!([SRGB, UNORM].contains(&pixels.format), "{:?}", pixels.format);
    let texels = pixels.bytes.as_chunks::<4>().0.iter();
    let texels = texels.map(|texel| texel.map(f64::from)).collect();
    Picture::new(pixels.width as usize, pixels.height as usize, texels)
}

/// The errors of levels, for colours only: the worst texel, the worst mean of a block, and the worst mean of a channel.
#[derive(Debug)]
struct Errors {
    texel: f64,
    block: f64,
    whole: f64,
}

impl Errors {
    fn new(got: &Picture, expected: &Picture) -> Self {
        assert_eq!([got.width, got.height], [expected.width, expected.height]);
        let [mut texel, mut block, mut whole] = [0.0_f64; 3];
        for channel in 0..3 {
            let error = |x, y| got.at(x, y)[channel] - expected.at(x, y)[channel];
            let mean = |[x, y]: [usize; 2], [width, height]: [usize; 2]| {
                let cells = (y..y + height).flat_map(|y| (x..x + width).map(move |x| (x, y)));
                cells.map(|(x, y)| error(x, y)).sum::<f64>() / (width * height) as f64
            };
            for y in 0..got.height {
                texel = (0..got.width).fold(texel, |worst, x| worst.max(error(x, y).abs()));
            }
            for y in (0..=got.height - BLOCK).step_by(BLOCK) {
                for x in (0..=got.width - BLOCK).step_by(BLOCK) {
                    block = block.max(mean([x, y], [BLOCK; 2]).abs());
                }
            }
            whole = whole.max(mean([0; 2], [got.width, got.height]).abs());
        }
        Self { texel, block, whole }
    }
}

/// Asserts that levels are the expected values, dithered with Bevy's noise: their local mean is right everywhere.
fn assert_dithered(name: &str, got: &Picture, expected: &Picture) {
    assert_dithered_within(1.0, name, got, expected);
}

/// The same with the largest allowed error of a texel, in levels.
fn assert_dithered_within(most: f64, name: &str, got: &Picture, expected: &Picture) {
    let errors = Errors::new(got, expected);
    let share = share_of_bevys(got, expected);
    println!("{name}: {errors:.3?}, {:.1} % as Bevy has it", 100.0 * share);
    // Up to ten levels an encoding to sRGB is linear, so levels are as exact as light.
    let most = most + brightest(expected) * precision::error_of_blurs();
    assert!(errors.texel <= most, "{name}: a texel: {errors:?}");
    assert!(errors.block <= 0.1, "{name}: a block: {errors:?}");
    assert!(errors.whole <= 0.02, "{name}: the whole: {errors:?}");
    // The blur itself may be slightly off, which decides some texels.
    assert!(share > 0.95, "{name}: other noise than Bevy's: {share}");
}

/// The highest level of a colour.
fn brightest(levels: &Picture) -> f64 {
    let colours = levels.texels.iter().flat_map(|texel| &texel[..3]);
    colours.copied().fold(0.0, f64::max)
}

/// Asserts that without dithering the mean of some block has the error of a band.
fn assert_banded(name: &str, got: &Picture, expected: &Picture) {
    let errors = Errors::new(got, expected);
    println!("{name}, not dithered: {errors:.3?}");
    assert!(errors.texel <= 0.7 && errors.block >= 0.3, "{name}: {errors:?}");
}

/// The share of values whose level is the expected value with the noise of Bevy's `screen_space_dither`, moved by half a
/// step of that noise.
fn share_of_bevys(got: &Picture, expected: &Picture) -> f64 {
    let mut same = 0_usize;
    for y in 0..got.height {
        for x in 0..got.width {
            let place = 171.0 * (x as f64 + 0.5) + 231.0 * (y as f64 + 0.5);
            let is_same = |(channel, period): (usize, f64)| {
                let dither = (place / period).fract() - 0.5 + 0.5 / period;
                (expected.at(x, y)[channel] + dither).round().clamp(0.0, 255.0) == got.at(x, y)[channel]
            };
            same += [103.0, 71.0, 97.0]
                .into_iter()
                .enumerate()
                .map(is_same)
                .filter(|same| *same)
                .count();
        }
    }
    same as f64 / (3 * got.width * got.height) as f64
}
