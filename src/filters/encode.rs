//! Paints and blurs groups in the frame of a camera, the innermost first. Groups that contain glass come later, in
//! [`turns`](super::turns).

use super::arrange::{ArrangedFilters, CameraFilters};
use super::extract::ExtractedFilters;
use super::prepare_blurs::FilterBlurs;
use super::prepare_draws::FilterDraws;
use super::split_phases::GroupItems;
use super::stage::{Content, Stage};
use crate::backdrop::canvas::Canvas;
use crate::diagnostics::label::BlurLabel;
use crate::diagnostics::timestamps::{PassTimer, measured};
use crate::gpu::{BlurAccess, BlurJob, BlurPipelines};
use bevy::prelude::*;
use bevy::render::diagnostic::RecordDiagnostics;
use bevy::render::render_phase::{DrawFunctions, PhaseItem, TrackedRenderPass};
use bevy::render::render_resource::{
    LoadOp, Operations, PipelineCache, RenderPassColorAttachment, RenderPassDescriptor, StoreOp, TextureView,
};
use bevy::render::renderer::{RenderContext, ViewQuery};
use bevy::render::sync_world::MainEntity;
use bevy::ui_render::TransparentUi;

/// Everything that painting groups requires, with shared access only.
pub struct FilterDrawer<'w> {
    pub world: &'w World,
    pub filters: &'w ExtractedFilters,
    pub arranged: &'w ArrangedFilters,
    pub items: &'w GroupItems,
    pub functions: &'w DrawFunctions<TransparentUi>,
    pub blurs: &'w FilterBlurs,
    pub draws: &'w FilterDraws,
    pub pipelines: &'w BlurPipelines,
    pub cache: &'w PipelineCache,
    pub timer: Option<&'w PassTimer>,
}

/// Paints and blurs the groups of the current camera that contain no glass.
pub fn filter_ui(world: &World, camera: ViewQuery<(Entity, MainEntity)>, mut context: RenderContext) {
    let drawer = FilterDrawer::new(world);
    let (entity, main_entity) = camera.into_inner();
    let Some(camera) = drawer.camera(entity) else {
        return;
    };
    if !camera.arranged.stages.iter().any(Stage::is_seen) {
        return;
    }
    let (label, recorder) = measured(&context, || BlurLabel::of_filters(main_entity));
    let recorder = recorder.as_deref();
    let name = label.as_ref().map_or_else(String::new, BlurLabel::span);
    let whole = recorder.time_span(context.command_encoder(), name);
    for depth in (1..=camera.arranged.pages.len() as u32).rev() {
        drawer.paint(camera, depth, &mut context);
        for (job, page) in drawer.blurs.of_depth(camera, drawer.filters, depth) {
            drawer.blur(job, page, label.as_ref(), &mut context);
        }
    }
    whole.end(context.command_encoder());
}

impl<'w> FilterDrawer<'w> {
    /// Takes everything from the render world.
    pub fn new(world: &'w World) -> Self {
        let functions: &DrawFunctions<TransparentUi> = world.resource();
        functions.write().prepare(world);
        Self {
            world,
            filters: world.resource(),
            arranged: world.resource(),
            items: world.resource(),
            functions,
            blurs: world.resource(),
            draws: world.resource(),
            pipelines: world.resource(),
            cache: world.resource(),
            timer: world.get_resource(),
        }
    }

    /// The filters of a camera, if they can be drawn.
    pub fn camera(&self, camera: Entity) -> Option<&'w CameraFilters> {
        self.arranged.of(camera).filter(|camera| camera.is_ready)
    }

    /// Encodes a blur that reads a page.
    pub fn blur(&self, job: &BlurJob, page: &TextureView, label: Option<&BlurLabel>, context: &mut RenderContext) {
        let with = BlurAccess {
            pipelines: self.pipelines,
            cache: self.cache,
            timer: self.timer,
        };
        job.encode(with, context.command_encoder(), label, page.id());
    }

    /// Paints the pictures of a depth's stages without a turn: one pass for each page, which clears the page.
    fn paint(&self, camera: &CameraFilters, depth: u32, context: &mut RenderContext) {
        let pages = self.blurs.pages_of(camera.camera, depth).unwrap_or_default();
        for (index, page) in pages.iter().enumerate() {
            let mut pass = open_pass(context, page, LoadOp::Clear(default()));
            let stages = camera.arranged.stages.iter();
            let of_page = stages.filter(|stage| stage.depth == depth && stage.page == index);
            let mut last = None;
            for stage in of_page.filter(|stage| stage.is_seen() && !stage.has_turn) {
                let canvas = stage.canvas();
                if last.replace(canvas) != Some(canvas) {
                    set_viewport(canvas, &mut pass);
                }
                self.paint_stage(camera, stage, &mut pass);
            }
        }
    }

    /// Paints the picture of a stage on its canvas.
    pub fn paint_stage<'a>(&'a self, camera: &CameraFilters, stage: &Stage, pass: &mut TrackedRenderPass<'a>) {
        match stage.content {
            Content::Stage(inner) => {
                self.draws.draw_stage((camera.camera, inner), self.cache, pass);
            }
            Content::Items => {
                let items = self.items.of(camera.first + stage.filter);
                self.paint_items((camera, stage), items, pass);
            }
        }
    }

    /// Paints some items of a stage's group on its canvas, as `SortedRenderPhase::render_range` does: an item with a batch is
    /// followed by those that the batch contains.
    pub fn paint_items<'a>(
        &'a self,
        (camera, stage): (&CameraFilters, &Stage),
        items: &[TransparentUi],
        pass: &mut TrackedRenderPass<'a>,
    ) {
        let view = camera.filters(self.filters)[stage.view].view;
        let mut functions = self.functions.write();
        let mut next = 0;
        while let Some(item) = items.get(next) {
            next += item.batch_range().len().max(1);
            if item.batch_range().is_empty() {
                continue;
            }
            let Some(function) = functions.get_mut(item.draw_function()) else {
                continue;
            };
            if let Err(error) = function.draw(self.world, pass, view, item) {
                error!("a group of the user interface could not be drawn: {error:?}");
                return;
            }
        }
    }
}

/// Opens a pass on a page.
pub fn open_pass<'a>(
    context: &'a mut RenderContext<'_, '_>,
    page: &'a TextureView,
    load: LoadOp<wgpu::Color>,
) -> TrackedRenderPass<'a> {
    context.begin_tracked_render_pass(RenderPassDescriptor {
        label: Some("gaussian_blur_filter"),
        color_attachments: &[Some(RenderPassColorAttachment {
            view: page,
            depth_slice: None,
            resolve_target: None,
            ops: Operations {
                load,
                store: StoreOp::Store,
            },
        })],
        ..default()
    })
}

/// Limits drawing to a canvas, which is a part of a page. This needs no scissor: the viewport clips triangles, and nothing else is
/// drawn.
pub fn set_viewport(canvas: Canvas, pass: &mut TrackedRenderPass) {
    let [x, y, width, height] = canvas.texels().as_vec4().to_array();
    pass.set_viewport(x, y, width, height, 0.0, 1.0);
}
