//! Front end: filters of the user interface (feature `ui`).
//!
//! Glass blurs the picture below a node. A filter changes the picture of the node itself and its descendants, the *group*. In the
//! order of a frame:
//!
//! 1. [`clips`] finds the groups in the main world, and removes the clips of a group's ancestors from the nodes inside it;
//! 2. [`extract`] extracts the groups, and [`queue`] adds one item for each group to the items of the user interface;
//! 3. [`arrange`] computes where the items of each group paint, and places the group's [`stages`] on pages;
//! 4. [`prepare_blurs`] and [`prepare_draws`] prepare blurs and draws;
//! 5. [`split_phases`] copies the items of groups into separate lists, and makes the camera's phase skip them;
//! 6. [`encode`] paints and blurs the groups, the innermost first. [`turns`] does so for groups that contain glass, each as soon as
//!    everything below it is painted. The item of a group paints its result.
//!
//! # Why groups are painted over transparent black
//!
//! All pipelines of Bevy's user interface blend with `ALPHA_BLENDING`. Over transparent black they therefore paint the group's
//! picture with its colour multiplied by alpha. Blending this picture by (One, OneMinusSrcAlpha) gives the same result as painting
//! the items one by one.

mod arrange;
mod clips;
mod encode;
mod extract;
mod frames;
pub(crate) mod pipelines;
mod prepare_blurs;
mod prepare_draws;
mod queue;
mod rects;
mod split_phases;
mod stage;
mod stages;
mod turns;
mod uniform;
mod validation;
mod warm_up;

use crate::backdrop::bounds::MaterialBounds;
use crate::backdrop::materials::CollectBounds;
use crate::backdrop::nested::PaintGroup;
use crate::backdrop::{backdrops_among_ui, extract_gradient_boxes};
use crate::settings::UiFilter;
use crate::systems::GaussianBlurSystems as Systems;
use bevy::asset::embedded_asset;
use bevy::core_pipeline::schedule::{Core2d, Core3d};
use bevy::ecs::schedule::ScheduleLabel;
use bevy::prelude::*;
use bevy::render::render_phase::{AddRenderCommand, DrawFunctions};
use bevy::render::{ExtractSchedule, GpuResourceAppExt, Render, RenderApp, RenderStartup, RenderSystems};
use bevy::ui::UiSystems;
use bevy::ui_render::TransparentUi;

pub use encode::filter_ui;

/// Adds filters of the user interface to an app.
pub struct UiFilterPlugin;

impl Plugin for UiFilterPlugin {
    fn build(&self, app: &mut App) {
        embedded_asset!(app, "shaders/backdrop/filter.wgsl");
        let switch = clips::FilterSwitch::default();
        app.register_type::<UiFilter>()
            .insert_resource(switch.clone())
            .init_resource::<clips::FilteredGroups>()
            .add_plugins(validation::FilterValidationPlugin)
            .add_systems(
                PostUpdate,
                clips::find_groups.after(UiSystems::PostLayout).after(UiSystems::Stack),
            );
        if let Some(render_app) = app.get_sub_app_mut(RenderApp) {
            render_app.insert_resource(switch);
        }
    }

    /// Bevy's user interface may be added after this plugin.
    fn finish(&self, app: &mut App) {
        if let Some(render_app) = app.get_sub_app_mut(RenderApp)
            && render_app.world().contains_resource::<DrawFunctions<TransparentUi>>()
        {
            add_to(render_app);
        }
    }
}

fn add_to(app: &mut SubApp) {
    app.init_resource::<extract::ExtractedFilters>()
        .init_resource::<arrange::ArrangedFilters>()
        .init_resource::<split_phases::GroupItems>()
        .insert_resource(PaintGroup(turns::paint_group))
        .allow_ambiguous_resource::<split_phases::GroupItems>()
        .init_gpu_resource::<warm_up::FilterUse>()
        .init_gpu_resource::<prepare_blurs::FilterBlurs>()
        .init_gpu_resource::<prepare_draws::FilterDraws>()
        .add_render_command::<TransparentUi, queue::PaintFilter>()
        .add_systems(RenderStartup, pipelines::init_pipelines)
        .add_systems(
            ExtractSchedule,
            (
                warm_up::extract_use,
                extract::extract_filters.before(extract_gradient_boxes),
            ),
        )
        .add_systems(
            Render,
            (
                queue::queue_filters.in_set(RenderSystems::Queue),
                arrange::arrange_filters
                    .after(RenderSystems::PhaseSort)
                    .after(CollectBounds)
                    .before(RenderSystems::PrepareResources),
                (
                    warm_up::announce_filters,
                    warm_up::switch_filters,
                    warm_up::wait_for_filters,
                    prepare_blurs::update_blurs,
                    prepare_draws::update_draws,
                )
                    .chain()
                    .in_set(RenderSystems::PrepareBindGroups),
                split_phases::split_phases
                    .after(RenderSystems::PrepareBindGroups)
                    .before(RenderSystems::Render),
                split_phases::restore_items.in_set(RenderSystems::Cleanup),
            ),
        )
        .allow_ambiguous_resource::<MaterialBounds>();
    add_to_schedule(app, Core2d);
    add_to_schedule(app, Core3d);
}

fn add_to_schedule(app: &mut SubApp, schedule: impl ScheduleLabel) {
    app.add_systems(schedule, filter_ui.before(backdrops_among_ui).in_set(Systems::Backdrop));
}

#[cfg(test)]
mod tests;
