//! Blurs of a part of an image, and blurs that spread beyond it.

use crate::profiles::blurred;
use crate::support::alpha::premultiplied;
use crate::support::images::{asset, layered};
use crate::support::prelude::*;
use crate::support::reference::varying_blur;

/// A size and a cell that are no multiples of anything.
const SIZE: [usize; 2] = [131, 97];
const CELL: URect = URect {
    min: UVec2::new(23, 11),
    max: UVec2::new(86, 58),
};
const SIGMAS: [f32; 6] = [0.0, 0.8, 2.9, 7.0, 26.0, 90.0];
fn by_both_backends(test: impl Fn(&mut Headless)) {
    for backend in one_backend() {
        println!("{backend:?}");
        test(&mut warm(backend));
    }
}

fn cell_of(picture: &Picture) -> Picture {
    let [min, size] = [CELL.min, CELL.size()].map(|pair| pair.to_array().map(|side| side as usize));
    picture.crop(min, size)
}

/// An atlas whose other cells are so bright that a thousandth of a neighbour would be visible.
fn atlas(format: TextureFormat) -> Picture {
    let [inside, _] = inputs::patterns(SIZE[0], SIZE[1]);
    let glare = if format == TextureFormat::Rgba16Float {
        60.0
    } else {
        1.0
    };
    Picture::from_fn(SIZE[0], SIZE[1], |x, y| {
        if CELL.contains(UVec2::new(x as u32, y as u32)) && !is_last(x, y) {
            inside.at(x, y)
        } else {
            [glare; 4]
        }
    })
}

/// `URect::contains` includes the upper borders.
fn is_last(x: usize, y: usize) -> bool {
    x as u32 == CELL.max.x || y as u32 == CELL.max.y
}

/// A picture with transparent texels around it.
pub fn padded(picture: &Picture, padding: usize) -> Picture {
    let [width, height] = [picture.width, picture.height].map(|side| side + 2 * padding);
    let inside = |place: usize, side: usize| (padding..padding + side).contains(&place);
    Picture::from_fn(width, height, |x, y| {
        if inside(x, picture.width) && inside(y, picture.height) {
            picture.at(x - padding, y - padding)
        } else {
            [0.0; 4]
        }
    })
}

/// Asserts that the cell alone is blurred, over nothing if there is padding. The error is in 1/255; a copy has none.
fn assert_cell(headless: &mut Headless, blur: GaussianBlur, padding: u32, format: TextureFormat, error: f64) {
    let stored = formats::quantised(&atlas(format), format);
    let source = headless.add_image(to_image(&stored, format));
    let image = plain(source).with_region(CELL).with_padding(padding);
    let got = blurred(headless, blur, image, default());
    // Whatever the edge mode, what lies beyond padding is transparent.
    let edge = if padding > 0 { EdgeMode::Transparent } else { blur.edge };
    let sigma = blur.sigma() * blur.aspect;
    let sharp = padded(&cell_of(&stored), padding as usize);
    let expected = gaussian_blur(&sharp, sigma.to_array().map(f64::from), edge);
    let tolerance = if sigma == Vec2::ZERO { 0.0 } else { error / 255.0 };
    let name = format!("cell-{format:?}-{edge:?}-{sigma}-{padding}");
    assert_close(&name, &got, &expected, &RGBA, tolerance);
}

#[test]
fn a_cell_takes_nothing_from_its_neighbours() {
    by_both_backends(|headless| {
        for (format, error) in [(TextureFormat::Rgba16Float, 0.6), (TextureFormat::Rgba8Unorm, 1.0)] {
            for (edge, sigma) in EdgeMode::ALL
                .into_iter()
                .flat_map(|edge| SIGMAS.map(|sigma| (edge, sigma)))
            {
                let blur = GaussianBlur::from_sigma(sigma).with_edge(edge);
                assert_cell(headless, blur, 0, format, error);
            }
        }
    });
}

#[test]
fn a_blur_spreads_into_its_padding() {
    by_both_backends(|headless| {
        for (sigma, padding) in [(0.0, 3), (0.8, 4), (2.9, 11), (7.0, 5), (26.0, 40), (90.0, 17)] {
            for edge in [EdgeMode::Transparent, EdgeMode::Clamp, EdgeMode::Wrap] {
                let blur = GaussianBlur::from_sigma(sigma).with_edge(edge);
                assert_cell(headless, blur, padding, HDR, 0.6);
            }
        }
    });
}

