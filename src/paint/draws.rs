//! The draw calls of a frame: their uniforms, bind groups and pipelines.
//!
//! Until a pipeline is compiled, each layer falls back on its own: glass to one colour, a blurred layer of a group to the sharp one.
//! Nothing else changes.

use super::inputs::{PaintInputs, PaintedCamera, PaintedGlass};
use super::pipelines::{Mix, PaintKey, PaintPipelines, PaintSource, picture_layout, uniform_layout};
use super::uniform::{ColorStepsUniform, Colours, PaintUniform, PaintedOn, has_rim, is_solid};
use crate::formats::CameraPicture;
use crate::gpu::{BlurJobs, Deferred};
use crate::schedule::{Backdrop, Canvas, Layer, PaintTexture, Placed, SurfaceId, common};
use crate::settings::ColorMatrices;
use bevy::platform::collections::HashMap;
use bevy::prelude::*;
use bevy::render::render_phase::TrackedRenderPass;
use bevy::render::render_resource::{
    BindGroup, BindGroupEntries, BindGroupEntry, BindGroupLayoutDescriptor, BufferId, DynamicUniformBuffer,
    PipelineCache, RenderPipeline, TextureFormat, TextureView, TextureViewId,
};
use bevy::render::renderer::{RenderDevice, RenderQueue};
use bevy::render::texture::FallbackImage;
use bevy::render::view::ViewTarget;
use core::ops::Range;

/// The draw calls of this frame. Recreated with the render device.
///
/// A pass borrows bind groups for as long as it is open, so they are stored here, not behind a lock.
#[derive(Resource, Default)]
pub struct Draws {
    calls: Vec<DrawCall>,
    /// One for each call.
    uniforms: DynamicUniformBuffer<PaintUniform>,
    /// Steps of colour: first none, then one list for each glass or surface that has any.
    colors: DynamicUniformBuffer<ColorStepsUniform>,
    /// The bind group of the uniforms and steps, and their buffers.
    bound: Option<([BufferId; 2], BindGroup)>,
    pictures: HashMap<TextureViewId, BindGroup>,
}

/// A draw call.
struct DrawCall {
    pipeline: RenderPipeline,
    source: CallSource,
    /// The dynamic offsets of its uniform and its steps of colour.
    uniforms: [u32; 2],
    vertices: u32,
}

/// What a call reads.
#[derive(Clone)]
struct CallSource {
    kind: PaintSource,
    group: BindGroup,
    /// The dynamic offset of the bind group, if it has one.
    offset: Option<u32>,
}

impl CallSource {
    /// The levels of a blur.
    fn blurred(deferred: &Deferred, refracts: bool) -> Self {
        let filtered = deferred.filtered;
        Self {
            kind: PaintSource::Blurred { filtered, refracts },
            group: deferred.bind_group.clone(),
            offset: Some(deferred.offset),
        }
    }

    /// What a draw without a lens reads.
    fn flat(&self) -> Self {
        Self {
            kind: self.kind.flat(),
            ..self.clone()
        }
    }
}

impl Draws {
    /// Encodes some of the calls. Returns whether there are any.
    pub fn draw<'w>(&'w self, calls: Option<&Range<usize>>, pass: &mut TrackedRenderPass<'w>) -> bool {
        let (Some(calls), Some((_, uniforms))) = (calls, &self.bound) else {
            return false;
        };
        for call in &self.calls[calls.clone()] {
            pass.set_render_pipeline(&call.pipeline);
            pass.set_bind_group(0, &call.source.group, call.source.offset.as_slice());
            pass.set_bind_group(1, uniforms, &call.uniforms);
            pass.draw(0..call.vertices, 0..1);
        }
        !calls.is_empty()
    }

    fn clear(&mut self) {
        self.calls.clear();
        self.uniforms.clear();
        self.colors.clear();
        self.add_colors(&ColorMatrices::NEUTRAL);
    }

    /// Adds a list of steps of colour. Returns its dynamic offset.
    fn add_colors(&mut self, colors: &ColorMatrices) -> u32 {
        self.colors.push(&ColorStepsUniform {
            matrices: colors.matrices(),
        })
    }

    /// Writes the uniforms.
    fn upload(&mut self, gpu: &DrawGpu) {
        if self.uniforms.is_empty() {
            return;
        }
        if self.uniforms.buffer().is_none() {
            self.uniforms.set_label(Some("gaussian_blur_paint"));
            self.colors.set_label(Some("gaussian_blur_colors"));
        }
        self.uniforms.write_buffer(gpu.device, gpu.queue);
        self.colors.write_buffer(gpu.device, gpu.queue);
        let (Some(uniforms), Some(colors)) = (self.uniforms.buffer(), self.colors.buffer()) else {
            return;
        };
        let ids = [uniforms.id(), colors.id()];
        if self.bound.as_ref().is_some_and(|(bound, _)| *bound == ids) {
            return;
        }
        let bindings = self.uniforms.binding().zip(self.colors.binding());
        let entries = bindings.map(BindGroupEntries::sequential);
        let bind = |entries: BindGroupEntries<2>| gpu.bind("gaussian_blur_paint", &uniform_layout(), &entries);
        self.bound = entries.map(|entries| (ids, bind(entries)));
    }
}

