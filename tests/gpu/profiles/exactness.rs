//! Images with a varying sigma, with all executors, against the float64 reference.

use super::*;
use crate::support::bundled;
use crate::support::executors::{executors, general_executors};
use crate::support::outcomes::record;

/// Blurs a picture in [`FORMAT`], and returns the worst differences in 1/255: where sigma is below 1, from there to 5 (where
/// sigma levels are at most half as large as the picture), and beyond.
fn errors(
    headless: &mut Headless,
    picture: &Picture,
    profile: &BlurProfile,
    sigma: f64,
    edge: EdgeMode,
) -> [[f64; 4]; 3] {
    let stored = formats::quantised(picture, FORMAT);
    let all = sigmas(profile, [picture.width, picture.height], sigma);
    let wanted = expected(&stored, &all, [1.0; 2], edge);
    let image = headless.add_image(to_image(picture, FORMAT));
    let blur = GaussianBlur::from_sigma(sigma as f32).with_edge(edge);
    let got = blurred(headless, blur, plain(image), profile.clone());
    let between = |low: f64, high: f64| worst(&got, &wanted, |index| (low..high).contains(&all[index]));
    [between(0.0, 1.0), between(1.0, 5.0), between(5.0, f64::INFINITY)]
}

fn most(errors: [f64; 4]) -> f64 {
    errors.into_iter().fold(0.0, f64::max)
}

#[test]
fn every_texel_is_the_gaussian_of_its_own_sigma() {
    let patterns = inputs::patterns(157, 121);
    for (kind, backend) in BACKENDS.into_iter().enumerate() {
        let mut headless = warm(backend);
        for (index, (name, profile)) in profiles().into_iter().enumerate() {
            for (step, sigma) in [0.7, 1.5, 2.6, 4.0, 9.0, 30.0].into_iter().enumerate() {
                for (turn, picture) in patterns.iter().enumerate() {
                    if !is_turn(index + step, kind, BACKENDS.len()) || !is_turn(index + step / 2, turn, patterns.len())
                    {
                        continue;
                    }
                    let [weak, middle, strong] = errors(&mut headless, picture, &profile, sigma, EdgeMode::Clamp);
                    println!("{backend:?} {name} {sigma}: {weak:.2?} {middle:.2?} {strong:.2?}");
                    assert!(
                        most(weak) <= 1.0,
                        "{backend:?}, {name}, sigma {sigma}, below 1: {weak:?}/255"
                    );
                    assert!(
                        most(middle) <= 2.5,
                        "{backend:?}, {name}, sigma {sigma}, from 1: {middle:?}/255"
                    );
                    assert!(
                        most(strong) <= 2.5,
                        "{backend:?}, {name}, sigma {sigma}, from 5: {strong:?}/255"
                    );
                }
            }
        }
    }
}

#[test]
fn smooth_pictures_are_off_by_a_grey_level_at_most() {
    let pink = inputs::pink_noise(157, 121);
    let noise = inputs::quad([pink.clone(), pink.clone().inverted(), pink.clone(), pink]);
    // With hard edges and bright lamps: a harder test than a photograph.
    let (_, scene) = bundled::load("scene.png");
    let scene = scene.crop([300, 150], [256, 160]);
    for (kind, backend) in BACKENDS.into_iter().enumerate() {
        let mut headless = warm(backend);
        for (index, (name, profile)) in profiles().into_iter().enumerate() {
            for (turn, (what, picture)) in [("noise", &noise), ("scene", &scene)].into_iter().enumerate() {
                for (step, sigma) in [2.0, 12.0, 40.0].into_iter().enumerate() {
                    if !is_turn(index + step, turn, 2) || !is_turn(index / 2 + step, kind, BACKENDS.len()) {
                        continue;
                    }
                    let edge = EdgeMode::Clamp;
                    let all = errors(&mut headless, picture, &profile, sigma, edge).map(most);
                    println!("{backend:?} {what} {name} {sigma}: {all:.2?}");
                    let [weak, middle, strong] = all;
                    let is_near = weak <= 0.2 && middle <= 1.0 && strong <= 1.0;
                    assert!(is_near, "{what}, {name}, {sigma}: {all:?}");
                }
            }
        }
    }
}