/// A blur along one axis must not take the rows or columns beside the region either.
#[test]
fn one_axis_alone_stays_inside() {
    by_both_backends(|headless| {
        for (sigma, padding) in [(1.3, 0), (1.3, 6), (12.0, 0), (12.0, 9)] {
            for aspect in [Vec2::X, Vec2::Y] {
                let blur = GaussianBlur::from_sigma(sigma).with_edge(EdgeMode::Transparent);
                assert_cell(headless, blur.with_aspect(aspect), padding, HDR, 0.6);
            }
        }
    });
}

#[test]
fn straight_alpha_spreads_its_own_colour() {
    by_both_backends(|headless| {
        let [picture, _] = inputs::patterns(40, 30);
        let stored = formats::quantised(&picture, HDR);
        let source = headless.add_image(to_image(&stored, HDR));
        let blur = GaussianBlur::from_sigma(3.0);
        let padding = BlurImage::padding_for(&blur);
        assert_eq!(padding, 12);
        let got = blurred(headless, blur, BlurImage::new(source).with_padding(padding), default());
        let light = padded(&premultiplied(&stored), padding as usize);
        let expected = gaussian_blur(&light, [3.0; 2], EdgeMode::Transparent);
        assert_close("straight-padding", &premultiplied(&got), &expected, &RGBA, 0.6 / 255.0);
    });
}

#[test]
fn what_padding_for_says_is_enough() {
    by_both_backends(|headless| {
        let white = Picture::from_fn(64, 64, |_, _| [1.0; 4]);
        let source = headless.add_image(to_image(&white, HDR));
        for sigma in [0.5, 1.0, 2.5, 6.0, 17.0] {
            let blur = GaussianBlur::from_sigma(sigma);
            let padding = BlurImage::padding_for(&blur);
            // The first texels that would be cut off.
            let image = plain(source.clone()).with_padding(padding + 1);
            let got = blurred(headless, blur, image, default());
            let border = (0..got.width).flat_map(|x| [got.at(x, 0), got.at(x, got.height - 1)]);
            let most = border.flatten().fold(0.0, f64::max);
            assert!(
                most < 0.05 / 255.0,
                "sigma {sigma}, padding {padding}: {}/255",
                most * 255.0
            );
        }
        assert_eq!(BlurImage::padding_for(&GaussianBlur::new(f32::NAN)), 0);
        let along_y = GaussianBlur::from_sigma(2.0).with_aspect(Vec2::new(0.0, 2.0));
        assert_eq!(BlurImage::padding_for(&along_y), 16);
    });
}

#[test]
fn a_profile_covers_the_region() {
    by_both_backends(|headless| {
        // Smooth, because profiles are exact to a grey level or two on noise.
        let waves = Picture::from_fn(SIZE[0], SIZE[1], |x, y| {
            let wave = |by: f64| 0.5 + 0.5 * (by * x as f64).sin() * (0.7 * by * y as f64).cos();
            [wave(0.21), wave(0.13), wave(0.3), wave(0.17)]
        });
        let stored = formats::quantised(&waves, HDR);
        let source = headless.add_image(to_image(&stored, HDR));
        let profile = linear([Vec2::new(0.2, 0.5), Vec2::new(0.9, 0.5)], [0.0, 1.0]);
        for padding in [0, 13] {
            let image = plain(source.clone()).with_region(CELL).with_padding(padding);
            let blur = GaussianBlur::from_sigma(9.0).with_edge(EdgeMode::Transparent);
            let got = blurred(headless, blur, image, profile.clone());
            let sharp = padded(&cell_of(&stored), padding as usize);
            let width = f64::from(CELL.width());
            let expected = varying_blur(&sharp, EdgeMode::Transparent, |x, _| {
                let place = (x as f64 + 0.5 - f64::from(padding)) / width;
                [9.0 * ((place - 0.2) / 0.7).clamp(0.0, 1.0); 2]
            });
            assert_close(&format!("profile-{padding}"), &got, &expected, &RGBA, 1.2 / 255.0);
        }
    });
}

