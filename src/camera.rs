//! Front end: blur a camera's picture.
//!
//! The blur reads the picture from the camera's main texture and writes it back, inside the viewport only. It does not
//! flip the main texture: the other half may belong to another camera of the same target. With MSAA it uses the
//! resolved texture.

use crate::diagnostics::label::BlurLabel;
use crate::formats::dither::Dither;
use crate::formats::{CameraFinish, CameraPicture, CameraPictureItem, Ends, USUAL_PICTURES};
use crate::freeze::{KeptPictures, extract_freezes};
use crate::gpu::{
    BlurJobs, BlurPreparer, BlurRecorder, BlurRequest, JobKey, Timed, Views, Work, WorkKind, texture_size,
};
use crate::plan::Finish;
use crate::profiles::ShownProfiles;
use crate::settings::{BlurProfile, BlurStage, BlurSwitch, EdgeMode, GaussianBlur};
use crate::sigma_field::SigmaField;
use crate::systems::GaussianBlurSystems;
use bevy::camera::{CameraUpdateSystems, RenderTarget};
use bevy::core_pipeline::schedule::{Core2d, Core2dSystems, Core3d, Core3dSystems};
use bevy::core_pipeline::tonemapping::{DebandDither, tonemapping};
use bevy::core_pipeline::upscaling::upscaling;
use bevy::ecs::entity::EntityHashMap;
use bevy::ecs::schedule::ScheduleLabel;
use bevy::math::Affine2;
use bevy::post_process::bloom::bloom;
use bevy::post_process::motion_blur::motion_blur;
use bevy::prelude::*;
use bevy::render::render_resource::TextureFormat;
use bevy::render::renderer::{RenderContext, ViewQuery};
use bevy::render::sync_world::RenderEntity;
use bevy::render::view::ViewTarget;
use bevy::render::{Extract, ExtractSchedule, Render, RenderApp, RenderSystems};

