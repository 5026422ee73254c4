//! Blurs that a custom render system records: the same results as image blurs, between any two textures.

mod errors;
mod held;
mod views;

use crate::support::counters::Held;
use crate::support::prelude::*;
use crate::support::recording::{Recording, Settings, Shown, add_recorder};

const SIGMAS: [f32; 7] = [0.3, 0.8, 2.9, 6.1, 13.0, 47.0, 300.0];

/// Runs a test with each kind of passes.
fn by_both_backends(test: impl Fn(&mut Headless)) {
    for backend in BACKENDS {
        println!("{backend:?}");
        test(&mut warm_with(backend, add_recorder));
    }
}

/// An image that can be the target of both, in a colour that no blur produces.
fn target(headless: &mut Headless, size: [usize; 2], format: TextureFormat) -> Handle<Image> {
    let picture = Picture::from_fn(size[0], size[1], |x, y| {
        [(x % 2) as f64, (y % 3) as f64 / 3.0, 0.25, 1.0]
    });
    headless.add_image(to_image(&picture, format))
}

/// The result of [`BlurImage`] for the same numbers.
fn image_blur(
    headless: &mut Headless,
    source: &Handle<Image>,
    settings: &Settings,
    target: Handle<Image>,
) -> Handle<Image> {
    let largest = settings.sigma.max_element();
    let blur = GaussianBlur::from_sigma(largest)
        .with_aspect(settings.sigma / largest)
        .with_edge(settings.edge);
    let image = plain(source.clone()).with_target(target).with_alpha(settings.alpha);
    let image = if settings.dither {
        image.with_dither(true)
    } else {
        image
    };
    let profile = settings.profile.as_ref().map(|(profile, _)| profile.clone());
    headless
        .blur_with(blur, image, profile.unwrap_or_default())
        .expect("the blur succeeds")
}

/// Records blurs of a picture in one frame, and compares each, bit by bit, with the same blur by [`BlurImage`].
fn assert_alike(headless: &mut Headless, picture: &Picture, format: TextureFormat, all: Vec<Settings>) {
    let size = [picture.width, picture.height];
    let source = headless.add_image(to_image(picture, format));
    let targets: Vec<_> = all.iter().map(|_| target(headless, size, format)).collect();
    let recording = |(settings, target): (&Settings, &Handle<Image>)| Recording::new(&source, target, settings.clone());
    let recordings = all.iter().zip(&targets).map(recording).collect();
    headless.record_all(recordings);
    for (settings, recorded) in all.iter().zip(targets) {
        let own = target(headless, size, format);
        let expected = image_blur(headless, &source, settings, own);
        let (got, expected) = (headless.read_image(&recorded), headless.read_image(&expected));
        if got.bytes != expected.bytes {
            let [got, expected] = [&got, &expected].map(to_picture);
            assert_close(&format!("recorded-{format:?}"), &got, &expected, &RGBA, 0.0);
            panic!("{format:?}, {settings:?}: other bits");
        }
    }
}

#[test]
fn every_strength_and_edge_is_that_of_an_image() {
    by_both_backends(|headless| {
        let picture = inputs::patterns(61, 47)[0].clone();
        for format in [TextureFormat::Rgba16Float, TextureFormat::Rgba8UnormSrgb] {
            let of_edge = |edge| {
                SIGMAS.map(|sigma| Settings {
                    edge,
                    ..Settings::new(sigma)
                })
            };
            let all = EdgeMode::ALL.into_iter().flat_map(of_edge).collect();
            assert_alike(headless, &picture, format, all);
        }
    });
}

#[test]
fn every_kind_of_format_is_that_of_an_image() {
    use TextureFormat as T;
    // The kinds of passes take turns.
    let turns = core::cell::Cell::new(0);
    by_both_backends(|headless| {
        let turn = turns.replace(1);
        let picture = inputs::patterns(40, 33)[1].clone();
        let some = [
            T::R8Unorm,
            T::Rg8Unorm,
            T::Rgba8Unorm,
            T::Rgba8UnormSrgb,
            T::Bgra8UnormSrgb,
            T::R16Float,
            T::Rg16Float,
            T::Rgba16Float,
            T::R32Float,
            T::Rg32Float,
            T::Rgba32Float,
            T::Rgb10a2Unorm,
            T::Rg11b10Ufloat,
            T::Rgba8Uint,
        ];
        for (index, format) in headless.available(&some).into_iter().enumerate() {
            if !is_turn(index, turn, 2) {
                continue;
            }
            let picture = formats::Span::of(format).spread(&picture);
            // Below 0.03 it is a copy.
            let all = [0.02, 0.8, 9.0].map(Settings::new).map(|settings| Settings {
                sigma: settings.sigma * Vec2::new(1.0, 0.75),
                ..settings
            });
            assert_alike(headless, &picture, format, all.to_vec());
        }
    });
}

