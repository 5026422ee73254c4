//! Source and target may have different formats: values keep their meaning, and are clamped to the target's range.

use super::*;
use crate::support::formats::Kind;
use crate::support::images::{all_blurred, as_read, blurred, converting};
use crate::support::inputs::{disk, patterns, quad};

/// The largest half float.
const LARGEST_HALF: f64 = 65504.0;

/// Source and target, and the range of the picture's numbers.
struct Conversion {
    from: TextureFormat,
    to: TextureFormat,
    span: Span,
}

const fn conversion(from: TextureFormat, to: TextureFormat, low: f64, high: f64) -> Conversion {
    Conversion {
        from,
        to,
        span: Span::new(low, high),
    }
}

const CONVERSIONS: [Conversion; 24] = {
    use TextureFormat as T;
    [
        // Light, encoded and not.
        conversion(T::Rgba8UnormSrgb, T::Rgba16Float, 0.0, 1.0),
        conversion(T::Rgba16Float, T::Rgba8UnormSrgb, 0.0, 1.0),
        conversion(T::Rgba8Unorm, T::Bgra8UnormSrgb, 0.0, 1.0),
        conversion(T::Bgra8UnormSrgb, T::Rgba32Float, 0.0, 1.0),
        conversion(T::Rgba32Float, T::Rg11b10Ufloat, 0.0, 1.0),
        conversion(T::Rg11b10Ufloat, T::Rgb10a2Unorm, 0.0, 1.0),
        conversion(T::Rgba16Float, T::Rgba16Unorm, 0.0, 1.0),
        // Beyond the target's range.
        conversion(T::Rgba16Float, T::Rgba8UnormSrgb, -0.5, 2.0),
        conversion(T::Rgba32Float, T::Rgba8Snorm, -2.0, 2.0),
        conversion(T::Rgba8Snorm, T::Rgba8Unorm, -1.0, 1.0),
        conversion(T::R16Uint, T::R8Uint, 0.0, 510.0),
        conversion(T::R16Sint, T::R8Uint, -255.0, 255.0),
        conversion(T::R32Uint, T::Rgba16Uint, 0.0, 131_070.0),
        conversion(T::Rgb10a2Uint, T::Rgba8Uint, 0.0, 1023.0),
        conversion(T::Rgba32Float, T::Rgba16Sint, -50_000.0, 50_000.0),
        // Numbers as numbers.
        conversion(T::R8Uint, T::R32Float, 0.0, 255.0),
        conversion(T::R32Float, T::R8Uint, 0.0, 255.0),
        conversion(T::Rgba8Sint, T::Rgba16Float, -128.0, 127.0),
        conversion(T::Rgba16Uint, T::Rgba32Float, 0.0, 65535.0),
        conversion(T::Rgba16Float, T::Rgba8Uint, 0.0, 255.0),
        // Other channels: missing ones are 0, and alpha is 1.
        conversion(T::Rgba8Unorm, T::R8Unorm, 0.0, 1.0),
        conversion(T::R8Unorm, T::Rgba8Unorm, 0.0, 1.0),
        conversion(T::Rg8Unorm, T::Rgba16Float, 0.0, 1.0),
        conversion(T::R8Uint, T::Rgba8Uint, 0.0, 255.0),
    ]
};

#[test]
fn from_one_format_to_another() {
    by_general_executors(|headless| {
        for (index, Conversion { from, to, span }) in CONVERSIONS.into_iter().enumerate() {
            if headless.available(&[from, to]).len() < 2 {
                continue;
            }
            let picture = span.spread(&small_picture(index));
            let image = headless.add_image(to_image(&picture, from));
            let stored = as_read(headless, &image, &formats::quantised(&picture, from), from);
            let mut blurs = Vec::new();
            for (step, sigma) in [0.0, 0.8, 2.9, 13.0].into_iter().enumerate() {
                let edge = EdgeMode::ALL[(index + step) % EdgeMode::ALL.len()];
                let blur = GaussianBlur::from_sigma(sigma as f32).with_edge(edge);
                let image = converting(headless, to_image(&picture, from), to);
                blurs.push(((sigma, edge), blur, image));
            }
            for ((sigma, edge), got) in all_blurred(headless, blurs) {
                let expected = gaussian_blur(&stored, [sigma; 2], edge);
                let expected = match formats::kind(to) {
                    Kind::Float => expected,
                    _ => Span::of(to).saturated(&expected),
                };
                let name = format!("{from:?}-to-{to:?}-{sigma}-{edge:?}");
                formats::assert_stored(&name, &got, &expected, to, &span);
            }
        }
    });
}

