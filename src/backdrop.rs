//! Front end: blur what lies behind glass.
//!
//! Glass is a node of Bevy's user interface or a region of a camera's viewport. Both become backdrops, which are the same
//! from then on. In the order of a frame:
//!
//! 1. [`extract`] and [`nodes`] extract visible glass, and [`stacks`] reports pictures that glass should see but does not;
//! 2. [`queue`] puts the glass of nodes among the items of the user interface;
//! 3. [`camera_groups`] and [`node_groups`] form [`groups`]: backdrops that are blurred together;
//! 4. [`warm_up`] queues pipelines, [`prepare_blurs`] prepares the blurs, and [`prepare_draws`] the draws;
//! 5. [`encode_regions`] and [`split_ui_pass`] encode both.
//!
//! A blur reads the camera's picture and defers its last step, the way back to full resolution, to the shader that
//! paints the glass. So this step writes only visible pixels, and pixels without glass keep their bits.

#[cfg(feature = "ui")]
pub(crate) mod bounds;
mod camera_groups;
pub(crate) mod canvas;
mod cells;
#[cfg(feature = "ui")]
pub(crate) mod clip;
pub(crate) mod encode_regions;
pub(crate) mod extract;
pub(crate) mod extracted;
mod freeze;
mod groups;
mod job;
#[cfg(feature = "ui")]
pub(crate) mod materials;
#[cfg(feature = "ui")]
pub(crate) mod nested;
#[cfg(feature = "ui")]
pub(crate) mod node_groups;
#[cfg(feature = "ui")]
mod nodes;
mod paint_order;
pub(crate) mod pipelines;
pub(crate) mod prepare_blurs;
mod prepare_draws;
#[cfg(feature = "ui")]
pub(crate) mod queue;
mod share;
#[cfg(feature = "ui")]
mod split_ui_pass;
mod stacks;
mod stats;
pub(crate) mod uniform;
mod validation;
mod warm_up;

use crate::systems::GaussianBlurSystems as Systems;
use bevy::asset::embedded_asset;
use bevy::core_pipeline::schedule::{Core2d, Core2dSystems, Core3d, Core3dSystems};
use bevy::core_pipeline::upscaling::upscaling;
use bevy::ecs::schedule::ScheduleLabel;
use bevy::prelude::*;
use bevy::render::{ExtractSchedule, GpuResourceAppExt, Render, RenderApp, RenderStartup, RenderSystems};

pub use encode_regions::{backdrops_above_ui, backdrops_below_ui};
#[cfg(feature = "ui")]
pub use materials::BackdropMaterialPlugin;
#[cfg(feature = "ui")]
pub(crate) use nodes::{FilteredNode, FilteredNodes, extract_gradient_boxes};
#[cfg(feature = "ui")]
pub(crate) use split_ui_pass::{Skip, skip};
#[cfg(feature = "ui")]
pub use split_ui_pass::{backdrops_among_ui, restore_skipped, skip_drawn};
#[cfg(feature = "ui")]
pub(crate) use warm_up::wait;

/// Adds backdrop blurs to an app.
pub struct BackdropPlugin;

impl Plugin for BackdropPlugin {
    fn build(&self, app: &mut App) {
        embedded_asset!(app, "shaders/backdrop/backdrop.wgsl");
        app.add_plugins(validation::BackdropValidationPlugin);
        #[cfg(feature = "ui")]
        app.init_resource::<nodes::FilteredNodes>();
        let Some(render_app) = app.get_sub_app_mut(RenderApp) else {
            return;
        };
        render_app
            .init_resource::<extract::ExtractedBackdrops>()
            .init_resource::<freeze::FrozenBackdrops>()
            .init_resource::<camera_groups::CameraGroups>()
            .init_gpu_resource::<warm_up::BackdropUse>()
            .init_gpu_resource::<prepare_blurs::BackdropJobs>()
            .init_gpu_resource::<prepare_draws::Paints>()
            .add_systems(RenderStartup, (pipelines::init_pipelines, freeze::lose_pictures))
            .add_systems(
                ExtractSchedule,
                (
                    warm_up::extract_use,
                    (freeze::extract_frozen, extract::extract_regions, stacks::report_unseen).chain(),
                ),
            )
            .add_systems(
                Render,
                (
                    camera_groups::group_regions.in_set(RenderSystems::PrepareResources),
                    (
                        warm_up::announce_backdrops,
                        warm_up::wait_for_backdrops,
                        prepare_blurs::update_jobs,
                        freeze::count_pictures,
                        stats::count_backdrops,
                        prepare_draws::update_paints,
                    )
                        .chain()
                        .in_set(RenderSystems::PrepareBindGroups),
                ),
            );
        add_regions(render_app, Core2d, Core2dSystems::PostProcess);
        add_regions(render_app, Core3d, Core3dSystems::PostProcess);
    }

