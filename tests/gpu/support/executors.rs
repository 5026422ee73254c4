//! All ways to carry a blur out: by render passes alone or by compute passes wherever they can be, with the shaders that
//! serve any kernel and with those for a single one.

use super::headless::Headless;
use super::images::blurred_into_own;
use super::reference::{Edge, Picture, gaussian_blur};
use super::{assert_close, formats, gpu_with, within_rounding};
use bevy::render::render_resource::TextureFormat;
use bevy_gaussian_blur::BlurCompilation;
use bevy_gaussian_blur::prelude::*;

/// Standard deviations from hardly any blur to a very wide one, some of them close to a change of the plan.
pub const SIGMAS: [f64; 10] = [0.3, 0.8, 1.5, 2.9, 3.1, 5.9, 6.1, 13.0, 47.0, 200.0];

/// An app that carries blurs out in one way.
pub struct Executor {
    pub name: String,
    pub headless: Headless,
    /// Whether shaders for single kernels have to be there first.
    is_specialised: bool,
}

/// An app for every way, none where there is no GPU.
pub fn executors() -> Vec<Executor> {
    let ways = [BlurBackend::Fragment, BlurBackend::Compute].map(|backend| [(backend, false), (backend, true)]);
    let executor = |(backend, is_specialised): (BlurBackend, bool)| {
        let per_frame = if is_specialised { 1000 } else { 0 };
        let headless = gpu_with(backend, |app| {
            app.insert_resource(BlurCompilation { per_frame });
        })?;
        Some(Executor {
            name: format!(
                "{backend:?}-{}",
                if is_specialised { "specialised" } else { "any-kernel" }
            ),
            headless,
            is_specialised,
        })
    };
    ways.into_iter().flatten().filter_map(executor).collect()
}

/// Runs a test with one executor after the other.
pub fn by_all_executors(test: fn(&mut Headless)) {
    for mut executor in executors() {
        println!("{}", executor.name);
        test(&mut executor.headless);
    }
}

impl Executor {
    /// Blurs a picture in a format into a target of the plugin's own.
    fn blurred(&mut self, blur: GaussianBlur, picture: &Picture, format: TextureFormat) -> Picture {
        let got = blurred_into_own(&mut self.headless, blur, picture, format);
        let is_complete = |headless: &Headless| headless.app.world().resource::<BlurReadiness>().is_complete();
        if !self.is_specialised || is_complete(&self.headless) {
            return got;
        }
        while !is_complete(&self.headless) {
            self.headless.frame();
        }
        blurred_into_own(&mut self.headless, blur, picture, format)
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
    pub fn check(&self, executors: &mut [Executor]) -> f64 {
        let blur = GaussianBlur::from_sigma(self.sigma as f32).with_edge(self.edge.0);
        let sigma = [f64::from(blur.sigma()); 2];
        let expected = gaussian_blur(&formats::quantised(self.picture, self.format), sigma, self.edge.1);
        let check = |executor: &mut Executor| {
            let got = executor.blurred(blur, self.picture, self.format);
            let (width, height) = (got.width, got.height);
            let name = format!(
                "{:?}-{width}x{height}-{}-{:?}-{}",
                self.format, self.sigma, self.edge.0, executor.name
            );
            compare(&name, &got, &expected, self.format)
        };
        executors.iter_mut().map(check).fold(0.0, f64::max)
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
