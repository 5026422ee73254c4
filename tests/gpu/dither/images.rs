//! Images with dithering.

use super::*;
use crate::support::executors::{Executor, by_executors};
use crate::support::images::{converting, layered};
use bevy::image::Image;

/// The levels of an image's blur into a format, dithered or not.
fn blurred(executor: &mut Executor, source: Image, format: TextureFormat, dither: bool) -> Picture {
    let image = converting(&mut executor.headless, source, format);
    levels(&executor.blur(GaussianBlur::new(RADIUS), image.with_dither(dither)))
}

#[test]
fn a_dark_gradient_has_no_bands() {
    by_executors(|executor| {
        let lights = Lights::new(&mut executor.headless);
        for format in [SRGB, UNORM] {
            let source = to_image(&gradient(format), format);
            let exact = gaussian_blur(&lights.read(&gradient(format), format), SIGMA, EdgeMode::Clamp);
            let expected = to_levels(&exact, format);
            let name = format!("image-{format:?}");
            assert_dithered(&name, &blurred(executor, source.clone(), format, true), &expected);
            // Compute passes can write the plugin's own target.
            let own = plain(executor.headless.add_image(source.clone())).with_dither(true);
            let own = levels(&executor.blur(GaussianBlur::new(RADIUS), own));
            assert_dithered(&format!("own-{name}"), &own, &expected);
            assert_banded(&name, &blurred(executor, source, format, false), &expected);
        }
    });
}

/// The source has floats, so that it has no bands of its own. Weak blurs are dithered like strong ones.
#[test]
fn a_conversion_to_eight_bits() {
    by_executors(|executor| {
        let source = HDR;
        for format in [SRGB, UNORM] {
            let smooth = gradient(format);
            let exact = gaussian_blur(&quantised(&smooth, source), SIGMA, EdgeMode::Clamp);
            let got = blurred(executor, to_image(&smooth, source), format, true);
            assert_dithered(&format!("conversion-{format:?}"), &got, &to_levels(&exact, format));

            let weak = GaussianBlur::from_sigma(0.7);
            let exact = gaussian_blur(
                &quantised(&smooth, source),
                [f64::from(weak.sigma()); 2],
                EdgeMode::Clamp,
            );
            let image = converting(&mut executor.headless, to_image(&smooth, source), format);
            let got = levels(&executor.blur(weak, image.with_dither(true)));
            assert_dithered(&format!("weak-{format:?}"), &got, &to_levels(&exact, format));
        }
    });
}

/// Every mip level is dithered separately: it is the mean of the stored level before it.
#[test]
fn mip_levels_have_no_bands() {
    let mut headless = warm(BlurBackend::Compute);
    let lights = Lights::new(&mut headless);
    for format in [SRGB, UNORM] {
        let smooth = gradient(format);
        let small = |level: usize| smooth.crop([0; 2], [smooth.width >> level, smooth.height >> level]);
        let target = layered(&[vec![small(0), small(1)]], format);
        let [source, target] = [to_image(&smooth, format), target].map(|image| headless.add_image(image));
        let image = plain(source).with_target(target).with_dither(true);
        let target = headless
            .blur(GaussianBlur::new(RADIUS), image)
            .expect("the blur succeeds");
        let above = lights.read(&to_picture(&headless.read_part(&target, 0, 0)), format);
        let mean = Picture::from_fn(above.width / 2, above.height / 2, |x, y| {
            let texels = [(0, 0), (1, 0), (0, 1), (1, 1)].map(|(right, down)| above.at(2 * x + right, 2 * y + down));
            core::array::from_fn(|channel| texels.iter().map(|texel| texel[channel]).sum::<f64>() / 4.0)
        });
        let got = levels(&headless.read_part(&target, 0, 1));
        assert_dithered(&format!("mip-{format:?}"), &got, &to_levels(&mean, format));
    }
}

/// Straight alpha: the stored colour is dithered, however faint it is.
#[test]
fn straight_colours_are_dithered_as_they_are_stored() {
    by_executors(|executor| {
        let faint = |x: usize| 0.25 + 0.5 * x as f64 / 1000.0;
        let [width, height] = [1000, 96];
        // A flat colour stays flat with straight alpha.
        let colour = decode_srgb(5.3 / 255.0);
        let source = Picture::from_fn(width, height, |x, _| [colour, colour, colour, faint(x)]);
        let expected = to_levels(&source, SRGB);
        let source = to_image(&source, HDR);
        let image = converting(&mut executor.headless, source, SRGB).with_alpha(BlurAlpha::Straight);
        let got = executor.blur(GaussianBlur::new(RADIUS), image.with_dither(true));
        assert_dithered("straight", &levels(&got), &expected);
    });
}

/// A level that has been rounded to a half float is not exactly a level, but must stay that level.
#[test]
fn flat_areas_stay_flat() {
    by_executors(|executor| {
        let lights = Lights::new(&mut executor.headless);
        for format in [SRGB, UNORM] {
            // Some GPUs decode some levels to other light, which lies between two levels.
            let is_exact = |level: u8| format == UNORM || lights.error_of(level) < 2e-3;
            let exact = (0..=255).filter(|level| is_exact(*level)).count();
            println!("{format:?}: {exact} levels are exact");
            // Stripes so wide that the blur leaves their middle flat.
            let [count, width] = [16, 24];
            let (mut blurs, mut cases) = (Vec::new(), Vec::new());
            for first in (1..255).step_by(count) {
                let level = |x: usize| (first + x / width).min(254) as f64 / 255.0;
                let picture = Picture::from_fn(count * width, 8, |x, _| {
                    let value = if format == SRGB {
                        decode_srgb(level(x))
                    } else {
                        level(x)
                    };
                    [value, value, value, 1.0]
                });
                let source = to_image(&picture, format);
                let sharp = source.data.clone().expect("pixels");
                let image = plain(executor.headless.add_image(source)).with_dither(true);
                for (sigma, margin) in [(0.7, 3), (2.4, 10)] {
                    blurs.push((GaussianBlur::from_sigma(sigma), image.clone()));
                    cases.push((sigma, margin, sharp.clone()));
                }
            }
            for ((sigma, margin, sharp), got) in cases.into_iter().zip(executor.blur_all(blurs)) {
                let texels = got.bytes.chunks(4).zip(sharp.chunks(4)).enumerate();
                for (index, (got, sharp)) in texels {
                    let column = index % (count * width) % width;
                    if (margin..width - margin).contains(&column) && is_exact(sharp[0]) {
                        assert_eq!(got, sharp, "{format:?}, sigma {sigma}, texel {index}");
                    }
                }
            }
        }
    });
}
