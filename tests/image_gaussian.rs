//! Blurred images against the float64 reference.

mod support;

use bevy::render::render_resource::TextureFormat;
use bevy_gaussian_blur::prelude::*;
use support::headless::Headless;
use support::reference::{Edge, Picture, gaussian_blur};
use support::{EDGES, assert_close, formats, gpu_with, inputs, within_rounding};

const SIGMAS: [f64; 10] = [0.3, 0.8, 1.5, 2.9, 3.1, 5.9, 6.1, 13.0, 47.0, 200.0];

/// Blurs a picture stored in a format and compares with the blur of what is stored.
fn check(headless: &mut Headless, picture: &Picture, format: TextureFormat, sigma: f64, edge: (EdgeMode, Edge)) -> f64 {
    let source = headless.add_image(formats::to_image(picture, format));
    let blur = GaussianBlur::from_sigma(sigma as f32).with_edge(edge.0);
    let sigma = f64::from(blur.sigma());
    let target = headless.blur(blur, BlurImage::new(source)).expect("the blur succeeds");
    let got = formats::to_picture(&headless.read_image(&target));
    let expected = gaussian_blur(&formats::quantised(picture, format), [sigma, sigma], edge.1);
    let name = format!("{format:?}-{}x{}-{sigma}-{:?}", picture.width, picture.height, edge.0);
    compare(&name, &got, &expected, format)
}

/// Compares within the tolerance of a format.
fn compare(name: &str, got: &Picture, expected: &Picture, format: TextureFormat) -> f64 {
    let channels = formats::stored_channels(format);
    match format {
        TextureFormat::Rgba8UnormSrgb | TextureFormat::Bgra8UnormSrgb => {
            let within = within_rounding(got, expected, format);
            assert_close(name, got, &within, &channels, 0.6 / 255.0)
        }
        TextureFormat::Rg11b10Ufloat => {
            // Six and five bits of mantissa.
            assert_close(name, got, expected, &channels, 0.6 / 255.0 + 1.0 / 64.0)
        }
        TextureFormat::Rgb10a2Unorm => {
            assert_close(name, got, expected, &channels[..3], 0.6 / 255.0 + 0.5 / 1023.0);
            assert_close(name, got, expected, &channels[3..], 0.6 / 255.0 + 0.5 / 3.0)
        }
        TextureFormat::Rgba8Unorm | TextureFormat::Bgra8Unorm | TextureFormat::R8Unorm | TextureFormat::Rg8Unorm => {
            assert_close(name, got, expected, &channels, 1.0 / 255.0)
        }
        _ => assert_close(name, got, expected, &channels, 0.6 / 255.0),
    }
}

/// Every input, sigma and edge mode at one size, by both executors.
fn check_size(width: usize, height: usize) {
    for backend in [BlurBackend::Fragment, BlurBackend::Compute] {
        check_backend(width, height, backend);
    }
}

fn check_backend(width: usize, height: usize, backend: BlurBackend) {
    let Some(mut headless) = gpu_with(backend, |_| {}) else {
        return;
    };
    let mut worst = 0.0_f64;
    for picture in inputs::patterns(width, height) {
        for sigma in SIGMAS {
            for edge in EDGES {
                worst = worst.max(check(&mut headless, &picture, TextureFormat::Rgba16Float, sigma, edge));
            }
        }
    }
    println!("{width}x{height}, {backend:?}: worst error {:.3}/255", worst * 255.0);
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
fn every_format() {
    check_formats(BlurBackend::Fragment);
}

#[test]
fn every_format_in_compute() {
    check_formats(BlurBackend::Compute);
}

fn check_formats(backend: BlurBackend) {
    let Some(mut headless) = gpu_with(backend, |_| {}) else {
        return;
    };
    use TextureFormat::*;
    let formats = [
        Rgba8Unorm,
        Rgba8UnormSrgb,
        Bgra8Unorm,
        Bgra8UnormSrgb,
        R8Unorm,
        Rg8Unorm,
        R16Unorm,
        Rgba16Unorm,
        R16Float,
        Rg16Float,
        Rgba16Float,
        Rg11b10Ufloat,
        Rgb10a2Unorm,
        R32Float,
        Rg32Float,
        Rgba32Float,
    ];
    for picture in inputs::patterns(131, 74) {
        for format in formats {
            for sigma in SIGMAS {
                for edge in EDGES {
                    check(&mut headless, &picture, format, sigma, edge);
                }
            }
        }
    }
}
