//! `--frames N --screenshot FILE`: shows a fixed number of frames without a user, and saves the last one. With `--every N` it
//! also saves every Nth frame before, numbered, for moving pictures.

use bevy::app::PluginGroupBuilder;
use bevy::prelude::*;
use bevy::render::render_resource::PipelineCache;
use bevy::render::view::screenshot::{Screenshot, ScreenshotCaptured, save_to_disk};
use bevy::render::{Render, RenderApp, RenderPlugin, RenderSystems};
use bevy::time::TimeUpdateStrategy;
use bevy::winit::WinitSettings;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// The time between two frames without a user, whatever the computer's speed.
const TIME_STEP: Duration = Duration::from_micros(16_667);

/// The number of frames if only a screenshot is requested.
const DEFAULT_FRAMES: u32 = 60;

/// The number of extra frames to wait for shaders and for the screenshot before the example fails.
const PATIENCE: u32 = 1200;

/// The options of an example for a run without a user.
#[derive(Clone, Debug, Default)]
pub struct Unattended {
    /// Show this many frames, 1/60 s apart, and end.
    pub frames: Option<u32>,
    /// Write the window's last frame into this PNG or JPEG file, and end. Without `frames`, after 60 of them.
    pub screenshot: Option<PathBuf>,
    /// Also write every such frame before the last one. Their numbers are added to the file's name.
    pub every: Option<u32>,
}

impl Unattended {
    /// Whether the example runs without a user.
    pub fn is_active(&self) -> bool {
        self.frames.is_some() || self.screenshot.is_some()
    }

    /// How many frames are shown.
    pub fn frames(&self) -> u32 {
        self.frames.unwrap_or(DEFAULT_FRAMES)
    }

    /// Whether the screenshot's path can be written, and there is a display for the window.
    pub fn check(&self) -> Result<(), String> {
        if let Some(path) = &self.screenshot {
            check_path(path)?;
        }
        let displays = ["DISPLAY", "WAYLAND_DISPLAY", "WAYLAND_SOCKET"];
        if cfg!(target_os = "linux") && displays.iter().all(|name| std::env::var_os(name).is_none()) {
            return Err("there is no display for the window: set DISPLAY, or run this under xvfb-run".to_owned());
        }
        Ok(())
    }

    /// Bevy's default plugins with the example's window, which is small in runs without a user.
    pub fn default_plugins(&self, title: &str) -> PluginGroupBuilder {
        let resolution = if self.is_active() { (960, 600) } else { (1280, 720) };
        DefaultPlugins
            .set(WindowPlugin {
                primary_window: Some(Window {
                    title: title.to_owned(),
                    resolution: resolution.into(),
                    ..default()
                }),
                ..default()
            })
            .set(RenderPlugin {
                synchronous_pipeline_compilation: self.is_active(),
                ..default()
            })
    }

    /// Runs the app, without a user if the options say so. Returns an error if a requested screenshot has not been
    /// written.
    pub fn run(&self, app: &mut App) -> AppExit {
        let progress = Progress::default();
        if self.is_active() {
            app.insert_resource(TimeUpdateStrategy::ManualDuration(TIME_STEP))
                .insert_resource(WinitSettings::continuous())
                .insert_resource(self.plan())
                .insert_resource(progress.clone())
                .add_systems(Update, follow_plan);
            if let Some(render_app) = app.get_sub_app_mut(RenderApp) {
                render_app
                    .insert_resource(progress.clone())
                    .add_systems(Render, watch_pipelines.in_set(RenderSystems::Cleanup));
            }
        }
        let exit = app.run();
        if exit.is_success() && self.screenshot.is_some() && !progress.written.load(Ordering::Relaxed) {
            return fail("the window was closed before the screenshot");
        }
        exit
    }

    fn plan(&self) -> Plan {
        Plan {
            frames: self.frames(),
            screenshot: self.screenshot.clone(),
            every: self.every,
            shown: 0,
            requested: false,
        }
    }
}

/// Whether a path can be the screenshot's.
fn check_path(path: &Path) -> Result<(), String> {
    let extension = path.extension().unwrap_or_default().to_ascii_lowercase();
    if !["png", "jpg", "jpeg"].iter().any(|known| extension == *known) {
        return Err(format!("{}: a screenshot is a .png or .jpg file", path.display()));
    }
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    if folder.is_some_and(|folder| !folder.is_dir()) {
        return Err(format!("{}: there is no such folder", path.display()));
    }
    Ok(())
}

/// The path with a number in its name: `lens-00240.png`.
fn numbered(path: &Path, number: u32) -> PathBuf {
    let [stem, extension] = [path.file_stem(), path.extension()].map(|part| part.unwrap_or_default().to_string_lossy());
    path.with_file_name(format!("{stem}-{number:05}.{extension}"))
}

/// Prints the reason why the example ends, as one line on stderr.
pub fn fail(reason: &str) -> AppExit {
    eprintln!("error: {}", reason.split_whitespace().collect::<Vec<_>>().join(" "));
    AppExit::error()
}

/// The requested frames and screenshot, and the progress.
#[derive(Resource)]
struct Plan {
    frames: u32,
    screenshot: Option<PathBuf>,
    every: Option<u32>,
    shown: u32,
    requested: bool,
}

/// Reports from the render world and from the screenshot.
#[derive(Resource, Clone, Default)]
struct Progress {
    /// All shaders are compiled.
    pipelines_ready: Arc<AtomicBool>,
    /// The screenshot is on disk.
    written: Arc<AtomicBool>,
}

fn watch_pipelines(cache: Res<PipelineCache>, progress: Res<Progress>) {
    let ready = cache.waiting_pipelines().next().is_none();
    progress.pipelines_ready.store(ready, Ordering::Relaxed);
}

fn follow_plan(
    mut commands: Commands,
    mut plan: ResMut<Plan>,
    progress: Res<Progress>,
    mut exit: MessageWriter<AppExit>,
) {
    plan.shown += 1;
    if plan.shown > plan.frames.saturating_add(PATIENCE) {
        exit.write(fail("the window gave no screenshot"));
    }
    if let (Some(path), Some(every)) = (&plan.screenshot, plan.every)
        && plan.shown < plan.frames
        && plan.shown.is_multiple_of(every)
    {
        let path = numbered(path, plan.shown);
        commands.spawn(Screenshot::primary_window()).observe(save_to_disk(path));
    }
    if plan.shown < plan.frames || plan.requested || !progress.pipelines_ready.load(Ordering::Relaxed) {
        return;
    }
    plan.requested = true;
    let Some(path) = plan.screenshot.clone() else {
        exit.write(AppExit::Success);
        return;
    };
    commands.spawn(Screenshot::primary_window()).observe(
        move |captured: On<ScreenshotCaptured>, progress: Res<Progress>, mut exit: MessageWriter<AppExit>| {
            exit.write(match write(&captured.image, &path) {
                Ok(()) => {
                    progress.written.store(true, Ordering::Relaxed);
                    AppExit::Success
                }
                Err(reason) => fail(&reason),
            });
        },
    );
}

fn write(screenshot: &Image, path: &Path) -> Result<(), String> {
    let picture = screenshot
        .clone()
        .try_into_dynamic()
        .map_err(|error| error.to_string())?;
    // The alpha channel of a window has no meaning.
    picture
        .to_rgb8()
        .save(path)
        .map_err(|error| format!("{}: {error}", path.display()))
}
