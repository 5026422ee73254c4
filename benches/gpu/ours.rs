//! Our blur, in Bevy apps of its own, timed by its own diagnostics.
//!
//! With one exception: software rendering (llvmpipe) executes compute passes at once, but writes timestamps only when
//! something is flushed, so that both timestamps around compute passes are written after them. There, the app's whole
//! frame, in which nothing but the blur is drawn, lies between two submissions of a timestamp each.

use crate::method::Method;
use crate::options::Format;
use crate::stage::{Gpu, tiled};
use crate::support::formats;
use crate::support::headless::Headless;
use crate::support::reference::Picture;
use crate::timer::Timer;
use bevy::diagnostic::DiagnosticsStore;
use bevy::prelude::*;
use bevy::render::RenderApp;
use bevy::render::render_resource::TextureUsages;
use bevy::render::renderer::{RenderGraph, RenderGraphSystems};
use bevy_gaussian_blur::prelude::*;

/// How many times of a new blur are not counted: textures are allocated and cleared in its first frames.
const WARM_UP: usize = 4;

/// How many frames may pass without a time.
const PATIENCE: usize = 100;

/// An app for a backend.
pub struct Ours {
    method: Method,
    headless: Headless,
    /// How many blurs there have been, so that each has a name of its own.
    spawned: usize,
}

/// What is blurred, and where to.
pub struct Images {
    source: Handle<Image>,
    target: Handle<Image>,
}

impl Ours {
    /// The app for a method that has a backend.
    ///
    /// # Errors
    /// There is no GPU, or none with timestamps.
    pub fn new(method: Method) -> Result<Self, String> {
        let backend = method.backend().unwrap_or_default();
        let mut headless = Headless::new(|app| {
            app.add_plugins((GaussianBlurPlugin { backend }, GaussianBlurDiagnosticsPlugin));
        })?;
        headless.warm_up();
        let gpu = Gpu::of(&headless)?;
        if gpu.is_software && method.is_compute() {
            time_frames(headless.app.sub_app_mut(RenderApp), &gpu);
        }
        Ok(Self {
            method,
            headless,
            spawned: 0,
        })
    }

    pub fn method(&self) -> Method {
        self.method
    }

    pub fn headless(&self) -> &Headless {
        &self.headless
    }

    /// An image of any size, and one to blur it into.
    pub fn images(&mut self, tile: &Picture, size: [u32; 2], format: Format) -> Images {
        let source = tiled(tile, size, format);
        let mut target = source.clone();
        // What fragment passes write is not to pay for what compute passes need.
        if self.method.is_compute() && format.has_storage() {
            target.texture_descriptor.usage |= TextureUsages::STORAGE_BINDING;
        }
        Images {
            source: self.headless.add_image(source),
            target: self.headless.add_image(target),
        }
    }

    /// What becomes of a picture.
    ///
    /// # Errors
    /// What the blur failed with.
    pub fn blurred(&mut self, picture: &Picture, format: Format, sigma: f64) -> Result<Picture, String> {
        let size = [picture.width as u32, picture.height as u32];
        let images = self.images(picture, size, format);
        let image = BlurImage::new(images.source).with_target(images.target);
        let target = self.headless.blur(blur(sigma), image);
        let target = target.map_err(|error| error.to_string())?;
        Ok(formats::to_picture(&self.headless.read_image(&target)))
    }

    /// The times of `count` blurs in microseconds, one in each frame.
    ///
    /// # Errors
    /// No times arrive.
    pub fn time(&mut self, images: &Images, sigma: f64, count: usize) -> Result<Vec<f64>, String> {
        self.spawned += 1;
        let name = format!("run {}", self.spawned);
        let path = BlurLabel::new(&name).elapsed_gpu();
        let image = BlurImage::new(images.source.clone())
            .with_target(images.target.clone())
            .with_update(BlurUpdate::EveryFrame);
        let world = self.headless.app.world_mut();
        let entity = world.spawn((Name::new(name), blur(sigma), image)).id();

        let mut times = Vec::new();
        let mut last = None;
        for _ in 0..count + WARM_UP + PATIENCE {
            self.headless.frame();
            let store = self.headless.app.world().resource::<DiagnosticsStore>();
            let measurement = store.get_measurement(&path);
            if let Some(new) = measurement.filter(|new| last != Some(new.time)) {
                last = Some(new.time);
                let frame = self.headless.render_world().get_resource::<Timer>();
                times.push(frame.map_or(new.value * 1000.0, Timer::read));
            }
            if times.len() == count + WARM_UP {
                break;
            }
        }
        self.headless.app.world_mut().despawn(entity);
        self.headless.frame();
        if times.len() < count + WARM_UP {
            return Err(format!("{} publishes no GPU times", self.method.name()));
        }
        Ok(times.split_off(WARM_UP))
    }
}

/// Puts timestamps around everything that a frame submits.
fn time_frames(app: &mut SubApp, gpu: &Gpu) {
    app.insert_resource(Timer::new(gpu));
    let begin = |timer: Res<Timer>| timer.begin();
    let end = |timer: Res<Timer>| timer.end();
    app.add_systems(
        RenderGraph,
        (
            begin
                .after(RenderGraphSystems::Render)
                .before(RenderGraphSystems::Submit),
            end.in_set(RenderGraphSystems::Finish),
        ),
    );
}

fn blur(sigma: f64) -> GaussianBlur {
    GaussianBlur::from_sigma(sigma as f32).with_unit(BlurUnit::PhysicalPixels)
}
