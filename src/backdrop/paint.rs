//! What is painted in a frame: the uniforms of all panels, and all that it takes to draw them.

use super::extract::Panels;
use super::jobs::GlassJobs;
use super::panel::Panel;
use super::pipelines::{GlassKey, GlassPipelines, Mix, glass_layout};
use super::uniform::{BOX_VERTICES, Colours, GLASS_STRIDE, GlassUniform, has_rim, is_solid};
use super::views::Views;
use crate::formats::CameraPicture;
use crate::gpu::Left;
use bevy::ecs::system::SystemParam;
use bevy::prelude::*;
use bevy::render::render_phase::TrackedRenderPass;
use bevy::render::render_resource::{
    BindGroup, BindGroupEntry, BindingResource, Buffer, BufferBinding, BufferDescriptor, BufferSize, BufferUsages,
    CachedRenderPipelineId, PipelineCache, TextureFormat,
};
use bevy::render::renderer::{RenderDevice, RenderQueue};
use bevy::render::view::ViewTarget;

/// What is painted in this frame, by the index of the panel. Made anew when the render device is.
///
/// A pass borrows bind groups for as long as it is open, so they are kept here and do not come out of a lock.
#[derive(Resource, Default)]
pub struct Paints {
    paints: Vec<Option<Paint>>,
    /// The uniforms, [`GLASS_STRIDE`] apart.
    bytes: Vec<u8>,
    uniforms: Option<(Buffer, BindGroup)>,
}

/// The draws of a panel.
struct Paint {
    /// What the blur has left, and the offset of its uniform.
    left: (BindGroup, u32),
    /// The pipelines of [`Mix::ALL`], as far as they are drawn.
    pipelines: [Option<CachedRenderPipelineId>; Mix::ALL.len()],
    /// The vertices of the draws that mix.
    frame_vertices: u32,
}

impl Paints {
    /// Whether a panel is painted.
    #[must_use]
    pub fn has(&self, panel: usize) -> bool {
        self.paints.get(panel).is_some_and(Option::is_some)
    }

    /// Draws a panel, if it is painted. Returns whether it is.
    pub fn draw<'w>(&'w self, panel: usize, cache: &'w PipelineCache, pass: &mut TrackedRenderPass<'w>) -> bool {
        let (Some(Some(paint)), Some((_, uniforms))) = (self.paints.get(panel), &self.uniforms) else {
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
            pass.set_bind_group(0, &paint.left.0, &[paint.left.1]);
            pass.set_bind_group(1, uniforms, &[(panel * GLASS_STRIDE) as u32]);
            pass.draw(0..vertices, 0..1);
        }
        true
    }

    fn clear(&mut self, panels: usize) {
        self.paints.clear();
        self.paints.resize_with(panels, || None);
        self.bytes.clear();
        self.bytes.resize(panels * GLASS_STRIDE, 0);
    }

    fn set(&mut self, panel: usize, uniform: &GlassUniform, paint: Option<Paint>) {
        let start = panel * GLASS_STRIDE;
        self.bytes[start..start + size_of::<GlassUniform>()].copy_from_slice(bytemuck::bytes_of(uniform));
        self.paints[panel] = paint;
    }

    /// Writes the uniforms, into a larger buffer if they have become too many.
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

/// What preparing to paint needs of the GPU.
#[derive(SystemParam)]
pub struct PaintGpu<'w> {
    device: Res<'w, RenderDevice>,
    queue: Res<'w, RenderQueue>,
    cache: Res<'w, PipelineCache>,
    pipelines: Res<'w, GlassPipelines>,
}

impl PaintGpu<'_> {
    fn create_uniforms(&self, size: u64) -> (Buffer, BindGroup) {
        let buffer = self.device.create_buffer(&BufferDescriptor {
            label: Some("gaussian_blur_glass"),
            size,
            usage: BufferUsages::UNIFORM | BufferUsages::COPY_DST,
            mapped_at_creation: false,
        });
        let uniform = BindingResource::Buffer(BufferBinding {
            buffer: &buffer,
            offset: 0,
            size: BufferSize::new(size_of::<GlassUniform>() as u64),
        });
        let entries = [BindGroupEntry {
            binding: 0,
            resource: uniform,
        }];
        let layout = self.cache.get_bind_group_layout(&glass_layout());
        let group = self.device.create_bind_group("gaussian_blur_glass", &layout, &entries);
        (buffer, group)
    }

    /// The draws of a panel, `None` while a pipeline is missing.
    fn paint(&self, panel: &Panel, uniform: &GlassUniform, on: (TextureFormat, Colours), left: &Left) -> Option<Paint> {
        let (format, colours) = on;
        let mut pipelines = [None; Mix::ALL.len()];
        for (mix, pipeline) in Mix::ALL.into_iter().zip(&mut pipelines) {
            if is_drawn(mix, panel, colours) {
                let filtered = left.filtered;
                let key = GlassKey { format, mix, filtered };
                *pipeline = Some(self.pipelines.ready(key, &self.cache)?);
            }
        }
        Some(Paint {
            left: (left.bind_group.clone(), left.offset),
            pipelines,
            frame_vertices: uniform.frame_vertices(),
        })
    }
}

/// Which draws a panel takes.
fn is_drawn(mix: Mix, panel: &Panel, colours: Colours) -> bool {
    let solid = is_solid(panel, colours);
    match mix {
        Mix::Replace => solid,
        Mix::Keep | Mix::Add => !solid || has_rim(panel, colours),
    }
}

/// Gets all panels ready whose blurs are.
pub fn update_paints(
    cameras: Query<(&ViewTarget, CameraPicture)>,
    panels: Res<Panels>,
    views: Res<Views>,
    jobs: Res<GlassJobs>,
    gpu: PaintGpu,
    mut paints: ResMut<Paints>,
) {
    paints.clear(panels.0.len());
    for (camera, view) in &views.0 {
        let Ok((target, picture)) = cameras.get(*camera) else {
            continue;
        };
        let format = target.main_texture_format();
        let Some(are_mixed) = gpu.pipelines.mixes(format) else {
            continue;
        };
        let (output, space) = (target.out_texture_view_format(), picture.space());
        let colours = Colours::new(format, output, space, are_mixed);
        for index in view.panels() {
            let panel = &panels.0[index];
            let uniform = GlassUniform::new(panel, colours);
            let paint = jobs
                .left(index)
                .and_then(|left| gpu.paint(panel, &uniform, (format, colours), &left));
            paints.set(index, &uniform, paint);
        }
    }
    paints.upload(&gpu);
}