/// The resources that preparing draws requires.
struct DrawGpu<'a> {
    device: &'a RenderDevice,
    queue: &'a RenderQueue,
    cache: &'a PipelineCache,
    pipelines: &'a PaintPipelines,
    fallback: &'a FallbackImage,
}

impl DrawGpu<'_> {
    fn bind(&self, label: &'static str, layout: &BindGroupLayoutDescriptor, entries: &[BindGroupEntry]) -> BindGroup {
        let layout = self.cache.get_bind_group_layout(layout);
        self.device.create_bind_group(label, &layout, entries)
    }
}

/// Prepares all draw calls.
pub fn update_draws(
    cameras: Query<(&ViewTarget, CameraPicture)>,
    (mut inputs, mut draws): (ResMut<PaintInputs>, ResMut<Draws>),
    jobs: Res<BlurJobs>,
    (device, queue): (Res<RenderDevice>, Res<RenderQueue>),
    (cache, pipelines): (Res<PipelineCache>, Res<PaintPipelines>),
    fallback: Res<FallbackImage>,
) {
    let gpu = DrawGpu {
        device: &device,
        queue: &queue,
        cache: &cache,
        pipelines: &pipelines,
        fallback: &fallback,
    };
    draws.clear();
    let mut pictures = HashMap::default();
    for camera in &mut inputs.cameras {
        let Ok((target, picture)) = cameras.get(camera.picture.camera) else {
            continue;
        };
        let (format, output) = (target.main_texture_format(), target.out_texture_view_format());
        let Some(mixes) = gpu.pipelines.mixes(format) else {
            continue;
        };
        let mut update = CameraUpdate {
            camera: &*camera,
            format,
            colours: Colours::new(format, output, picture.space(), mixes),
            jobs: &jobs,
            gpu: &gpu,
            draws: &mut draws,
            pictures: &mut pictures,
            colors: 0,
        };
        let (glass, surfaces) = (update.all_glass(), update.surfaces());
        (camera.glass, camera.surfaces) = (glass, surfaces);
    }
    draws.pictures = pictures;
    draws.upload(&gpu);
}

/// The update of a camera's draw calls.
struct CameraUpdate<'a> {
    camera: &'a PaintedCamera,
    format: TextureFormat,
    colours: Colours,
    jobs: &'a BlurJobs,
    gpu: &'a DrawGpu<'a>,
    draws: &'a mut Draws,
    pictures: &'a mut HashMap<TextureViewId, BindGroup>,
    /// The dynamic offset of the steps of colour of what is being added.
    colors: u32,
}

