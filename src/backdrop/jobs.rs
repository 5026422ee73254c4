//! The blurs behind glass. Every panel has a job of its own, which leaves its last step to the glass.
//!
//! All is settled before anything is drawn: a system that draws items of a phase has the whole world, and can change
//! nothing in it.

use super::extract::Panels;
use super::panel::Panel;
use super::pipelines::GlassPipelines;
use super::views::Views;
use crate::errors::Reported;
use crate::formats::Ends;
use crate::gpu::{BlurJob, BlurPreparer, BlurTask, Uses, Work};
use crate::plan::Finish;
use bevy::ecs::entity::EntityHashMap;
use bevy::prelude::*;
use bevy::render::camera::ExtractedCamera;
use bevy::render::render_resource::{PipelineCache, TextureFormat};
use bevy::render::view::{ExtractedView, ViewTarget};

/// The jobs of all panels, by the main world's entity. Made anew when the render device is.
#[derive(Resource, Default)]
pub struct GlassJobs(EntityHashMap<GlassJob>);

#[derive(Default)]
struct GlassJob {
    job: BlurJob,
    failures: Reported,
    /// Whether the panel is seen in this frame.
    is_seen: bool,
    /// Whether the job can be encoded in this frame.
    is_ready: bool,
}

impl GlassJobs {
    /// The job of a panel, if it can be encoded.
    #[must_use]
    pub fn ready(&self, panel: &Panel) -> Option<&BlurJob> {
        let job = self.0.get(&panel.entity)?;
        job.is_ready.then_some(&job.job)
    }
}

/// Asks for the programs of every camera, whether there is glass on it or not: glass that eases in cannot wait for
/// them.
pub fn announce_glass(
    cameras: Query<&ExtractedView, With<ExtractedCamera>>,
    cache: Res<PipelineCache>,
    mut pipelines: ResMut<GlassPipelines>,
    mut preparer: BlurPreparer,
) {
    for view in &cameras {
        let format = view.target_format;
        if pipelines.mixes(format).is_none() {
            continue;
        }
        for id in pipelines.announce(format, &cache) {
            preparer.wait_for(id);
        }
        for is_light in [false, true] {
            preparer.announce(Ends::of_camera(format, is_light), Uses::Backdrop);
        }
    }
}

/// Brings the jobs of all panels up to date. Those of panels that are no longer seen go, with all that they hold.
pub fn update_jobs(
    cameras: Query<&ViewTarget, With<ExtractedCamera>>,
    panels: Res<Panels>,
    views: Res<Views>,
    pipelines: Res<GlassPipelines>,
    mut jobs: ResMut<GlassJobs>,
    mut preparer: BlurPreparer,
) {
    jobs.0.values_mut().for_each(|job| job.is_seen = false);
    for (camera, view) in &views.0 {
        let Ok(target) = cameras.get(*camera) else {
            continue;
        };
        if pipelines.mixes(target.main_texture_format()).is_none() {
            continue;
        }
        for panel in view.panels().map(|index| &panels.0[index]) {
            let job = jobs.0.entry(panel.entity).or_default();
            job.update(panel, target, &mut preparer);
        }
    }
    jobs.0.retain(|_, job| job.is_seen);
}

impl GlassJob {
    fn update(&mut self, panel: &Panel, target: &ViewTarget, preparer: &mut BlurPreparer) {
        let prepared = preparer.prepare(&mut self.job, task(panel, target.main_texture_format()));
        // Blurs that run before this one may flip the pair of textures.
        let sources = [target.main_texture_other_view(), target.main_texture_view()];
        self.is_seen = true;
        self.is_ready = prepared.is_ok() && preparer.bind(&mut self.job, &sources);
        if let Some(error) = self.failures.news(prepared) {
            error!("the glass of entity {}: {error}", panel.entity);
        }
    }
}

fn task(panel: &Panel, format: TextureFormat) -> BlurTask {
    BlurTask {
        ends: Ends::of_camera(format, panel.picture.is_light),
        work: if panel.blurs() {
            Work::Blur {
                sigma: panel.sigma,
                edge: panel.edge,
            }
        } else {
            Work::Copy
        },
        finish: Finish::Leave,
        region: panel.reads,
        source_size: panel.picture.size,
    }
}
