//! Blurs pictures from the command line, without a window.
//!
//! ```text
//! cargo run --profile tools -p blur_image -- INPUT OUTPUT [--radius R | --sigma S] [--format FORMAT]
//! cargo run --profile tools -p blur_image -- INPUT... --out-dir DIR
//! ```
//!
//! It reads PNG, JPEG, WebP, TIFF and EXR pictures, and writes PNG (8 or 16 bit), TIFF (8, 16 or 32 bit) and EXR (32-bit
//! float). `--format` is the format of the textures on the GPU. It decides what is blurred: float and sRGB formats blur linear light, all
//! others blur the numbers of the file. `--help` lists the rest.
//!
//! You should see the picture out of focus, not darker, not lighter and not shifted, at every radius.

mod arguments;
mod choices;
mod curve;
mod decode;
mod encode;
mod formats;
mod frame;
mod gpu;
mod headless;
mod input;
mod jobs;
mod jpeg;
mod meaning;
mod numbers;
mod output;
mod picture;
mod png;
mod profile;
mod progress;
mod report;
mod shares;
mod treatment;

use arguments::Arguments;
use bevy::prelude::{Handle, Image};
use bevy_gaussian_blur::prelude::BlurProfile;
use gpu::Gpu;
use jobs::{Job, Wanted};
use picture::Picture;
use progress::Progress;
use report::Report;
use shares::{Profile, Shares};
use std::process::ExitCode;
use std::time::Instant;
use treatment::Treatment;

fn main() -> ExitCode {
    let arguments = match Arguments::from_command_line() {
        Ok(arguments) => arguments,
        Err(exit) => return exit,
    };
    match run(&arguments) {
        Ok(0) => ExitCode::SUCCESS,
        Ok(_) => ExitCode::FAILURE,
        Err(reason) => {
            eprintln!("error: {}", one_line(&reason));
            ExitCode::FAILURE
        }
    }
}

/// Runs all jobs, even if one fails, and returns the number of reported errors.
///
/// # Errors
/// The reason why nothing can be blurred at all.
fn run(arguments: &Arguments) -> Result<usize, String> {
    let jobs = jobs::plan(arguments)?;
    let progress = Progress::new(jobs.iter().map(|job| job.results.len()).sum());
    let shares = arguments.profile.as_ref();
    let mut profile = shares.map_or(Ok(Profile::Ready(BlurProfile::Uniform)), Shares::open)?;
    for note in profile.notes() {
        progress.say(&format!("note: {note}"));
    }
    let selection = arguments.selection();
    let mut started = None;
    let mut errors = 0;
    for job in &jobs {
        let picture = match decode::read(&job.input, &selection) {
            Ok(picture) => picture,
            Err(reason) => {
                progress.fail(&reason, job.results.len());
                errors += 1;
                continue;
            }
        };
        // Unreadable inputs are reported before the GPU is started.
        let gpu = match &mut started {
            Some(gpu) => gpu,
            None => started.insert(start(&progress)?),
        };
        errors += match profile.on(gpu) {
            Ok(profile) => carry_out(gpu, arguments, job, &picture, &profile, &progress),
            Err(reason) => {
                progress.fail(&reason, job.results.len());
                1
            }
        };
    }
    Ok(errors)
}

fn start(progress: &Progress) -> Result<Gpu, String> {
    progress.say("starting the GPU ...");
    let since = Instant::now();
    let gpu = Gpu::start()?;
    let (name, backend) = gpu.adapter();
    progress.say(&format!(
        "started {name} ({backend}) in {:.1} s",
        since.elapsed().as_secs_f32()
    ));
    Ok(gpu)
}

/// Makes all results of one picture, and returns the number of reported errors.
fn carry_out(
    gpu: &mut Gpu,
    arguments: &Arguments,
    job: &Job,
    picture: &Picture,
    profile: &BlurProfile,
    progress: &Progress,
) -> usize {
    let (picture, note) = treatment::lit(picture, job.kind);
    let picture = &*picture;
    let treatment = Treatment::choose(arguments, picture, job.kind);
    if let Err(reason) = gpu.check(&job.input, picture.size, treatment.format) {
        progress.fail(&reason, job.results.len());
        return 1;
    }
    let losses = treatment.losses(picture, job.kind);
    for loss in note.map(str::to_owned).into_iter().chain(losses) {
        progress.say(&format!("note: {}: {loss}", job.input));
    }
    let source = gpu.add(picture.to_image(treatment.format));
    let mut errors = 0;
    for wanted in &job.results {
        let made = make(gpu, (&source, profile), picture, &treatment, job, wanted).and_then(|()| {
            // The result is written before anything is measured.
            let image = || treatment.image(source.clone());
            let timings = arguments
                .measures()
                .then(|| gpu.time((wanted.blur, profile.clone()), image()));
            let report = Report::new(gpu, &treatment, job, wanted, picture.size, timings);
            progress.say(&report.summary());
            if arguments.json { report.print() } else { Ok(()) }
        });
        match made {
            Ok(()) => progress.step(1),
            Err(reason) => {
                progress.fail(&reason, 1);
                errors += 1;
            }
        }
    }
    errors
}

/// Makes one result, and writes it.
fn make(
    gpu: &mut Gpu,
    (source, profile): (&Handle<Image>, &BlurProfile),
    picture: &Picture,
    treatment: &Treatment,
    job: &Job,
    wanted: &Wanted,
) -> Result<(), String> {
    let blurred = gpu.blur((wanted.blur, profile), treatment.image(source.clone()));
    let image = blurred.map_err(|reason| format!("cannot blur {}: {reason}", job.input))?;
    let result = picture.blurred(&image, treatment.alpha).ok_or_else(|| {
        let format = image.texture_descriptor.format;
        format!("cannot read {}: it was blurred into {format:?}", job.input)
    })?;
    let encoded = encode::encode(&result, job.kind, treatment.depth);
    let encoded = encoded.map_err(|reason| format!("cannot write {}: {reason}", wanted.output))?;
    wanted.output.write(&encoded)
}

/// Some libraries explain errors in several lines.
fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
