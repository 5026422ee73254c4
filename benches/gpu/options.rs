//! What to measure, from the command line.

use crate::method::Method;
use bevy::math::{DVec2, Vec2};
use bevy::render::render_resource::TextureFormat;
use bevy_gaussian_blur::prelude::{BlurProfile, EdgeMode};
use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Parser, ValueEnum};
use std::path::PathBuf;

const SIGMAS: [f64; 11] = [0.8, 2.0, 4.0, 6.0, 8.0, 16.0, 32.0, 64.0, 128.0, 256.0, 512.0];
const RUNS: usize = 21;

const QUICK_SIGMAS: [f64; 3] = [2.0, 8.0, 32.0];
const QUICK_RUNS: usize = 15;

/// GPU times of Gaussian blurs: the classical methods, ours, and a plain copy, which no blur can beat.
///
/// Methods take turns within one process. The times are the median and the minimum of all runs. Ratios are to the copy
/// of the same kind. The error is the greatest difference from a float64 Gaussian, in 1/255, over two test pictures.
#[derive(Clone, Parser)]
#[command(name = "gpu")]
pub struct Options {
    /// Size of the image, as WIDTHxHEIGHT [default: 1920x1080 and 3840x2160]
    #[arg(long = "size", value_name = "WxH", value_parser = parse_size)]
    pub sizes: Vec<[u32; 2]>,
    /// Format of the image [default: rgba16float and rgba8unorm]
    #[arg(long = "format", value_name = "F")]
    pub formats: Vec<Format>,
    /// Standard deviation in texels, a third of the radius [default: 0.8 2 4 6 8 16 32 64 128 256 512]
    #[arg(long = "sigma", value_name = "S", value_parser = parse_sigma)]
    pub sigmas: Vec<f64>,
    /// Method to measure, besides the copy it is compared with [default: all]
    #[arg(long = "method", value_name = "M")]
    pub methods: Vec<Method>,
    /// What lies outside the image. The classical methods support only the first mode
    #[arg(long, value_name = "E", default_value = EdgeMode::default().name(), value_parser = edge_parser())]
    pub edge: EdgeMode,
    /// The direction in which sigma grows from 0 to its full value, with the methods profile-fragment, profile-mixed and
    /// profile-compute
    #[arg(long, value_name = "D", default_value = "down")]
    pub direction: Direction,
    /// Dither the 8-bit results of our blurs: the error then includes the noise, up to 1
    #[arg(long)]
    pub dither: bool,
    /// Print the time of each kind of pass, too. Timestamps around every pass take their own time on fast GPUs
    #[arg(long)]
    pub passes: bool,
    /// Write the times as JSON, with the GPU and the settings that all rows share
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
    /// The commit that is measured, for the JSON
    #[arg(long, value_name = "ID")]
    pub commit: Option<String>,
    /// Plot time against radius, for the first size and format
    #[arg(long, value_name = "FILE.svg")]
    pub plot: Option<PathBuf>,
    /// Only 640x360, rgba16float, sigmas 2, 8 and 32, and fewer runs: for software rendering
    #[arg(long)]
    pub quick: bool,
    /// Measure glass on a camera instead, next to a blur of that camera, with the methods ours-fragment and ours-mixed
    #[arg(long)]
    pub glass: bool,
    /// Measure nodes with filters in the same way
    #[arg(long, conflicts_with = "glass")]
    pub filters: bool,
    /// Print the JSON object about the GPU, and measure nothing
    #[arg(long)]
    pub about: bool,
    /// Timed runs of each method [default: 21, or 15 with --quick]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub runs: Option<u32>,
    /// Longest run, in seconds: slower methods are skipped
    #[arg(long, value_name = "SECONDS", default_value_t = 1.0)]
    pub limit: f64,
    /// Cargo passes this to every benchmark.
    #[arg(long, hide = true)]
    bench: bool,
}