#[test]
fn every_edge_mode_holds_at_every_sigma() {
    // This tests borders, not contrast: the error of interpolation is known.
    let pink = inputs::pink_noise(90, 61);
    let step = inputs::step(90, 61);
    let picture = inputs::quad([pink.clone(), pink.inverted(), step.clone(), step.inverted()]);
    for backend in BACKENDS {
        let mut headless = warm(backend);
        for (index, edge) in EdgeMode::ALL.into_iter().enumerate() {
            for (step, (name, profile)) in profiles().into_iter().enumerate() {
                for (turn, sigma) in [1.4, 5.0, 20.0].into_iter().enumerate() {
                    if !is_turn(index + step, turn, 3) {
                        continue;
                    }
                    let [weak, middle, strong] = errors(&mut headless, &picture, &profile, sigma, edge);
                    println!(
                        "{backend:?} {:?} {name} {sigma}: {weak:.2?} {middle:.2?} {strong:.2?}",
                        edge
                    );
                    let (weak, middle, strong) = (most(weak), most(middle), most(strong));
                    assert!(
                        weak <= 0.6 && middle <= 1.5 && strong <= 1.0,
                        "{:?}, {name}, {sigma}",
                        edge
                    );
                }
            }
        }
    }
}

#[test]
fn strong_blurs_of_wide_bars_are_off_by_two_grey_levels_at_most() {
    // Interpolation between sigma levels is worst on bars that are about as wide as sigma.
    let bars = Picture::from_fn(1920, 3, |x, _| {
        [0, 100, 200, 300].map(|offset| f64::from(u8::from((x + offset) / 400 % 2 == 0)))
    });
    let profile = linear([Vec2::ZERO, Vec2::X], [0.5, 1.0]);
    for backend in BACKENDS {
        let mut headless = warm(backend);
        for edge in [EdgeMode::Clamp, EdgeMode::Renormalize] {
            let all = errors(&mut headless, &bars, &profile, 420.0, edge).map(most);
            println!("{backend:?} bars {:?}: {all:.2?}", edge);
            assert!(all[2] <= 2.0, "{backend:?}, {:?}: {all:?}/255", edge);
        }
    }
}

#[test]
fn shares_of_one_are_the_uniform_blur() {
    let [picture, _] = inputs::patterns(157, 121);
    let full = linear([Vec2::ZERO, Vec2::ONE], [1.0, 1.5]);
    for mut executor in executors() {
        record(&mut executor.headless.app);
        for sigma in [0.8, 2.5, 2.9, 3.1, 6.1, 13.0, 47.0] {
            let all = errors(&mut executor.headless, &picture, &full, sigma, EdgeMode::Clamp);
            let error = all.map(most).into_iter().fold(0.0, f64::max);
            assert!(error <= 0.6, "{}, sigma {sigma}: {error}/255", executor.name);
        }
    }
}

#[test]
fn shares_of_zero_leave_every_bit_alone() {
    let nowhere = linear([Vec2::ZERO, Vec2::new(0.0, 0.5)], [-1.0, 0.0]);
    let half = linear([Vec2::new(0.5, 0.0), Vec2::new(0.9, 0.0)], [0.0, 1.0]);
    let [picture, _] = inputs::patterns(64, 40);
    for (turn, mut executor) in general_executors().enumerate() {
        record(&mut executor.headless.app);
        let headless = &mut executor.headless;
        let formats = [
            TextureFormat::Rgba8UnormSrgb,
            TextureFormat::Rgba8Unorm,
            FORMAT,
            TextureFormat::R8Uint,
        ];
        for (number, format) in formats.into_iter().enumerate() {
            for (step, alpha) in [BlurAlpha::Straight, BlurAlpha::Premultiplied].into_iter().enumerate() {
                if !is_turn(number + step, turn, 2) {
                    continue;
                }
                let mut image = to_image(&picture, format);
                if format == FORMAT {
                    // Texels that are not blurred need not be finite. Processors may change the payload of a NaN.
                    let data = image.data.as_mut().expect("pixels");
                    data[..2].copy_from_slice(&0x7e00_u16.to_le_bytes());
                    data[8..10].copy_from_slice(&0x7c00_u16.to_le_bytes());
                }
                let bytes = image.data.clone().expect("pixels");
                let texel = bytes.len() / (64 * 40);
                let source = headless.add_image(image);
                for (profile, columns) in [(&nowhere, 64), (&half, 32)] {
                    let blur = GaussianBlur::from_sigma(9.0);
                    let image = BlurImage::new(source.clone()).with_alpha(alpha);
                    let entity = headless.spawn((blur, image, profile.clone()));
                    headless.warm_up();
                    let target = target_of(headless, entity);
                    let got = headless.read_image(&target).bytes;
                    for y in 0..40 {
                        let row = y * 64 * texel..(y * 64 + columns) * texel;
                        assert!(
                            got[row.clone()] == bytes[row],
                            "{format:?}, {alpha:?}, {columns} columns, row {y}"
                        );
                    }
                    headless.despawn(entity);
                }
            }
        }
    }
}