#[test]
fn profiles_alpha_and_dither_are_those_of_an_image() {
    by_both_backends(|headless| {
        let picture = inputs::patterns(72, 50)[1].clone();
        let mask = Picture::from_fn(16, 16, |x, y| [(x * y) as f64 / 225.0; 4]);
        let mask = headless.add_image(to_image(&mask, TextureFormat::R8Unorm));
        let profiles = [
            linear([Vec2::new(0.1, 0.2), Vec2::new(0.8, 0.9)], [0.0, 1.0]),
            BlurProfile::Radial {
                center: Vec2::splat(0.5),
                inner: 0.1,
                outer: 0.7,
                from: 0.0,
                to: 1.0,
            },
        ];
        let plain = profiles.map(|profile| (profile, None));
        // As an asset, and as a texture in its place.
        let by_handle = (BlurProfile::Mask(mask.clone()), None);
        let by_texture = (BlurProfile::Mask(mask.clone()), Some(Shown::from(&mask)));
        let varying = plain
            .into_iter()
            .chain([by_handle, by_texture])
            .map(|profile| Settings {
                profile: Some(profile),
                ..Settings::new(14.0)
            });
        let straight = [BlurAlpha::Straight, BlurAlpha::Opaque].map(|alpha| Settings {
            alpha,
            ..Settings::new(3.0)
        });
        let dithered = Settings {
            dither: true,
            ..Settings::new(5.0)
        };
        let all = varying.chain(straight).chain([dithered]).collect();
        assert_alike(headless, &picture, TextureFormat::Rgba8UnormSrgb, all);
    });
}

/// Values of a picture around a region, which must not change.
fn assert_untouched(got: &Picture, before: &Picture, region: URect) {
    for y in 0..got.height {
        for x in 0..got.width {
            let is_inside = region.contains(UVec2::new(x as u32, y as u32))
                && (x as u32) < region.max.x
                && (y as u32) < region.max.y;
            assert!(
                is_inside || got.at(x, y) == before.at(x, y),
                "({x}, {y}) beside {region:?} has changed"
            );
        }
    }
}

#[test]
fn a_region_is_blurred_as_an_image_of_its_own() {
    by_both_backends(|headless| {
        let picture = inputs::patterns(300, 230)[0].clone();
        // Levels of it have the grid of those of the crop.
        let region = URect::new(64, 64, 256, 192);
        let source = headless.add_image(to_image(&picture, HDR));
        let crop = picture.crop([64, 64], [192, 128]);
        let cropped = headless.add_image(to_image(&crop, HDR));
        for edge in EdgeMode::ALL {
            for sigma in [0.02, 1.7, 8.0, 40.0] {
                let settings = Settings {
                    region: Some(region),
                    edge,
                    ..Settings::new(sigma)
                };
                let whole = target(headless, [300, 230], HDR);
                let before = to_picture(&{
                    headless.frame();
                    headless.read_image(&whole)
                });
                headless.record_one(&source, &whole, settings.clone());
                let got = headless.picture(&whole);
                assert_untouched(&got, &before, region);
                let own = target(headless, [192, 128], HDR);
                let expected = image_blur(headless, &cropped, &settings, own);
                let expected = headless.picture(&expected);
                let got = got.crop([64, 64], [192, 128]);
                // Filtered fetches round positions in textures of other sizes apart: by a unit of the last place.
                let tolerance = if sigma < 0.03 { 0.0 } else { 1.0 / 1024.0 };
                assert_close(&format!("region-{edge:?}-{sigma}"), &got, &expected, &RGBA, tolerance);
            }
        }
    });
}

#[test]
fn bounds_are_read_beyond_the_region() {
    by_both_backends(|headless| {
        let picture = inputs::patterns(150, 131)[1].clone();
        let source = headless.add_image(to_image(&picture, HDR));
        let bounds = URect::new(5, 9, 141, 122);
        let crop = |picture: &Picture, region: URect| {
            let [origin, size] = [region.min, region.size()].map(|pair| pair.to_array().map(|side| side as usize));
            picture.crop(origin, size)
        };
        let inside = crop(&formats::quantised(&picture, HDR), bounds);
        // Half of sigma is everywhere what a profile leaves.
        let mut check = |edge: EdgeMode, sigma: f64, region: URect, half: Option<BlurProfile>| {
            let (strength, tolerance) = if half.is_some() {
                (2.0 * sigma, 2.0)
            } else {
                (sigma, 0.6)
            };
            let settings = Settings {
                region: Some(region),
                bounds: Some(bounds),
                edge,
                profile: half.map(|profile| (profile, None)),
                ..Settings::new(strength as f32)
            };
            let whole = target(headless, [150, 131], HDR);
            headless.frame();
            let before = headless.picture(&whole);
            headless.record_one(&source, &whole, settings);
            let got = headless.picture(&whole);
            assert_untouched(&got, &before, region);
            let beyond = bounds.min;
            let expected = gaussian_blur(&inside, [sigma; 2], edge);
            let expected = crop(&expected, URect::from_corners(region.min - beyond, region.max - beyond));
            let name = format!("bounds-{edge:?}-{sigma}-{region:?}");
            assert_close(&name, &crop(&got, region), &expected, &RGBA, tolerance / 255.0);
        };
        let middle = URect::new(60, 50, 90, 61);
        for edge in EdgeMode::ALL {
            for sigma in [0.9, 4.0, 21.0] {
                for region in [URect::new(6, 10, 30, 40), middle, bounds] {
                    check(edge, sigma, region, None);
                }
            }
        }
        // With the passes of a varying blur.
        check(
            EdgeMode::ALL[0],
            4.0,
            middle,
            Some(linear([Vec2::ZERO, Vec2::X], [0.5, 0.5])),
        );
    });
}

