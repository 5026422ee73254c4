//! How a blur treats alpha, in each mode, on a sprite with every kind of alpha.

use crate::support::bundled::{self, FORMAT};
use crate::support::headless::Headless;
use crate::support::images::{as_read, blurred};
use crate::support::reference::{Picture, gaussian_blur};
use crate::support::{assert_close, gpu};
use bevy::image::Image;
use bevy::render::render_resource::TextureFormat;
use bevy_gaussian_blur::prelude::*;

const SIGMAS: [f32; 3] = [2.0, 8.0, 30.0];

/// Applies `change` to every texel.
fn map(picture: &Picture, change: impl Fn([f64; 4]) -> [f64; 4]) -> Picture {
    let texels = picture.texels.iter().map(|texel| change(*texel)).collect();
    Picture::new(picture.width, picture.height, texels)
}

fn premultiplied([red, green, blue, alpha]: [f64; 4]) -> [f64; 4] {
    [red * alpha, green * alpha, blue * alpha, alpha]
}

/// The sprite must contain what these tests need: opaque, transparent and half transparent texels, and colour where it
/// is transparent or a border.
fn sprite(headless: &mut Headless) -> (Image, Picture) {
    let (image, picture) = bundled::load("sprite.png");
    let count = |holds: fn(f64) -> bool| picture.texels.iter().filter(|texel| holds(texel[3])).count();
    assert!(count(|alpha| alpha == 0.0) > 1000, "transparent texels");
    assert!(count(|alpha| alpha == 1.0) > 1000, "opaque texels");
    assert!(count(|alpha| alpha > 0.0 && alpha < 1.0) > 100, "texels between");
    let source = headless.add_image(image.clone());
    let picture = as_read(headless, &source, &picture, FORMAT);
    (image, picture)
}

#[test]
fn straight_alpha() {
    let Some(mut headless) = gpu(|_| {}) else {
        return;
    };
    let (image, picture) = sprite(&mut headless);
    for sigma in SIGMAS {
        let blur = GaussianBlur::from_sigma(sigma);
        let target = TextureFormat::Rgba16Float;
        let got = blurred(&mut headless, blur, image.clone(), BlurAlpha::Straight, target);
        let light = gaussian_blur(&map(&picture, premultiplied), [f64::from(sigma); 2], EdgeMode::Clamp);
        // An error of the colour counts as much as it shows.
        let shown = map(&got, premultiplied);
        let worst = assert_close(&format!("straight-{sigma}"), &shown, &light, &[0, 1, 2, 3], 0.6 / 255.0);
        println!("straight alpha, sigma {sigma}: worst error {:.3}/255", 255.0 * worst);
        let visible = |picture: &Picture| {
            Picture::from_fn(picture.width, picture.height, |x, y| {
                let [red, green, blue, alpha] = picture.at(x, y);
                if light.at(x, y)[3] > 0.5 {
                    [red, green, blue, alpha]
                } else {
                    [0.0; 4]
                }
            })
        };
        let divided = map(&light, |[red, green, blue, alpha]| {
            let alpha_or_one = if alpha > 0.0 { alpha } else { 1.0 };
            [red / alpha_or_one, green / alpha_or_one, blue / alpha_or_one, alpha]
        });
        let name = format!("straight-colour-{sigma}");
        assert_close(&name, &visible(&got), &visible(&divided), &[0, 1, 2, 3], 0.6 / 255.0);
    }
}

#[test]
fn straight_alpha_in_eight_bits() {
    let Some(mut headless) = gpu(|_| {}) else {
        return;
    };
    let (image, picture) = sprite(&mut headless);
    for sigma in SIGMAS {
        let blur = GaussianBlur::from_sigma(sigma);
        let got = blurred(&mut headless, blur, image.clone(), BlurAlpha::Straight, FORMAT);
        let expected = gaussian_blur(&picture, [f64::from(sigma); 2], EdgeMode::Clamp);
        let worst = assert_close(&format!("alpha-{sigma}"), &got, &expected, &[3], 1.0 / 255.0);
        println!(
            "the sprite's alpha, sigma {sigma}: worst error {:.3}/255",
            255.0 * worst
        );
    }
}

#[test]
fn premultiplied_alpha() {
    let Some(mut headless) = gpu(|_| {}) else {
        return;
    };
    let (image, picture) = sprite(&mut headless);
    for sigma in SIGMAS {
        let blur = GaussianBlur::from_sigma(sigma);
        let target = TextureFormat::Rgba16Float;
        let got = blurred(&mut headless, blur, image.clone(), BlurAlpha::Premultiplied, target);
        let expected = gaussian_blur(&picture, [f64::from(sigma); 2], EdgeMode::Clamp);
        assert_close(
            &format!("premultiplied-{sigma}"),
            &got,
            &expected,
            &[0, 1, 2, 3],
            0.6 / 255.0,
        );
    }
}

#[test]
fn opaque() {
    let Some(mut headless) = gpu(|_| {}) else {
        return;
    };
    let (image, picture) = sprite(&mut headless);
    for sigma in SIGMAS.into_iter().chain([0.0]) {
        let blur = GaussianBlur::from_sigma(sigma);
        let target = TextureFormat::Rgba16Float;
        let got = blurred(&mut headless, blur, image.clone(), BlurAlpha::Opaque, target);
        assert!(
            got.texels.iter().all(|texel| texel[3] == 1.0),
            "sigma {sigma}: alpha is 1"
        );
        let expected = gaussian_blur(&picture, [f64::from(sigma); 2], EdgeMode::Clamp);
        assert_close(&format!("opaque-{sigma}"), &got, &expected, &[0, 1, 2], 0.6 / 255.0);
    }
}
