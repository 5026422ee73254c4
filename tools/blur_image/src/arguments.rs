//! The command line.

use crate::choices::{Depth, edge_parser};
use crate::decode::Selection;
use crate::formats::{self, Format};
use crate::shares::Shares;
use bevy_gaussian_blur::RADIUS_IN_SIGMAS;
use bevy_gaussian_blur::prelude::*;
use clap::Parser;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::error::ErrorKind;
use std::path::PathBuf;
use std::process::ExitCode;

/// Blurs pictures with a Gaussian on the GPU.
#[derive(Parser)]
#[command(name = "blur_image", override_usage = USAGE)]
pub struct Arguments {
    /// The pictures to blur: PNG, JPEG, WebP, TIFF or EXR, `-` for stdin
    #[arg(required = true, value_name = "INPUT")]
    pub inputs: Vec<PathBuf>,
    /// The file for the result: .png, .tif, .exr (32-bit float, linear light), or `-` for a PNG on stdout
    #[arg(short, long, value_name = "OUTPUT", conflicts_with = "out_dir")]
    pub output: Option<PathBuf>,
    /// The folder for the results: .exr for .exr inputs, .tif for .tif inputs, .png for all others. It is created if it does
    /// not exist
    #[arg(long, value_name = "DIR")]
    pub out_dir: Option<PathBuf>,
    /// The radius in pixels, which is three standard deviations [default: 24]. Several radii make one result each, named
    /// picture-r6.png, picture-r24.png and so on
    #[arg(long, value_parser = strength, allow_hyphen_values = true, conflicts_with = "sigma")]
    radius: Vec<f32>,
    /// The standard deviation in pixels. Several make picture-s2.png, picture-s8.png and so on
    #[arg(long, value_parser = strength, allow_hyphen_values = true)]
    sigma: Vec<f32>,
    /// What lies outside the picture
    #[arg(long, value_parser = edge_parser(), default_value = EdgeMode::default().name())]
    pub edge: EdgeMode,
    /// Which share of the radius each place gets: `linear` or `linear:X,Y,X,Y,FROM,TO`, from a start to an end; `band` or
    /// `band:X,Y,DIRECTION_X,DIRECTION_Y,SHARP,SOFT`, sharp along a line; `radial` or `radial:X,Y,INNER,OUTER,FROM,TO`, around
    /// a point; or `mask:FILE`, the red channel of a picture, stretched. Places are shares of the picture's width and height
    #[arg(long, value_parser = Shares::parse, value_name = "PROFILE")]
    pub profile: Option<Shares>,
    /// Dither results of 8 bits, so that strong blurs of dark pictures have no bands
    #[arg(long)]
    pub dither: bool,
    /// The page of a TIFF file, from 1 on
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    page: Option<u32>,
    /// The layer of an EXR file: what comes before the last dot in the names of its channels, a part, or a single channel
    #[arg(long, value_name = "NAME")]
    layer: Option<String>,
    /// The format of the textures on the GPU [default: rgba8unorm-srgb for 8 bits, rgba32float for more, r32float for a single
    /// channel of floats]. Formats with fewer channels take the picture's first channels
    #[arg(long, value_parser = format_parser())]
    pub format: Option<&'static Format>,
    /// The bits per channel of a PNG or TIFF result; 32 are floats of linear light, for TIFF only [default: as in the input, 16
    /// for floats in a PNG]
    #[arg(long, value_enum)]
    pub depth: Option<Depth>,
    /// Measure how long the GPU takes for each blur, by repeating it after its result is written
    #[arg(long)]
    time: bool,
    /// Print one line of JSON about each blur, with its times
    #[arg(long)]
    pub json: bool,
}

const USAGE: &str = "blur_image [OPTIONS] INPUT OUTPUT\n       blur_image [OPTIONS] INPUT --output OUTPUT\n       \
                     blur_image [OPTIONS] INPUT... --out-dir DIR";

/// The strength of a blur.
#[derive(Clone, Copy)]
pub enum Strength {
    Radius(f32),
    Sigma(f32),
}

impl Arguments {
    /// Reads the command line.
    ///
    /// # Errors
    /// There is nothing to do, or an argument is invalid. The message is printed already.
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

    /// Whether blurs are timed.
    pub fn measures(&self) -> bool {
        self.time || self.json
    }

    /// Which picture of an input is blurred.
    pub fn selection(&self) -> Selection {
        Selection {
            page: self.page,
            layer: self.layer.clone(),
        }
    }

    /// The requested strengths.
    pub fn strengths(&self) -> Vec<Strength> {
        match (self.radius.as_slice(), self.sigma.as_slice()) {
            ([], []) => vec![Strength::Radius(24.0)],
            ([], sigmas) => sigmas.iter().copied().map(Strength::Sigma).collect(),
            (radii, _) => radii.iter().copied().map(Strength::Radius).collect(),
        }
    }
}

impl Strength {
    pub fn blur(self) -> GaussianBlur {
        match self {
            Self::Radius(radius) => GaussianBlur::new(radius),
            Self::Sigma(sigma) => GaussianBlur::from_sigma(sigma),
        }
    }

    /// The suffix that distinguishes results of different strengths.
    pub fn suffix(self) -> String {
        match self {
            Self::Radius(radius) => format!("-r{radius}"),
            Self::Sigma(sigma) => format!("-s{sigma}"),
        }
    }
}

/// Reads a radius or sigma.
fn strength(text: &str) -> Result<f32, String> {
    let value: f32 = text.parse().map_err(|_| "a number of pixels is expected".to_owned())?;
    // A radius is three sigmas, and must be finite too.
    if (value * RADIUS_IN_SIGMAS).is_finite() && value >= 0.0 {
        Ok(value)
    } else {
        Err("it must be finite and at least 0".to_owned())
    }
}

/// Reads the name of a format.
fn format_parser() -> impl TypedValueParser<Value = &'static Format> {
    let names = formats::TABLE.iter().map(|format| format.name);
    PossibleValuesParser::new(names).try_map(|name| formats::named(&name).ok_or("there is no such format"))
}