#[test]
fn moments_of_shadows_keep_their_digits() {
    by_both_backends(|headless| {
        let format = TextureFormat::Rg32Float;
        let plane = inputs::patterns(128, 96)[0].clone();
        let depth = |x: usize, y: usize| 100.0 * plane.at(x, y)[0];
        let moments = Picture::from_fn(128, 96, |x, y| [depth(x, y), depth(x, y).powi(2), 0.0, 1.0]);
        let source = headless.add_image(to_image(&moments, format));
        for (sigma, tolerance) in [(1.2, 1e-4), (3.0, 1e-4), (9.0, 4e-4), (40.0, 4e-4)] {
            let target = target(headless, [128, 96], format);
            headless.record_one(&source, &target, Settings::new(sigma));
            let got = headless.picture(&target);
            let expected = gaussian_blur(
                &formats::quantised(&moments, format),
                [f64::from(sigma); 2],
                EdgeMode::Clamp,
            );
            for (channel, peak) in [(0, 100.0), (1, 1e4)] {
                let worst = assert_close(
                    &format!("moments-{sigma}"),
                    &got,
                    &expected,
                    &[channel],
                    tolerance * peak,
                );
                println!("sigma {sigma}, channel {channel}: {:.1e} of the peak", worst / peak);
            }
        }
    });
}

#[test]
fn blurs_are_chained_in_one_frame() {
    by_both_backends(|headless| {
        let picture = inputs::patterns(90, 70)[0].clone();
        let source = headless.add_image(to_image(&picture, HDR));
        let [first, second, third] = [(); 3].map(|()| target(headless, [90, 70], HDR));
        // Two blurs of one size, and the last one in place.
        headless.record_all(vec![
            Recording::new(&source, &first, Settings::new(3.0)),
            Recording::new(&first, &second, Settings::new(4.0)),
            Recording::new(&source, &third, Settings::new(0.0)),
            Recording::new(&third, &third, Settings::new(5.0)),
        ]);
        let stored = formats::quantised(&picture, HDR);
        for (image, sigma) in [(second, 5.0), (third, 5.0)] {
            let got = headless.picture(&image);
            let expected = gaussian_blur(&stored, [sigma; 2], EdgeMode::Clamp);
            // The border of the first one is clamped again.
            let (got, expected) = (got.without_border(16), expected.without_border(16));
            assert_close("chain", &got, &expected, &RGBA, 1.2 / 255.0);
        }
    });
}

#[test]
fn targets_without_storage_are_written_by_render_passes() {
    by_both_backends(|headless| {
        let picture = inputs::patterns(66, 66)[0].clone();
        let source = headless.add_image(to_image(&picture, HDR));
        let mut stored = to_image(&picture, HDR);
        stored.texture_descriptor.usage |= TextureUsages::STORAGE_BINDING;
        let targets = [target(headless, [66, 66], HDR), headless.add_image(stored)];
        let recording = |target| Recording::new(&source, target, Settings::new(7.0));
        headless.record_all(targets.iter().map(recording).collect());
        for target in targets {
            assert_blur("storage", headless, &target, &picture, 7.0);
        }
    });
}

#[test]
fn a_released_blur_holds_no_mask() {
    by_both_backends(|headless| {
        let picture = inputs::patterns(64, 48)[0].clone();
        let source = headless.add_image(to_image(&picture, HDR));
        for is_texture in [false, true] {
            let mask = headless.add_image(to_image(&picture, HDR));
            let target = target(headless, [64, 48], HDR);
            let shown = is_texture.then(|| Shown::from(&mask));
            let settings = Settings {
                profile: Some((BlurProfile::Mask(mask.clone()), shown)),
                ..Settings::new(6.0)
            };
            headless.record_one(&source, &target, settings);
            let held = {
                let images = headless.render_world().resource::<RenderAssets<GpuImage>>();
                images.get(&mask).expect("it was blurred with it").texture.clone()
            };
            let mut recordings = headless.recordings();
            let recording = &mut recordings.0[0];
            recording.rests_after = 0;
            recording.settings.profile = None;
            recording.blur.release();
            drop(mask);
            headless.frames(15);
            let before = Held::by(&headless.app).of("texture bytes");
            drop(held);
            headless.frames(15);
            let after = Held::by(&headless.app).of("texture bytes");
            assert!(after < before, "{before}, then {after}: something holds the mask");
        }
    });
}