#[test]
fn what_half_floats_cannot_hold_ends_at_the_largest() {
    by_general_executors(|headless| {
        let (width, height, peak) = (60, 40, 1e6);
        let lights = quad([30.0, 30.5, 31.3, 29.1].map(|x| disk(width, height, x, 20.4, 7.0)));
        let span = Span::new(-peak, peak);
        // In the left half their light is negative.
        let picture = Picture::from_fn(width, height, |x, y| {
            let side = if x < 30 { -peak } else { peak };
            lights.at(x, y).map(|covered| side * covered)
        });
        let stored = formats::quantised(&picture, TextureFormat::Rgba32Float);
        for sigma in [0.0, 0.8, 2.9, 4.5] {
            let source = to_image(&picture, TextureFormat::Rgba32Float);
            let blur = GaussianBlur::from_sigma(sigma as f32);
            let target = TextureFormat::Rgba16Float;
            let got = blurred(headless, blur, source, BlurAlpha::Premultiplied, target);
            let values = || got.texels.iter().flatten().copied();
            assert!(values().all(f64::is_finite), "sigma {sigma}: there are infinities");
            let ends = [values().fold(0.0, f64::min), values().fold(0.0, f64::max)];
            assert_eq!(ends, [-LARGEST_HALF, LARGEST_HALF], "sigma {sigma}");
            let mut expected = gaussian_blur(&stored, [sigma; 2], EdgeMode::Clamp);
            expected.texels.as_flattened_mut().iter_mut().for_each(|value| {
                *value = value.clamp(-LARGEST_HALF, LARGEST_HALF);
            });
            formats::assert_stored(&format!("lights-{sigma}"), &got, &expected, target, &span);
        }
    });
}

/// With straight alpha, a source without opacity is opaque, and a target without it gets the colours alone.
#[test]
fn straight_alpha_of_which_one_end_has_none() {
    by_general_executors(|headless| {
        let [picture, _] = patterns(61, 47);
        let colours = formats::quantised(&picture, TextureFormat::Rg8Unorm);
        let sprite = formats::quantised(&picture, TextureFormat::Rgba8Unorm);
        let light = Picture::from_fn(61, 47, |x, y| {
            let [red, green, _, alpha] = sprite.at(x, y);
            [red * alpha, green * alpha, 0.0, alpha]
        });
        for sigma in [0.8, 13.0] {
            let blur = GaussianBlur::from_sigma(sigma as f32);
            let alpha = BlurAlpha::Straight;

            let target = TextureFormat::Rgba16Float;
            let source = to_image(&picture, TextureFormat::Rg8Unorm);
            let got = blurred(headless, blur, source, alpha, target);
            let expected = gaussian_blur(&colours, [sigma; 2], EdgeMode::Clamp);
            let span = Span::new(0.0, 1.0);
            formats::assert_stored(&format!("opaque-source-{sigma}"), &got, &expected, target, &span);

            let target = TextureFormat::Rg16Float;
            let source = to_image(&picture, TextureFormat::Rgba8Unorm);
            let got = blurred(headless, blur, source, alpha, target);
            let light = gaussian_blur(&light, [sigma; 2], EdgeMode::Clamp);
            let shown = Picture::from_fn(61, 47, |x, y| {
                let ([red, green, ..], alpha) = (got.at(x, y), light.at(x, y)[3]);
                [red * alpha, green * alpha, 0.0, alpha]
            });
            // Both the dividend and the divisor may be off.
            let span = Span::new(0.0, 2.0);
            formats::assert_stored(&format!("no-alpha-left-{sigma}"), &shown, &light, target, &span);
        }
    });
}
