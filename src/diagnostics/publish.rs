//! Publishes what blurs cost: GPU times through Bevy's recorder, and the bytes of the intermediates.

use super::label::{BlurLabel, PASSES, TEXTURE_BYTES};
use crate::gpu::IntermediateTextures;
use bevy::diagnostic::{Diagnostic, DiagnosticPath, Diagnostics, DiagnosticsStore, RegisterDiagnostic};
use bevy::platform::collections::HashMap;
use bevy::platform::time::Instant;
use bevy::prelude::*;
use bevy::render::diagnostic::RenderDiagnosticsPlugin;
use bevy::render::{Render, RenderApp, RenderSystems};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Frames after which a figure that is no longer measured is withdrawn. Figures come a few frames late.
const STALE_FRAMES: u32 = 8;

/// Publishes what blurs cost among Bevy's diagnostics.
///
/// Adds Bevy's [`RenderDiagnosticsPlugin`] when it is missing. [`BlurLabel`] has the paths of an entity's figures, and
/// [`TEXTURE_BYTES`] is the path of what the intermediate textures hold. Where the GPU has no timestamps, its times are
/// absent; the times of a camera that is no longer blurred vanish.
#[derive(Clone, Copy, Debug, Default)]
pub struct GaussianBlurDiagnosticsPlugin;

impl Plugin for GaussianBlurDiagnosticsPlugin {
    fn build(&self, app: &mut App) {
        if !app.is_plugin_added::<RenderDiagnosticsPlugin>() {
            app.add_plugins(RenderDiagnosticsPlugin);
        }
        let bytes = PublishedBytes::default();
        app.insert_resource(bytes.clone())
            .register_diagnostic(
                Diagnostic::new(TEXTURE_BYTES)
                    .with_suffix(" B")
                    .with_smoothing_factor(0.0),
            )
            .add_systems(Update, (publish_bytes, withdraw_stale));
        if let Some(render_app) = app.get_sub_app_mut(RenderApp) {
            // The counter is reset in the cleanup that follows.
            render_app
                .insert_resource(bytes)
                .add_systems(Render, hand_over_bytes.in_set(RenderSystems::Render));
        }
    }
}

/// The bytes of the last frame, on their way from the render world to the main world.
#[derive(Resource, Clone, Default)]
struct PublishedBytes(Arc<AtomicU64>);

fn hand_over_bytes(textures: Res<IntermediateTextures>, published: Res<PublishedBytes>) {
    published.0.store(textures.bytes(), Ordering::Relaxed);
}

fn publish_bytes(published: Res<PublishedBytes>, mut diagnostics: Diagnostics) {
    diagnostics.add_measurement(&TEXTURE_BYTES, || published.0.load(Ordering::Relaxed) as f64);
}

/// What is known about the figures of a label.
struct Freshness {
    /// The paths of the whole, and of the passes.
    whole: [DiagnosticPath; 2],
    passes: Vec<DiagnosticPath>,
    last: Option<Instant>,
    frames: u32,
    /// Whether there is a blur of this label, and whether that of a camera.
    running: Option<bool>,
}

impl Freshness {
    fn new(label: &BlurLabel) -> Self {
        let passes = PASSES.map(|pass| [label.pass_elapsed_gpu(pass), label.pass_elapsed_cpu(pass)]);
        Self {
            whole: [label.elapsed_gpu(), label.elapsed_cpu()],
            passes: passes.into_iter().flatten().collect(),
            last: None,
            frames: 0,
            running: None,
        }
    }

    /// Looks for a new figure, and withdraws what is old. Returns whether the label is still of interest.
    fn update(&mut self, store: &mut DiagnosticsStore) -> bool {
        let last = self.whole.iter().find_map(|path| measured(store, path));
        self.frames = if last == self.last { self.frames + 1 } else { 0 };
        self.last = last;
        for path in &self.passes {
            if measured(store, path) != last {
                clear(store, path);
            }
        }
        // An image that is blurred only when it changes keeps the figures of its last blur.
        if self.frames >= STALE_FRAMES && self.running != Some(false) {
            self.whole.iter().for_each(|path| clear(store, path));
            self.last = None;
        }
        self.running.take().is_some() || self.frames <= STALE_FRAMES
    }
}

/// Withdraws the figures of blurs that no longer run, and of passes that a blur no longer has.
fn withdraw_stale(
    mut store: ResMut<DiagnosticsStore>,
    blurs: Query<(&BlurLabel, Has<Camera>)>,
    mut known: Local<HashMap<BlurLabel, Freshness>>,
) {
    for (label, is_camera) in &blurs {
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
