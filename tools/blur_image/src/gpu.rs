//! The app that blurs, and the times of its blurs.

use crate::formats::Format;
use crate::headless::Headless;
use crate::input::Input;
use bevy::diagnostic::{Diagnostic, DiagnosticPath, DiagnosticsStore};
use bevy::math::UVec2;
use bevy::prelude::*;
use bevy::render::error_handler::RenderErrorHandler;
use bevy::render::renderer::{RenderAdapterInfo, RenderDevice};
use bevy_gaussian_blur::diagnostics::PASSES;
use bevy_gaussian_blur::prelude::*;
use serde::Serialize;
use std::time::{Duration, Instant};

/// How long a blur may take, including the compilation of all shaders.
const PATIENCE: Duration = Duration::from_secs(120);
/// Timing ends after this many samples, or this many frames, or after this long if there is at least one sample.
const SAMPLES: usize = 5;
const MOST_FRAMES: usize = 30;
const LONG_ENOUGH: Duration = Duration::from_millis(500);

/// The app, and the number of its blurs so far.
pub struct Gpu {
    headless: Headless,
    blurs: usize,
}

/// The GPU times of a blur, in microseconds; `None` if the GPU has no timestamps.
#[derive(Serialize)]
pub struct Timings {
    /// The passes in order. Passes of one name are consecutive and are timed together.
    pub passes: Vec<PassTiming>,
    /// The whole blur.
    pub gpu_microseconds: Option<f64>,
}

#[derive(Serialize)]
pub struct PassTiming {
    pub name: &'static str,
    pub gpu_microseconds: Option<f64>,
}

/// The outcome of the last blur, as soon as it is known.
#[derive(Resource, Default)]
struct Outcome(Option<Result<Image, BlurError>>);

impl Gpu {
    /// Starts the app.
    ///
    /// # Errors
    /// There is no GPU.
    pub fn start() -> Result<Self, String> {
        // The tool has no user interface, though a build together with other packages may have the feature.
        let plugin = GaussianBlurPlugin {
            precompile_ui: false,
            ..default()
        };
        let headless = Headless::start(|app| {
            app.add_plugins((plugin, GaussianBlurDiagnosticsPlugin))
                .insert_resource(RenderErrorHandler(|error, _, _| {
                    let description = crate::one_line(&error.description);
                    eprintln!("error: the GPU failed: {:?} {description}", error.ty);
                    std::process::exit(1)
                }));
        })?;
        Ok(Self { headless, blurs: 0 })
    }

    /// The name of the GPU and of its graphics API.
    pub fn adapter(&self) -> (String, String) {
        let info = self.headless.app.world().resource::<RenderAdapterInfo>();
        (info.name.clone(), format!("{:?}", info.backend))
    }

    /// Checks that a picture fits the GPU.
    ///
    /// # Errors
    /// The reason why it does not.
    pub fn check(&self, input: &Input, size: UVec2, format: &Format) -> Result<(), String> {
        let device = self.headless.render_world().resource::<RenderDevice>();
        let missing = format.texture.required_features() - device.features();
        if let Some((feature, _)) = missing.iter_names().next() {
            return Err(format!(
                "cannot blur {input}: {} needs {feature}, which this GPU does not have",
                format.name
            ));
        }
        let limits = device.limits();
        let (UVec2 { x, y }, side) = (size, limits.max_texture_dimension_2d);
        if size.max_element() > side {
            return Err(format!(
                "cannot blur {input}: it has {x}x{y} pixels; this GPU takes at most {side}x{side}"
            ));
        }
        let row = RenderDevice::align_copy_bytes_per_row(x as usize * format.size());
        let (bytes, most) = (row as u64 * u64::from(y), limits.max_buffer_size);
        if bytes > most {
            return Err(format!(
                "cannot blur {input}: it has {x}x{y} pixels, {bytes} bytes of {}; this GPU's buffers take at most {most}",
                format.name
            ));
        }
        Ok(())
    }

