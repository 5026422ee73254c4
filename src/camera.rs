//! Front end: blur what a camera shows.
//!
//! The picture is read from the camera's main texture and written back into it, inside the viewport only. The main
//! texture is not flipped: its other half may belong to another camera of the same target. Under MSAA the resolved
//! texture is meant.

use crate::diagnostics::BlurLabel;
use crate::passes::{BlurJob, BlurPreparer, BlurRecorder, BlurTask, Ends};
use crate::plan::MIN_SIGMA;
use crate::settings::{BlurAlpha, BlurError, BlurStage, EdgeMode, GaussianBlur};
use bevy::camera::Camera;
use bevy::core_pipeline::schedule::{Core2d, Core2dSystems, Core3d, Core3dSystems};
use bevy::core_pipeline::tonemapping::tonemapping;
use bevy::core_pipeline::upscaling::upscaling;
use bevy::ecs::query::QueryItem;
use bevy::ecs::schedule::ScheduleLabel;
use bevy::platform::collections::HashMap;
use bevy::post_process::bloom::bloom;
use bevy::post_process::motion_blur::motion_blur;
use bevy::prelude::*;
use bevy::render::camera::ExtractedCamera;
use bevy::render::extract_component::{ExtractComponent, ExtractComponentPlugin};
use bevy::render::renderer::{RenderContext, ViewQuery};
use bevy::render::sync_component::SyncComponent;
use bevy::render::view::{ExtractedView, ViewTarget};
use bevy::render::{Render, RenderApp, RenderStartup, RenderSystems};
use core::mem::{Discriminant, discriminant};

/// Adds camera blurs to an app.
pub struct BlurCameraPlugin;

/// The places in `Core2d` and `Core3d` where a camera is blurred, one for each [`BlurStage`].
///
/// Order your own render systems against them. Nothing runs in them for a camera without a blur.
#[derive(SystemSet, Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum GaussianBlurSystems {
    /// After the early post-processing and motion blur, before bloom and tonemapping.
    BeforeTonemapping,
    /// After all post-processing, before the user interface.
    AfterTonemapping,
    /// After the user interface, before the picture goes to the camera's target.
    AfterUi,
}

impl Plugin for BlurCameraPlugin {
    fn build(&self, app: &mut App) {
        app.add_plugins(ExtractComponentPlugin::<GaussianBlur, CameraBlur>::default())
            .add_systems(PostUpdate, report_invalid_cameras);

        let Some(render_app) = app.get_sub_app_mut(RenderApp) else {
            return;
        };
        render_app
            .add_systems(RenderStartup, forget_jobs)
            .add_systems(Render, prepare_cameras.in_set(RenderSystems::PrepareBindGroups));
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
    /// The kind of failure that was reported last, so that nothing is reported twice.
    failed: Option<Discriminant<BlurError>>,
}

impl SyncComponent<CameraBlur> for GaussianBlur {
    type Target = (CameraBlur, CameraJob);
}

impl ExtractComponent<CameraBlur> for GaussianBlur {
    type QueryData = (
        &'static Self,
        Option<&'static Camera>,
        Option<&'static BlurStage>,
        Option<&'static BlurLabel>,
    );
    type QueryFilter = ();
    type Out = CameraBlur;

