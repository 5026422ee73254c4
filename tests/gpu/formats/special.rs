//! NaN and infinities do not spread, in formats of few channels and of few bits.

use super::*;
use crate::quality::made_finite;
use crate::support::images::blurred;

/// The largest half float.
const LARGEST: f64 = 65504.0;

const FLOATS: [TextureFormat; 5] = [
    TextureFormat::R16Float,
    TextureFormat::Rg16Float,
    TextureFormat::Rg11b10Ufloat,
    TextureFormat::R32Float,
    TextureFormat::Rg32Float,
];

/// A visible picture, with `special` in three texels: inside, beside one another, and in a corner.
fn picture_with(special: f64) -> Picture {
    Picture::from_fn(64, 40, |x, y| match (x, y) {
        (7, 20) | (8, 20) | (0, 0) => [special; 4],
        _ => [0.25, 0.5, 0.75, 1.0].map(|value| if (x / 3 + y / 5) % 2 == 0 { value } else { 0.125 }),
    })
}

fn blur_in(headless: &mut Headless, format: TextureFormat, special: f64, blur: GaussianBlur) -> Picture {
    let source = to_image(&picture_with(special), format);
    blurred(headless, blur, source, BlurAlpha::Premultiplied, format)
}

#[test]
fn nan_counts_as_zero_and_infinities_as_large_numbers() {
    by_general_executors(|headless| {
        for (index, format) in headless.available(&FLOATS).into_iter().enumerate() {
            // Full floats hold larger numbers than half floats.
            let is_wide = matches!(format, TextureFormat::R32Float | TextureFormat::Rg32Float);
            for special in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
                if special < 0.0 && format == TextureFormat::Rg11b10Ufloat {
                    continue;
                }
                let stored = formats::quantised(&picture_with(special), format);
                let first = stored.at(0, 0)[0];
                assert!(
                    first == special || first.is_nan() && special.is_nan(),
                    "{format:?}: {special}"
                );
                let span = if special.is_nan() {
                    Span::of(format)
                } else {
                    Span::new(0.0, LARGEST)
                };
                for (step, sigma) in [0.1, 2.5, 13.0].into_iter().enumerate() {
                    let edge = EdgeMode::ALL[(index + step) % EdgeMode::ALL.len()];
                    let blur = GaussianBlur::from_sigma(sigma as f32).with_edge(edge);
                    let got = blur_in(headless, format, special, blur);
                    let name = format!("{special}-{format:?}-{sigma}-{edge:?}");
                    let is_finite = |texel: &[f64; 4]| texel.iter().all(|value| value.is_finite());
                    assert!(got.texels.iter().all(is_finite), "{name}: not finite");
                    if special.is_nan() || !is_wide {
                        let expected = gaussian_blur(&made_finite(&stored), [sigma; 2], edge);
                        formats::assert_stored(&name, &got, &expected, format, &span);
                    }
                }
                assert_reach(headless, format, special);
            }
        }
    });
}

/// Asserts that texels beyond the kernel's reach do not see a special value.
fn assert_reach(headless: &mut Headless, format: TextureFormat, special: f64) {
    let sigma = 1.5;
    let got = blur_in(headless, format, special, GaussianBlur::from_sigma(sigma));
    let stored = formats::quantised(&picture_with(0.0), format);
    let expected = gaussian_blur(&stored, [f64::from(sigma); 2], EdgeMode::Clamp);
    let [got, expected] = [&got, &expected].map(|picture| picture.crop([20, 0], [44, 40]));
    let name = format!("reach-of-{special}-{format:?}");
    formats::assert_stored(&name, &got, &expected, format, &Span::of(format));
}

/// The largest half float, everywhere: the value of an infinity.
#[test]
fn the_largest_half_float_stays_the_largest() {
    by_general_executors(|headless| {
        let fading = linear([Vec2::ZERO, Vec2::ONE], [0.2, 1.0]);
        let alphas = [BlurAlpha::Premultiplied, BlurAlpha::Straight];
        let sizes = [7, 25, 61]
            .into_iter()
            .flat_map(|width| alphas.map(|alpha| (width, alpha)));
        for (index, (width, alpha)) in sizes.enumerate() {
            let picture = Picture::from_fn(width, width / 2 + 3, |_, _| [LARGEST, LARGEST, -LARGEST, 1.0]);
            let source = headless.add_image(to_image(&picture, HDR));
            let mut blurs = Vec::new();
            for (turn, edge) in [EdgeMode::Renormalize, EdgeMode::Mirror].into_iter().enumerate() {
                for (step, sigma) in [0.8, 4.7, 13.0, 35.0].into_iter().enumerate() {
                    if is_turn(index / 2 + index + step, turn, 2) {
                        let blur = GaussianBlur::from_sigma(sigma).with_edge(edge);
                        let image = BlurImage::new(source.clone()).with_alpha(alpha);
                        blurs.extend(
                            [BlurProfile::Uniform, fading.clone()].map(|profile| (blur, image.clone(), profile)),
                        );
                    }
                }
            }
            for ((blur, _, profile), target) in blurs.clone().into_iter().zip(headless.blur_all(blurs)) {
                let got = headless.picture(&target.expect("the blur succeeds"));
                let is_largest = |[red, green, blue, _]: &[f64; 4]| {
                    [*red, *green, -blue]
                        .iter()
                        .all(|value| (0.998 * LARGEST..=LARGEST).contains(value))
                };
                let wrong = got.texels.iter().find(|texel| !is_largest(texel));
                assert!(
                    wrong.is_none(),
                    "{width} texels, {alpha:?}, {blur:?}, {profile:?}: {wrong:?}"
                );
            }
        }
    });
}
