//! Prepares the draws of a frame: the uniforms of all backdrops, their bind groups and their pipelines.

use super::camera_groups::CameraGroups;
use super::extract::ExtractedBackdrops;
use super::extracted::ExtractedBackdrop;
use super::pipelines::{BackdropKey, BackdropPipelines, Mix, backdrop_layout};
use super::prepare_blurs::BackdropJobs;
use super::uniform::{BACKDROP_STRIDE, BOX_VERTICES, BackdropUniform, Colours, has_rim, is_solid};
use crate::formats::CameraPicture;
use crate::gpu::Deferred;
use bevy::ecs::system::SystemParam;
#[cfg(feature = "ui")]
use bevy::platform::collections::HashMap;
use bevy::prelude::*;
use bevy::render::render_phase::TrackedRenderPass;
use bevy::render::render_resource::{
    BindGroup, BindGroupEntry, BindingResource, Buffer, BufferBinding, BufferDescriptor, BufferSize, BufferUsages,
    CachedRenderPipelineId, PipelineCache, TextureFormat,
};
use bevy::render::renderer::{RenderDevice, RenderQueue};
use bevy::render::view::ViewTarget;

/// The draws of this frame, by the index of the backdrop. Recreated with the render device.
///
/// A pass borrows bind groups for as long as it is open, so they are stored here, not behind a lock.
#[derive(Resource, Default)]
pub struct Paints {
    paints: Vec<Option<Paint>>,
    /// The uniforms, [`BACKDROP_STRIDE`] apart: one for each backdrop, then one for each hole.
    bytes: Vec<u8>,
    /// The holes in the pictures of filtered nodes, by the index of the backdrop: the pipeline and the offset of the uniform.
    #[cfg(feature = "ui")]
    holes: HashMap<usize, (CachedRenderPipelineId, u32)>,
    uniforms: Option<(Buffer, BindGroup)>,
}

/// The draws of a backdrop.
struct Paint {
    /// The bind group of the deferred blur, and the offset of its uniform.
    deferred: (BindGroup, u32),
    /// Whether the blur is read with filtered fetches.
    #[cfg(feature = "ui")]
    filtered: bool,
    /// The pipelines of [`Mix::ALL`], `None` for draws that are left out.
    pipelines: [Option<CachedRenderPipelineId>; Mix::ALL.len()],
    /// The number of vertices of [`Mix::Keep`] and [`Mix::Add`].
    frame_vertices: u32,
}

impl Paints {
    /// Whether a backdrop is painted.
    #[must_use]
    pub fn has(&self, backdrop: usize) -> bool {
        self.paints.get(backdrop).is_some_and(Option::is_some)
    }

    /// Draws a backdrop, if it is painted. Returns whether it is.
    pub fn draw<'w>(&'w self, backdrop: usize, cache: &'w PipelineCache, pass: &mut TrackedRenderPass<'w>) -> bool {
        let (Some(Some(paint)), Some((_, uniforms))) = (self.paints.get(backdrop), &self.uniforms) else {
            return false;
        };
        for (mix, id) in Mix::ALL.into_iter().zip(paint.pipelines) {
            let Some(pipeline) = id.and_then(|id| cache.get_render_pipeline(id)) else {
                continue;
            };
            let vertices = match mix {
                Mix::Replace => BOX_VERTICES,
                Mix::Keep | Mix::Add => paint.frame_vertices,
            };
            pass.set_render_pipeline(pipeline);
            pass.set_bind_group(0, &paint.deferred.0, &[paint.deferred.1]);
            pass.set_bind_group(1, uniforms, &[(backdrop * BACKDROP_STRIDE) as u32]);
            pass.draw(0..vertices, 0..1);
        }
        true
    }

    /// Draws the hole that a backdrop makes in its own node's picture, if the backdrop is painted. Returns whether it is.
    #[cfg(feature = "ui")]
    pub fn draw_hole<'w>(
        &'w self,
        backdrop: usize,
        cache: &'w PipelineCache,
        pass: &mut TrackedRenderPass<'w>,
    ) -> bool {
        let (Some(Some(paint)), Some((_, uniforms))) = (self.paints.get(backdrop), &self.uniforms) else {
            return false;
        };
        let Some((pipeline, offset)) = self.holes.get(&backdrop) else {
            return false;
        };
        let Some(pipeline) = cache.get_render_pipeline(*pipeline) else {
            return false;
        };
        pass.set_render_pipeline(pipeline);
        pass.set_bind_group(0, &paint.deferred.0, &[paint.deferred.1]);
        pass.set_bind_group(1, uniforms, &[*offset]);
        pass.draw(0..BOX_VERTICES, 0..1);
        true
    }

    fn clear(&mut self, backdrops: usize) {
        #[cfg(feature = "ui")]
        self.holes.clear();
        self.paints.clear();
        self.paints.resize_with(backdrops, || None);
        self.bytes.clear();
        self.bytes.resize(backdrops * BACKDROP_STRIDE, 0);
    }

    fn set(&mut self, backdrop: usize, uniform: &BackdropUniform, paint: Option<Paint>) {
        self.write(backdrop * BACKDROP_STRIDE, uniform);
        self.paints[backdrop] = paint;
    }

    fn write(&mut self, start: usize, uniform: &BackdropUniform) {
        self.bytes[start..start + size_of::<BackdropUniform>()].copy_from_slice(bytemuck::bytes_of(uniform));
    }

    /// Adds the hole of a backdrop in its own node's picture.
    #[cfg(feature = "ui")]
    fn add_hole(&mut self, index: usize, backdrop: &ExtractedBackdrop, on: (TextureFormat, Colours), gpu: &PaintGpu) {
        let (Some(Some(paint)), Some(hole)) = (self.paints.get(index), backdrop.hole) else {
            return;
        };
        let (format, mix, filtered) = (on.0, Mix::Keep, paint.filtered);
        let pipeline = gpu.pipelines.ready(BackdropKey { format, mix, filtered }, &gpu.cache);
        if let (Some(canvas), Some(pipeline)) = (hole.canvas, pipeline) {
            let start = self.bytes.len();
            self.bytes.resize(start + BACKDROP_STRIDE, 0);
            self.write(start, &BackdropUniform::of_hole(backdrop, hole, canvas, on.1));
            self.holes.insert(index, (pipeline, start as u32));
        }
    }

    /// Writes the uniforms, into a larger buffer if the old one is too small.
    fn upload(&mut self, gpu: &PaintGpu) {
        if self.bytes.is_empty() {
            return;
        }
        let needed = self.bytes.len() as u64;
        let kept = self.uniforms.take().filter(|(buffer, _)| buffer.size() >= needed);
        let uniforms = kept.unwrap_or_else(|| gpu.create_uniforms(needed.next_power_of_two()));
        gpu.queue.write_buffer(&uniforms.0, 0, &self.bytes);
        self.uniforms = Some(uniforms);
    }
}

