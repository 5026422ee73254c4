//! Both executors: fragment passes alone, and compute passes wherever they can be.

use super::headless::Headless;
use super::images::blurred_into_own;
use super::reference::{Edge, Picture, gaussian_blur};
use super::{assert_close, formats, gpu_with, within_rounding};
use bevy::render::render_resource::TextureFormat;
use bevy_gaussian_blur::prelude::*;

/// Standard deviations from hardly any blur to a very wide one, some of them close to a change of the plan.
pub const SIGMAS: [f64; 10] = [0.3, 0.8, 1.5, 2.9, 3.1, 5.9, 6.1, 13.0, 47.0, 200.0];

const BACKENDS: [BlurBackend; 2] = [BlurBackend::Fragment, BlurBackend::Compute];

/// An app for every executor, none where there is no GPU.
pub fn executors() -> Vec<Headless> {
    BACKENDS
        .into_iter()
        .filter_map(|backend| gpu_with(backend, |_| {}))
        .collect()
}

/// Runs a test with one executor after the other.
pub fn by_both_executors(test: fn(&mut Headless)) {
    for backend in BACKENDS {
        if let Some(mut headless) = gpu_with(backend, |_| {}) {
            println!("{backend:?}");
            test(&mut headless);
        }
    }
}

/// One blur to check.
pub struct Case<'a> {
    pub picture: &'a Picture,
    pub format: TextureFormat,
    pub sigma: f64,
    pub edge: (EdgeMode, Edge),
}

impl Case<'_> {
    /// Blurs with every executor and compares with the reference. Returns the worst error.
    pub fn check(&self, executors: &mut [Headless]) -> f64 {
        let blur = GaussianBlur::from_sigma(self.sigma as f32).with_edge(self.edge.0);
        let sigma = [f64::from(blur.sigma()); 2];
        let expected = gaussian_blur(&formats::quantised(self.picture, self.format), sigma, self.edge.1);
        let check = |(headless, backend): (&mut Headless, BlurBackend)| {
            let got = blurred_into_own(headless, blur, self.picture, self.format);
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
