//! The app that blurs, and what it takes.

use crate::arguments::Format;
use crate::headless::{Headless, Pixels};
use bevy::diagnostic::{Diagnostic, DiagnosticPath, DiagnosticsStore};
use bevy::math::UVec2;
use bevy::prelude::*;
use bevy::render::error_handler::RenderErrorHandler;
use bevy::render::renderer::{RenderAdapterInfo, RenderDevice};
use bevy_gaussian_blur::diagnostics::PASSES;
use bevy_gaussian_blur::prelude::*;
use serde::Serialize;
use std::path::Path;

/// How often the blur is timed, and the most frames that may take.
const SAMPLES: usize = 5;
const MOST_FRAMES: usize = 30;
/// The name of the timed blur among the diagnostics.
const NAME: &str = "blur_image";

/// What the GPU takes, in microseconds; `None` where it has no timestamps.
#[derive(Serialize)]
pub struct Timings {
    /// The passes in order. Those of one name follow each other and are timed together.
    pub passes: Vec<PassTiming>,
    /// The whole blur.
    pub gpu_microseconds: Option<f64>,
}

#[derive(Serialize)]
pub struct PassTiming {
    pub name: &'static str,
    pub gpu_microseconds: Option<f64>,
}

/// Starts the app.
///
/// # Errors
/// There is no GPU.
pub fn start() -> Result<Headless, String> {
    Headless::without_log(|app| {
        app.add_plugins((GaussianBlurPlugin::default(), GaussianBlurDiagnosticsPlugin))
            .insert_resource(RenderErrorHandler(|error, _, _| {
                eprintln!(
                    "error: the GPU failed: {:?} {}",
                    error.ty,
                    crate::one_line(&error.description)
                );
                std::process::exit(1)
            }));
    })
}

/// The name of the GPU and of the interface it is used through.
pub fn adapter(gpu: &Headless) -> (String, String) {
    let info = gpu.app.world().resource::<RenderAdapterInfo>();
    (info.name.clone(), format!("{:?}", info.backend))
}

/// Checks that a picture fits the GPU.
///
/// # Errors
/// It does not.
pub fn check_size(gpu: &Headless, path: &Path, size: UVec2, format: Format) -> Result<(), String> {
    let limits = gpu.render_world().resource::<RenderDevice>().limits();
    let (shown, limit) = (path.display(), limits.max_texture_dimension_2d);
    if size.max_element() > limit {
        return Err(format!(
            "{shown} has {}x{} pixels; this GPU takes at most {limit}x{limit}",
            size.x, size.y
        ));
    }
    let texel = format.texture().block_copy_size(None).unwrap_or(16);
    let row = RenderDevice::align_copy_bytes_per_row((size.x * texel) as usize) as u64;
    let (bytes, limit) = (row * u64::from(size.y), limits.max_buffer_size);
    if bytes > limit {
        return Err(format!(
            "{shown} has {}x{} pixels, which are {bytes} bytes in this format; this GPU's buffers take at most {limit}",
            size.x, size.y
        ));
    }
    Ok(())
}

/// Blurs `source` once and reads the result.
///
/// # Errors
/// What the blur failed with.
pub fn blur(
    gpu: &mut Headless,
    blur: GaussianBlur,
    source: &Handle<Image>,
    alpha: BlurAlpha,
) -> Result<Pixels, String> {
    let image = BlurImage::new(source.clone()).with_alpha(alpha);
    let target = gpu.blur(blur, image).map_err(|error| error.to_string())?;
    // What the GPU could not do comes to light in the frame after.
    gpu.frame();
    Ok(gpu.read_image(&target))
}

/// Blurs `source` some more times and takes the median of what that took.
pub fn measure(gpu: &mut Headless, blur: GaussianBlur, source: &Handle<Image>, alpha: BlurAlpha) -> Timings {
    let image = BlurImage::new(source.clone())
        .with_alpha(alpha)
        .with_update(BlurUpdate::EveryFrame);
    gpu.app.world_mut().spawn((Name::new(NAME), blur, image));
    let label = BlurLabel::new(NAME);
    gpu.frames_until(MOST_FRAMES, |world| {
        let store = world.resource::<DiagnosticsStore>();
        let timed = |path| store.get(&path).map_or(0, Diagnostic::history_len);
        timed(label.elapsed_gpu()) >= SAMPLES
    });
    let store = gpu.app.world().resource::<DiagnosticsStore>();
    let passes = PASSES.into_iter().filter(|pass| has_run(store, &label, pass));
    let timing = |name| PassTiming {
        name,
        gpu_microseconds: median(store, &label.pass_elapsed_gpu(name)),
    };
    Timings {
        passes: passes.map(timing).collect(),
        gpu_microseconds: median(store, &label.elapsed_gpu()),
    }
}

/// Whether a blur has passes of this name. The CPU takes the time of each of them, whatever the GPU can do.
fn has_run(store: &DiagnosticsStore, label: &BlurLabel, pass: &str) -> bool {
    let on_gpu = label.pass_elapsed_gpu(pass);
    let on_cpu = on_gpu.as_str().replace("/elapsed_gpu", "/elapsed_cpu");
    store.get(&DiagnosticPath::new(on_cpu)).is_some() || store.get(&on_gpu).is_some()
}

fn median(store: &DiagnosticsStore, path: &DiagnosticPath) -> Option<f64> {
    let mut values: Vec<f64> = store.get(path)?.values().copied().collect();
    values.sort_by(f64::total_cmp);
    Some(values.get(values.len() / 2)? * 1000.0)
}
