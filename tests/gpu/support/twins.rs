//! Two cameras that see the same scene in the same frame, one of which can be blurred.
//!
//! The other camera shows the blurred picture without its blur, whatever moves or depends on time.

use super::pool::{self, warm_with};
use super::precision;
use super::prelude::*;
use bevy::camera::{ImageRenderTarget, RenderTarget};

/// A camera and the image it renders to.
#[derive(Clone)]
pub struct View {
    pub camera: Entity,
    pub target: Handle<Image>,
}

/// The app with both cameras. An error of the GPU ends the test.
pub struct Twins {
    pub sharp: View,
    pub blurred: View,
    pub headless: Headless,
}

impl View {
    /// Adds a camera without a blur.
    pub fn new(headless: &mut Headless, kind: Kind, size: UVec2, format: TextureFormat) -> Self {
        let target = scene::target(headless, size, format);
        let camera = scene::camera(headless, kind, &target, Msaa::Off);
        Self { camera, target }
    }

    /// Lets the camera render to another image.
    pub fn retarget(&mut self, headless: &mut Headless, target: Handle<Image>, scale_factor: f32) {
        let to = ImageRenderTarget {
            handle: target.clone(),
            scale_factor,
        };
        self.insert(headless, RenderTarget::Image(to));
        self.target = target;
    }

    pub fn insert(&self, headless: &mut Headless, components: impl Bundle) {
        headless.insert(self.camera, components);
    }

    pub fn pixels(&self, headless: &Headless) -> Pixels {
        headless.read_image(&self.target)
    }

    pub fn picture(&self, headless: &Headless) -> Picture {
        to_picture(&self.pixels(headless))
    }
}

impl Twins {
    /// The usual scene.
    pub fn new(kind: Kind, size: UVec2, format: TextureFormat) -> Self {
        Self::by(BlurBackend::Compute, kind, size, format)
    }

    /// The same with a kind of passes.
    pub fn by(backend: BlurBackend, kind: Kind, size: UVec2, format: TextureFormat) -> Self {
        let headless = warm_with(backend, scene::plugins(kind));
        Self::of(headless, kind, size, format)
    }

    /// The same in an app that publishes figures.
    pub fn with_figures(size: UVec2, format: TextureFormat) -> Self {
        let headless = warm_with(BlurBackend::Compute, pool::with_figures);
        Self::of(headless, Kind::Core2d, size, format)
    }

    /// The same in an app of its own, with more plugins.
    pub fn with(kind: Kind, size: UVec2, format: TextureFormat, setup: impl FnOnce(&mut App)) -> Self {
        let headless = gpu(|app| {
            outcomes::record(app);
            scene::add_plugins(app, kind);
            setup(app);
        });
        Self::of(headless, kind, size, format)
    }

    fn of(mut headless: Headless, kind: Kind, size: UVec2, format: TextureFormat) -> Self {
        scene::spawn(&mut headless, kind, 1.0);
        let sharp = View::new(&mut headless, kind, size, format);
        let blurred = View::new(&mut headless, kind, size, format);
        Self {
            sharp,
            blurred,
            headless,
        }
    }

    /// Gives both cameras the same components.
    pub fn insert(&mut self, components: impl Bundle + Clone) {
        self.sharp.insert(&mut self.headless, components.clone());
        self.blurred.insert(&mut self.headless, components);
    }

    /// Gives components to the camera that can be blurred.
    pub fn blur(&mut self, components: impl Bundle) {
        self.blurred.insert(&mut self.headless, components);
    }

    /// The picture of the camera that can be blurred.
    pub fn pixels(&self) -> Pixels {
        self.blurred.pixels(&self.headless)
    }

    /// Asserts that both pictures have the same bits.
    pub fn assert_identical(&self, name: &str) {
        let [sharp, blurred] = [&self.sharp, &self.blurred].map(|view| view.pixels(&self.headless));
        assert!(
            sharp.bytes.iter().any(|byte| *byte != sharp.bytes[0]),
            "{name}: nothing is seen"
        );
        assert!(sharp.bytes == blurred.bytes, "{name}: the picture has changed");
    }

    /// Asserts that the blurred picture is the Gaussian of the sharp one. Returns the worst difference.
    pub fn assert_blurred(&self, name: &str, sigma: [f64; 2]) -> f64 {
        let sharp = self.sharp.picture(&self.headless);
        assert_gaussian(name, &self.pixels(), &sharp, sigma)
    }
}

/// Asserts that a picture is the Gaussian of another one: 0.6/255 beyond the rounding of its format.
pub fn assert_gaussian(name: &str, got: &Pixels, sharp: &Picture, sigma: [f64; 2]) -> f64 {
    assert_gaussian_with(name, &to_picture(got), sharp, sigma, EdgeMode::Clamp, got.format)
}

/// The same with any edge mode, for a picture that was read from a texture of this format.
pub fn assert_gaussian_with(
    name: &str,
    got: &Picture,
    sharp: &Picture,
    sigma: [f64; 2],
    edge: EdgeMode,
    format: TextureFormat,
) -> f64 {
    let expected = within_rounding(got, &gaussian_blur(sharp, sigma, edge), format);
    let peak = expected.texels.iter().flatten().copied().fold(1.0, f64::max);
    assert_close(name, got, &expected, &RGBA, tolerance(format, peak))
}

/// The tolerance for a result of this format, for values up to `peak`.
pub fn tolerance(format: TextureFormat, peak: f64) -> f64 {
    let exact = match format {
        TextureFormat::Rgba8Unorm | TextureFormat::Bgra8Unorm => (0.6 + 0.6) / 255.0,
        TextureFormat::Rgba8UnormSrgb | TextureFormat::Bgra8UnormSrgb => 0.6 / 255.0,
        _ => (0.002 * peak).max(0.6 / 255.0),
    };
    exact + peak * precision::error_of_blurs()
}
