//! Blurred images are the Gaussian: at every size, with every edge mode, along each axis alone, and for a picture of a
//! game.

mod random;

use crate::support::executors::{Case, SIGMAS, check, executors};
use crate::support::images::{as_read, blurred_into_own, plain};
use crate::support::pool::warm;
use crate::support::reference::gaussian_blur;
use crate::support::{assert_close, bundled, formats, inputs, is_turn, within_rounding};
use bevy::math::Vec2;
use bevy::render::render_resource::TextureFormat;
use bevy_gaussian_blur::prelude::*;

/// From this width on, the reference takes seconds for each case.
const LARGE: usize = 500;

/// Every input and sigma at one size. The edge modes take turns, and at large sizes the inputs: which program runs does not depend on
/// them.
fn check_size(width: usize, height: usize) {
    let mut executors = executors();
    let mut worst = 0.0_f64;
    for (first, picture) in inputs::patterns(width, height).iter().enumerate() {
        let of_sigma = |(second, sigma): (usize, f64)| {
            // The next input starts two modes further, so that a sigma meets other edge modes there.
            let edges = EdgeMode::ALL.into_iter().enumerate();
            let edges = edges.filter(move |(turn, _)| is_turn(2 * first + second, *turn, EdgeMode::ALL.len()));
            edges.map(move |(_, edge)| Case::new(picture, TextureFormat::Rgba16Float, sigma, edge))
        };
        let sigmas = SIGMAS.into_iter().enumerate();
        let sigmas = sigmas.filter(|(second, _)| width < LARGE || is_turn(*second, first, 2));
        let cases: Vec<Case> = sigmas.flat_map(of_sigma).collect();
        worst = worst.max(check(&cases, &mut executors));
    }
    println!("{width}x{height}: worst error {:.3}/255", worst * 255.0);
}

#[test]
fn one_texel() {
    check_size(1, 1);
}

#[test]
fn three_by_two() {
    check_size(3, 2);
}

#[test]
fn small_and_odd() {
    check_size(61, 47);
}

#[test]
fn screen_sized() {
    check_size(640, 360);
}

#[test]
fn large_and_odd() {
    check_size(1023, 511);
}

#[test]
fn axes_of_their_own() {
    let Some(mut headless) = warm(BlurBackend::Compute) else {
        return;
    };
    let format = TextureFormat::Rgba16Float;
    let picture = inputs::patterns(160, 111)[1].clone();
    let stored = formats::quantised(&picture, format);
    // Exact along both axes, decimated along one, decimated by different scales, and one axis left alone.
    let aspects = [
        Vec2::X,
        Vec2::Y,
        Vec2::new(1.0, 0.1),
        Vec2::new(0.1, 1.0),
        Vec2::new(0.25, 1.0),
        Vec2::new(1.0, 0.0005),
    ];
    let mut worst = 0.0_f64;
    for (index, aspect) in aspects.into_iter().enumerate() {
        for (step, sigma) in [2.0, 14.0, 33.0].into_iter().enumerate() {
            for (turn, edge) in EdgeMode::ALL.into_iter().enumerate() {
                if !is_turn(index + step, turn, EdgeMode::ALL.len()) {
                    continue;
                }
                let blur = GaussianBlur::from_sigma(sigma).with_aspect(aspect).with_edge(edge);
                let got = blurred_into_own(&mut headless, blur, &picture, format);
                let sigmas = [aspect.x, aspect.y].map(|scale| f64::from(sigma * scale));
                let expected = gaussian_blur(&stored, sigmas, edge);
                let name = format!("sigma {sigma}, aspect {aspect}, {edge:?}");
                worst = worst.max(assert_close(&name, &got, &expected, &[0, 1, 2, 3], 0.6 / 255.0));
            }
        }
    }
    println!("axes of their own: worst error {:.3}/255", worst * 255.0);
}

#[test]
fn the_scene() {
    let Some(mut headless) = warm(BlurBackend::Compute) else {
        return;
    };
    let (image, picture) = bundled::load("scene.png");
    assert_eq!([picture.width, picture.height], [1280, 720]);
    let source = headless.add_image(image);
    let picture = as_read(&mut headless, &source, &picture, bundled::FORMAT);
    for sigma in [2.0, 8.0, 32.0, 128.0] {
        let blur = GaussianBlur::from_sigma(sigma);
        let target = headless.blur(blur, plain(source.clone())).expect("the blur succeeds");
        let got = formats::to_picture(&headless.read_image(&target));
        let expected = gaussian_blur(&picture, [f64::from(sigma); 2], EdgeMode::Clamp);
        let within = within_rounding(&got, &expected, bundled::FORMAT);
        let worst = assert_close(&format!("scene-{sigma}"), &got, &within, &[0, 1, 2, 3], 0.6 / 255.0);
        println!(
            "scene, sigma {sigma}: {:.3}/255 beyond the rounding step",
            255.0 * worst
        );
    }
}
