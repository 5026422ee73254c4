//! Visible defects: flicker, a wrong strength, pops, and wrong bright lights.

use crate::support::difference::minus;
use crate::support::executors::{Executor, by_executors};
use crate::support::headless::label_and_definitions_of;
use crate::support::images::converting;
use crate::support::inputs::{disk, impulse, patterns, quad};
use crate::support::precision;
use crate::support::prelude::*;
use bevy::render::render_resource::{PipelineCache, PipelineDescriptor};

/// Sources of both precision classes: values up to 1, and beyond.
const CLASSES: [TextureFormat; 2] = [TextureFormat::Rgba16Unorm, TextureFormat::Rgba16Float];

/// Blurs pictures of one class, each with its sigma, all channels alike.
fn blur_all(
    executor: &mut Executor,
    pictures: &[(&Picture, f64)],
    class: TextureFormat,
    target: TextureFormat,
) -> Vec<Picture> {
    let blur = |(picture, sigma): &(&Picture, f64)| {
        let source = to_image(picture, class);
        let image = converting(&mut executor.headless, source, target);
        (GaussianBlur::from_sigma(*sigma as f32), image)
    };
    let blurs = pictures.iter().map(blur).collect();
    executor.blur_all(blurs).iter().map(to_picture).collect()
}

fn peak(picture: &Picture, channel: usize) -> f64 {
    picture.texels.iter().map(|texel| texel[channel]).fold(0.0, f64::max)
}

/// (max - min) / mean.
fn spread(values: &[f64]) -> f64 {
    let least = values.iter().copied().fold(f64::INFINITY, f64::min);
    let most = values.iter().copied().fold(0.0, f64::max);
    (most - least) * values.len() as f64 / values.iter().sum::<f64>()
}

#[test]
fn a_moving_disk_does_not_flicker() {
    by_executors(|executor| {
        let (width, height) = (200, 120);
        for class in executor.headless.available(&CLASSES) {
            for (sigma, radius, pictures) in [(6.1, 1.0, 16), (24.4, 1.5, 32)] {
                // At least one period of the grid. The channels of a picture hold four steps of an eighth of a texel.
                let at = |step: usize| {
                    let x = |channel: usize| 92.0 + (4 * step + channel) as f64 / 8.0;
                    quad(RGBA.map(|channel| disk(width, height, x(channel), 60.31, radius)))
                };
                let pictures: Vec<Picture> = (0..pictures).map(at).collect();
                let asked: Vec<_> = pictures.iter().map(|picture| (picture, sigma)).collect();
                let got = blur_all(executor, &asked, class, TextureFormat::Rgba16Float);
                let (mut peaks, mut ratios) = (Vec::new(), Vec::new());
                for (picture, got) in pictures.iter().zip(got) {
                    let expected = gaussian_blur(&formats::quantised(picture, class), [sigma; 2], EdgeMode::Clamp);
                    for channel in RGBA {
                        peaks.push(peak(&got, channel));
                        ratios.push(peak(&got, channel) / peak(&expected, channel));
                    }
                }
                let (flicker, own) = (spread(&peaks), spread(&ratios));
                println!(
                    "{class:?}, sigma {sigma}: flicker {:.3} %, of the ratio to the reference's peak {:.3} %",
                    100.0 * flicker,
                    100.0 * own
                );
                assert!(flicker < 0.006, "{class:?}, sigma {sigma}: {flicker}");
            }
        }
    });
}

#[test]
fn the_sigma_is_the_one_asked_for() {
    by_executors(|executor| {
        let sigmas = [0.8, 1.3, 2.2, 2.9, 3.1, 3.9, 4.1, 6.1, 8.1, 12.1, 24.4, 40.0];
        let mut worst = (0.0, 0.0);
        for class in executor.headless.available(&CLASSES) {
            let pictures = sigmas.map(|sigma| {
                let (side, places) = places_of(sigma);
                let shifted = |channel: usize| {
                    let centre = impulse(2 * places[channel], 2 * (side - places[channel]));
                    let mut whole = impulse(side, side);
                    whole.values.fill(0.0);
                    let (x, y) = (centre.width / 2, centre.height / 2);
                    whole.values[y * side + x] = 1.0;
                    whole
                };
                quad(RGBA.map(shifted))
            });
            let asked: Vec<_> = pictures.iter().zip(sigmas).collect();
            let got = blur_all(executor, &asked, class, TextureFormat::Rgba32Float);
            for (sigma, got) in sigmas.into_iter().zip(got) {
                let (side, places) = places_of(sigma);
                for (channel, place) in places.into_iter().enumerate() {
                    let centre = [place, side - place];
                    for (axis, measured) in sigmas_of(&got, channel, centre).into_iter().enumerate() {
                        let error = measured / sigma - 1.0;
                        if f64::abs(error) > f64::abs(worst.0) {
                            worst = (error, sigma);
                        }
                        assert!(
                            error.abs() < 0.005,
                            "{class:?}, sigma {sigma}, axis {axis}, impulse at {centre:?}: measured {measured}"
                        );
                    }
                }
            }
        }
        println!("effective sigma: worst {:+.3} % at sigma {}", 100.0 * worst.0, worst.1);
    });
}

