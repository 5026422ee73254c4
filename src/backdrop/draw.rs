//! Blurs and paints regions in the frame of a camera, and lends its tools to nodes.

use super::extract::Panels;
use super::groups::Group;
use super::jobs::GlassJobs;
use super::paint::Paints;
use super::views::Views;
use crate::diagnostics::label::BlurLabel;
use crate::gpu::{BlurAccess, BlurPipelines};
use bevy::ecs::system::SystemParam;
use bevy::prelude::*;
use bevy::render::camera::ExtractedCamera;
use bevy::render::diagnostic::{DiagnosticsRecorder, RecordDiagnostics};
use bevy::render::render_phase::TrackedRenderPass;
use bevy::render::render_resource::{PipelineCache, RenderPassDescriptor};
use bevy::render::renderer::{RenderContext, ViewQuery};
use bevy::render::sync_world::MainEntity;
use bevy::render::view::ViewTarget;

/// All that it takes to blur and paint. Nothing of it is changed.
#[derive(SystemParam)]
pub struct GlassDrawer<'w> {
    panels: Res<'w, Panels>,
    /// The groups of all cameras.
    pub views: Res<'w, Views>,
    jobs: Res<'w, GlassJobs>,
    paints: Res<'w, Paints>,
    pipelines: Res<'w, BlurPipelines>,
    cache: Res<'w, PipelineCache>,
}

impl GlassDrawer<'_> {
    /// Encodes the blurs of a group, out of what the picture holds now.
    pub fn blur(&self, group: &Group, target: &ViewTarget, context: &mut RenderContext) {
        let source = target.main_texture_view().id();
        // What cannot be painted need not be blurred.
        let painted = group.panels.iter().filter(|index| self.paints.has(**index));
        for job in painted.filter_map(|index| self.jobs.ready(&self.panels.0[*index])) {
            let with = BlurAccess {
                pipelines: &self.pipelines,
                cache: &self.cache,
            };
            job.encode(with, context.command_encoder(), source);
        }
    }

    /// Paints the panels of a group, one over the other.
    pub fn paint<'a>(&'a self, group: &Group, pass: &mut TrackedRenderPass<'a>) {
        for index in &group.panels {
            self.paints.draw(*index, &self.cache, pass);
        }
    }

    /// Whether anything of a group is painted.
    fn has(&self, group: &Group) -> bool {
        group.panels.iter().any(|index| self.paints.has(*index))
    }
}

/// The current camera: its entities in the render world and in the main world, and what it paints into.
pub type GlassView = (Entity, MainEntity, &'static ViewTarget, &'static ExtractedCamera);

/// Opens a pass on a camera's picture, as Bevy's user interface does: on the resolved texture under MSAA, keeping what
/// is there, in the viewport.
pub fn open_pass<'a>(
    context: &'a mut RenderContext<'_, '_>,
    target: &ViewTarget,
    camera: &ExtractedCamera,
) -> TrackedRenderPass<'a> {
    let mut pass = context.begin_tracked_render_pass(RenderPassDescriptor {
        label: Some("gaussian_blur_glass"),
        color_attachments: &[Some(target.get_unsampled_color_attachment())],
        ..default()
    });
    if let Some(viewport) = &camera.viewport {
        pass.set_camera_viewport(viewport);
    }
    pass
}

/// The name of a span of a camera's glass. Where nobody measures, none is put together.
pub fn span_name(recorder: Option<&DiagnosticsRecorder>, camera: Entity, layer: &str) -> String {
    let label = || BlurLabel::new(&format!("backdrop-{}{layer}", camera.index()));
    recorder.map_or_else(String::new, |_| label().span())
}

/// Paints the regions under the user interface of the current camera.
pub fn glass_below_ui(camera: ViewQuery<GlassView>, drawer: GlassDrawer, context: RenderContext) {
    let view = camera.into_inner();
    if let Some(groups) = drawer.views.0.get(&view.0) {
        draw_regions(&groups.below, "-below-ui", view, &drawer, context);
    }
}

/// Paints the regions over the user interface of the current camera.
pub fn glass_above_ui(camera: ViewQuery<GlassView>, drawer: GlassDrawer, context: RenderContext) {
    let view = camera.into_inner();
    if let Some(groups) = drawer.views.0.get(&view.0) {
        draw_regions(&groups.above, "-above-ui", view, &drawer, context);
    }
}

/// Each group is blurred as a whole and then painted, so the next one sees it.
fn draw_regions(
    groups: &[Group],
    layer: &str,
    (_, main_entity, target, camera): (Entity, Entity, &ViewTarget, &ExtractedCamera),
    drawer: &GlassDrawer,
    mut context: RenderContext,
) {
    if !groups.iter().any(|group| drawer.has(group)) {
        return;
    }
    let recorder = context.diagnostic_recorder();
    let recorder = recorder.as_deref();
    let name = span_name(recorder, main_entity, layer);
    let whole = recorder.time_span(context.command_encoder(), name);
    for group in groups {
        drawer.blur(group, target, &mut context);
        drawer.paint(group, &mut open_pass(&mut context, target, camera));
    }
    whole.end(context.command_encoder());
}
