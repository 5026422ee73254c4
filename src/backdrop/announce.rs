//! When the pipelines of glass are asked for.
//!
//! Apps without glass compile none of them. They are asked for with the first [`BackdropBlur`] of an app, whatever its
//! radius and whether it is seen or not, and from then on for every camera, as it is and as it would be with the other
//! dynamic range. So glass that is there before it is seen, hidden or with a radius of 0, finds everything ready.
//!
//! The first glass of an app may also be seen at once, or be eased in at once. Without pipelines what lies behind it would
//! be sharp for some frames, and jump when they arrive. So where blurs were [ready](BlurReadiness::is_ready) before, that
//! frame waits for its pipelines. In the first frames of an app, when there is more to wait for, glass is not seen until
//! all is ready.

use super::extract::Panels;
use super::pipelines::GlassPipelines;
use crate::formats::{CameraPicture, Ends};
use crate::gpu::{BlurPipelines, BlurPreparer, BlurReadiness, WorkKind};
use crate::plan::Finish;
use crate::settings::BackdropBlur;
use bevy::prelude::*;
use bevy::render::Extract;
use bevy::render::render_resource::PipelineCache;
use core::time::Duration;

/// How often a frame that waits looks whether pipelines have arrived.
const PATIENCE: Duration = Duration::from_micros(500);

/// What is known about the use of glass.
#[derive(Resource, Default)]
pub struct GlassUse {
    /// Whether there has been any.
    is_used: bool,
    /// Whether pipelines are missing in an app whose blurs were ready.
    is_late: bool,
}

/// Looks for the first glass of the app.
pub fn extract_use(mut glass: ResMut<GlassUse>, any: Extract<Query<(), With<BackdropBlur>>>) {
    if !glass.is_used && !any.is_empty() {
        glass.is_used = true;
    }
}

/// Asks for the programs of every camera, whether there is glass on it or not.
pub fn announce_glass(
    mut glass: ResMut<GlassUse>,
    cameras: Query<CameraPicture>,
    panels: Res<Panels>,
    cache: Res<PipelineCache>,
    readiness: Res<BlurReadiness>,
    mut pipelines: ResMut<GlassPipelines>,
    mut preparer: BlurPreparer,
) {
    if !glass.is_used {
        return;
    }
    // Most apps have no profile.
    let varies = panels.0.iter().any(|panel| panel.field.is_some());
    let formats = cameras.iter().flat_map(|picture| picture.formats());
    for format in formats {
        if pipelines.mixes(format).is_none() {
            continue;
        }
        for id in pipelines.announce(format, &cache) {
            preparer.wait_for(id);
            // It was ready at the end of the last frame.
            glass.is_late |= readiness.is_ready();
        }
        for is_light in [false, true] {
            let ends = Ends::of_camera(format, is_light);
            preparer.announce(ends, WorkKind::Blur, Finish::Leave);
            preparer.announce(ends, WorkKind::Copy, Finish::Leave);
            if varies {
                preparer.announce(ends, WorkKind::Vary, Finish::Leave);
            }
        }
    }
}

/// Waits until glass can be drawn, if there is any to be seen in this frame.
pub fn wait_for_glass(
    mut glass: ResMut<GlassUse>,
    panels: Res<Panels>,
    pipelines: Res<BlurPipelines>,
    mut cache: ResMut<PipelineCache>,
) {
    if !glass.is_late || panels.0.is_empty() {
        return;
    }
    glass.is_late = false;
    loop {
        cache.process_queue();
        if !pipelines.are_compiling(&cache) {
            break;
        }
        // Other threads compile them. Where there are none, they are there by now.
        std::thread::sleep(PATIENCE);
    }
}
