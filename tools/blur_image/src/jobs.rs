//! The jobs of a command line: which pictures are blurred how strongly, and where the results go.

use crate::arguments::Arguments;
use crate::choices::Depth;
use crate::input::{Input, STREAM};
use crate::output::{Kind, Output};
use bevy_gaussian_blur::prelude::GaussianBlur;
use std::collections::{HashMap, HashSet};
use std::fs;
use std::path::{Path, PathBuf};

/// One picture and all its results.
pub struct Job {
    pub input: Input,
    /// The kind of all result files.
    pub kind: Kind,
    pub results: Vec<Wanted>,
}

/// One result.
pub struct Wanted {
    pub blur: GaussianBlur,
    pub output: Output,
}

/// Plans all jobs, and checks everything that can be checked beforehand.
///
/// # Errors
/// The reason why they cannot succeed.
pub fn plan(arguments: &Arguments) -> Result<Vec<Job>, String> {
    let strengths = arguments.strengths();
    let mut jobs = Vec::new();
    for (input, place) in places(arguments)? {
        let mut results = Vec::new();
        for strength in &strengths {
            let output = match strengths.len() {
                1 => output(&place)?,
                _ => output(&with_suffix(&place, &strength.suffix())?)?,
            };
            let blur = strength.blur().with_edge(arguments.edge);
            results.push(Wanted { blur, output });
        }
        let kind = results[0].output.kind();
        jobs.push(Job { input, kind, results });
    }
    refuse_clashes(&jobs)?;
    let mut results = jobs.iter().flat_map(|job| &job.results);
    if arguments.json && results.any(|wanted| wanted.output.is_stdout()) {
        return Err("a picture and --json cannot both go to stdout".to_owned());
    }
    match arguments.depth {
        Some(_) if jobs.iter().any(|job| job.kind == Kind::Exr) => {
            Err("--depth is for PNG and TIFF; EXR files hold 32-bit floats".to_owned())
        }
        Some(Depth::Float) if jobs.iter().any(|job| job.kind == Kind::Png) => {
            Err("--depth 32 is for TIFF; PNG files hold 8 or 16 bits".to_owned())
        }
        _ => Ok(jobs),
    }
}

/// Every input with the path of its result. With several strengths, each adds a suffix to this path.
fn places(arguments: &Arguments) -> Result<Vec<(Input, PathBuf)>, String> {
    match (&arguments.output, &arguments.out_dir, arguments.inputs.as_slice()) {
        (_, Some(folder), inputs) => {
            let shown = folder.display();
            fs::create_dir_all(folder).map_err(|error| format!("cannot make the folder {shown}: {error}"))?;
            let place =
                |input: &PathBuf| -> Result<_, String> { Ok((Input::new(input), folder.join(name_in_folder(input)?))) };
            inputs.iter().map(place).collect()
        }
        (Some(output), None, [input]) | (None, None, [input, output]) => Ok(vec![(Input::new(input), output.clone())]),
        (Some(_), None, _) => Err("--output is for one input; several need --out-dir".to_owned()),
        (None, None, [_]) => Err("where should the result go? Name an output or --out-dir".to_owned()),
        (None, None, _) => Err("several inputs need --out-dir".to_owned()),
    }
}

/// The name of an input's result in the folder of results.
fn name_in_folder(input: &Path) -> Result<PathBuf, String> {
    let name = match Input::new(input) {
        Input::Stdin => Path::new("stdin"),
        Input::File(_) => input,
    };
    let name = Path::new(
        name.file_name()
            .ok_or_else(|| format!("{} is not a file", input.display()))?,
    );
    let extension = name.extension().map(|extension| extension.to_ascii_lowercase());
    let kept = extension.filter(|extension| ["exr", "tif", "tiff"].iter().any(|kind| extension == kind));
    Ok(name.with_extension(kept.unwrap_or_else(|| "png".into())))
}

/// The path of one result of several.
fn with_suffix(place: &Path, suffix: &str) -> Result<PathBuf, String> {
    let (Some(stem), Some(extension)) = (place.file_stem(), place.extension()) else {
        return Err(format!(
            "several results need a file name with an extension, and not {}",
            place.display()
        ));
    };
    let mut name = stem.to_owned();
    name.push(suffix);
    name.push(".");
    name.push(extension);
    Ok(place.with_file_name(name))
}

fn output(place: &Path) -> Result<Output, String> {
    if place == Path::new(STREAM) {
        Output::stdout()
    } else {
        Output::file(place)
    }
}

/// Refuses jobs in which a result would replace another result, or the input of another job.
fn refuse_clashes(jobs: &[Job]) -> Result<(), String> {
    let mut inputs = HashMap::new();
    for (index, job) in jobs.iter().enumerate() {
        if let Input::File(path) = &job.input
            && let Ok(path) = fs::canonicalize(path)
        {
            inputs.insert(path, index);
        }
    }
    let mut written = HashSet::new();
    for (index, job) in jobs.iter().enumerate() {
        for output in job.results.iter().map(|wanted| &wanted.output) {
            let Some(path) = output.path() else { continue };
            if !written.insert(path) {
                return Err(format!("two results would be called {output}"));
            }
            if inputs.get(path).is_some_and(|other| *other != index) {
                return Err(format!(
                    "the input {output} would be replaced by the result of another one"
                ));
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_in_a_folder_keep_their_names() {
        let name = |input: &str| name_in_folder(Path::new(input)).map(|name| name.display().to_string());
        assert_eq!(name("a/b.jpg"), Ok("b.png".to_owned()));
        assert_eq!(name("b.c.EXR"), Ok("b.c.exr".to_owned()));
        assert_eq!(name("b.tif"), Ok("b.tif".to_owned()));
        assert_eq!(name("b.TIFF"), Ok("b.tiff".to_owned()));
        assert_eq!(name("b"), Ok("b.png".to_owned()));
        assert_eq!(name("-"), Ok("stdin.png".to_owned()));
        assert!(name("a/..").is_err());
    }

    #[test]
    fn results_of_a_sweep_differ_in_a_suffix() {
        let name = |place: &str| with_suffix(Path::new(place), "-r6").map(|name| name.display().to_string());
        assert_eq!(name("a/b.c.png"), Ok("a/b.c-r6.png".to_owned()));
        assert!(name("-").is_err());
    }
}
