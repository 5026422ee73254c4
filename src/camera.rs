//! Front end: blur what a camera shows.
//!
//! The picture is read from the camera's main texture and written back into it, inside the viewport only. The main
//! texture is not flipped: its other half may belong to another camera of the same target. Under MSAA the resolved
//! texture is meant.

use crate::diagnostics::label::BlurLabel;
use crate::errors::Reported;
use crate::formats::{Ends, precision_of};
use crate::gpu::{BlurJob, BlurPreparer, BlurRecorder, BlurTask, Uses, Views, Work};
use crate::plan::MIN_SIGMA;
use crate::settings::{BlurAlpha, BlurStage, EdgeMode, GaussianBlur};
use crate::systems::GaussianBlurSystems;
use bevy::camera::{Camera, CompositingSpace};
use bevy::core_pipeline::schedule::{Core2d, Core2dSystems, Core3d, Core3dSystems};
use bevy::core_pipeline::tonemapping::tonemapping;
use bevy::core_pipeline::upscaling::upscaling;
use bevy::ecs::schedule::ScheduleLabel;
use bevy::post_process::bloom::bloom;
use bevy::post_process::motion_blur::motion_blur;
use bevy::prelude::*;
use bevy::render::camera::ExtractedCamera;
use bevy::render::render_resource::TextureFormat;
use bevy::render::renderer::{RenderContext, ViewQuery};
use bevy::render::sync_world::RenderEntity;
use bevy::render::view::{ExtractedView, ViewTarget};
use bevy::render::{Extract, ExtractSchedule, Render, RenderApp, RenderStartup, RenderSystems};

/// Adds camera blurs to an app.
pub struct BlurCameraPlugin;

impl Plugin for BlurCameraPlugin {
    fn build(&self, app: &mut App) {
        let Some(render_app) = app.get_sub_app_mut(RenderApp) else {
            return;
        };
        render_app
            .add_systems(RenderStartup, forget_jobs)
            .add_systems(ExtractSchedule, extract_cameras)
            .add_systems(
                Render,
                (announce_cameras, prepare_cameras)
                    .chain()
                    .in_set(RenderSystems::PrepareBindGroups),
            );
        add_stages(
            render_app,
            Core2d,
            Core2dSystems::EarlyPostProcess,
            Core2dSystems::PostProcess,
        );
        add_stages(
            render_app,
            Core3d,
            Core3dSystems::EarlyPostProcess,
            Core3dSystems::PostProcess,
        );
    }
}

/// Puts the three stages into the schedule of a kind of camera.
fn add_stages<S: SystemSet>(app: &mut SubApp, schedule: impl ScheduleLabel + Clone, early: S, post: S) {
    use GaussianBlurSystems as Systems;
    app.configure_sets(
        schedule.clone(),
        (
            Systems::BeforeTonemapping
                .after(early)
                .after(motion_blur)
                .before(bloom)
                .before(tonemapping)
                .before(Systems::AfterTonemapping),
            Systems::AfterTonemapping.after(post).before(Systems::AfterUi),
            Systems::AfterUi.before(upscaling),
        ),
    );
    #[cfg(feature = "ui")]
    app.configure_sets(
        schedule.clone(),
        (
            Systems::AfterTonemapping.before(bevy::ui_render::ui_pass),
            Systems::AfterUi.after(bevy::ui_render::ui_pass),
        ),
    );
    app.add_systems(
        schedule,
        (
            blur_before_tonemapping.in_set(Systems::BeforeTonemapping),
            blur_after_tonemapping.in_set(Systems::AfterTonemapping),
            blur_after_ui.in_set(Systems::AfterUi),
        ),
    );
}

/// A camera's blur in the render world, in texels.
#[derive(Component, Clone, Debug)]
pub struct CameraBlur {
    sigma: Vec2,
    edge: EdgeMode,
    stage: BlurStage,
    label: BlurLabel,
}

/// What the render world keeps of a camera's blur.
#[derive(Component, Default)]
pub struct CameraJob {
    job: BlurJob,
    /// Whether there is something to encode in this frame.
    is_due: bool,
    failures: Reported,
}

type BlurredCamera = (
    RenderEntity,
    &'static GaussianBlur,
    &'static Camera,
    Option<&'static BlurStage>,
    Option<&'static BlurLabel>,
);

/// Takes the blurs of all active cameras over. Those of the last frame that are no more go, with all that they held.
fn extract_cameras(
    mut commands: Commands,
    cameras: Extract<Query<BlurredCamera>>,
    before: Query<Entity, With<CameraBlur>>,
) {
    let mut gone: Vec<Entity> = before.iter().collect();
    for (entity, blur, camera, stage, label) in &cameras {
        let Some(size) = camera.physical_viewport_size().filter(|_| camera.is_active) else {
            continue;
        };
        gone.retain(|other| *other != entity);
        let scale_factor = camera.target_scaling_factor().unwrap_or(1.0);
        commands.entity(entity).insert(CameraBlur {
            // A radius out of range is no blur, and is reported elsewhere.
            sigma: blur.sigma_in_texels(scale_factor, size.y).unwrap_or(Vec2::ZERO),
            edge: blur.edge,
            stage: stage.copied().unwrap_or_default(),
            // What is inserted late in a frame is labelled in the next one.
            label: label.cloned().unwrap_or_else(|| BlurLabel::new("blur")),
        });
    }
    for entity in gone {
        commands.entity(entity).remove::<(CameraBlur, CameraJob)>();
    }
}