impl CameraUpdate<'_> {
    /// All glass, with its calls.
    fn all_glass(&mut self) -> Vec<PaintedGlass> {
        let mut glass = self.camera.glass.clone();
        for (index, placed) in self.camera.schedule.placed.iter().enumerate() {
            let mut share = Some(self.camera.backdrops[index].covers());
            if let Some(placed) = placed {
                (glass[index].calls, share) = self.calls(|this| this.glass(index, placed));
                if placed.on != SurfaceId::CAMERA {
                    (glass[index].seen, _) = self.calls(|this| this.seen(placed));
                }
            }
            if let Some(share) = share {
                (glass[index].hole, _) = self.calls(|this| this.hole(index, share));
            }
        }
        glass
    }

    /// The calls of the layers of all surfaces.
    fn surfaces(&mut self) -> Vec<Range<usize>> {
        let surfaces = (0..self.camera.schedule.tree.surfaces.len()).map(SurfaceId);
        surfaces.map(|id| self.calls(|this| this.layers(id)).0).collect()
    }

    /// The calls that are added, and what adding them returns: all of them or none.
    fn calls<T>(&mut self, add: impl FnOnce(&mut Self) -> Option<T>) -> (Range<usize>, Option<T>) {
        let start = self.draws.calls.len();
        let added = add(self);
        if added.is_none() {
            self.draws.calls.truncate(start);
        }
        (start..self.draws.calls.len(), added)
    }

    /// What is painted on, and how.
    fn painted_on(&self, surface: SurfaceId) -> PaintedOn {
        let canvas = if surface == SurfaceId::CAMERA {
            Canvas::of_camera(self.camera.picture.viewport)
        } else {
            self.camera.schedule.tree.surface(surface).canvas()
        };
        self.on_canvas(canvas)
    }

    fn on_canvas(&self, canvas: Canvas) -> PaintedOn {
        PaintedOn {
            canvas,
            picture: self.camera.picture,
            colours: self.colours,
        }
    }

    /// What is added next has these steps of colour.
    fn colored(&mut self, colors: &ColorMatrices) {
        if !colors.is_neutral() {
            self.colors = self.draws.add_colors(colors);
        }
    }

    /// Adds a call, unless its pipeline is missing.
    fn add(&mut self, mix: Mix, source: CallSource, uniform: &PaintUniform) -> Option<()> {
        let key = PaintKey {
            format: self.format,
            mix,
            source: source.kind,
        };
        let pipeline = self.gpu.pipelines.ready(key, self.gpu.cache)?;
        self.draws.calls.push(DrawCall {
            pipeline: pipeline.clone(),
            source,
            uniforms: [
                self.draws.uniforms.push(uniform),
                if uniform.color_steps > 0 { self.colors } else { 0 },
            ],
            // Of two triangles, or of the four sides of a frame.
            vertices: if uniform.frame > 0.0 && !key.is_inner() { 24 } else { 6 },
        });
        Some(())
    }

    /// Glass, or one colour in its shape while its blur or a pipeline is missing. Returns which share of its opacity this has.
    fn glass(&mut self, index: usize, placed: &Placed) -> Option<f32> {
        if placed.opacity <= 0.0 || placed.region.painted.is_empty() {
            return Some(self.camera.backdrops[index].covers());
        }
        let (backdrop, jobs) = (&self.camera.backdrops[index], self.jobs);
        let on = self.painted_on(placed.on);
        let blur = self.camera.glass[index].blur.filter(|_| !backdrop.is_plain);
        if let Some(deferred) = blur.and_then(|blur| jobs.deferred(blur)) {
            self.colored(&backdrop.colors);
            let uniform = on.glass(backdrop, placed);
            let lens = backdrop.lens.map(|_| CallSource::blurred(&deferred, true));
            // Until the shaders of the lens are compiled, the glass is flat.
            for source in lens.into_iter().chain([CallSource::blurred(&deferred, false)]) {
                if let (_, Some(())) = self.calls(|this| this.mixed(index, placed, &source, &uniform)) {
                    return Some(1.0);
                }
            }
        }
        let color = backdrop.fallback;
        if color.alpha <= 0.0 {
            return None;
        }
        let faded = Placed {
            opacity: placed.opacity * color.alpha,
            ..*placed
        };
        let source = self.picture(None);
        self.mixed(index, &faded, &source, &on.plain(backdrop, &faded, color))?;
        Some(color.alpha.min(1.0))
    }

    /// The fully covered pixels of glass. The middle of a lens is flat, and costs no more than other glass.
    fn replaced(&mut self, source: &CallSource, backdrop: &Backdrop, uniform: &PaintUniform) -> Option<()> {
        let frame = |frame: f32| PaintUniform { frame, ..*uniform };
        let lens = backdrop.lens.filter(|_| source.kind.refracts());
        let depth = lens.map(|lens| lens.depth(&backdrop.shape));
        let depth = depth.filter(|depth| 2.0 * depth < backdrop.shape.size.min_element());
        let Some(depth) = depth else {
            return self.add(Mix::Replace, source.clone(), &frame(0.0));
        };
        // They overlap by a pixel, because rasterisers round vertices.
        self.add(Mix::Replace, source.flat(), &frame(depth - 1.0))?;
        self.add(Mix::Replace, source.clone(), &frame(depth))
    }

    /// Mixes glass with what lies below it.
    fn mixed(&mut self, index: usize, placed: &Placed, source: &CallSource, uniform: &PaintUniform) -> Option<()> {
        let backdrop = &self.camera.backdrops[index];
        let solid = is_solid(placed, self.colours);
        if solid {
            self.replaced(source, backdrop, uniform)?;
        }
        if !solid || has_rim(backdrop, self.colours) {
            // What only scales the picture below does not read the source.
            self.add(Mix::Keep, source.flat(), uniform)?;
            self.add(Mix::Add, source.clone(), uniform)?;
        }
        Some(())
    }

    /// The hole that glass, or a share of its opacity, makes in the picture of its own node's group.
    fn hole(&mut self, index: usize, share: f32) -> Option<()> {
        let surface = self.camera.schedule.holes[index]?;
        let held = self.camera.schedule.tree.surface(surface).rect;
        let (on, source) = (self.painted_on(surface), self.picture(None));
        let uniform = on.hole(&self.camera.backdrops[index], held, share);
        self.add(Mix::Keep, source, &uniform)
    }

    /// What glass inside a group sees of the groups around it: all of them, unfiltered, as far as they are painted.
    fn seen(&mut self, placed: &Placed) -> Option<()> {
        let tree = &self.camera.schedule.tree;
        let canvas = Canvas::of_texels(placed.region.looks_at(), self.camera.picture.viewport, placed.seen.1);
        let shown = canvas.pixels();
        let mut below: Vec<SurfaceId> = tree.below(placed.on).collect();
        below.reverse();
        for id in below {
            let surface = tree.surface(id);
            let painted = common(shown, surface.rect);
            if !painted.is_empty() {
                let uniform = self.on_canvas(canvas).picture(surface.to_page(), painted);
                self.sharp(id, Mix::Over, &uniform)?;
            }
        }
        Some(())
    }

    /// The layers of a surface, on its parent.
    fn layers(&mut self, id: SurfaceId) -> Option<()> {
        let (tree, jobs) = (&self.camera.schedule.tree, self.jobs);
        let surface = tree.surface(id);
        if id == SurfaceId::CAMERA || !surface.is_seen() {
            return Some(());
        }
        let (filter, on) = (&self.camera.filters[surface.filter], self.painted_on(surface.parent));
        let clip = tree.clip_of(&self.camera.filters, id);
        if surface.is_colored {
            self.colored(&filter.colors);
        }
        for index in surface.layers.clone() {
            let layer = &tree.layers[index];
            let blur = self.camera.layers[index].filter(|_| layer.blurs());
            if let Some(deferred) = blur.and_then(|blur| jobs.deferred(blur)) {
                let uniform = on.layer(filter, surface, layer, clip);
                let source = CallSource::blurred(&deferred, false);
                if self.add(mix_of(layer), source, &uniform).is_some() {
                    continue;
                }
            }
            let sharp = if layer.blurs() {
                surface.unblurred(layer)
            } else {
                Some(*layer)
            };
            if let Some(layer) = sharp.filter(|layer| !layer.shown.is_empty()) {
                // Without its pipeline, only this layer is missing.
                let _ = self.sharp(id, mix_of(&layer), &on.layer(filter, surface, &layer, clip));
            }
        }
        Some(())
    }

    /// A surface without a blur.
    fn sharp(&mut self, id: SurfaceId, mix: Mix, uniform: &PaintUniform) -> Option<()> {
        let surface = self.camera.schedule.tree.surface(id);
        let page = self.camera.view(PaintTexture::Page(surface.depth, surface.page))?;
        let source = self.picture(Some(page));
        self.add(mix, source, uniform)
    }

    /// A picture, or any picture where none is read.
    fn picture(&mut self, picture: Option<&TextureView>) -> CallSource {
        let picture = picture.unwrap_or(&self.gpu.fallback.d2.texture_view);
        let known = self.draws.pictures.get(&picture.id());
        let bound = self.pictures.entry(picture.id());
        let entries = BindGroupEntries::single(picture);
        let bind = || self.gpu.bind("gaussian_blur_picture", &picture_layout(), &entries);
        let group = bound.or_insert_with(|| known.cloned().unwrap_or_else(bind));
        CallSource {
            kind: PaintSource::Sharp,
            group: group.clone(),
            offset: None,
        }
    }
}

fn mix_of(layer: &Layer) -> Mix {
    if layer.is_inset() {
        Mix::Atop
    } else if layer.width() > 0.0 {
        Mix::Line
    } else {
        Mix::Over
    }
}
