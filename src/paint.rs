//! Executes schedules: paints glass and filtered groups. In the order of a frame:
//!
//! 1. front ends fill [`inputs`], and [`items`] puts glass and groups among the items of Bevy's user interface;
//! 2. [`readiness`] queues pipelines, and [`plan_cameras`] plans every camera;
//! 3. [`blurs`] prepares the blurs, and [`draws`] the draw calls;
//! 4. [`items`] takes the items that are painted elsewhere out of Bevy's pass;
//! 5. [`encode`] encodes the steps of each schedule.
//!
//! A blur defers its last step, the way back to full resolution, to the shader that paints. So this step writes only visible pixels,
//! and pixels without glass keep their bits.

mod blurs;
mod bounds;
mod draws;
mod encode;
mod figures;
mod inputs;
mod items;
pub(crate) mod pipelines;
mod plan_cameras;
mod readiness;
pub(crate) mod ui_clip;
pub(crate) mod uniform;
mod views;

use crate::freeze::extract_freezes;
use crate::profiles::follow_profiles;
use crate::systems::GaussianBlurSystems as Systems;
use bevy::asset::embedded_asset;
use bevy::core_pipeline::schedule::{Core2d, Core2dSystems, Core3d, Core3dSystems};
use bevy::core_pipeline::upscaling::upscaling;
use bevy::ecs::schedule::ScheduleLabel;
use bevy::prelude::*;
use bevy::render::render_phase::{AddRenderCommand, DrawFunctions};
use bevy::render::{ExtractSchedule, GpuResourceAppExt, Render, RenderApp, RenderStartup, RenderSystems};
use bevy::ui_render::{TransparentUi, ui_pass};

pub use bounds::BackdropMaterialPlugin;
pub use encode::{backdrops_above_ui, backdrops_below_ui};
pub use inputs::{PaintInputs, PaintSystems, UiCameras, picture_of};

/// Adds the painting of glass and filters to an app, whose pipelines may compile before either is used.
pub fn plugin(app: &mut App, precompiles: bool) {
    embedded_asset!(app, "shaders/paint/paint.wgsl");
    let Some(render_app) = app.get_sub_app_mut(RenderApp) else {
        return;
    };
    render_app
        .insert_resource(readiness::PaintUse::new(precompiles))
        .init_resource::<PaintInputs>()
        .init_gpu_resource::<draws::Draws>()
        .add_systems(RenderStartup, pipelines::init_pipelines)
        .configure_sets(
            ExtractSchedule,
            PaintSystems::Extract.after(start_extraction).after(extract_freezes),
        )
        .add_systems(
            ExtractSchedule,
            (readiness::extract_use.before(follow_profiles), start_extraction),
        )
        .add_systems(
            Render,
            (
                (
                    readiness::announce,
                    readiness::compile_at_once,
                    plan_cameras::plan_cameras,
                )
                    .chain()
                    .after(RenderSystems::PhaseSort)
                    .before(RenderSystems::PrepareResources),
                (blurs::update_blurs, figures::count_backdrops, draws::update_draws)
                    .chain()
                    .in_set(RenderSystems::PrepareBindGroups),
            ),
        );
    add_to(render_app, Core2d, Core2dSystems::PostProcess);
    add_to(render_app, Core3d, Core3dSystems::PostProcess);
}

/// Removes the glass and the filters of the last frame.
pub fn start_extraction(mut inputs: ResMut<PaintInputs>) {
    inputs.clear();
}

/// Adds the systems of a kind of camera to its schedule. Encoded commands are submitted in the order of the schedule, so every order
/// must be explicit.
fn add_to<S: SystemSet>(app: &mut SubApp, schedule: impl ScheduleLabel + Clone, post: S) {
    app.configure_sets(
        schedule.clone(),
        (
            Systems::Backdrop
                .after(post)
                .after(Systems::AfterTonemapping)
                .before(ui_pass)
                .before(Systems::BackdropAboveUi),
            Systems::BackdropAboveUi
                .after(ui_pass)
                .before(Systems::AfterUi)
                .before(upscaling),
        ),
    );
    app.add_systems(
        schedule,
        (
            backdrops_below_ui.in_set(Systems::Backdrop),
            backdrops_above_ui.in_set(Systems::BackdropAboveUi),
        ),
    );
}

/// Adds the systems of items, if the app has Bevy's user interface, which may be added after this crate's plugin.
pub fn finish(app: &mut App) {
    let render_app = app.get_sub_app_mut(RenderApp);
    let has_ui = |app: &&mut SubApp| app.world().contains_resource::<DrawFunctions<TransparentUi>>();
    let Some(render_app) = render_app.filter(has_ui) else {
        return;
    };
    render_app
        .init_resource::<bounds::GradientBoxes>()
        .init_resource::<bounds::MaterialBounds>()
        .allow_ambiguous_resource::<bounds::MaterialBounds>()
        .add_render_command::<TransparentUi, items::PaintItem>()
        .configure_sets(Render, PaintSystems::CollectBounds.before(plan_cameras::plan_cameras))
        .add_systems(
            ExtractSchedule,
            bounds::extract_gradient_boxes.after(PaintSystems::Extract),
        )
        .add_systems(
            Render,
            (
                items::queue_items.in_set(RenderSystems::Queue),
                views::show_views
                    .after(plan_cameras::plan_cameras)
                    .before(RenderSystems::PrepareResources),
                items::split_phases
                    .after(RenderSystems::PrepareBindGroups)
                    .before(RenderSystems::Render),
                (items::restore_phases, bounds::forget_bounds).in_set(RenderSystems::Cleanup),
            ),
        );
}
