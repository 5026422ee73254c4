//! Encodes the blurs and draws of regions in a camera's schedule. Nodes use the same tools.

use super::camera_groups::CameraGroups;
use super::extract::ExtractedBackdrops;
use super::extracted::ExtractedBackdrop;
use super::freeze::FrozenBackdrops;
use super::groups::Group;
use super::prepare_blurs::BackdropJobs;
use super::prepare_draws::Paints;
use crate::diagnostics::label::BlurLabel;
use crate::diagnostics::timestamps::{PassTimer, measured};
use crate::gpu::{BlurAccess, BlurPipelines};
use crate::settings::BackdropLayer;
use bevy::ecs::system::SystemParam;
#[cfg(feature = "ui")]
use bevy::math::URect;
use bevy::prelude::*;
use bevy::render::camera::ExtractedCamera;
use bevy::render::diagnostic::RecordDiagnostics;
use bevy::render::render_phase::TrackedRenderPass;
use bevy::render::render_resource::{PipelineCache, RenderPassDescriptor, TextureView};
use bevy::render::renderer::{RenderContext, ViewQuery};
use bevy::render::sync_world::MainEntity;
use bevy::render::view::ViewTarget;

/// Everything that blurring and painting require, with shared access only.
#[derive(SystemParam)]
pub struct BackdropDrawer<'w> {
    backdrops: Res<'w, ExtractedBackdrops>,
    /// The groups of all cameras.
    pub grouped: Res<'w, CameraGroups>,
    jobs: Res<'w, BackdropJobs>,
    frozen: Res<'w, FrozenBackdrops>,
    paints: Res<'w, Paints>,
    pipelines: Res<'w, BlurPipelines>,
    cache: Res<'w, PipelineCache>,
    timer: Option<Res<'w, PassTimer>>,
}

impl BackdropDrawer<'_> {
    /// Encodes the blurs of a group, which read what the camera's picture holds now. With a label, they are timed.
    pub fn blur(&self, group: &Group, label: Option<&BlurLabel>, target: &ViewTarget, context: &mut RenderContext) {
        self.blur_from(group, label, (target.main_texture_view(), UVec2::ZERO), context);
    }

    /// The same from any texture, whose first texel is the texel `origin` of the camera's picture.
    pub fn blur_from(
        &self,
        group: &Group,
        label: Option<&BlurLabel>,
        (source, origin): (&TextureView, UVec2),
        context: &mut RenderContext,
    ) {
        for backdrop in self.to_take(group) {
            self.frozen
                .take(backdrop.entity, source.texture(), origin, context.command_encoder());
        }
        // What cannot be painted need not be blurred.
        if !self.has(group) {
            return;
        }
        for job in self.jobs.of_group(group, &self.backdrops) {
            let with = BlurAccess {
                pipelines: &self.pipelines,
                cache: &self.cache,
                timer: self.timer.as_deref(),
            };
            job.encode(with, context.command_encoder(), label, source.id());
        }
    }

    /// The group of a backdrop inside a filtered group, by the backdrop's index, with the page that its blur reads and the texels
    /// of the camera's picture that the page must hold, `None` if the blur reads a picture that it has kept.
    #[cfg(feature = "ui")]
    pub fn nested(&self, camera: Entity, backdrop: usize) -> Option<(&Group, &TextureView, Option<URect>)> {
        let nested = &self.grouped.0.get(&camera)?.nested;
        let group = nested.iter().find(|group| group.backdrops.contains(&backdrop))?;
        let needs = self.jobs.needs(backdrop, &self.backdrops);
        Some((group, self.jobs.nested(camera)?, needs))
    }

    /// Paints the backdrops of a group, one over the other.
    pub fn paint<'a>(&'a self, group: &Group, pass: &mut TrackedRenderPass<'a>) {
        for index in &group.backdrops {
            self.paints.draw(*index, &self.cache, pass);
        }
    }

    /// The frozen backdrops of a group whose pictures have yet to be taken.
    fn to_take(&self, group: &Group) -> impl Iterator<Item = &ExtractedBackdrop> {
        let backdrops = group.backdrops.iter().map(|index| &self.backdrops.0[*index]);
        backdrops.filter(|backdrop| backdrop.freeze.is_some_and(|freeze| !freeze.is_taken))
    }

    /// Whether anything of a group is painted.
    fn has(&self, group: &Group) -> bool {
        group.backdrops.iter().any(|index| self.paints.has(*index))
    }
}

/// The current camera: its entities in the render world and in the main world, and what it paints into.
pub type BackdropView = (Entity, MainEntity, &'static ViewTarget, &'static ExtractedCamera);

/// Opens a pass on a camera's picture, as Bevy's user interface does: on the resolved texture under MSAA, keeping what
/// is there, in the viewport.
pub fn open_pass<'a>(
    context: &'a mut RenderContext<'_, '_>,
    target: &ViewTarget,
    camera: &ExtractedCamera,
) -> TrackedRenderPass<'a> {
    let mut pass = context.begin_tracked_render_pass(RenderPassDescriptor {
        label: Some("gaussian_blur_backdrop"),
        color_attachments: &[Some(target.get_unsampled_color_attachment())],
        ..default()
    });
    if let Some(viewport) = &camera.viewport {
        pass.set_camera_viewport(viewport);
    }
    pass
}

/// The name of a label's span. Without a label nothing is measured, and the name is empty.
pub fn span_name(label: Option<&BlurLabel>) -> String {
    label.map_or_else(String::new, BlurLabel::span)
}

/// Paints the regions under the user interface of the current camera.
pub fn backdrops_below_ui(camera: ViewQuery<BackdropView>, drawer: BackdropDrawer, context: RenderContext) {
    let view = camera.into_inner();
    if let Some(groups) = drawer.grouped.0.get(&view.0) {
        draw_regions(&groups.below, BackdropLayer::BelowUi, view, &drawer, context);
    }
}

/// Paints the regions over the user interface of the current camera.
pub fn backdrops_above_ui(camera: ViewQuery<BackdropView>, drawer: BackdropDrawer, context: RenderContext) {
    let view = camera.into_inner();
    if let Some(groups) = drawer.grouped.0.get(&view.0) {
        draw_regions(&groups.above, BackdropLayer::AboveUi, view, &drawer, context);
    }
}

/// Each group is blurred as a whole and then painted, so the next one sees it.
fn draw_regions(
    groups: &[Group],
    layer: BackdropLayer,
    (_, main_entity, target, camera): (Entity, Entity, &ViewTarget, &ExtractedCamera),
    drawer: &BackdropDrawer,
    mut context: RenderContext,
) {
    let is_due = |group: &Group| drawer.has(group) || drawer.to_take(group).next().is_some();
    if !groups.iter().any(is_due) {
        return;
    }
    let (label, recorder) = measured(&context, || BlurLabel::of_regions(main_entity, layer));
    let recorder = recorder.as_deref();
    let whole = recorder.time_span(context.command_encoder(), span_name(label.as_ref()));
    for group in groups {
        drawer.blur(group, label.as_ref(), target, &mut context);
        drawer.paint(group, &mut open_pass(&mut context, target, camera));
    }
    whole.end(context.command_encoder());
}
