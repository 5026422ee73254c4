//! The draws of the layers of all groups.

use super::arrange::{ArrangedFilters, CameraFilters};
use super::extract::ExtractedFilters;
use super::pipelines::{FilterKey, FilterPipelines, LayerSource, layer_layout, picture_layout};
use super::prepare_blurs::{FilterBlurs, LayerOf};
use super::rects::{common, pixels, within};
use super::stage::Stage;
use super::uniform::LayerUniform;
use crate::backdrop::canvas::{Canvas, PaintedOn};
use crate::backdrop::extract::ExtractedBackdrops;
use crate::backdrop::extracted::ExtractedBackdrop;
use crate::backdrop::uniform::Colours;
use crate::formats::CameraPicture;
use crate::gpu::Deferred;
use bevy::ecs::entity::EntityHashMap;
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
use core::ops::Range;

/// The draws of all groups. Recreated with the render device.
#[derive(Resource, Default)]
pub struct FilterDraws {
    /// All draws. The ranges below are indices into this list.
    draws: Vec<Draw>,
    /// The draws of the results of filters, by the filter's item.
    results: EntityHashMap<Range<usize>>,
    /// The draws of every stage, by camera.
    stages: EntityHashMap<Vec<Range<usize>>>,
    /// The draws of what glass inside a group sees of the groups around it, by the index of the backdrop.
    seen: HashMap<usize, Range<usize>>,
    uniforms: DynamicUniformBuffer<LayerUniform>,
    bound: Option<(BufferId, BindGroup)>,
    pictures: HashMap<TextureViewId, BindGroup>,
}

/// The draw of a layer.
struct Draw {
    pipeline: CachedRenderPipelineId,
    source: BindGroup,
    /// The dynamic offset of the source's bind group, if it has one.
    offset: Option<u32>,
    uniform: u32,
}

