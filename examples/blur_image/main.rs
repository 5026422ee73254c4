//! Blurs a picture from the command line, without a window.
//!
//! ```text
//! cargo run --example blur_image -- INPUT OUTPUT [--radius R | --sigma S] [--edge EDGE] [--format FORMAT] [--json]
//! ```
//!
//! INPUT is a PNG, JPEG or EXR picture, OUTPUT becomes an 8-bit PNG or a 32-bit float EXR picture. `--format` is the
//! format of the textures on the GPU, and so decides what is blurred: `rgba8unorm` blurs the encoded values, all others
//! blur linear light. With `--json` one object on stdout tells what the blur took.
//!
//! You should see the picture out of focus, no darker, no lighter and not shifted, whatever the radius.

mod arguments;
mod gpu;
#[path = "../../tests/gpu/support/headless.rs"]
#[expect(dead_code, reason = "the tests use more of this")]
mod headless;
mod output;
mod picture;
mod report;

use arguments::Arguments;
use picture::Picture;
use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments = match Arguments::from_command_line() {
        Ok(arguments) => arguments,
        Err(exit) => return exit,
    };
    match run(&arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(reason) => {
            eprintln!("error: {}", one_line(&reason));
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: &Arguments) -> Result<(), String> {
    let output = output::Output::new(&arguments.output)?;
    let picture = Picture::read(&arguments.input)?;
    let alpha = picture.alpha(arguments.edge);
    eprintln!("starting the GPU ...");
    let mut gpu = gpu::start()?;
    gpu::check_size(&gpu, &arguments.input, picture.size(), arguments.format)?;
    let source = gpu.add_image(picture.to_image(arguments.format));
    let pixels = gpu::blur(&mut gpu, arguments.blur(), &source, alpha)?;
    let timings = arguments
        .json
        .then(|| gpu::measure(&mut gpu, arguments.blur(), &source, alpha));
    let blurred = Picture::from_pixels(&pixels, alpha);
    output.write(|file, kind| blurred.write(file, kind))?;
    match timings {
        Some(timings) => report::print(&gpu, arguments, picture.size(), timings),
        None => Ok(()),
    }
}

/// Some libraries explain themselves in several lines.
fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
