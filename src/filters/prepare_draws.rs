//! The draws of the layers of all groups.

use super::arrange::{ArrangedFilters, CameraFilters};
use super::extract::ExtractedFilters;
use super::pipelines::{FilterKey, FilterPipelines, LayerSource, layer_layout, picture_layout};
use super::prepare_blurs::{FilterBlurs, LayerOf};
use super::uniform::{Canvas, LayerUniform};
use crate::backdrop::uniform::Colours;
use crate::formats::CameraPicture;
use bevy::ecs::system::SystemParam;
use bevy::platform::collections::HashMap;
use bevy::prelude::*;
use bevy::render::render_phase::TrackedRenderPass;
use bevy::render::render_resource::{
    BindGroup, BindGroupEntries, BufferId, CachedRenderPipelineId, DynamicUniformBuffer, PipelineCache, TextureFormat,
    TextureView, TextureViewId,
};
use bevy::render::renderer::{RenderDevice, RenderQueue};
use bevy::render::view::ViewTarget;

/// The draws of all groups. Made anew when the render device is.
#[derive(Resource, Default)]
pub struct FilterDraws {
    /// The stages of every filter that are its results.
    results: Vec<Option<StageKey>>,
    stages: HashMap<StageKey, Vec<Draw>>,
    uniforms: DynamicUniformBuffer<LayerUniform>,
    bound: Option<(BufferId, BindGroup)>,
    pictures: HashMap<TextureViewId, BindGroup>,
}

/// A camera, and the index of one of its stages.
pub type StageKey = (Entity, usize);

/// The draw of a layer.
struct Draw {
    pipeline: CachedRenderPipelineId,
    source: BindGroup,
    /// The dynamic offset in what is read, if it has any.
    offset: Option<u32>,
    uniform: u32,
}

impl FilterDraws {
    /// Paints the result of a filter. Returns whether there is one.
    pub fn draw_filter<'w>(
        &'w self,
        filter: usize,
        cache: &'w PipelineCache,
        pass: &mut TrackedRenderPass<'w>,
    ) -> bool {
        let result = self.results.get(filter).copied().flatten();
        result.is_some_and(|stage| self.draw_stage(stage, cache, pass))
    }

    /// Paints the layers of a stage. Returns whether there are any.
    pub fn draw_stage<'w>(
        &'w self,
        stage: StageKey,
        cache: &'w PipelineCache,
        pass: &mut TrackedRenderPass<'w>,
    ) -> bool {
        let (Some(draws), Some((_, uniforms))) = (self.stages.get(&stage), &self.bound) else {
            return false;
        };
        for draw in draws {
            let Some(pipeline) = cache.get_render_pipeline(draw.pipeline) else {
                continue;
            };
            pass.set_render_pipeline(pipeline);
            pass.set_bind_group(0, &draw.source, draw.offset.as_slice());
            pass.set_bind_group(1, uniforms, &[draw.uniform]);
            pass.draw(0..6, 0..1);
        }
        !draws.is_empty()
    }
}

/// What preparing draws needs of the GPU.
#[derive(SystemParam)]
pub struct DrawGpu<'w> {
    device: Res<'w, RenderDevice>,
    queue: Res<'w, RenderQueue>,
    cache: Res<'w, PipelineCache>,
    pipelines: Res<'w, FilterPipelines>,
}

/// Gets the draws of all groups ready. Where a pipeline is missing, a camera's groups are not filtered.
pub fn update_draws(
    cameras: Query<(&ViewTarget, CameraPicture)>,
    filters: Res<ExtractedFilters>,
    mut arranged: ResMut<ArrangedFilters>,
    blurs: Res<FilterBlurs>,
    gpu: DrawGpu,
    mut draws: ResMut<FilterDraws>,
) {
    let draws = &mut *draws;
    draws.stages.clear();
    draws.results.clear();
    draws.results.resize(filters.0.len(), None);
    draws.uniforms.clear();
    let mut pictures = HashMap::default();
    for camera in arranged.0.iter_mut().filter(|camera| camera.is_ready) {
        let Ok((target, picture)) = cameras.get(camera.camera) else {
            continue;
        };
        let format = target.main_texture_format();
        let (output, space) = (target.out_texture_view_format(), picture.space());
        let colours = Colours::new(format, output, space, true);
        let is_drawn = draws.add(camera, &filters, &blurs, (format, colours), &gpu, &mut pictures);
        camera.is_ready = is_drawn.is_some();
    }
    draws.pictures = pictures;
    draws.upload(&gpu);
}