/// The side of a picture that holds an impulse blurred with sigma, and the places of the impulses in its channels.
fn places_of(sigma: f64) -> (usize, [usize; 4]) {
    let side = 2 * (6.0 * sigma) as usize + 48;
    (side, [0, 1, 5, 11].map(|offset| side / 2 + offset))
}

/// The roots of the second moments around a position along x and y. The sum and the mean must be right, too.
fn sigmas_of(picture: &Picture, channel: usize, centre: [usize; 2]) -> [f64; 2] {
    let (mut sum, mut first, mut second) = (0.0, [0.0; 2], [0.0; 2]);
    for (index, texel) in picture.texels.iter().enumerate() {
        let weight = texel[channel];
        sum += weight;
        let position = [index % picture.width, index / picture.width];
        for axis in 0..2 {
            let distance = position[axis] as f64 - centre[axis] as f64;
            first[axis] += weight * distance;
            second[axis] += weight * distance * distance;
        }
    }
    let sigmas = second.map(|moment| (moment / sum).sqrt());
    let most = 1e-3 + precision::error_of_light();
    assert!((sum - 1.0).abs() < most, "a blur must keep the light: {sum}");
    for axis in 0..2 {
        let shift = first[axis] / sum;
        assert!(
            shift.abs() < 0.002 * sigmas[axis],
            "a blur must not move the picture: {shift}"
        );
    }
    sigmas
}

#[test]
fn a_growing_radius_does_not_pop() {
    by_executors(|executor| {
        // A fine sweep, and the values just below and above every change of level.
        let mut sigmas: Vec<f64> = (0..30).map(|i| 2.8 * 1.08_f64.powi(i)).collect();
        for change in [3.0, 4.0, 6.0, 8.0, 12.0, 16.0, 24.0] {
            sigmas.extend([change * 0.9995, change * 1.0005]);
        }
        sigmas.sort_by(f64::total_cmp);
        let [picture, _] = patterns(128, 96);
        for class in executor.headless.available(&CLASSES) {
            let stored = formats::quantised(&picture, class);
            let mut worst = 0.0_f64;
            let mut previous: Option<Picture> = None;
            let asked: Vec<_> = sigmas.iter().map(|sigma| (&picture, *sigma)).collect();
            let got = blur_all(executor, &asked, class, TextureFormat::Rgba32Float);
            for (&sigma, got) in sigmas.iter().zip(got) {
                let expected = gaussian_blur(&stored, [sigma; 2], EdgeMode::Clamp);
                // The Gaussian changes smoothly, so a pop is a change of the error.
                let error = minus(&got, &expected);
                if let Some(previous) = &previous {
                    let name = format!("{class:?}, up to sigma {sigma}");
                    worst = worst.max(assert_close(&name, &error, previous, &RGBA, 0.5 / 255.0));
                }
                previous = Some(error);
            }
            println!("{class:?}: largest pop {:.3}/255", worst * 255.0);
        }
    });
}

#[test]
fn bright_lights_stay_exact() {
    by_executors(|executor| {
        let (width, height) = (180, 140);
        let centres = [(90.0, 70.0), (90.5, 70.5), (88.3, 71.8), (93.7, 66.1)];
        let lights = quad(centres.map(|(x, y)| disk(width, height, x, y, 1.0)));
        let picture = Picture::from_fn(width, height, |x, y| {
            lights.at(x, y).map(|covered| 0.05 + covered * (1000.0 - 0.05))
        });
        let stored = formats::quantised(&picture, HDR);
        let mut worst = 0.0_f64;
        let asked = [3.05, 3.95, 4.05, 6.1, 7.9, 8.1, 12.2, 15.9, 16.1, 24.4].map(|sigma| (&picture, sigma));
        let got = blur_all(executor, &asked, HDR, HDR);
        for ((_, sigma), got) in asked.into_iter().zip(got) {
            let expected = gaussian_blur(&stored, [sigma; 2], EdgeMode::Clamp);
            for channel in RGBA {
                let peak = peak(&expected, channel);
                let name = format!("light-{sigma}-{channel}");
                worst = worst.max(assert_close(&name, &got, &expected, &[channel], 0.002 * peak) / peak);
            }
        }
        println!("lights of 1000 on 0.05: worst error {:.3} % of the peak", 100.0 * worst);
    });
}