/// Adds camera blurs to an app.
pub fn plugin(app: &mut App) {
    app.add_systems(PostUpdate, notice_targets.before(CameraUpdateSystems));
    let Some(render_app) = app.get_sub_app_mut(RenderApp) else {
        return;
    };
    render_app
        .init_resource::<CameraBlurs>()
        .add_systems(ExtractSchedule, extract_cameras.after(extract_freezes))
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

/// Makes Bevy look at the size of a target that a camera was given: it does so only when the projection changes.
fn notice_targets(mut cameras: Query<&mut Projection, (With<Camera>, Changed<RenderTarget>)>) {
    cameras.iter_mut().for_each(|mut projection| projection.set_changed());
}

/// Adds the three stages to the schedule of a kind of camera.
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

/// The blurs of this frame, by the render world's entities of their cameras.
#[derive(Resource, Default)]
pub struct CameraBlurs(EntityHashMap<CameraBlur>);

/// A camera's blur in the render world, in texels.
struct CameraBlur {
    /// The main world's entity.
    entity: Entity,
    sigma: Vec2,
    edge: EdgeMode,
    /// The share of sigma of each texel, `None` if it is the same everywhere.
    field: Option<SigmaField>,
    stage: BlurStage,
    /// Whether the picture holds light at that stage, rather than display values.
    is_light: bool,
    /// Whether it is dithered if it ends in eight bits.
    dithers: bool,
    /// A label that is inserted late in a frame arrives in the next one.
    label: Option<BlurLabel>,
    /// Whether its sigma varies, or will once its mask exists.
    varies: bool,
}

type BlurredCamera = (
    Entity,
    RenderEntity,
    &'static GaussianBlur,
    &'static Camera,
    Option<&'static BlurProfile>,
    Option<&'static BlurStage>,
    CameraFinish,
    Option<&'static BlurLabel>,
);

/// Extracts the blurs of all active cameras.
fn extract_cameras(
    mut blurs: ResMut<CameraBlurs>,
    cameras: Extract<Query<BlurredCamera>>,
    switch: Extract<Res<BlurSwitch>>,
    kept: Res<KeptPictures>,
    profiles: Res<ShownProfiles>,
) {
    blurs.0.clear();
    for (entity, render_entity, blur, camera, profile, stage, finish, label) in
        cameras.iter().filter(|_| switch.is_on())
    {
        let Some(viewport) = camera.physical_viewport_rect().filter(|_| camera.is_active) else {
            continue;
        };
        let placement = Affine2::from_translation(viewport.min.as_vec2());
        // A kept picture holds what the camera had painted at its stage.
        let stage = kept.stage(entity).or(stage.copied()).unwrap_or_default();
        let scale_factor = camera.target_scaling_factor().unwrap_or(1.0);
        let extracted = CameraBlur {
            entity,
            // An invalid radius is no blur; another system reports it.
            sigma: blur
                .sigma_in_texels(scale_factor, viewport.height())
                .unwrap_or(Vec2::ZERO),
            edge: blur.edge,
            field: SigmaField::new(profiles.get(entity), viewport.size().as_vec2(), placement),
            stage,
            is_light: stage == BlurStage::BeforeTonemapping || finish.is_light(),
            // Before tonemapping it is not needed: tonemapping adds its noise after the blur.
            dithers: stage != BlurStage::BeforeTonemapping && finish.dithers(),
            label: label.cloned(),
            varies: profile.is_some_and(|profile| !profile.is_uniform()),
        };
        blurs.0.insert(render_entity, extracted);
    }
}

/// Requests the programs of every camera, blurred or not, with its dynamic range and with the other. The programs of
/// the usual cameras are requested from the first frame on, so that they are compiled before the first camera appears.
///
/// The programs of varying blurs are requested with the first profile: most apps have none.
fn announce_cameras(
    cameras: Query<(CameraPicture, Option<&ViewTarget>, Option<&DebandDither>)>,
    blurs: Res<CameraBlurs>,
    mut preparer: BlurPreparer,
    mut announced: Local<Vec<(TextureFormat, Dither)>>,
) {
    for format in USUAL_PICTURES {
        // `Camera3d` dithers, and most outputs have eight bits, encoded as sRGB.
        announce(&mut preparer, format, Dither::Encoded, false);
    }
    let varies = blurs.0.values().any(|blur| blur.varies);
    announced.clear();
    for (picture, target, dither) in &cameras {
        let dithers = dither == Some(&DebandDither::Enabled);
        let output = target.and_then(ViewTarget::out_texture_view_format);
        for format in picture.formats() {
            let dither = dither_of(dithers, format, &picture, output);
            if !announced.contains(&(format, dither)) {
                announced.push((format, dither));
                announce(&mut preparer, format, dither, varies);
            }
        }
    }
}

/// Requests the programs for pictures of a format: light and display values, dithered and not, and the one that paints the kept
/// pictures of frozen cameras.
fn announce(preparer: &mut BlurPreparer, format: TextureFormat, dither: Dither, varies: bool) {
    preparer.announce(Ends::new(format, format), WorkKind::Copy, Finish::Write);
    for is_light in [false, true] {
        let ends = Ends::of_camera(format, is_light);
        for ends in [ends, Ends { dither, ..ends }] {
            preparer.announce(ends, WorkKind::Blur, Finish::Write);
            if varies {
                preparer.announce(ends, WorkKind::Vary, Finish::Write);
            }
        }
    }
}

/// Updates the jobs of all blurred cameras.
fn prepare_cameras(
    cameras: Query<(Entity, CameraPicture, &ViewTarget)>,
    blurs: Res<CameraBlurs>,
    mut jobs: ResMut<BlurJobs>,
    mut kept: ResMut<KeptPictures>,
    mut preparer: BlurPreparer,
) {
    for (camera, picture, target) in &cameras {
        let Some(blur) = blurs.0.get(&camera) else {
            continue;
        };
        let request = camera_request(blur, &picture, target);
        if kept.prepare_camera(blur.entity, blur.stage, &request, &picture, target, &mut preparer) {
            jobs.rest(JobKey::Camera(blur.entity));
        } else if let Err(error) = jobs.want(JobKey::Camera(blur.entity), request, &[], &mut preparer) {
            error!("{}: {error}", blur.label.as_ref().map_or("blur", BlurLabel::as_str));
        }
    }
}

/// How a camera's picture is dithered if it has this format.
fn dither_of(
    dithers: bool,
    format: TextureFormat,
    picture: &CameraPictureItem,
    output: Option<TextureFormat>,
) -> Dither {
    if dithers {
        Dither::of_camera(format, output, picture.space())
    } else {
        Dither::Off
    }
}

fn camera_request(blur: &CameraBlur, picture: &CameraPictureItem, target: &ViewTarget) -> BlurRequest {
    let [x, y, width, height] = picture.view.viewport.to_array();
    let viewport = URect::new(x, y, x + width, y + height);
    // Cameras of one target share a texture, whatever size they believe in.
    let texture = target.main_texture();
    let whole = URect::from_corners(UVec2::ZERO, texture_size(texture));
    let format = target.main_texture_format();
    let region = viewport.intersect(whole);
    let ends = Ends {
        dither: dither_of(blur.dithers, format, picture, target.out_texture_view_format()),
        ..Ends::of_camera(format, blur.is_light)
    };
    let work = Work::Blur {
        sigma: blur.sigma,
        edge: blur.edge,
        field: blur.field.clone(),
    };
    BlurRequest {
        region,
        bounds: region,
        ..BlurRequest::whole(ends, texture.id(), work, whole.size(), whole.size())
    }
}

/// The current camera.
pub type RecordedCamera = (Entity, &'static ViewTarget);

/// Everything that recording the blur of a camera requires. A tuple, because a derived parameter with resources of the GPU takes seconds
/// to compile.
pub type CameraRecorder<'w> = (
    Res<'w, CameraBlurs>,
    ResMut<'w, BlurJobs>,
    ResMut<'w, KeptPictures>,
    BlurRecorder<'w>,
);

/// Blurs the current camera if its stage is [`BlurStage::BeforeTonemapping`].
pub fn blur_before_tonemapping(camera: ViewQuery<RecordedCamera>, with: CameraRecorder, context: RenderContext) {
    record(BlurStage::BeforeTonemapping, camera, with, context);
}

/// Blurs the current camera if its stage is [`BlurStage::AfterTonemapping`].
pub fn blur_after_tonemapping(camera: ViewQuery<RecordedCamera>, with: CameraRecorder, context: RenderContext) {
    record(BlurStage::AfterTonemapping, camera, with, context);
}

/// Blurs the current camera if its stage is [`BlurStage::AfterUi`].
pub fn blur_after_ui(camera: ViewQuery<RecordedCamera>, with: CameraRecorder, context: RenderContext) {
    record(BlurStage::AfterUi, camera, with, context);
}

fn record(
    stage: BlurStage,
    camera: ViewQuery<RecordedCamera>,
    (blurs, mut jobs, mut kept, recorder): CameraRecorder,
    mut context: RenderContext,
) {
    let (camera, target) = camera.into_inner();
    let Some(blur) = blurs.0.get(&camera).filter(|blur| blur.stage == stage) else {
        return;
    };
    let Some(job) = jobs.get_mut(JobKey::Camera(blur.entity)) else {
        return;
    };
    let (context, label) = (&mut context, blur.label.as_ref());
    if !kept.record_camera(blur.entity, job, &recorder, context, label, target) {
        job.record(&recorder, context, Timed::whole(label), &Views::in_camera(target));
    }
}
