//! Figures of tests, for `docs/reliability.md`.

use std::fs::OpenOptions;
use std::io::Write;

/// Prints a figure, and adds it to the table in the file that `BLUR_REPORT` names. `BLUR_REPORT_AS` names the
/// circumstances.
pub fn row(what: &str, figure: &str) {
    let circumstances = std::env::var("BLUR_REPORT_AS").unwrap_or_default();
    let what = format!("{circumstances}{what}");
    println!("{what}: {figure}");
    append("BLUR_REPORT", || format!("| {what} | {figure} |"));
}

/// Adds a line to the file that a variable of the environment names, if it does. `BLUR_REPORT_GPU` names one for the GPU.
pub fn append(variable: &str, line: impl FnOnce() -> String) {
    if let Some(path) = std::env::var_os(variable) {
        let file = OpenOptions::new().create(true).append(true).open(&path);
        let written = file.and_then(|mut file| writeln!(file, "{}", line()));
        written.unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    }
}
