//! GPU times of Gaussian blurs: the classical methods, ours, and a plain copy, which no blur can beat.
//!
//! ```text
//! cargo bench --bench gpu -- [--size WxH]... [--format F]... [--sigma S]... [--method M]... [--edge E] [--direction D]
//!     [--dither] [--passes] [--json FILE] [--plot FILE.svg]
//! cargo bench --bench gpu -- --quick
//! cargo bench --bench gpu -- --glass [--json FILE]
//! cargo bench --bench gpu -- --filters [--json FILE]
//! cargo bench --bench gpu -- --about
//! ```
//!
//! All times are differences of GPU timestamps, one blur at a time: around the passes of a classical method, and for
//! ours around everything that a frame renders. A run reads an image and writes another image of the same size and
//! format. The timed runs of each turn follow untimed ones.
//!
//! A ratio compares a method with the copy of the same kind: fragment passes with the copy in a fragment pass, compute
//! passes with the copy in a compute pass, measured in the same turns. An error is the greatest difference from a
//! float64 Gaussian over two pictures of steps, impulses, noise and zone plates, in 1/255 of the values that a shader
//! sees. It includes the rounding of the format. If a run would take longer than a second (`--limit`), or the GPU or
//! the format does not support the method, the row gives the reason instead.
//!
//! The classical filters end at three sigma and repeat the texels of the border, as ours does. Separable ones store
//! rgba16float between their passes.
//!
//! The program needs a GPU or a software rasteriser, and no other file: you can copy it to another machine and run it
//! there.

mod accuracy;
mod classic;
mod glass;
mod kernels;
mod measure;
mod method;
mod options;
mod ours;
mod plot;
mod program;
mod report;
mod stage;
mod timer;

#[path = "../../tests/gpu/support/mod.rs"]
#[expect(dead_code, unused_imports, reason = "the tests use more of this")]
mod support;

use measure::{Bench, Row};
use method::Method;
use options::Options;
use ours::Ours;
use stage::Gpu;
use std::process::ExitCode;

fn main() -> ExitCode {
    match measure_and_report() {
        Ok(()) => ExitCode::SUCCESS,
        Err(reason) => {
            eprintln!("{reason}");
            ExitCode::FAILURE
        }
    }
}

fn measure_and_report() -> Result<(), String> {
    let options = Options::read();
    support::headless::adapter()?;
    if options.about {
        let app = Ours::new(Method::OursFragment, &options)?;
        println!("{}", report::about(&Gpu::of(app.headless())?, &options)?);
        return Ok(());
    }
    if options.glass || options.filters {
        return glass::measure(&options);
    }
    let (json, plot) = (options.json.clone(), options.plot.clone());
    let runs = options.runs();
    let settings = options.clone();
    let mut bench = Bench::new(options)?;
    let adapter = bench.gpu.name.clone();
    println!("{adapter}: GPU times of at least {runs} runs, ratio to the copy of the same kind, error in 1/255\n");
    println!("{}", report::header());
    let mut rows: Vec<Row> = Vec::new();
    bench.run(|new| {
        println!("{}", report::table(&new));
        rows.extend(new);
    });
    if let Some(path) = json {
        report::write_json(&path, &bench.gpu, &settings, &report::json_rows(&rows))?;
    }
    if let Some(path) = plot {
        plot::write_plot(&path, &adapter, &rows)?;
    }
    Ok(())
}
