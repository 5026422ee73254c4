//! The results as a table and as JSON.

use crate::measure::Row;
use crate::method::Method;
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

#[derive(Serialize)]
struct JsonRow<'a> {
    adapter: &'a str,
    size: String,
    format: &'a str,
    sigma: f64,
    method: &'a str,
    median_us: f64,
    min_us: f64,
    error_255: Option<f64>,
}

/// Writes all measurements as a JSON array, one row per line.
///
/// # Errors
/// The file cannot be written.
pub fn write_json(path: &Path, adapter: &str, rows: &[Row]) -> Result<(), String> {
    let line = |row: &Row| {
        let figures = row.outcome.as_ref().ok()?;
        let row = JsonRow {
            adapter,
            size: format!("{}x{}", row.size[0], row.size[1]),
            format: row.format.name(),
            sigma: row.sigma,
            method: row.method.name(),
            median_us: rounded(figures.median),
            min_us: rounded(figures.min),
            error_255: figures.error.map(rounded),
        };
        serde_json::to_string(&row).ok()
    };
    let lines: Vec<String> = rows.iter().filter_map(line).collect();
    let json = format!("[\n{}\n]\n", lines.join(",\n"));
    fs::write(path, json).map_err(|error| format!("{}: {error}", path.display()))
}

/// Rounded to thousandths: finer than any timestamp.
fn rounded(value: f64) -> f64 {
    (value * 1000.0).round() / 1000.0
}
