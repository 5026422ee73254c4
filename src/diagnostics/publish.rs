//! Publishes the cost of blurs: GPU times from Bevy's recorder, and the bytes of the intermediate textures.

use super::label::{BackdropCounts, BlurLabel, PASSES, TEXTURE_BYTES, TextureBytes};
use super::timestamps::{FrameTimes, init_timer, read_timestamps};
use crate::image_changes::ImageChanges;
use crate::mailbox::Mailbox;
use bevy::diagnostic::{
    Diagnostic, DiagnosticMeasurement, DiagnosticPath, Diagnostics, DiagnosticsStore, RegisterDiagnostic,
};
use bevy::ecs::entity::EntityHashMap;
use bevy::platform::collections::HashMap;
use bevy::platform::time::Instant;
use bevy::prelude::*;
use bevy::render::diagnostic::RenderDiagnosticsPlugin;
use bevy::render::renderer::{RenderGraph, RenderGraphSystems};
use bevy::render::{RenderApp, RenderStartup};

/// Frames after which a figure that is no longer measured is withdrawn. Figures arrive a few frames late.
const STALE_FRAMES: u32 = 8;

/// Publishes the cost of blurs among Bevy's diagnostics.
///
/// Adds Bevy's [`RenderDiagnosticsPlugin`] if it is missing. [`BlurLabel`] has the paths of an entity's figures, and
/// [`TEXTURE_BYTES`] is the path of the bytes of the intermediate textures. If the GPU has no timestamps, its times are
/// absent. The times of a camera that is no longer blurred are withdrawn.
///
/// Add it before or after [`GaussianBlurPlugin`](crate::GaussianBlurPlugin) and Bevy's plugins. Without
/// `GaussianBlurPlugin` it publishes nothing, and logs so once.
#[derive(Clone, Copy, Debug, Default)]
pub struct GaussianBlurDiagnosticsPlugin;

impl Plugin for GaussianBlurDiagnosticsPlugin {
    fn build(&self, _: &mut App) {}

    /// All plugins of the app are known by now, in whatever order they were added.
    fn finish(&self, app: &mut App) {
        // It belongs to `GaussianBlurPlugin`.
        if !app.world().contains_resource::<ImageChanges>() {
            warn!("GaussianBlurDiagnosticsPlugin has nothing to publish: the app has no GaussianBlurPlugin");
            return;
        }
        if !app.is_plugin_added::<RenderDiagnosticsPlugin>() {
            app.add_plugins(RenderDiagnosticsPlugin);
            // Bevy finishes only the plugins that existed when it began.
            RenderDiagnosticsPlugin.finish(app);
        }
        add_figures(app);
    }
}

/// Adds the systems that collect figures and the systems that publish them.
fn add_figures(app: &mut App) {
    let (bytes, frames, glass) = (
        TextureBytes::default(),
        Mailbox::<FrameTimes>::default(),
        BackdropCounts::default(),
    );
    let share = |world: &mut World| {
        world.insert_resource(bytes.clone());
        world.insert_resource(frames.clone());
        world.insert_resource(glass.clone());
    };
    share(app.world_mut());
    let bytes = Diagnostic::new(TEXTURE_BYTES).with_suffix(" B");
    app.register_diagnostic(bytes.with_smoothing_factor(0.0)).add_systems(
        Update,
        (publish_bytes, publish_times, publish_backdrops, withdraw_stale).chain(),
    );
    if let Some(render_app) = app.get_sub_app_mut(RenderApp) {
        share(render_app.world_mut());
        render_app.add_systems(RenderStartup, init_timer).add_systems(
            RenderGraph,
            read_timestamps
                .after(RenderGraphSystems::Render)
                .before(RenderGraphSystems::Submit),
        );
    }
}

fn publish_bytes(bytes: Res<TextureBytes>, mut diagnostics: Diagnostics) {
    diagnostics.add_measurement(&TEXTURE_BYTES, || bytes.read().iter().sum::<u64>() as f64);
}

/// Publishes the times that Bevy's recorder cannot take.
fn publish_times(frames: Res<Mailbox<FrameTimes>>, mut store: ResMut<DiagnosticsStore>) {
    let mut taken = Vec::new();
    frames.take(&mut taken);
    for frame in taken {
        let time = Instant::now();
        for (label, times) in frame {
            add(&mut store, label.elapsed_gpu(), "ms", time, times.whole);
            for pass in PASSES {
                if let Some(value) = times.spans.get(pass) {
                    add(&mut store, label.pass_elapsed_gpu(pass), "ms", time, *value);
                }
            }
        }
    }
}

