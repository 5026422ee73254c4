//! The report about a blur.

use crate::gpu::{Gpu, Timings};
use crate::jobs::{Job, Wanted};
use crate::treatment::Treatment;
use bevy::math::UVec2;
use serde::Serialize;
use std::io::Write;

/// The object that `--json` prints.
#[derive(Serialize)]
pub struct Report {
    input: String,
    output: String,
    adapter: String,
    backend: String,
    size: [u32; 2],
    format: &'static str,
    edge: &'static str,
    sigma: f32,
    /// `None` without `--time` and `--json`.
    #[serde(flatten)]
    timings: Option<Timings>,
}

impl Report {
    pub fn new(
        gpu: &Gpu,
        treatment: &Treatment,
        job: &Job,
        wanted: &Wanted,
        size: UVec2,
        timings: Option<Timings>,
    ) -> Self {
        let (adapter, backend) = gpu.adapter();
        Self {
            input: job.input.to_string(),
            output: wanted.output.to_string(),
            adapter,
            backend,
            size: size.to_array(),
            format: treatment.format.name,
            edge: wanted.blur.edge.name(),
            sigma: wanted.blur.sigma(),
            timings,
        }
    }

    /// The line for the user.
    pub fn summary(&self) -> String {
        let [width, height] = self.size;
        let blur = format!(
            "{}: {width}x{height}, sigma {}, {}",
            self.output, self.sigma, self.format
        );
        let Some(timings) = &self.timings else {
            return blur;
        };
        let names: Vec<&str> = timings.passes.iter().map(|pass| pass.name).collect();
        let time = match timings.gpu_microseconds {
            Some(microseconds) => format!("{:.3} ms on the GPU", microseconds / 1000.0),
            None => "not timed, as this GPU has no timestamps".to_owned(),
        };
        format!("{blur}, {}, {time}", names.join(" + "))
    }

    /// Prints one JSON object on a line.
    ///
    /// # Errors
    /// Stdout is closed.
    pub fn print(&self) -> Result<(), String> {
        let text = serde_json::to_string(self).map_err(|error| error.to_string())?;
        writeln!(std::io::stdout(), "{text}").map_err(|error| format!("cannot print the report: {error}"))
    }
}
