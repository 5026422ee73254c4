//! Front end: blur an image into an image.
//!
//! The main world decides *what* is to be blurred and *when* ([`follow`]): it allocates targets, watches assets, and
//! counts up a job's `revision` whenever a blur is due. The render world ([`render`]) executes every revision it has not
//! executed yet and reports back, which is what [`BlurFinished`] and [`BlurFailed`] come from.

mod follow;
mod render;

use crate::diagnostics::BlurLabel;
use crate::settings::{BlurAlpha, BlurError, BlurFailed, BlurFinished, GaussianBlur};
use bevy::asset::AssetEventSystems;
use bevy::core_pipeline::schedule::camera_driver;
use bevy::prelude::*;
use bevy::render::renderer::{RenderGraph, RenderGraphSystems};
use bevy::render::{ExtractSchedule, GpuResourceAppExt, Render, RenderApp, RenderSystems};
use std::sync::{Arc, Mutex, PoisonError};

/// Adds image blurs to an app.
pub struct BlurImagePlugin;

impl Plugin for BlurImagePlugin {
    fn build(&self, app: &mut App) {
        let outcomes = Outcomes::default();
        app.insert_resource(outcomes.clone())
            .init_resource::<follow::Requests>()
            .add_systems(PreUpdate, report_outcomes)
            .add_systems(
                PostUpdate,
                (follow::follow_images, follow::mark_painted)
                    .chain()
                    .after(AssetEventSystems),
            );

        let Some(render_app) = app.get_sub_app_mut(RenderApp) else {
            return;
        };
        render_app
            .insert_resource(outcomes)
            .init_resource::<render::Requested>()
            .init_gpu_resource::<render::ImageJobs>()
            .add_systems(ExtractSchedule, render::extract_requests)
            .add_systems(Render, render::prepare_jobs.in_set(RenderSystems::PrepareBindGroups))
            .add_systems(
                RenderGraph,
                (
                    render::record_before_cameras.before(camera_driver),
                    render::record_after_cameras.after(camera_driver),
                )
                    .in_set(RenderGraphSystems::Render),
            );
    }
}

/// One image blur, as the render world needs it.
#[derive(Clone, Debug)]
struct Request {
    entity: Entity,
    label: BlurLabel,
    /// `None` copies, for a radius that is out of range.
    blur: Option<GaussianBlur>,
    source: AssetId<Image>,
    target: AssetId<Image>,
    /// The plugin allocated the target, and brings it to the source's size in a frame or two.
    owns_target: bool,
    alpha: BlurAlpha,
    /// Blur in every frame, whatever the revision.
    continuous: bool,
    /// Blur again when a texture is replaced.
    follows_textures: bool,
    /// Goes up whenever a blur is due.
    revision: u64,
    /// The source is painted by a camera, or depends on such an image.
    after_cameras: bool,
}

/// What became of requests, on its way from the render world to the main world.
#[derive(Resource, Clone, Default)]
struct Outcomes(Arc<Mutex<Vec<Outcome>>>);

/// An entity with [`BlurImage`](crate::settings::BlurImage), and how its blur went.
type Outcome = (Entity, Result<(), BlurError>);

impl Outcomes {
    fn push(&self, entity: Entity, outcome: Result<(), BlurError>) {
        let mut outcomes = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        outcomes.push((entity, outcome));
    }

    fn take(&self) -> Vec<Outcome> {
        core::mem::take(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// Turns outcomes into events.
fn report_outcomes(mut commands: Commands, outcomes: Res<Outcomes>, blurs: Query<&BlurLabel>) {
    for (entity, outcome) in outcomes.take() {
        let Ok(label) = blurs.get(entity) else {
            continue;
        };
        match outcome {
            Ok(()) => commands.trigger(BlurFinished { entity }),
            Err(error) => {
                error!("{}: {error}", label.as_str());
                commands.trigger(BlurFailed { entity, error });
            }
        }
    }
}
