//! Blurred images are the Gaussian: at every size, with every edge mode, along each axis alone, and for a picture of a
//! game.

mod random;

use crate::support::executors::{Case, check, executors, some_executors};
use crate::support::images::{as_read, blurred_into_own};
use crate::support::prelude::*;
use crate::support::{bundled, cases};

/// Every input and sigma at one of the sizes.
fn check_size(index: usize) {
    let [width, height] = cases::SIZES[index];
    // Programs for single kernels do not depend on the size, so one size runs them; `three_octaves_at_once` runs them at another.
    let is_every_way = is_full() || width == 61;
    let pictures = inputs::patterns(width, height);
    let of = |(input, sigma, edge): (usize, f64, usize)| {
        Case::new(&pictures[input], TextureFormat::Rgba16Float, sigma, EdgeMode::ALL[edge])
    };
    let worst = (0..pictures.len()).fold(0.0, |worst, one| {
        let of_one = cases::blurs(width, is_full()).filter(|(input, ..)| *input == one);
        let cases: Vec<Case> = of_one.map(of).collect();
        check(&cases, some_executors(is_every_way)).max(worst)
    });
    println!("{width}x{height}: worst error {:.3}/255", worst * 255.0);
}

#[test]
fn one_texel() {
    check_size(0);
}

#[test]
fn three_by_two() {
    check_size(1);
}

#[test]
fn small_and_odd() {
    check_size(2);
}

#[test]
fn screen_sized() {
    check_size(3);
}

#[test]
fn large_and_odd() {
    check_size(4);
}

/// Pictures of many sizes go down three octaves in their first pass.
#[test]
fn three_octaves_at_once() {
    let picture = &inputs::patterns(401, 301)[0];
    let cases = [17.0, 130.0].map(|sigma| Case::new(picture, TextureFormat::Rgba16Float, sigma, EdgeMode::Clamp));
    let worst = check(&cases, executors());
    println!("401x301: worst error {:.3}/255", worst * 255.0);
}

#[test]
fn axes_of_their_own() {
    let mut headless = warm(BlurBackend::Compute);
    let [width, height] = cases::SIZE_OF_AXES;
    let picture = inputs::patterns(width, height)[1].clone();
    let stored = formats::quantised(&picture, HDR);
    let mut worst = 0.0_f64;
    for (sigma, aspect, edge) in cases::blurs_of_axes(is_full()) {
        let edge = EdgeMode::ALL[edge];
        let blur = GaussianBlur::from_sigma(sigma)
            .with_aspect(aspect.into())
            .with_edge(edge);
        let got = blurred_into_own(&mut headless, blur, &picture, HDR);
        let expected = gaussian_blur(&stored, aspect.map(|scale| f64::from(sigma * scale)), edge);
        let name = format!("sigma {sigma}, aspect {aspect:?}, {edge:?}");
        worst = worst.max(assert_close(&name, &got, &expected, &RGBA, 0.6 / 255.0));
    }
    println!("axes of their own: worst error {:.3}/255", worst * 255.0);
}

#[test]
fn the_scene() {
    let mut headless = warm(BlurBackend::Compute);
    let (image, picture) = bundled::load("scene.png");
    assert_eq!([picture.width, picture.height], [1280, 720]);
    let source = headless.add_image(image);
    let picture = as_read(&mut headless, &source, &picture, bundled::FORMAT);
    for sigma in [2.0, 8.0, 32.0, 128.0] {
        let blur = GaussianBlur::from_sigma(sigma);
        let target = headless.blur(blur, plain(source.clone())).expect("the blur succeeds");
        let got = headless.picture(&target);
        let expected = gaussian_blur(&picture, [f64::from(sigma); 2], EdgeMode::Clamp);
        let within = within_rounding(&got, &expected, bundled::FORMAT);
        let worst = assert_close(&format!("scene-{sigma}"), &got, &within, &RGBA, 0.6 / 255.0);
        println!(
            "scene, sigma {sigma}: {:.3}/255 beyond the rounding step",
            255.0 * worst
        );
    }
}
