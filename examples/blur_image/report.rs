//! What `--json` prints.

use crate::arguments::Arguments;
use crate::gpu::{Timings, adapter};
use crate::headless::Headless;
use bevy::math::UVec2;
use clap::ValueEnum;
use serde::Serialize;
use std::io::Write;

#[derive(Serialize)]
struct Report {
    adapter: String,
    backend: String,
    size: [u32; 2],
    format: String,
    edge: String,
    sigma: f32,
    #[serde(flatten)]
    timings: Timings,
}

/// Prints one object.
///
/// # Errors
/// Nobody takes it.
pub fn print(gpu: &Headless, arguments: &Arguments, size: UVec2, timings: Timings) -> Result<(), String> {
    let (adapter, backend) = adapter(gpu);
    let report = Report {
        adapter,
        backend,
        size: size.to_array(),
        format: name_of(arguments.format),
        edge: name_of(arguments.edge),
        sigma: arguments.blur().sigma(),
        timings,
    };
    let text = serde_json::to_string_pretty(&report).map_err(|error| error.to_string())?;
    writeln!(std::io::stdout(), "{text}").map_err(|error| format!("cannot print the report: {error}"))
}

/// A value as the command line calls it.
fn name_of(value: impl ValueEnum) -> String {
    let value = value.to_possible_value();
    value.map_or_else(String::new, |value| value.get_name().to_owned())
}
