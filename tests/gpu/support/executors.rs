//! All ways to execute a blur: by render passes alone, or by compute passes wherever possible; with the general shaders,
//! or with shaders for single kernels.

use super::formats::{self, Span};
use super::gpu_with;
use super::headless::Headless;
use super::images::{blurred_into_own_with, spawn, target_of};
use super::reference::{Picture, gaussian_blur};
use bevy::prelude::World;
use bevy::render::render_resource::TextureFormat;
use bevy_gaussian_blur::BlurCompilation;
use bevy_gaussian_blur::prelude::*;

/// Standard deviations from hardly any blur to a very wide one, some of them close to a change of the plan.
pub const SIGMAS: [f64; 10] = [0.3, 0.8, 1.5, 2.9, 3.1, 5.9, 6.1, 13.0, 47.0, 200.0];

/// An app that executes blurs in one way.
pub struct Executor {
    pub name: String,
    pub headless: Headless,
    /// Whether to wait for the shaders for single kernels.
    is_specialised: bool,
}

/// An app for every way; none without a GPU.
pub fn executors() -> Vec<Executor> {
    let ways = [BlurBackend::Fragment, BlurBackend::Compute].map(|backend| [(backend, false), (backend, true)]);
    ways.into_iter().flatten().filter_map(executor).collect()
}

/// An app for each kind of pass, with the general shaders alone.
pub fn general_executors() -> Vec<Executor> {
    let ways = [BlurBackend::Fragment, BlurBackend::Compute].map(|backend| (backend, false));
    ways.into_iter().filter_map(executor).collect()
}

fn executor((backend, is_specialised): (BlurBackend, bool)) -> Option<Executor> {
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
}

/// Runs a test with one executor after the other.
pub fn by_all_executors(test: fn(&mut Headless)) {
    run_by(executors(), test);
}

/// The same with [`general_executors`].
pub fn by_general_executors(test: fn(&mut Headless)) {
    run_by(general_executors(), test);
}

fn run_by(executors: Vec<Executor>, test: fn(&mut Headless)) {
    for mut executor in executors {
        println!("{}", executor.name);
        test(&mut executor.headless);
    }
}

impl Executor {
    /// Blurs a picture in a format into a target that the plugin allocates.
    pub fn blurred(
        &mut self,
        blur: GaussianBlur,
        picture: &Picture,
        format: TextureFormat,
        alpha: BlurAlpha,
    ) -> Picture {
        if !self.is_specialised {
            return blurred_into_own_with(&mut self.headless, blur, picture, format, alpha);
        }
        // Only kernels that are drawn in several frames get pipelines of their own.
        let headless = &mut self.headless;
        let source = headless.add_image(formats::to_image(picture, format));
        let image = BlurImage::new(source).with_alpha(alpha);
        let entity = spawn(headless, blur, image.with_update(BlurUpdate::EveryFrame));
        (0..5).for_each(|_| headless.frame());
        let is_complete = |world: &mut World| world.resource::<BlurReadiness>().is_complete();
        assert!(headless.frames_until(100, is_complete), "the kernels are compiled");
        headless.frame();
        let got = formats::to_picture(&headless.read_image(&target_of(headless, entity)));
        headless.app.world_mut().despawn(entity);
        got
    }
}

/// One blur to check.
pub struct Case<'a> {
    /// Values from 0 to 1.
    pub picture: &'a Picture,
    pub format: TextureFormat,
    pub sigma: f64,
    pub edge: EdgeMode,
}

impl Case<'_> {
    /// Blurs the picture, stretched over the range of its format, with every executor, and compares with the reference.
    /// Returns the worst error as a share of that range.
    pub fn check(&self, executors: &mut [Executor]) -> f64 {
        self.check_over(&Span::of(self.format), executors)
    }

    /// The same with the picture stretched over another range.
    pub fn check_over(&self, span: &Span, executors: &mut [Executor]) -> f64 {
        let blur = GaussianBlur::from_sigma(self.sigma as f32).with_edge(self.edge);
        let sigma = [f64::from(blur.sigma()); 2];
        let picture = span.spread(self.picture);
        let expected = gaussian_blur(&formats::quantised(&picture, self.format), sigma, self.edge);
        let check = |executor: &mut Executor| {
            let got = executor.blurred(blur, &picture, self.format, BlurAlpha::Premultiplied);
            let (width, height) = (got.width, got.height);
            let name = format!(
                "{:?}-{width}x{height}-{}-{:?}-{}",
                self.format, self.sigma, self.edge, executor.name
            );
            formats::assert_stored(&name, &got, &expected, self.format, span)
        };
        executors.iter_mut().map(check).fold(0.0, f64::max)
    }
}
