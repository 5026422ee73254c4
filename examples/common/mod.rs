//! What the examples share: a window, the plugins of the blur, and runs without a user.

mod unattended;

use bevy::prelude::*;
use bevy_gaussian_blur::prelude::*;
use std::ffi::OsStr;
pub use unattended::Unattended;
use unattended::fail;

/// Shows an example in a window of this title. `build` adds everything but Bevy's plugins and those of the blur.
pub fn example(title: &str, build: impl FnOnce(&mut App, &Unattended)) -> AppExit {
    let unattended = match options() {
        Ok(unattended) => unattended,
        Err(reason) => return fail(&reason),
    };
    let mut app = App::new();
    app.add_plugins((
        unattended.default_plugins(title),
        GaussianBlurPlugin::default(),
        GaussianBlurDiagnosticsPlugin,
    ));
    build(&mut app, &unattended);
    unattended.run(&mut app)
}

/// Reads the command line.
fn options() -> Result<Unattended, String> {
    let mut options = Unattended::default();
    let mut words = std::env::args_os().skip(1);
    while let Some(option) = words.next() {
        match (option.to_str(), words.next()) {
            (Some("--frames"), Some(number)) => options.frames = Some(number_of("--frames", &number)?),
            (Some("--every"), Some(number)) => options.every = Some(number_of("--every", &number)?),
            (Some("--screenshot"), Some(file)) => options.screenshot = Some(file.into()),
            _ => {
                let option = option.display();
                return Err(format!(
                    "{option}: the options are --frames N, --screenshot FILE and --every N"
                ));
            }
        }
    }
    options.check()?;
    Ok(options)
}

/// The number of an option.
fn number_of(option: &str, text: &OsStr) -> Result<u32, String> {
    let number = text.to_str().and_then(|text| text.parse().ok());
    let number = number.filter(|number| *number > 0);
    number.ok_or_else(|| format!("{option} takes a number from 1 on"))
}