    /// Adds an image to the app.
    pub fn add(&mut self, image: Image) -> Handle<Image> {
        self.headless.app.world_mut().resource_mut::<Assets<Image>>().add(image)
    }

    /// Blurs an image.
    ///
    /// # Errors
    /// The error of the blur.
    pub fn blur(&mut self, (blur, profile): (GaussianBlur, &BlurProfile), image: BlurImage) -> Result<Image, String> {
        let world = self.headless.app.world_mut();
        world.insert_resource(Outcome::default());
        let mut commands = world.commands();
        let mut blurring = commands.blur_for_pixels(blur, image);
        let entity = blurring.insert(profile.clone()).observe(blurred).observe(failed).id();
        world.flush();
        let is_known = |world: &World| world.resource::<Outcome>().0.is_some();
        let is_known = self.headless.frames_until(PATIENCE, is_known);
        let outcome = self.headless.app.world_mut().resource_mut::<Outcome>().0.take();
        let _ = self.headless.app.world_mut().try_despawn(entity);
        // Errors of the GPU are reported in the next frame.
        self.headless.frame();
        match outcome {
            Some(outcome) if is_known => outcome.map_err(|error| error.to_string()),
            _ => Err(format!("the GPU was not done after {} s", PATIENCE.as_secs())),
        }
    }

    /// Repeats a blur in every frame, and takes the median of its times.
    pub fn time(&mut self, blur: (GaussianBlur, BlurProfile), image: BlurImage) -> Timings {
        self.blurs += 1;
        // Times arrive some frames late. A separate name keeps the times of the previous blur out.
        let name = format!("blur {}", self.blurs);
        let label = BlurLabel::new(&name);
        let repeated = image.with_update(BlurUpdate::EveryFrame);
        let world = self.headless.app.world_mut();
        let entity = world.spawn((Name::new(name), blur, repeated)).id();
        let since = Instant::now();
        for _ in 0..MOST_FRAMES {
            let samples = self
                .store()
                .get(&label.elapsed_gpu())
                .map_or(0, Diagnostic::history_len);
            if samples >= SAMPLES || samples > 0 && since.elapsed() > LONG_ENOUGH {
                break;
            }
            self.headless.frame();
        }
        let store = self.store();
        let passes = PASSES.into_iter().filter(|pass| has_run(store, &label, pass));
        let timing = |name| PassTiming {
            name,
            gpu_microseconds: median(store, &label.pass_elapsed_gpu(name)),
        };
        let timings = Timings {
            passes: passes.map(timing).collect(),
            gpu_microseconds: median(store, &label.elapsed_gpu()),
        };
        self.headless.app.world_mut().despawn(entity);
        timings
    }

    fn store(&self) -> &DiagnosticsStore {
        self.headless.app.world().resource::<DiagnosticsStore>()
    }
}

fn blurred(event: On<BlurredPixels>, mut outcome: ResMut<Outcome>) {
    outcome.0.get_or_insert(Ok(event.image.clone()));
}

fn failed(event: On<BlurFailed>, mut outcome: ResMut<Outcome>) {
    outcome.0.get_or_insert(Err(event.error.clone()));
}

/// Whether a blur has passes of this name. Their CPU times exist even if the GPU has no timestamps.
fn has_run(store: &DiagnosticsStore, label: &BlurLabel, pass: &str) -> bool {
    [label.pass_elapsed_cpu(pass), label.pass_elapsed_gpu(pass)]
        .iter()
        .any(|path| store.get(path).is_some_and(|diagnostic| diagnostic.history_len() > 0))
}

fn median(store: &DiagnosticsStore, path: &DiagnosticPath) -> Option<f64> {
    let mut values: Vec<f64> = store.get(path)?.values().copied().collect();
    values.sort_by(f64::total_cmp);
    Some(values.get(values.len() / 2)? * 1000.0)
}