/// Publishes how much glass is visible.
fn publish_backdrops(counts: Res<BackdropCounts>, mut store: ResMut<DiagnosticsStore>) {
    let time = Instant::now();
    for (label, figures) in counts.read() {
        add(&mut store, label.panels(), "", time, figures.backdrops as f64);
        add(&mut store, label.groups(), "", time, figures.groups as f64);
        add(&mut store, label.texels(), "", time, figures.texels as f64);
    }
}

fn add(store: &mut DiagnosticsStore, path: DiagnosticPath, unit: &'static str, time: Instant, value: f64) {
    if store.get(&path).is_none() {
        store.add(Diagnostic::new(path.clone()).with_suffix(unit));
    }
    if let Some(diagnostic) = store.get_mut(&path) {
        diagnostic.add_measurement(DiagnosticMeasurement { time, value });
    }
}

/// What is known about the figures of a label.
struct Freshness {
    /// The paths of the times on the GPU and on the CPU, which may come in different frames: of the passes, and of the whole, with
    /// the time when that was last measured.
    times: [([DiagnosticPath; PASSES.len()], DiagnosticPath, Option<Instant>); 2],
    /// The paths of what is counted of glass.
    counts: [DiagnosticPath; 3],
    frames: u32,
    /// Whether a blur of this label exists, and whether it is a camera's.
    running: Option<bool>,
}

impl Freshness {
    fn new(label: &BlurLabel) -> Self {
        let times = |time| (PASSES.map(|pass| label.path(&[pass, time])), label.path(&[time]), None);
        Self {
            times: ["elapsed_gpu", "elapsed_cpu"].map(times),
            counts: [label.panels(), label.groups(), label.texels()],
            frames: 0,
            running: None,
        }
    }

    /// Takes new figures, and withdraws old ones. Returns whether the label is still needed.
    fn update(&mut self, store: &mut DiagnosticsStore) -> bool {
        // Glass that is no longer visible has no counts.
        for path in self.counts.iter().filter(|_| self.running.is_none()) {
            clear(store, path);
        }
        let mut is_old = true;
        for (passes, whole, last) in &mut self.times {
            let now = measured(store, whole);
            is_old &= now == *last;
            *last = now;
            for path in passes {
                if measured(store, path) != now {
                    clear(store, path);
                }
            }
        }
        self.frames = if is_old { self.frames + 1 } else { 0 };
        // An image that is blurred only on change keeps the figures of its last blur.
        if self.frames >= STALE_FRAMES && self.running != Some(false) {
            for (_, whole, last) in &mut self.times {
                clear(store, whole);
                *last = None;
            }
        }
        self.running.take().is_some() || self.frames <= STALE_FRAMES
    }
}

/// Withdraws the figures of blurs that no longer run, and of passes that a blur no longer has.
fn withdraw_stale(
    mut store: ResMut<DiagnosticsStore>,
    blurs: Query<(&BlurLabel, Has<Camera>)>,
    glass: Res<BackdropCounts>,
    cameras: Query<Entity, With<Camera>>,
    mut filters: Local<EntityHashMap<BlurLabel>>,
    mut known: Local<HashMap<BlurLabel, Freshness>>,
) {
    filters.retain(|camera, _| cameras.contains(*camera));
    for camera in &cameras {
        filters.entry(camera).or_insert_with(|| BlurLabel::of_filters(camera));
    }
    let counted = glass.read();
    let labels = counted.iter().map(|(label, _)| label);
    let others = labels.chain(filters.values()).map(|label| (label, true));
    for (label, is_camera) in blurs.iter().chain(others) {
        if !known.contains_key(label) {
            known.insert(label.clone(), Freshness::new(label));
        }
        if let Some(freshness) = known.get_mut(label) {
            freshness.running = Some(is_camera);
        }
    }
    known.retain(|_, freshness| freshness.update(&mut store));
}

fn measured(store: &DiagnosticsStore, path: &DiagnosticPath) -> Option<Instant> {
    store.get(path)?.measurement().map(|measurement| measurement.time)
}

fn clear(store: &mut DiagnosticsStore, path: &DiagnosticPath) {
    if let Some(diagnostic) = store.get_mut(path)
        && diagnostic.history_len() > 0
    {
        diagnostic.clear_history();
    }
}