/// The resources that preparing draws requires.
#[derive(SystemParam)]
pub struct PaintGpu<'w> {
    device: Res<'w, RenderDevice>,
    queue: Res<'w, RenderQueue>,
    cache: Res<'w, PipelineCache>,
    pipelines: Res<'w, BackdropPipelines>,
}

impl PaintGpu<'_> {
    fn create_uniforms(&self, size: u64) -> (Buffer, BindGroup) {
        let buffer = self.device.create_buffer(&BufferDescriptor {
            label: Some("gaussian_blur_backdrop"),
            size,
            usage: BufferUsages::UNIFORM | BufferUsages::COPY_DST,
            mapped_at_creation: false,
        });
        let uniform = BindingResource::Buffer(BufferBinding {
            buffer: &buffer,
            offset: 0,
            size: BufferSize::new(size_of::<BackdropUniform>() as u64),
        });
        let entries = [BindGroupEntry {
            binding: 0,
            resource: uniform,
        }];
        let layout = self.cache.get_bind_group_layout(&backdrop_layout());
        let group = self
            .device
            .create_bind_group("gaussian_blur_backdrop", &layout, &entries);
        (buffer, group)
    }

    /// The draws of a backdrop, `None` while a pipeline is missing.
    fn paint(
        &self,
        backdrop: &ExtractedBackdrop,
        uniform: &BackdropUniform,
        on: (TextureFormat, Colours),
        deferred: &Deferred,
    ) -> Option<Paint> {
        let (format, colours) = on;
        let mut pipelines = [None; Mix::ALL.len()];
        for (mix, pipeline) in Mix::ALL.into_iter().zip(&mut pipelines) {
            if is_drawn(mix, backdrop, colours) {
                let filtered = deferred.filtered;
                let key = BackdropKey { format, mix, filtered };
                *pipeline = Some(self.pipelines.ready(key, &self.cache)?);
            }
        }
        Some(Paint {
            deferred: (deferred.bind_group.clone(), deferred.offset),
            #[cfg(feature = "ui")]
            filtered: deferred.filtered,
            pipelines,
            frame_vertices: uniform.frame_vertices(),
        })
    }
}

/// Whether a backdrop needs a draw.
fn is_drawn(mix: Mix, backdrop: &ExtractedBackdrop, colours: Colours) -> bool {
    let solid = is_solid(backdrop, colours);
    match mix {
        Mix::Replace => solid,
        Mix::Keep | Mix::Add => !solid || has_rim(backdrop, colours),
    }
}

/// Prepares the draws of all backdrops whose blurs are ready.
pub fn update_paints(
    cameras: Query<(&ViewTarget, CameraPicture)>,
    backdrops: Res<ExtractedBackdrops>,
    grouped: Res<CameraGroups>,
    jobs: Res<BackdropJobs>,
    gpu: PaintGpu,
    mut paints: ResMut<Paints>,
) {
    paints.clear(backdrops.0.len());
    for (camera, view) in &grouped.0 {
        let Ok((target, picture)) = cameras.get(*camera) else {
            continue;
        };
        let format = target.main_texture_format();
        let Some(are_mixed) = gpu.pipelines.mixes(format) else {
            continue;
        };
        let (output, space) = (target.out_texture_view_format(), picture.space());
        let colours = Colours::new(format, output, space, are_mixed);
        for index in view.backdrops() {
            let backdrop = &backdrops.0[index];
            let uniform = BackdropUniform::new(backdrop, colours);
            let deferred = jobs.deferred(index).filter(|_| backdrop.tint.opacity > 0.0);
            let paint = deferred.and_then(|deferred| gpu.paint(backdrop, &uniform, (format, colours), &deferred));
            paints.set(index, &uniform, paint);
            #[cfg(feature = "ui")]
            paints.add_hole(index, backdrop, (format, colours), &gpu);
        }
    }
    paints.upload(&gpu);
}