    fn extract_component((blur, camera, stage, label): QueryItem<'_, '_, Self::QueryData>) -> Option<CameraBlur> {
        let camera = camera.filter(|camera| camera.is_active)?;
        let height = camera.physical_viewport_size()?.y;
        let scale_factor = camera.target_scaling_factor().unwrap_or(1.0);
        Some(CameraBlur {
            // A radius out of range is no blur; `report_invalid_cameras` says so.
            sigma: blur.sigma_in_texels(scale_factor, height).unwrap_or(Vec2::ZERO),
            edge: blur.edge,
            stage: stage.copied().unwrap_or_default(),
            // A camera spawned late in a frame is labelled in the next one.
            label: label.cloned().unwrap_or_else(|| BlurLabel::new("blur")),
        })
    }
}

type ChangedCameras = (With<Camera>, Changed<GaussianBlur>);

/// Logs a setting out of range, once until it is back in range.
fn report_invalid_cameras(
    cameras: Query<(Entity, &GaussianBlur, &BlurLabel), ChangedCameras>,
    mut reported: Local<HashMap<Entity, Discriminant<BlurError>>>,
    mut removed: RemovedComponents<GaussianBlur>,
) {
    for entity in removed.read() {
        reported.remove(&entity);
    }
    for (entity, blur, label) in &cameras {
        match blur.sigma_in_texels(1.0, 1) {
            Ok(_) => {
                reported.remove(&entity);
            }
            Err(error) => {
                let kind = discriminant(&error);
                if reported.insert(entity, kind) != Some(kind) {
                    error!("{}: {error}", label.as_str());
                }
            }
        }
    }
}

type BlurredCamera = (
    Entity,
    &'static CameraBlur,
    &'static ExtractedView,
    &'static ExtractedCamera,
    &'static ViewTarget,
    Option<&'static mut CameraJob>,
);

/// Brings the jobs of all blurred cameras up to date.
fn prepare_cameras(mut commands: Commands, mut cameras: Query<BlurredCamera>, mut preparer: BlurPreparer) {
    for (entity, blur, view, camera, target, existing) in &mut cameras {
        let task = camera_task(blur, view, camera, target);
        if let Some(mut existing) = existing {
            existing.update(task, blur, &mut preparer);
        } else {
            preparer.warm_up(task);
            let mut camera_job = CameraJob::default();
            camera_job.update(task, blur, &mut preparer);
            commands.entity(entity).insert(camera_job);
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
        let failed = prepared.as_ref().err().map(discriminant);
        if let Err(error) = prepared
            && self.failed != failed
        {
            error!("{}: {error}", blur.label.as_str());
        }
        self.failed = failed;
    }
}

/// Jobs hold what belongs to a render device. When that is made anew, so are they.
fn forget_jobs(mut commands: Commands, jobs: Query<Entity, With<CameraJob>>) {
    for entity in &jobs {
        commands.entity(entity).remove::<CameraJob>();
    }
}

fn camera_task(blur: &CameraBlur, view: &ExtractedView, camera: &ExtractedCamera, target: &ViewTarget) -> BlurTask {
    let format = target.main_texture_format();
    let min = view.viewport.truncate().truncate();
    let size = UVec2::new(view.viewport.z, view.viewport.w);
    let viewport = URect::from_corners(min, min + size);
    let whole = URect::from_corners(UVec2::ZERO, camera.physical_target_size.unwrap_or(size));
    let region = viewport.intersect(whole);
    BlurTask {
        blur: Some((blur.sigma, blur.edge)),
        region,
        alpha: BlurAlpha::Premultiplied,
        source: format,
        source_size: whole.size(),
        destination: format,
        // Storage usage would have to be asked for, and cameras share a texture only if they ask for the same.
        is_storable: false,
        in_place: true,
    }
}

type RecordedCamera = (
    &'static ExtractedCamera,
    &'static ViewTarget,
    &'static CameraBlur,
    &'static mut CameraJob,
);

fn blur_before_tonemapping(camera: ViewQuery<RecordedCamera>, recorder: BlurRecorder, context: RenderContext) {
    record(BlurStage::BeforeTonemapping, camera, &recorder, context);
}

fn blur_after_tonemapping(camera: ViewQuery<RecordedCamera>, recorder: BlurRecorder, context: RenderContext) {
    record(BlurStage::AfterTonemapping, camera, &recorder, context);
}

fn blur_after_ui(camera: ViewQuery<RecordedCamera>, recorder: BlurRecorder, context: RenderContext) {
    record(BlurStage::AfterUi, camera, &recorder, context);
}

fn record(stage: BlurStage, camera: ViewQuery<RecordedCamera>, recorder: &BlurRecorder, mut context: RenderContext) {
    let (_, target, blur, mut camera_job) = camera.into_inner();
    if blur.stage != stage || !camera_job.is_due {
        return;
    }
    let view = target.main_texture_view();
    let ends = Ends {
        source: view,
        destination: view,
        attachment: target.get_unsampled_color_attachment(),
    };
    camera_job.job.record(recorder, &mut context, &blur.label, &ends);
}
