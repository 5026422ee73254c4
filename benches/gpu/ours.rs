//! Our blur, in separate Bevy apps.
//!
//! The timestamps are before and after everything that a frame renders, and the frame contains only the blur. The
//! plugin's own diagnostics are off unless `--passes` is given: they add two timestamps around every pass, each of
//! which takes microseconds on fast GPUs.
//!
//! Software rendering (llvmpipe) executes compute passes at once, but writes timestamps only when a submission is
//! flushed, so both timestamps would be written after the passes. There, each timestamp is a separate submission.

use crate::method::Method;
use crate::options::{Format, Options};
use crate::stage::{Gpu, tiled};
use crate::support::formats;
use crate::support::headless::Headless;
use crate::support::images::plain;
use crate::support::reference::Picture;
use crate::timer::Timer;
use bevy::diagnostic::DiagnosticsStore;
use bevy::prelude::*;
use bevy::render::RenderApp;
use bevy::render::render_resource::TextureUsages;
use bevy::render::renderer::{RenderContext, RenderGraph, RenderGraphSystems};
use bevy_gaussian_blur::diagnostics::PASSES;
use bevy_gaussian_blur::prelude::*;

/// The number of first times of a new blur that do not count: textures are allocated and cleared in its first frames.
const WARM_UP: usize = 4;

/// An app for a backend.
pub struct Ours {
    method: Method,
    profile: BlurProfile,
    edge: EdgeMode,
    dither: bool,
    passes: bool,
    headless: Headless,
}

/// The times of one blur, in microseconds.
#[derive(Default)]
pub struct Times {
    /// The whole blur, for each run.
    pub whole: Vec<f64>,
    /// The medians of each kind of pass, if requested.
    pub passes: Vec<(&'static str, f64)>,
}

/// The source and the target.
pub struct Images {
    source: Handle<Image>,
    target: Handle<Image>,
}

impl Ours {
    /// The app for a method that has a backend.
    ///
    /// # Errors
    /// There is no GPU, or it has no timestamps.
    pub fn new(method: Method, options: &Options) -> Result<Self, String> {
        let backend = method.backend().unwrap_or_default();
        let mut headless = Headless::new(|app| {
            app.add_plugins(GaussianBlurPlugin {
                backend,
                precompile_ui: false,
            });
            if options.passes {
                app.add_plugins(GaussianBlurDiagnosticsPlugin);
            }
        });
        headless.warm_up();
        let gpu = Gpu::of(&headless)?;
        let in_submissions = gpu.is_software && method.backend() != Some(BlurBackend::Fragment);
        time_frames(headless.app.sub_app_mut(RenderApp), &gpu, in_submissions);
        Ok(Self {
            method,
            profile: if method.varies() {
                options.direction.profile()
            } else {
                BlurProfile::Uniform
            },
            edge: options.edge,
            dither: options.dither,
            passes: options.passes,
            headless,
        })
    }

    pub fn method(&self) -> Method {
        self.method
    }

    pub fn headless(&self) -> &Headless {
        &self.headless
    }

    /// An image of any size, and its target.
    pub fn images(&mut self, tile: &Picture, size: [u32; 2], format: Format) -> Images {
        let source = tiled(tile, size, format);
        let mut target = source.clone();
        // A storage texture may be slower for render passes, so only compute passes get one.
        if self.method.is_compute() && format.has_storage() {
            target.texture_descriptor.usage |= TextureUsages::STORAGE_BINDING;
        }
        Images {
            source: self.headless.add_image(source),
            target: self.headless.add_image(target),
        }
    }

    /// The blur of a picture.
    ///
    /// # Errors
    /// The error of the blur.
    pub fn blurred(&mut self, picture: &Picture, format: Format, sigma: f64) -> Result<Picture, String> {
        let size = [picture.width as u32, picture.height as u32];
        let images = self.images(picture, size, format);
        self.blur_once(&images, sigma)?;
        Ok(formats::to_picture(&self.headless.read_image(&images.target)))
    }

