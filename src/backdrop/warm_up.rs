//! When the pipelines of glass are queued, and which frames wait for them.
//!
//! Apps without glass compile none of them. The first [`BackdropBlur`] of an app queues them, whatever its radius, visible
//! or not. From then on they are queued for every camera, for its own dynamic range and for the other one. The first
//! [`BlurProfile`] beside a [`BackdropBlur`] queues the pipelines for varying blurs. So glass that is spawned before it is
//! visible, hidden or with a radius of 0, is ready when it appears.
//!
//! The first glass of an app may also be visible at once, or be eased in at once. Without pipelines the picture behind it
//! would be sharp for some frames, and jump once they are compiled. So if blurs were [ready](BlurReadiness::is_ready)
//! before, frames with visible glass wait for the pipelines of that glass. They wait for a limited time: the threads that
//! compile may be busy. After that time, and in the first frames of an app, when more pipelines are missing, glass is
//! invisible until everything is ready.

use super::extract::ExtractedBackdrops;
use super::extracted::ExtractedBackdrop;
use super::pipelines::BackdropPipelines;
use crate::formats::{CameraPicture, Ends};
use crate::gpu::{BlurPipelines, BlurPreparer, BlurReadiness, Uses, WorkKind};
use crate::plan::Finish;
use crate::settings::{BackdropBlur, BlurCompilation, BlurProfile};
use bevy::platform::time::Instant;
use bevy::prelude::*;
use bevy::render::Extract;
use bevy::render::render_resource::{PipelineCache, TextureFormat};
use core::time::Duration;

/// The work of backdrops without a profile. A blur that is too weak to show is a copy.
const WITHOUT_PROFILE: [WorkKind; 2] = [WorkKind::Blur, WorkKind::Copy];

/// How the app has used glass so far. Recreated with the render device.
#[derive(Resource, Default)]
pub struct BackdropUse {
    /// Whether there has been any glass.
    is_used: bool,
    /// Whether there has been any glass with a profile.
    varies: bool,
    /// How long frames may still wait: zero before blurs are ready for the first time.
    patience: Duration,
}

type VaryingBackdrop = (With<BackdropBlur>, With<BlurProfile>);

/// Looks for the first glass of the app, and the first that varies.
pub fn extract_use(
    mut glass: ResMut<BackdropUse>,
    any: Extract<Query<(), With<BackdropBlur>>>,
    varying: Extract<Query<(), VaryingBackdrop>>,
) {
    glass.is_used = glass.is_used || !any.is_empty();
    glass.varies = glass.varies || !varying.is_empty();
}

/// Queues the pipelines of every camera, with or without glass.
pub fn announce_backdrops(
    mut glass: ResMut<BackdropUse>,
    cameras: Query<CameraPicture>,
    cache: Res<PipelineCache>,
    (readiness, compilation): (Res<BlurReadiness>, Res<BlurCompilation>),
    mut pipelines: ResMut<BackdropPipelines>,
    mut preparer: BlurPreparer,
) {
    // Blurs were ready at the end of the last frame.
    if readiness.is_ready() {
        glass.patience = compilation.longest_wait;
    }
    if !glass.is_used {
        return;
    }
    let formats = cameras.iter().flat_map(|picture| picture.formats());
    for format in formats {
        if pipelines.mixes(format).is_none() {
            continue;
        }
        for id in pipelines.announce(format, &cache) {
            preparer.wait_for(id);
        }
        for is_light in [false, true] {
            let ends = Ends::of_camera(format, is_light);
            for kind in WITHOUT_PROFILE {
                preparer.announce(ends, kind, Finish::Defer);
            }
            if glass.varies {
                preparer.announce(ends, WorkKind::Vary, Finish::Defer);
            }
        }
    }
}

/// Waits until the visible glass of this frame can be drawn.
pub fn wait_for_backdrops(
    mut glass: ResMut<BackdropUse>,
    cameras: Query<CameraPicture>,
    backdrops: Res<ExtractedBackdrops>,
    pipelines: Res<BlurPipelines>,
    backdrop_pipelines: Res<BackdropPipelines>,
    mut cache: ResMut<PipelineCache>,
) {
    if glass.patience.is_zero() || backdrops.0.is_empty() || !pipelines.are_any_missing() {
        return;
    }
    let seen = || {
        backdrops
            .0
            .iter()
            .filter_map(|backdrop| Some((backdrop, format_of(backdrop, &cameras)?)))
    };
    wait(&mut glass.patience, &mut cache, |cache| {
        let uses = seen().flat_map(|(backdrop, format)| uses_of(backdrop, format));
        let others = seen().flat_map(|(_, format)| backdrop_pipelines.of_format(format));
        pipelines.are_compiling(uses, others, cache)
    });
}

/// Waits while pipelines compile, for `patience` at most, and subtracts the time from it.
pub fn wait(patience: &mut Duration, cache: &mut PipelineCache, mut are_compiling: impl FnMut(&PipelineCache) -> bool) {
    let start = Instant::now();
    loop {
        // Without threads that compile, as in browsers, this call compiles everything.
        cache.process_queue();
        if !are_compiling(cache) || start.elapsed() >= *patience {
            break;
        }
        pause();
    }
    *patience = patience.saturating_sub(start.elapsed());
}

/// The format of the picture below a backdrop.
fn format_of(backdrop: &ExtractedBackdrop, cameras: &Query<CameraPicture>) -> Option<TextureFormat> {
    let camera = cameras.get(backdrop.picture.camera).ok()?;
    Some(camera.view.target_format)
}

/// The [`Uses`] by which the blur of a backdrop is announced.
fn uses_of(backdrop: &ExtractedBackdrop, format: TextureFormat) -> impl Iterator<Item = Uses> {
    let ends = Ends::of_camera(format, backdrop.picture.is_light);
    let kinds: &[WorkKind] = if backdrop.varies() {
        &[WorkKind::Vary]
    } else {
        &WITHOUT_PROFILE
    };
    kinds.iter().map(move |kind| Uses {
        ends,
        kind: *kind,
        finish: Finish::Defer,
    })
}

/// Leaves the processor to the threads that compile.
#[cfg(not(target_arch = "wasm32"))]
fn pause() {
    std::thread::park_timeout(Duration::from_micros(500));
}

/// A web page cannot pause, and need not.
#[cfg(target_arch = "wasm32")]
fn pause() {}
