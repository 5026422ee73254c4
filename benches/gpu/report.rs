//! The results as a table and as JSON.

use crate::measure::Row;
use crate::method::Method;
use crate::options::Options;
use crate::stage::Gpu;
use clap::ValueEnum;
use serde::Serialize;
use std::fmt::Write;
use std::fs;
use std::path::Path;

/// The line above the rows.
pub fn header() -> String {
    format!(
        "{:<11}{:<17}{:>6}  {:<19}{:>12}{:>12}{:>9}{:>9}",
        "size", "format", "sigma", "method", "median us", "min us", "ratio", "error"
    )
}

/// The rows of one size, format and sigma, and an empty line.
pub fn table(rows: &[Row]) -> String {
    let mut table = String::new();
    for row in rows {
        let size = format!("{}x{}", row.size[0], row.size[1]);
        let (format, method) = (row.format.name(), row.method.name());
        let _ = write!(table, "{size:<11}{format:<17}{:>6}  {method:<19}", row.sigma);
        let _ = match &row.outcome {
            Ok(figures) => {
                let ratio = median_of(rows, row.method.copy()).map(|copy| figures.median / copy);
                let ratio = ratio.map_or("-".into(), |ratio| format!("{ratio:.2}"));
                let error = figures.error.map_or("-".into(), |error| format!("{error:.2}"));
                let [median, min] = [figures.median, figures.min];
                let _ = writeln!(table, "{median:>12.1}{min:>12.1}{ratio:>9}{error:>9}");
                figures
                    .passes
                    .iter()
                    .try_for_each(|(pass, median)| writeln!(table, "{:>34}  {pass:<19}{median:>12.1}", "of which"))
            }
            Err(reason) => writeln!(table, "     skipped: {reason}"),
        };
    }
    table
}

fn median_of(rows: &[Row], method: Method) -> Option<f64> {
    let row = rows.iter().find(|row| row.method == method)?;
    row.outcome.as_ref().ok().map(|figures| figures.median)
}

/// The GPU and the settings that all rows share.
#[derive(Serialize)]
struct About<'a> {
    adapter: &'a str,
    driver: &'a str,
    is_software: bool,
    commit: Option<&'a str>,
    edge: &'static str,
    direction: String,
    runs: usize,
}

#[derive(Serialize)]
struct JsonRow<'a> {
    size: String,
    format: &'a str,
    sigma: f64,
    method: &'a str,
    median_us: f64,
    min_us: f64,
    error_255: Option<f64>,
}

/// The GPU and the settings that all rows share, as a JSON object.
///
/// # Errors
/// None in practice.
pub fn about(gpu: &Gpu, options: &Options) -> Result<String, String> {
    let direction = options.direction.to_possible_value();
    to_json(&About {
        adapter: &gpu.name,
        driver: &gpu.driver,
        is_software: gpu.is_software,
        commit: options.commit.as_deref(),
        edge: options.edge.name(),
        direction: direction.map_or_else(String::new, |value| value.get_name().to_owned()),
        runs: options.runs(),
    })
}

/// The rows that have times.
pub fn json_rows(rows: &[Row]) -> Vec<impl Serialize> {
    let measured = rows.iter().filter_map(|row| Some((row, row.outcome.as_ref().ok()?)));
    let json = measured.map(|(row, figures)| JsonRow {
        size: format!("{}x{}", row.size[0], row.size[1]),
        format: row.format.name(),
        sigma: row.sigma,
        method: row.method.name(),
        median_us: rounded(figures.median),
        min_us: rounded(figures.min),
        error_255: figures.error.map(rounded),
    });
    json.collect()
}

/// Writes an object with the `rows`, one per line, and what they [share](about).
///
/// # Errors
/// The file cannot be written.
pub fn write_json(path: &Path, gpu: &Gpu, options: &Options, rows: &[impl Serialize]) -> Result<(), String> {
    let lines: Vec<String> = rows.iter().map(to_json).collect::<Result<_, _>>()?;
    let (about, rows) = (about(gpu, options)?, lines.join(",\n"));
    let json = format!("{{\"about\": {about},\n\"rows\": [\n{rows}\n]}}\n");
    fs::write(path, json).map_err(|error| format!("{}: {error}", path.display()))
}

fn to_json(value: &impl Serialize) -> Result<String, String> {
    serde_json::to_string(value).map_err(|error| error.to_string())
}

/// Rounded to thousandths: finer than any timestamp.
pub fn rounded(value: f64) -> f64 {
    (value * 1000.0).round() / 1000.0
}