impl Options {
    /// Reads the command line and fills in the defaults. Ends the process if an argument is invalid.
    pub fn read() -> Self {
        let mut options = Self::parse();
        let quick = options.quick;
        let sizes = if quick {
            vec![[640, 360]]
        } else {
            vec![[1920, 1080], [3840, 2160]]
        };
        let formats = if quick {
            vec![Format::Rgba16Float]
        } else {
            vec![Format::Rgba16Float, Format::Rgba8Unorm]
        };
        let sigmas = if quick { QUICK_SIGMAS.to_vec() } else { SIGMAS.to_vec() };
        fill(&mut options.sizes, sizes);
        fill(&mut options.formats, formats);
        fill(&mut options.sigmas, sigmas);
        // In rising order, so that the time at one sigma predicts the time at the next.
        options.sigmas.sort_by(f64::total_cmp);
        options.sigmas.dedup();
        fill(&mut options.methods, Method::value_variants().to_vec());
        let copies: Vec<Method> = options.methods.iter().map(|method| method.copy()).collect();
        let wanted = |method: &Method| options.methods.contains(method) || copies.contains(method);
        options.methods = Method::value_variants().iter().copied().filter(wanted).collect();
        options
    }

    /// Timed runs of each method.
    pub fn runs(&self) -> usize {
        let default = if self.quick { QUICK_RUNS } else { RUNS };
        self.runs.map_or(default, |runs| runs as usize)
    }
}

/// Which way sigma grows over a picture, from one side or corner to the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Direction {
    Down,
    Across,
    Diagonal,
}

impl Direction {
    /// The end of that direction, in shares of the picture.
    fn end(self) -> Vec2 {
        match self {
            Self::Down => Vec2::Y,
            Self::Across => Vec2::X,
            Self::Diagonal => Vec2::ONE,
        }
    }

    pub fn profile(self) -> BlurProfile {
        BlurProfile::Linear {
            start: Vec2::ZERO,
            end: self.end(),
            from: 0.0,
            to: 1.0,
        }
    }

    /// A texel's share of sigma in a picture of this size.
    pub fn share(self, size: [u32; 2], texel: [usize; 2]) -> f64 {
        let line = self.end().as_dvec2() * DVec2::from(size.map(f64::from));
        let place = DVec2::from(texel.map(|i| i as f64 + 0.5));
        place.dot(line) / line.length_squared()
    }
}

/// A format that can be measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, ValueEnum)]
pub enum Format {
    #[value(name = "rgba8unorm")]
    Rgba8Unorm,
    #[value(name = "rgba8unorm-srgb")]
    Rgba8UnormSrgb,
    #[value(name = "rgba16float")]
    Rgba16Float,
    #[value(name = "rgba32float")]
    Rgba32Float,
}

impl Format {
    /// Its name in WebGPU.
    pub fn name(self) -> &'static str {
        match self {
            Self::Rgba8Unorm => "rgba8unorm",
            Self::Rgba8UnormSrgb => "rgba8unorm-srgb",
            Self::Rgba16Float => "rgba16float",
            Self::Rgba32Float => "rgba32float",
        }
    }

    pub fn texture_format(self) -> TextureFormat {
        match self {
            Self::Rgba8Unorm => TextureFormat::Rgba8Unorm,
            Self::Rgba8UnormSrgb => TextureFormat::Rgba8UnormSrgb,
            Self::Rgba16Float => TextureFormat::Rgba16Float,
            Self::Rgba32Float => TextureFormat::Rgba32Float,
        }
    }

    /// Whether compute passes can write it.
    pub fn has_storage(self) -> bool {
        self != Self::Rgba8UnormSrgb
    }
}

fn fill<T>(values: &mut Vec<T>, default: Vec<T>) {
    if values.is_empty() {
        *values = default;
    }
}

fn parse_size(text: &str) -> Result<[u32; 2], String> {
    let side = |text: &str| text.parse::<u32>().ok().filter(|side| *side > 0);
    text.split_once(['x', 'X'])
        .and_then(|(width, height)| Some([side(width)?, side(height)?]))
        .ok_or_else(|| "a size looks like 1920x1080".into())
}

fn edge_parser() -> impl TypedValueParser<Value = EdgeMode> {
    PossibleValuesParser::new(EdgeMode::ALL.map(EdgeMode::name)).try_map(|name| {
        let named = EdgeMode::ALL.into_iter().find(|edge| edge.name() == name);
        named.ok_or("there is no such edge mode")
    })
}

fn parse_sigma(text: &str) -> Result<f64, String> {
    text.parse::<f64>()
        .ok()
        .filter(|sigma| (0.1..=4096.0).contains(sigma))
        .ok_or_else(|| "a sigma is a number from 0.1 to 4096".into())
}