    /// Bevy's user interface may be added after this plugin, and items need its draw functions.
    #[cfg(feature = "ui")]
    fn finish(&self, app: &mut App) {
        if let Some(render_app) = app.get_sub_app_mut(RenderApp) {
            add_nodes(render_app);
        }
    }
}

/// Adds the systems of regions to the schedule of a kind of camera.
fn add_regions<S: SystemSet>(app: &mut SubApp, schedule: impl ScheduleLabel + Clone, post: S) {
    app.configure_sets(
        schedule.clone(),
        (
            Systems::Backdrop
                .after(post)
                .after(Systems::AfterTonemapping)
                .before(Systems::BackdropAboveUi),
            Systems::BackdropAboveUi.before(Systems::AfterUi).before(upscaling),
        ),
    );
    #[cfg(feature = "ui")]
    app.configure_sets(
        schedule.clone(),
        (
            Systems::Backdrop.before(bevy::ui_render::ui_pass),
            Systems::BackdropAboveUi.after(bevy::ui_render::ui_pass),
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

/// Adds the systems of nodes, if the app has Bevy's user interface.
#[cfg(feature = "ui")]
fn add_nodes(app: &mut SubApp) {
    use bevy::render::render_phase::{AddRenderCommand, DrawFunctions};
    use bevy::ui_render::TransparentUi;
    if !app.world().contains_resource::<DrawFunctions<TransparentUi>>() {
        return;
    }
    app.init_resource::<nodes::GradientBoxes>()
        .init_resource::<bounds::MaterialBounds>()
        .init_resource::<extract::BoundsWanted>()
        .init_resource::<nested::OutermostGroups>()
        .init_resource::<split_ui_pass::Skipped>()
        // No other code uses it, so the order of other systems does not matter.
        .allow_ambiguous_resource::<split_ui_pass::Skipped>()
        .add_render_command::<TransparentUi, queue::PaintBackdrop>()
        .add_render_command::<TransparentUi, queue::PaintHole>()
        .add_systems(
            ExtractSchedule,
            (nodes::extract_nodes, nodes::extract_gradient_boxes)
                .chain()
                .after(extract::extract_regions)
                .before(stacks::report_unseen),
        )
        .add_systems(
            Render,
            (
                queue::queue_backdrops.in_set(RenderSystems::Queue),
                node_groups::group_nodes
                    .after(camera_groups::group_regions)
                    .in_set(RenderSystems::PrepareResources),
                (restore_skipped, materials::forget_bounds).in_set(RenderSystems::Cleanup),
            ),
        );
    add_nodes_to(app, Core2d);
    add_nodes_to(app, Core3d);
}

/// Adds the systems of nodes to the schedule of a kind of camera. Encoded commands are submitted in the order of the
/// schedule, so every order must be explicit.
#[cfg(feature = "ui")]
fn add_nodes_to(app: &mut SubApp, schedule: impl ScheduleLabel + Clone) {
    app.add_systems(
        schedule,
        (
            (backdrops_among_ui, skip_drawn)
                .chain()
                .after(backdrops_below_ui)
                .in_set(Systems::Backdrop),
            restore_skipped
                .before(backdrops_above_ui)
                .in_set(Systems::BackdropAboveUi),
        ),
    );
}

#[cfg(test)]
mod tests;