    /// The times of `count` blurs, one in each frame.
    ///
    /// # Errors
    /// The error of the blur.
    pub fn time(&mut self, images: &Images, sigma: f64, count: usize) -> Result<Times, String> {
        self.blur_once(images, sigma)?;
        // The specialised pipelines of this kernel are compiled after the general ones.
        let is_complete = |world: &mut World| world.resource::<BlurReadiness>().is_complete();
        if !self.headless.frames_until(1000, is_complete) {
            return Err("the blur's pipelines were not compiled in 1000 frames".to_owned());
        }
        let image = self.image(images).with_update(BlurUpdate::EveryFrame);
        let bundle = (self.strength(sigma), self.profile.clone(), image);
        let entity = self.headless.app.world_mut().spawn(bundle).id();
        let mut times = Vec::new();
        for _ in 0..WARM_UP + count {
            self.headless.frame();
            times.push(self.headless.render_world().resource::<Timer>().read());
        }
        let world = self.headless.app.world();
        let label = world.get::<BlurLabel>(entity).filter(|_| self.passes);
        let passes = label.map_or_else(Vec::new, |label| pass_times(world, label, WARM_UP + count));
        self.headless.app.world_mut().despawn(entity);
        self.headless.frame();
        Ok(Times {
            whole: times.split_off(WARM_UP),
            passes,
        })
    }

    fn blur_once(&mut self, images: &Images, sigma: f64) -> Result<(), String> {
        let image = self.image(images);
        let (blur, profile) = (self.strength(sigma), self.profile.clone());
        let finished = self.headless.blur_with(blur, image, profile);
        finished.map(drop).map_err(|error| error.to_string())
    }

    fn image(&self, images: &Images) -> BlurImage {
        plain(images.source.clone())
            .with_target(images.target.clone())
            .with_dither(self.dither)
    }

    fn strength(&self, sigma: f64) -> GaussianBlur {
        GaussianBlur::from_sigma(sigma as f32)
            .with_unit(BlurUnit::PhysicalPixels)
            .with_edge(self.edge)
    }
}

/// Puts timestamps around everything that a frame renders.
pub fn time_frames(app: &mut SubApp, gpu: &Gpu, in_submissions: bool) {
    app.insert_resource(Timer::new(gpu));
    let submit_begin = |timer: Res<Timer>| timer.begin();
    let submit_end = |timer: Res<Timer>| timer.end();
    let begin = |timer: Res<Timer>, mut context: RenderContext| timer.encode_begin(context.command_encoder());
    let end = |timer: Res<Timer>, mut context: RenderContext| timer.encode_end(context.command_encoder());
    let (before, after) = (RenderGraphSystems::Render, RenderGraphSystems::Submit);
    if in_submissions {
        let submit_begin = submit_begin.after(before).before(after);
        app.add_systems(
            RenderGraph,
            (submit_begin, submit_end.in_set(RenderGraphSystems::Finish)),
        );
    } else {
        let begin = begin.after(RenderGraphSystems::Begin).before(before.clone());
        app.add_systems(RenderGraph, (begin, end.after(before).before(after)));
    }
}

/// The plugin's diagnostics for the passes of a blur: the medians of the last `count` frames, in microseconds.
pub fn pass_times(world: &World, label: &BlurLabel, count: usize) -> Vec<(&'static str, f64)> {
    let store = world.resource::<DiagnosticsStore>();
    let time = |pass: &'static str| {
        let diagnostic = store.get(&label.pass_elapsed_gpu(pass))?;
        let values: Vec<f64> = diagnostic.values().copied().collect();
        let mut latest = values[values.len().saturating_sub(count)..].to_vec();
        latest.sort_by(f64::total_cmp);
        Some((pass, 1e3 * latest.get(latest.len() / 2)?))
    };
    PASSES.into_iter().filter_map(time).collect()
}