/// Asks for the programs of every camera, blurred or not: as it is, and as it would be with the other dynamic range.
fn announce_cameras(cameras: Query<(&ExtractedCamera, &ExtractedView)>, mut preparer: BlurPreparer) {
    for (camera, view) in &cameras {
        let other = match camera.compositing_space {
            _ if !camera.hdr => TextureFormat::Rgba16Float,
            Some(CompositingSpace::Srgb) => TextureFormat::Rgba8Unorm,
            // What windows have, and the usual images.
            _ => TextureFormat::Rgba8UnormSrgb,
        };
        for format in [view.target_format, other] {
            preparer.announce(ends(format), Uses::Blur);
        }
    }
}

type PreparedCamera = (
    Entity,
    &'static CameraBlur,
    &'static ExtractedView,
    &'static ExtractedCamera,
    &'static ViewTarget,
    Option<&'static mut CameraJob>,
);

/// Brings the jobs of all blurred cameras up to date.
fn prepare_cameras(mut commands: Commands, mut cameras: Query<PreparedCamera>, mut preparer: BlurPreparer) {
    for (entity, blur, view, camera, target, job) in &mut cameras {
        let task = camera_task(blur, view, camera, target);
        if let Some(mut job) = job {
            job.update(task, blur, &mut preparer);
        } else {
            let mut job = CameraJob::default();
            job.update(task, blur, &mut preparer);
            commands.entity(entity).insert(job);
        }
    }
}

impl CameraJob {
    fn update(&mut self, task: BlurTask, blur: &CameraBlur, preparer: &mut BlurPreparer) {
        let blurs = blur.sigma.max_element() >= MIN_SIGMA && !task.region.is_empty();
        let prepared = if blurs {
            preparer.prepare(&mut self.job, task)
        } else {
            Ok(())
        };
        self.is_due = blurs && prepared.is_ok();
        if !self.is_due {
            self.job.release();
        }
        if let Some(error) = self.failures.news(prepared) {
            error!("{}: {error}", blur.label.as_str());
        }
    }
}

/// Jobs hold what belongs to a render device. When that is made anew, so are they.
fn forget_jobs(mut commands: Commands, jobs: Query<Entity, With<CameraJob>>) {
    for entity in &jobs {
        commands.entity(entity).remove::<CameraJob>();
    }
}

fn ends(format: TextureFormat) -> Ends {
    Ends {
        source: format,
        destination: format,
        precision: precision_of(format),
        alpha: BlurAlpha::Premultiplied,
        // Storage usage would have to be asked for, and cameras share a texture only if they ask for the same.
        has_storage: false,
        in_place: true,
    }
}

fn camera_task(blur: &CameraBlur, view: &ExtractedView, camera: &ExtractedCamera, target: &ViewTarget) -> BlurTask {
    let min = view.viewport.truncate().truncate();
    let size = UVec2::new(view.viewport.z, view.viewport.w);
    let viewport = URect::from_corners(min, min + size);
    let whole = URect::from_corners(UVec2::ZERO, camera.physical_target_size.unwrap_or(size));
    BlurTask {
        ends: ends(target.main_texture_format()),
        work: Work::Blur {
            sigma: blur.sigma,
            edge: blur.edge,
        },
        region: viewport.intersect(whole),
        source_size: whole.size(),
    }
}

type RecordedCamera = (&'static ViewTarget, &'static CameraBlur, &'static mut CameraJob);

/// Blurs the current camera if its stage is [`BlurStage::BeforeTonemapping`].
pub fn blur_before_tonemapping(camera: ViewQuery<RecordedCamera>, recorder: BlurRecorder, context: RenderContext) {
    record(BlurStage::BeforeTonemapping, camera, &recorder, context);
}

/// Blurs the current camera if its stage is [`BlurStage::AfterTonemapping`].
pub fn blur_after_tonemapping(camera: ViewQuery<RecordedCamera>, recorder: BlurRecorder, context: RenderContext) {
    record(BlurStage::AfterTonemapping, camera, &recorder, context);
}

/// Blurs the current camera if its stage is [`BlurStage::AfterUi`].
pub fn blur_after_ui(camera: ViewQuery<RecordedCamera>, recorder: BlurRecorder, context: RenderContext) {
    record(BlurStage::AfterUi, camera, &recorder, context);
}

fn record(stage: BlurStage, camera: ViewQuery<RecordedCamera>, recorder: &BlurRecorder, mut context: RenderContext) {
    let (target, blur, mut camera_job) = camera.into_inner();
    if blur.stage != stage || !camera_job.is_due {
        return;
    }
    let view = target.main_texture_view();
    let views = Views {
        attachment: target.get_unsampled_color_attachment(),
        // The main texture is a pair of which either may be the current one.
        turns: 2,
        ..Views::new(view, view)
    };
    camera_job.job.record(recorder, &mut context, Some(&blur.label), &views);
}
