//! Front end: blur an image into an image.
//!
//! The main world decides *what* to blur and *when*: it allocates targets ([`blurred`]), watches settings and assets,
//! and increments a request's `revision` whenever a blur is due ([`change_detection`]). The render world prepares every
//! revision that it has not carried out yet, encodes it when its inputs are ready ([`jobs`], and [`job`] for one image), and
//! reports the outcome, which becomes [`BlurFinished`](crate::settings::BlurFinished) or
//! [`BlurFailed`](crate::settings::BlurFailed).

mod blurred;
mod change_detection;
mod job;
mod jobs;
mod order;
mod pixels;
mod request;

use crate::diagnostics::assign::label_blurs;
use crate::image_changes::watch_images;
use crate::systems::{BlurSystems, GaussianBlurSystems};
use bevy::asset::AssetEventSystems;
use bevy::core_pipeline::schedule::{Core2d, Core3d, camera_driver};
use bevy::core_pipeline::upscaling::upscaling;
use bevy::prelude::*;
use bevy::render::renderer::{RenderGraph, RenderGraphSystems};
use bevy::render::{ExtractSchedule, GpuResourceAppExt, Render, RenderApp, RenderStartup, RenderSystems};
use request::Outcomes;

pub use pixels::{BlurPixelsExt, BlurredPixels};
pub use request::Requests;

/// Adds image blurs to an app.
pub fn plugin(app: &mut App) {
    let outcomes = Outcomes::default();
    app.insert_resource(outcomes.clone())
        .init_resource::<Requests>()
        .init_resource::<blurred::ImageBlurs>()
        .configure_sets(
            PostUpdate,
            (
                BlurSystems::Fit.before(AssetEventSystems),
                BlurSystems::Collect.after(AssetEventSystems).after(BlurSystems::Fit),
            ),
        )
        .add_observer(blurred::forget_image)
        .add_observer(blurred::forget_strength)
        .add_systems(PreUpdate, change_detection::report_outcomes.in_set(BlurSystems::Report))
        .add_systems(
            PostUpdate,
            (
                blurred::fit_targets.in_set(BlurSystems::Fit),
                change_detection::follow_images
                    .after(label_blurs)
                    .after(watch_images)
                    .in_set(BlurSystems::Collect),
            ),
        );

    let Some(render_app) = app.get_sub_app_mut(RenderApp) else {
        return;
    };
    render_app
        .insert_resource(outcomes)
        .init_resource::<Requests>()
        .init_gpu_resource::<jobs::ImageJobs>()
        .add_systems(RenderStartup, |outcomes: Res<Outcomes>| outcomes.start_over())
        .add_systems(ExtractSchedule, jobs::extract_requests)
        .add_systems(
            Render,
            // Before anything binds a target.
            (jobs::find_times, jobs::prepare_jobs, jobs::show_targets)
                .chain()
                .in_set(RenderSystems::PrepareResources),
        )
        .add_systems(Render, jobs::show_targets.in_set(RenderSystems::Cleanup))
        .add_systems(Core2d, jobs::record_after_camera.after(upscaling))
        .add_systems(Core3d, jobs::record_after_camera.after(upscaling))
        .add_systems(
            RenderGraph,
            (
                jobs::record_before_cameras
                    .before(camera_driver)
                    .in_set(RenderGraphSystems::Render)
                    .in_set(GaussianBlurSystems::ImagesBeforeCameras),
                jobs::record_after_cameras
                    .after(camera_driver)
                    .in_set(RenderGraphSystems::Render)
                    .in_set(GaussianBlurSystems::ImagesAfterCameras),
                jobs::report_submitted.in_set(RenderGraphSystems::Finish),
            ),
        );
}

#[cfg(test)]
mod tests;