impl FilterDraws {
    /// Adds the draws of a camera, `None` if a pipeline is missing.
    fn add(
        &mut self,
        camera: &CameraFilters,
        filters: &ExtractedFilters,
        blurs: &FilterBlurs,
        on: (TextureFormat, Colours),
        gpu: &DrawGpu,
        pictures: &mut HashMap<TextureViewId, BindGroup>,
    ) -> Option<()> {
        let mut stages = Vec::new();
        for (index, stage) in camera.arranged.stages.iter().enumerate() {
            let filter = &camera.filters(filters)[stage.filter];
            let canvas = match stage.parent {
                Some(parent) => Canvas::of_stage(&camera.arranged.stages[parent]),
                None => Canvas::of_camera(filter),
            };
            let mut draws = Vec::new();
            let layers = stage.layers.iter().enumerate();
            for (place, layer) in layers.filter(|(_, layer)| stage.is_seen() && !layer.shown.is_empty()) {
                let of = LayerOf {
                    camera: camera.camera,
                    filter,
                    stage,
                    layer,
                    place: (index, place),
                };
                let uniform = LayerUniform::new(filter, stage, layer, canvas, on.1);
                let uniform = self.uniforms.push(&uniform);
                draws.push(self.draw(of, uniform, blurs, (on.0, gpu), pictures)?);
            }
            stages.push(((camera.camera, index), draws));
        }
        self.stages.extend(stages);
        for filter in 0..camera.arranged.of_filter.len() {
            let result = camera.arranged.result_of(filter);
            self.results[camera.first + filter] = result.map(|stage| (camera.camera, stage));
        }
        Some(())
    }

    fn draw(
        &self,
        of: LayerOf,
        uniform: u32,
        blurs: &FilterBlurs,
        (format, gpu): (TextureFormat, &DrawGpu),
        pictures: &mut HashMap<TextureViewId, BindGroup>,
    ) -> Option<Draw> {
        let ready = |source: LayerSource| gpu.pipelines.ready(FilterKey { format, source }, &gpu.cache);
        if of.layer.blurs() {
            let deferred = blurs.deferred(of)?;
            let filtered = deferred.filtered;
            return Some(Draw {
                pipeline: ready(LayerSource::Blurred { filtered })?,
                source: deferred.bind_group.clone(),
                offset: Some(deferred.offset),
                uniform,
            });
        }
        let page = blurs.page(of.camera, of.stage)?;
        let bound = pictures.entry(page.id());
        let known = self.pictures.get(&page.id());
        let source = bound.or_insert_with(|| known.cloned().unwrap_or_else(|| gpu.bind_picture(page)));
        Some(Draw {
            pipeline: ready(LayerSource::Sharp)?,
            source: source.clone(),
            offset: None,
            uniform,
        })
    }

    /// Writes the uniforms, and binds their buffer if it is a new one.
    fn upload(&mut self, gpu: &DrawGpu) {
        self.uniforms.write_buffer(&gpu.device, &gpu.queue);
        let Some((buffer, binding)) = self.uniforms.buffer().zip(self.uniforms.binding()) else {
            return;
        };
        if self.bound.as_ref().is_none_or(|(bound, _)| *bound != buffer.id()) {
            let layout = gpu.cache.get_bind_group_layout(&layer_layout());
            let entries = BindGroupEntries::single(binding);
            let group = gpu
                .device
                .create_bind_group("gaussian_blur_filter_layers", &layout, &entries);
            self.bound = Some((buffer.id(), group));
        }
    }
}

impl DrawGpu<'_> {
    fn bind_picture(&self, page: &TextureView) -> BindGroup {
        let layout = self.cache.get_bind_group_layout(&picture_layout());
        let entries = BindGroupEntries::single(page);
        self.device
            .create_bind_group("gaussian_blur_filter_picture", &layout, &entries)
    }
}
