//! What the command line says.

use bevy::render::render_resource::TextureFormat;
use bevy_gaussian_blur::RADIUS_IN_SIGMAS;
use bevy_gaussian_blur::prelude::*;
use clap::error::ErrorKind;
use clap::{Parser, ValueEnum};
use std::path::PathBuf;
use std::process::ExitCode;

/// Blurs a picture with a Gaussian on the GPU.
#[derive(Parser)]
#[command(name = "blur_image")]
pub struct Arguments {
    /// The picture to blur: PNG, JPEG or EXR
    pub input: PathBuf,
    /// Where the result goes: .png (8 bit) or .exr (32-bit float, linear light)
    pub output: PathBuf,
    /// The radius in pixels, which is three standard deviations [default: 24]
    #[arg(long, value_parser = strength, allow_hyphen_values = true, conflicts_with = "sigma")]
    radius: Option<f32>,
    /// The standard deviation in pixels
    #[arg(long, value_parser = strength, allow_hyphen_values = true)]
    sigma: Option<f32>,
    /// What lies outside the picture
    #[arg(long, value_enum, default_value = "clamp")]
    pub edge: Edge,
    /// The format of the textures on the GPU
    #[arg(long, value_enum, default_value = "rgba8unorm-srgb")]
    pub format: Format,
    /// Print one JSON object about the blur
    #[arg(long)]
    pub json: bool,
}

/// See [`EdgeMode`].
#[derive(Clone, Copy, PartialEq, ValueEnum)]
pub enum Edge {
    Clamp,
    Mirror,
    Wrap,
    Transparent,
    Renormalize,
}

/// The texture formats on offer.
#[derive(Clone, Copy, PartialEq, ValueEnum)]
pub enum Format {
    #[value(name = "rgba8unorm-srgb")]
    Rgba8UnormSrgb,
    #[value(name = "rgba8unorm")]
    Rgba8Unorm,
    #[value(name = "rgba16float")]
    Rgba16Float,
    #[value(name = "rgba32float")]
    Rgba32Float,
}

impl Arguments {
    /// Reads the command line.
    ///
    /// # Errors
    /// There is nothing to do, or what was asked for makes no sense. The user has been told.
    pub fn from_command_line() -> Result<Self, ExitCode> {
        Self::try_parse().map_err(|error| {
            if matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion) {
                print!("{error}");
                return ExitCode::SUCCESS;
            }
            let text = error.to_string();
            let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
            let told = lines.take_while(|line| !line.starts_with("Usage:") && !line.starts_with("For more"));
            let told = told.collect::<Vec<_>>().join(" ").replace(" tip: ", "; ");
            eprintln!("{told}; see --help");
            ExitCode::from(2)
        })
    }

    /// The blur that is asked for.
    pub fn blur(&self) -> GaussianBlur {
        let blur = match (self.radius, self.sigma) {
            (Some(radius), _) => GaussianBlur::new(radius),
            (None, Some(sigma)) => GaussianBlur::from_sigma(sigma),
            (None, None) => GaussianBlur::new(24.0),
        };
        blur.with_edge(self.edge.into())
    }
}

impl From<Edge> for EdgeMode {
    fn from(edge: Edge) -> Self {
        match edge {
            Edge::Clamp => Self::Clamp,
            Edge::Mirror => Self::Mirror,
            Edge::Wrap => Self::Wrap,
            Edge::Transparent => Self::Transparent,
            Edge::Renormalize => Self::Renormalize,
        }
    }
}

impl Format {
    pub fn texture(self) -> TextureFormat {
        match self {
            Self::Rgba8UnormSrgb => TextureFormat::Rgba8UnormSrgb,
            Self::Rgba8Unorm => TextureFormat::Rgba8Unorm,
            Self::Rgba16Float => TextureFormat::Rgba16Float,
            Self::Rgba32Float => TextureFormat::Rgba32Float,
        }
    }
}

/// Reads a radius or sigma.
fn strength(text: &str) -> Result<f32, String> {
    let value: f32 = text.parse().map_err(|_| "a number of pixels is expected".to_owned())?;
    // A radius is three sigmas, and has to be finite too.
    if (value * RADIUS_IN_SIGMAS).is_finite() && value >= 0.0 {
        Ok(value)
    } else {
        Err("it must be finite and at least 0".to_owned())
    }
}
