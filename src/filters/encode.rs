//! Paints and blurs groups in the frame of a camera, from the innermost ones outwards.

use super::arrange::{ArrangedFilters, CameraFilters};
use super::extract::ExtractedFilters;
use super::prepare_blurs::FilterBlurs;
use super::prepare_draws::FilterDraws;
use super::split_phases::GroupPhases;
use super::stages::{Content, Stage};
use crate::diagnostics::label::BlurLabel;
use crate::diagnostics::timestamps::PassTimer;
use crate::gpu::{BlurAccess, BlurPipelines};
use bevy::ecs::system::SystemParam;
use bevy::prelude::*;
use bevy::render::diagnostic::RecordDiagnostics;
use bevy::render::render_phase::TrackedRenderPass;
use bevy::render::render_resource::{
    LoadOp, Operations, PipelineCache, RenderPassColorAttachment, RenderPassDescriptor, StoreOp, TextureView,
};
use bevy::render::renderer::{RenderContext, ViewQuery};
use bevy::render::sync_world::MainEntity;

/// All that it takes to paint groups. Nothing of it is changed.
#[derive(SystemParam)]
pub struct FilterDrawer<'w> {
    filters: Res<'w, ExtractedFilters>,
    arranged: Res<'w, ArrangedFilters>,
    phases: Res<'w, GroupPhases>,
    blurs: Res<'w, FilterBlurs>,
    draws: Res<'w, FilterDraws>,
    pipelines: Res<'w, BlurPipelines>,
    cache: Res<'w, PipelineCache>,
    timer: Option<Res<'w, PassTimer>>,
}

/// Paints the groups of the current camera on their pages, and blurs them.
pub fn filter_ui(
    world: &World,
    camera: ViewQuery<(Entity, MainEntity)>,
    drawer: FilterDrawer,
    mut context: RenderContext,
) {
    let (entity, main_entity) = camera.into_inner();
    let Some(camera) = drawer.arranged.of(entity).filter(|camera| camera.is_ready) else {
        return;
    };
    if !camera.arranged.stages.iter().any(Stage::is_seen) {
        return;
    }
    let recorder = context.diagnostic_recorder();
    let recorder = recorder.as_deref();
    let label = recorder.map(|_| BlurLabel::of_filters(main_entity));
    let name = label.as_ref().map_or_else(String::new, BlurLabel::span);
    let whole = recorder.time_span(context.command_encoder(), name);
    for depth in (1..=camera.arranged.pages.len() as u32).rev() {
        drawer.paint(world, camera, depth, &mut context);
        for (job, page) in drawer.blurs.of_depth(camera, &drawer.filters, depth) {
            let with = BlurAccess {
                pipelines: &drawer.pipelines,
                cache: &drawer.cache,
                timer: drawer.timer.as_deref(),
            };
            job.encode(with, context.command_encoder(), label.as_ref(), page.id());
        }
    }
    whole.end(context.command_encoder());
}

impl FilterDrawer<'_> {
    /// Paints the pictures of all stages of a depth: one pass for each page.
    fn paint(&self, world: &World, camera: &CameraFilters, depth: u32, context: &mut RenderContext) {
        for (index, page) in self
            .blurs
            .pages_of(camera.camera, depth)
            .unwrap_or_default()
            .iter()
            .enumerate()
        {
            let mut pass = open_pass(context, page);
            let stages = camera.arranged.stages.iter();
            for stage in stages.filter(|stage| stage.depth == depth && stage.page == index && stage.is_seen()) {
                self.paint_stage(world, camera, stage, &mut pass);
            }
        }
    }

    fn paint_stage<'a>(
        &'a self,
        world: &'a World,
        camera: &CameraFilters,
        stage: &Stage,
        pass: &mut TrackedRenderPass<'a>,
    ) {
        let (place, size) = (stage.place, stage.rect.size().as_uvec2());
        let [x, y, width, height] = [place.x, place.y, size.x, size.y].map(|texels| texels as f32);
        pass.set_viewport(x, y, width, height, 0.0, 1.0);
        pass.set_scissor_rect(place.x, place.y, size.x, size.y);
        let filter = camera.first + stage.filter;
        match stage.content {
            Content::Stage(inner) => {
                self.draws.draw_stage((camera.camera, inner), &self.cache, pass);
            }
            Content::Items => {
                let Some(phase) = self.phases.of(filter) else {
                    return;
                };
                if let Err(error) = phase.render(pass, world, self.filters.0[filter].view) {
                    error!("a group of the user interface could not be drawn: {error:?}");
                }
            }
        }
    }
}

/// Opens a pass on a page, with nothing on it.
fn open_pass<'a>(context: &'a mut RenderContext<'_, '_>, page: &'a TextureView) -> TrackedRenderPass<'a> {
    context.begin_tracked_render_pass(RenderPassDescriptor {
        label: Some("gaussian_blur_filter"),
        color_attachments: &[Some(RenderPassColorAttachment {
            view: page,
            depth_slice: None,
            resolve_target: None,
            ops: Operations {
                load: LoadOp::Clear(default()),
                store: StoreOp::Store,
            },
        })],
        ..default()
    })
}