#[test]
fn layers_and_levels_have_regions_too() {
    by_both_backends(|headless| {
        let pictures = inputs::patterns(64, 64).map(|picture| vec![picture]);
        let mut image = layered(&pictures, HDR);
        image.texture_descriptor.mip_level_count = 1;
        let source = headless.add_image(image);
        let region = URect::new(5, 8, 26, 40);
        for padding in [0, 6] {
            let blur = GaussianBlur::from_sigma(2.0).with_edge(EdgeMode::Transparent);
            let image = plain(source.clone()).with_region(region).with_padding(padding);
            let target = headless.blur(blur, image).expect("the blur succeeds");
            for (layer, picture) in pictures.iter().flatten().enumerate() {
                let got = to_picture(&headless.read_part(&target, layer as u32, 0));
                let sharp = formats::quantised(picture, HDR).crop([5, 8], [21, 32]);
                let expected = gaussian_blur(&padded(&sharp, padding as usize), [2.0; 2], EdgeMode::Transparent);
                assert_close(&format!("layer-{layer}-{padding}"), &got, &expected, &RGBA, 0.6 / 255.0);
            }
        }
    });
}

#[test]
fn a_target_follows_the_region() {
    by_both_backends(|headless| {
        let format = TextureFormat::Rgba8Unorm;
        let stored = formats::quantised(&atlas(format), format);
        let source = headless.add_image(to_image(&stored, format));
        let blur = GaussianBlur::from_sigma(2.0).with_edge(EdgeMode::Transparent);
        let entity = spawn(headless, blur, plain(source));
        let mut assert_shows = |region: Option<URect>, padding: u32| {
            let mut image = headless.get_mut::<BlurImage>(entity);
            (image.region, image.padding) = (region, padding);
            headless.warm_up();
            finished(headless, 2);
            let region = region.unwrap_or(URect::new(0, 0, SIZE[0] as u32, SIZE[1] as u32));
            let [min, size] = [region.min, region.size()].map(|pair| pair.to_array().map(|side| side as usize));
            let target = target_of(headless, entity);
            assert_eq!(asset(headless, &target).size(), region.size() + 2 * padding);
            let got = headless.picture(&target);
            let sharp = padded(&stored.crop(min, size), padding as usize);
            let expected = gaussian_blur(&sharp, [2.0; 2], EdgeMode::Transparent);
            assert_close(&format!("follows-{region:?}"), &got, &expected, &RGBA, 1.0 / 255.0);
        };
        assert_shows(None, 0);
        assert_shows(Some(CELL), 0);
        assert_shows(Some(CELL), 7);
        // The next cell of the same size.
        let next = URect::from_corners(CELL.min + 31, CELL.max + 31);
        assert_shows(Some(next), 7);
        assert_shows(None, 7);
        assert_shows(Some(next), 0);
    });
}

#[test]
fn what_cannot_be_blurred_is_said_once() {
    by_both_backends(|headless| {
        let source = headless.add_image(to_image(&inputs::patterns(40, 30)[0], HDR));
        let small = headless.add_image(to_image(&inputs::patterns(20, 30)[0], HDR));
        let region = URect::new(30, 0, 41, 30);
        let size = UVec2::new(40, 30);
        let device = headless.render_world().resource::<RenderDevice>();
        let limit = device.limits().max_texture_dimension_2d;
        let cases = [
            (
                plain(source.clone()).with_region(region),
                BlurError::InvalidRegion { region, source: size },
            ),
            (
                BlurImage::in_place(source.clone()).with_padding(1),
                BlurError::RegionInPlace,
            ),
            (
                plain(source.clone())
                    .with_target(small.clone())
                    .with_region(URect::new(0, 0, 20, 20)),
                BlurError::SizeMismatch {
                    source: UVec2::new(20, 20),
                    target: UVec2::new(20, 30),
                },
            ),
            (
                plain(source.clone()).with_padding(limit),
                BlurError::TooLarge {
                    size: size + 2 * limit,
                    limit,
                },
            ),
        ];
        for (image, error) in cases {
            let entity = spawn(headless, GaussianBlur::from_sigma(2.0), image);
            assert_eq!(failures(headless, 20), [error]);
            headless.despawn(entity);
            frames(headless, 2);
        }
        // A named target of the right size is as good as any.
        let image = plain(source).with_target(small).with_region(URect::new(7, 0, 27, 30));
        headless.blur(GaussianBlur::from_sigma(2.0), image).expect("it fits");
    });
}