impl FilterDraws {
    /// Paints the result of the filter with this item. Returns whether there is one.
    pub fn draw_filter<'w>(&'w self, item: Entity, cache: &'w PipelineCache, pass: &mut TrackedRenderPass<'w>) -> bool {
        self.draw_all(self.results.get(&item), cache, pass)
    }

    /// Paints the layers of a camera's stage, by its index.
    pub fn draw_stage<'w>(
        &'w self,
        (camera, stage): (Entity, usize),
        cache: &'w PipelineCache,
        pass: &mut TrackedRenderPass<'w>,
    ) {
        let stages = self.stages.get(&camera);
        self.draw_all(stages.and_then(|stages| stages.get(stage)), cache, pass);
    }

    /// Paints what glass inside a group sees of the groups around it.
    pub fn draw_seen<'w>(&'w self, backdrop: usize, cache: &'w PipelineCache, pass: &mut TrackedRenderPass<'w>) {
        self.draw_all(self.seen.get(&backdrop), cache, pass);
    }

    fn draw_all<'w>(
        &'w self,
        draws: Option<&Range<usize>>,
        cache: &'w PipelineCache,
        pass: &mut TrackedRenderPass<'w>,
    ) -> bool {
        let (Some(draws), Some((_, uniforms))) = (draws, &self.bound) else {
            return false;
        };
        for draw in &self.draws[draws.clone()] {
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

/// The GPU resources that preparing draws needs.
#[derive(SystemParam)]
pub struct DrawGpu<'w> {
    device: Res<'w, RenderDevice>,
    queue: Res<'w, RenderQueue>,
    cache: Res<'w, PipelineCache>,
    pipelines: Res<'w, FilterPipelines>,
}

/// Prepares the draws of all groups. If a pipeline is missing, no group of its camera is filtered.
pub fn update_draws(
    cameras: Query<(&ViewTarget, CameraPicture)>,
    filters: Res<ExtractedFilters>,
    backdrops: Res<ExtractedBackdrops>,
    mut arranged: ResMut<ArrangedFilters>,
    blurs: Res<FilterBlurs>,
    gpu: DrawGpu,
    mut draws: ResMut<FilterDraws>,
) {
    let draws = &mut *draws;
    draws.draws.clear();
    draws.stages.clear();
    draws.seen.clear();
    draws.results.clear();
    draws.uniforms.clear();
    let mut pictures = HashMap::default();
    for camera in arranged.0.iter_mut().filter(|camera| camera.is_ready) {
        let Ok((target, picture)) = cameras.get(camera.camera) else {
            continue;
        };
        let format = target.main_texture_format();
        let (output, space) = (target.out_texture_view_format(), picture.space());
        let colours = Colours::new(format, output, space, true);
        let on = (format, colours);
        let is_drawn = draws
            .add(camera, &filters, &blurs, on, &gpu, &mut pictures)
            .and_then(|()| draws.add_seen(camera, (&filters, &backdrops), &blurs, (format, &gpu), &mut pictures));
        camera.is_ready = is_drawn.is_some();
        if camera.is_ready {
            draws.show_results(camera, &filters);
        }
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
        let mut stages = Vec::with_capacity(camera.arranged.stages.len());
        for (index, stage) in camera.arranged.stages.iter().enumerate() {
            let filter = &camera.filters(filters)[stage.filter];
            let canvas = match stage.parent {
                Some(parent) => camera.arranged.stages[parent].canvas(),
                None => Canvas::of_camera(filter.picture.viewport),
            };
            let first = self.draws.len();
            let layers = stage.layers.iter().enumerate();
            for (place, layer) in layers.filter(|(_, layer)| stage.is_seen() && !layer.shown.is_empty()) {
                let of = LayerOf {
                    camera: camera.camera,
                    filter,
                    stage,
                    layer,
                    place: (index, place),
                };
                let deferred = layer.blurs().then(|| blurs.deferred(of)).flatten();
                let painted = match deferred {
                    None if layer.blurs() => stage.unblurred(layer),
                    _ => Some(*layer),
                };
                let Some(layer) = painted.filter(|layer| !layer.shown.is_empty()) else {
                    continue;
                };
                let uniform = LayerUniform::new(filter, stage, &layer, canvas, on.1);
                let uniform = self.uniforms.push(&uniform);
                let draw = match deferred {
                    Some(deferred) => draw_blurred(deferred, uniform, (on.0, gpu))?,
                    None => self.draw_sharp((camera.camera, stage), uniform, blurs, (on.0, gpu), pictures)?,
                };
                self.draws.push(draw);
            }
            stages.push(first..self.draws.len());
        }
        self.stages.insert(camera.camera, stages);
        Some(())
    }

    /// Lets the items of a camera's filters draw their results, now that all draws are ready.
    fn show_results(&mut self, camera: &CameraFilters, filters: &ExtractedFilters) {
        let stages = self.stages.get(&camera.camera).map_or(&[][..], Vec::as_slice);
        for (index, filter) in camera.filters(filters).iter().enumerate() {
            let result = camera.arranged.result_of(index).and_then(|stage| stages.get(stage));
            self.results.extend(result.map(|draws| (filter.item, draws.clone())));
        }
    }

    /// Adds the draws of what glass inside a camera's groups sees of them: all groups around it, unfiltered, as far as they are
    /// painted. `None` if a pipeline is missing.
    fn add_seen(
        &mut self,
        camera: &CameraFilters,
        (filters, backdrops): (&ExtractedFilters, &ExtractedBackdrops),
        blurs: &FilterBlurs,
        on: (TextureFormat, &DrawGpu),
        pictures: &mut HashMap<TextureViewId, BindGroup>,
    ) -> Option<()> {
        let filters = camera.filters(filters);
        for (index, innermost) in &camera.nested {
            let backdrop = &backdrops.0[*index];
            if backdrop.on == PaintedOn::Nothing {
                continue;
            }
            let canvas = canvas_of(backdrop);
            let mut shown = within(canvas.origin, canvas.size.as_ivec2());
            let mut around: Vec<usize> = camera.arranged.around(*innermost).collect();
            around.reverse();
            let first = self.draws.len();
            for filter in around {
                let stage = &camera.arranged.stages[camera.arranged.items_of(filter)?];
                shown = common(shown, pixels(filters[filter].clip));
                let painted = common(shown, stage.rect);
                if !painted.is_empty() {
                    let uniform = LayerUniform::plain(&filters[filter], stage.to_page(), painted, canvas);
                    let uniform = self.uniforms.push(&uniform);
                    let draw = self.draw_sharp((camera.camera, stage), uniform, blurs, on, pictures)?;
                    self.draws.push(draw);
                }
            }
            self.seen.insert(*index, first..self.draws.len());
        }
        Some(())
    }

    /// The draw of a stage's picture without a blur.
    fn draw_sharp(
        &self,
        (camera, stage): (Entity, &Stage),
        uniform: u32,
        blurs: &FilterBlurs,
        (format, gpu): (TextureFormat, &DrawGpu),
        pictures: &mut HashMap<TextureViewId, BindGroup>,
    ) -> Option<Draw> {
        let page = blurs.page(camera, stage)?;
        let key = FilterKey {
            format,
            source: LayerSource::Sharp,
        };
        let bound = pictures.entry(page.id());
        let known = self.pictures.get(&page.id());
        let source = bound.or_insert_with(|| known.cloned().unwrap_or_else(|| gpu.bind_picture(page)));
        Some(Draw {
            pipeline: gpu.pipelines.ready(key, &gpu.cache)?,
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

/// The draw of a blur's last step.
fn draw_blurred(deferred: Deferred, uniform: u32, (format, gpu): (TextureFormat, &DrawGpu)) -> Option<Draw> {
    let filtered = deferred.filtered;
    let source = LayerSource::Blurred { filtered };
    Some(Draw {
        pipeline: gpu.pipelines.ready(FilterKey { format, source }, &gpu.cache)?,
        source: deferred.bind_group.clone(),
        offset: Some(deferred.offset),
        uniform,
    })
}

/// The canvas for what a backdrop sees. The first of these texels is the first texel of its page.
fn canvas_of(backdrop: &ExtractedBackdrop) -> Canvas {
    let texels = backdrop.looks_at();
    let origin = texels.min.as_ivec2() - backdrop.picture.viewport.min.as_ivec2();
    Canvas {
        origin,
        size: texels.size().as_vec2(),
        to_texel: -origin,
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