/// Samplers keep eight bits of the position between two texels, which is not enough beside a bright light. Some drivers keep more, so
/// the pictures do not tell.
#[test]
fn lights_are_not_filtered() {
    // Other tests leave pipelines behind.
    let mut headless = gpu_with(BlurBackend::Fragment, |_| {});
    for (format, is_filtered) in [(TextureFormat::R16Float, false), (TextureFormat::R8Unorm, true)] {
        let source = headless.add_image(to_image(&patterns(64, 48)[0], format));
        let blurred = headless.blur(GaussianBlur::from_sigma(12.0), plain(source));
        blurred.expect("the blur succeeds");
        let cache = headless.render_world().resource::<PipelineCache>();
        let filters = cache.pipelines().filter_map(|pipeline| {
            let (label, definitions) = label_and_definitions_of(&pipeline.descriptor);
            let PipelineDescriptor::RenderPipelineDescriptor(render) = &pipeline.descriptor else {
                return None;
            };
            let target = render.fragment.as_ref()?.targets.first()?.as_ref()?;
            let is_meant = label == Some("gaussian_blur_upsample_fragment") && target.format == format;
            is_meant.then(|| definitions.is_some_and(|all| all.contains(&"FILTERED".into())))
        });
        let filters: Vec<bool> = filters.collect();
        assert!(!filters.is_empty(), "{format:?}: nothing is interpolated");
        assert_eq!(filters.contains(&true), is_filtered, "{format:?}: {filters:?}");
    }
}

#[test]
fn infinities_and_nan_do_not_spread() {
    by_executors(|executor| {
        let special = [f64::INFINITY, f64::NAN, f64::NEG_INFINITY, 65504.0, -65504.0];
        let picture = Picture::from_fn(64, 48, |x, y| match (x % 16, y % 12) {
            (4, 5) => RGBA.map(|channel| special[(x / 16 + y / 12 + channel) % special.len()]),
            (5, 5) => [f64::INFINITY; 4],
            (9, 2) => [f64::INFINITY, f64::NAN, f64::NEG_INFINITY, 0.0],
            (10, 2) => [65504.0, -65504.0, 1.0, 6e-8],
            _ => [0.25, 0.5, 0.75, 1.0],
        });
        let mut broken = Vec::new();
        for format in [TextureFormat::Rgba16Float, TextureFormat::Rgba32Float] {
            for alpha in [BlurAlpha::Premultiplied, BlurAlpha::Opaque, BlurAlpha::Straight] {
                let with = |sigma: f32| EdgeMode::ALL.map(|edge| GaussianBlur::from_sigma(sigma).with_edge(edge));
                let blurs = [0.1, 2.5, 40.0].map(with).concat();
                let source = to_image(&picture, format);
                let image = |blur: &GaussianBlur| {
                    let image = converting(&mut executor.headless, source.clone(), format);
                    (*blur, image.with_alpha(alpha))
                };
                let asked = blurs.iter().map(image).collect();
                for (blur, got) in blurs.iter().zip(executor.blur_all(asked)) {
                    let (got, sigma, edge) = (to_picture(&got), blur.sigma(), blur.edge);
                    if format == TextureFormat::Rgba16Float && alpha == BlurAlpha::Premultiplied {
                        // Every special value counts exactly as its finite replacement.
                        let expected = gaussian_blur(&made_finite(&picture), [f64::from(sigma); 2], edge);
                        let name = format!("special-{sigma}-{edge:?}");
                        assert_close(&name, &got, &expected, &RGBA, 0.002 * 65504.0);
                    }
                    let is_broken = |texel: &&[f64; 4]| !texel.iter().all(|value| value.is_finite());
                    let count = got.texels.iter().filter(is_broken).count();
                    if count > 0 {
                        broken.push(format!(
                            "{format:?}, {alpha:?}, sigma {sigma}, {edge:?}: {count} texels"
                        ));
                    }
                }
            }
        }
        assert!(broken.is_empty(), "not finite:\n{}", broken.join("\n"));
    });
}

/// Sums that are rounded several times could exceed the largest value, and become infinite.
#[test]
fn the_largest_values_stay() {
    by_executors(|executor| {
        let largest = [65504.0, -65504.0, 65504.0, 1.0];
        let picture = Picture::from_fn(40, 24, |_, _| largest);
        let source = to_image(&picture, TextureFormat::Rgba16Float);
        let sigmas = [0.9, 1.76, 2.79, 3.37, 4.84, 11.3, 16.0, 40.0];
        let blurs: Vec<_> = sigmas.into_iter().map(GaussianBlur::from_sigma).collect();
        let image = |blur: &GaussianBlur| {
            let image = converting(&mut executor.headless, source.clone(), TextureFormat::Rgba16Float);
            (*blur, image)
        };
        let asked = blurs.iter().map(image).collect();
        for (blur, got) in blurs.iter().zip(executor.blur_all(asked)) {
            let name = format!("largest-{}", blur.sigma());
            assert_close(&name, &to_picture(&got), &picture, &RGBA, 0.002 * 65504.0);
        }
    });
}

/// The largest half floats for infinities, and 0 for NaN.
pub fn made_finite(picture: &Picture) -> Picture {
    Picture::from_fn(picture.width, picture.height, |x, y| {
        picture.at(x, y).map(|value| match value {
            _ if value.is_nan() => 0.0,
            _ => value.clamp(-65504.0, 65504.0),
        })
    })
}
