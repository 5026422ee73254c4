//! The progress that the user sees on stderr.

use crate::one_line;
use indicatif::{ProgressBar, ProgressStyle};

/// Lines about finished results, above a bar if there are several. Only terminals show the bar.
pub struct Progress(ProgressBar);

impl Progress {
    pub fn new(results: usize) -> Self {
        if results < 2 {
            return Self(ProgressBar::hidden());
        }
        let style = ProgressStyle::with_template("{bar:40} {pos} of {len}, {eta} to go");
        let style = style.unwrap_or_else(|_| ProgressStyle::default_bar());
        let bar = ProgressBar::new(results as u64).with_style(style);
        bar.tick();
        Self(bar)
    }

    pub fn say(&self, line: &str) {
        self.0.suspend(|| eprintln!("{line}"));
    }

    /// This many results are done.
    pub fn step(&self, results: usize) {
        self.0.inc(results as u64);
    }

    /// This many results have failed.
    pub fn fail(&self, reason: &str, results: usize) {
        self.say(&format!("error: {}", one_line(reason)));
        self.step(results);
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}
