//! Blurred images against the float64 reference.

mod support;

use bevy::render::render_resource::TextureFormat;
use bevy_gaussian_blur::prelude::*;
use support::headless::Headless;
use support::reference::{Edge, Picture, gaussian_blur};
use support::{EDGES, assert_close, formats, gpu_with, inputs, within_rounding};

const SIGMAS: [f64; 10] = [0.3, 0.8, 1.5, 2.9, 3.1, 5.9, 6.1, 13.0, 47.0, 200.0];

const BACKENDS: [BlurBackend; 2] = [BlurBackend::Fragment, BlurBackend::Compute];

/// One blur to check.
struct Case<'a> {
    picture: &'a Picture,
    format: TextureFormat,
    sigma: f64,
    edge: (EdgeMode, Edge),
}

impl Case<'_> {
    /// Blurs with every executor and compares with the reference. Returns the worst error.
    fn check(&self, executors: &mut [Headless]) -> f64 {
        let blur = GaussianBlur::from_sigma(self.sigma as f32).with_edge(self.edge.0);
        let sigma = [f64::from(blur.sigma()); 2];
        let expected = gaussian_blur(&formats::quantised(self.picture, self.format), sigma, self.edge.1);
        let check = |(headless, backend): (&mut Headless, BlurBackend)| {
            let source = headless.add_image(formats::to_image(self.picture, self.format));
            let target = headless.blur(blur, BlurImage::new(source)).expect("the blur succeeds");
            let got = formats::to_picture(&headless.read_image(&target));
            let (width, height) = (got.width, got.height);
            let name = format!(
                "{:?}-{width}x{height}-{}-{:?}-{backend:?}",
                self.format, self.sigma, self.edge.0
            );
            compare(&name, &got, &expected, self.format)
        };
        executors.iter_mut().zip(BACKENDS).map(check).fold(0.0, f64::max)
    }
}

/// An app for every executor, none where there is no GPU.
fn executors() -> Vec<Headless> {
    BACKENDS
        .into_iter()
        .filter_map(|backend| gpu_with(backend, |_| {}))
        .collect()
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

/// Every input, sigma and edge mode at one size.
fn check_size(width: usize, height: usize) {
    let mut executors = executors();
    let mut worst = 0.0_f64;
    for picture in inputs::patterns(width, height) {
        for sigma in SIGMAS {
            for edge in EDGES {
                let case = Case {
                    picture: &picture,
                    format: TextureFormat::Rgba16Float,
                    sigma,
                    edge,
                };
                worst = worst.max(case.check(&mut executors));
            }
        }
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
fn every_format() {
    use TextureFormat::*;
    let mut executors = executors();
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
    let [first, second] = inputs::patterns(131, 74);
    for format in formats {
        for edge in EDGES {
            for (picture, sigmas) in [(&first, &SIGMAS[..]), (&second, &[1.5, 5.9, 47.0])] {
                for &sigma in sigmas {
                    let case = Case {
                        picture,
                        format,
                        sigma,
                        edge,
                    };
                    case.check(&mut executors);
                }
            }
        }
    }
}
