//! On a desktop: options on the command line, files dropped on the window, and runs without a user.

use crate::picture::{MAX_SIDE, Picture, Received};
use crate::settings::MAX_RADIUS;
use crate::unattended::{Unattended, fail};
use bevy::app::PluginGroupBuilder;
use bevy::prelude::*;
use bevy::window::FileDragAndDrop;
use bevy_gaussian_blur::prelude::*;
use clap::Parser;
use half::f16;
use image::imageops::FilterType;
use image::{DynamicImage, ImageReader};
use std::path::{Path, PathBuf};

/// The panel's text if there are no GPU times.
pub const NO_GPU_TIMES: &str = "This GPU does not measure times.";

/// Every setting of a camera's blur under a slider, next to what it costs.
#[derive(Parser)]
pub struct Host {
    /// Show this PNG, JPEG or EXR picture instead of the scene.
    #[arg(long, value_name = "FILE")]
    image: Option<PathBuf>,
    /// The radius to begin with, 0 to 400 logical pixels.
    #[arg(long, value_name = "R", default_value_t = 24.0, value_parser = parse_radius)]
    radius: f32,
    /// Show this many frames, 1/60 s apart, and end.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    frames: Option<u32>,
    /// Write the window's last frame into this PNG or JPEG file, and end [default: after 60 frames].
    #[arg(long, value_name = "FILE")]
    screenshot: Option<PathBuf>,
}

fn parse_radius(text: &str) -> Result<f32, String> {
    let radius: f32 = text.parse().map_err(|_| "not a number".to_owned())?;
    let allowed = 0.0..=MAX_RADIUS;
    if allowed.contains(&radius) {
        Ok(radius)
    } else {
        Err(format!("the radius must be from 0 to {MAX_RADIUS}"))
    }
}

impl Host {
    /// Reads the command line.
    ///
    /// # Errors
    /// The example cannot run with these options, and has printed the reason.
    pub fn new() -> Result<Self, AppExit> {
        let host = Self::parse();
        host.unattended().check().map_err(|reason| fail(&reason))?;
        Ok(host)
    }

    fn unattended(&self) -> Unattended {
        Unattended {
            frames: self.frames,
            screenshot: self.screenshot.clone(),
            ..default()
        }
    }

    /// The radius to begin with.
    pub fn radius(&self) -> f32 {
        self.radius
    }

    /// The picture to begin with.
    ///
    /// # Errors
    /// The picture cannot be read, and the example has printed the reason.
    pub fn picture(&self) -> Result<Option<Picture>, AppExit> {
        let picture = self.image.as_deref().map(read).transpose();
        picture.map_err(|reason| fail(&reason))
    }

    /// Which kind of passes to use.
    pub fn backend(&self) -> BlurBackend {
        BlurBackend::Auto
    }

    /// Bevy's plugins, with the window.
    pub fn default_plugins(&self) -> PluginGroupBuilder {
        self.unattended().default_plugins("Gaussian blur: slider")
    }

    /// Runs the app.
    pub fn run(&self, app: &mut App) -> AppExit {
        self.unattended().run(app)
    }
}

/// Reads a picture from a file.
fn read(path: &Path) -> Result<Picture, String> {
    let explain = |reason: String| format!("{}: {reason}", path.display());
    let reader = ImageReader::open(path).map_err(|error| explain(error.to_string()))?;
    let reader = reader
        .with_guessed_format()
        .map_err(|error| explain(error.to_string()))?;
    let mut picture = reader.decode().map_err(|error| explain(error.to_string()))?;
    if picture.width().max(picture.height()) > MAX_SIDE {
        picture = picture.resize(MAX_SIDE, MAX_SIDE, FilterType::Triangle);
    }
    let size = UVec2::new(picture.width(), picture.height());
    let is_hdr = matches!(picture, DynamicImage::ImageRgb32F(_) | DynamicImage::ImageRgba32F(_));
    Ok(if is_hdr {
        let halves = picture.to_rgba32f().into_raw().into_iter().map(f16::from_f32);
        Picture::of_light(size, halves.flat_map(f16::to_le_bytes).collect())
    } else {
        Picture::new(size, picture.to_rgba8().into_raw())
    })
}

/// Reads the files that are dropped on the window.
pub fn receive(mut files: MessageReader<FileDragAndDrop>, mut received: ResMut<Received>) {
    for file in files.read() {
        if let FileDragAndDrop::DroppedFile { path_buf, .. } = file {
            received.0 = Some(read(path_buf));
        }
    }
}

/// Measures whole frames where the GPU has no timestamps. Only the page implements this.
pub struct FrameTimer;

impl FrameTimer {
    pub fn is_available() -> bool {
        false
    }

    pub fn begin() {}

    pub fn end() {}

    pub fn take() -> Option<f64> {
        None
    }
}
