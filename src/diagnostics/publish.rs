//! Publishes what blurs cost: GPU times through Bevy's recorder, and the bytes of the intermediates.

use super::label::{BlurLabel, PASSES, TEXTURE_BYTES};
use crate::gpu::IntermediateBytes;
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

fn hand_over_bytes(counted: Res<IntermediateBytes>, published: Res<PublishedBytes>) {
    published.0.store(counted.0, Ordering::Relaxed);
}

fn publish_bytes(published: Res<PublishedBytes>, mut diagnostics: Diagnostics) {
    diagnostics.add_measurement(&TEXTURE_BYTES, || published.0.load(Ordering::Relaxed) as f64);
}

/// What is known about the figures of a label.
#[derive(Default)]
struct Freshness {
    last: Option<Instant>,
    frames: u32,
}

/// Withdraws the figures of blurs that no longer run, and of passes that a blur no longer has.
fn withdraw_stale(
    mut store: ResMut<DiagnosticsStore>,
    blurs: Query<(&BlurLabel, Has<Camera>)>,
    mut known: Local<HashMap<BlurLabel, Freshness>>,
) {
    let mut running: HashMap<&BlurLabel, bool> = blurs.iter().collect();
    for label in running.keys() {
        if !known.contains_key(*label) {
            known.insert((*label).clone(), Freshness::default());
        }
    }
    known.retain(|label, freshness| {
        let whole = [label.elapsed_gpu(), label.elapsed_cpu()];
        let last = whole.iter().find_map(|path| measured(&store, path));
        freshness.frames = if last == freshness.last {
            freshness.frames + 1
        } else {
            0
        };
        freshness.last = last;
        let passes = PASSES.map(|pass| [label.pass_elapsed_gpu(pass), label.pass_elapsed_cpu(pass)]);
        for path in passes.iter().flatten() {
            if measured(&store, path) != last {
                clear(&mut store, path);
            }
        }
        let is_camera = running.remove(label);
        // An image that is blurred only when it changes keeps the figures of its last blur.
        if freshness.frames >= STALE_FRAMES && is_camera != Some(false) {
            whole.iter().for_each(|path| clear(&mut store, path));
            freshness.last = None;
        }
        is_camera.is_some() || freshness.frames <= STALE_FRAMES
    });
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
