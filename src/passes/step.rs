//! What one pass keeps between frames: its pipeline and its bind groups.

use super::BlurRecorder;
use crate::pipelines::{BlurPipelineKey, Fetch};
use crate::uniforms::{PassUniform, UNIFORM_STRIDE};
use bevy::math::UVec2;
use bevy::render::render_resource::{
    BindGroup, BindGroupEntry, BindingResource, Buffer, BufferBinding, BufferSize, CachedComputePipelineId,
    CachedRenderPipelineId, ComputePipeline, PipelineCache, RenderPipeline, TextureView, TextureViewId,
};
use bevy::render::renderer::RenderDevice;

/// A pipeline that has been asked for.
#[derive(Clone, Copy)]
pub enum Queued {
    Render(CachedRenderPipelineId),
    Compute(CachedComputePipelineId, UVec2),
}

/// A pipeline that can be used, for compute with the texels that a workgroup writes.
pub enum Ready<'a> {
    Render(&'a RenderPipeline),
    Compute(&'a ComputePipeline, UVec2),
}

/// What a pass reads and writes in this frame.
pub struct Bound<'a> {
    pub source: &'a TextureView,
    pub target: &'a TextureView,
    pub uniforms: &'a Buffer,
    /// How many bind groups to keep.
    pub most: usize,
}

/// One pass.
pub struct Step {
    key: BlurPipelineKey,
    pipeline: Queued,
    /// The bind groups of the views that this pass has read and written, the latest last.
    bind_groups: Vec<([TextureViewId; 2], BindGroup)>,
}

/// Where the uniform of a pass lies.
pub fn uniform_offset(index: usize) -> u32 {
    (index * UNIFORM_STRIDE) as u32
}

impl Step {
    pub fn new(key: BlurPipelineKey, pipeline: Queued) -> Self {
        Self {
            key,
            pipeline,
            bind_groups: Vec::new(),
        }
    }

    /// Takes over the bind groups of a step before this one if they fit.
    pub fn inherit(&mut self, old: Self) {
        let binds = |key: &BlurPipelineKey| (key.fetch, key.program.tile().map(|_| key.target));
        if binds(&self.key) == binds(&old.key) {
            self.bind_groups = old.bind_groups;
        }
    }

    pub fn release(&mut self) {
        self.bind_groups.clear();
    }

    /// The pipeline, `None` while it is being compiled.
    pub fn ready<'a>(&self, cache: &'a PipelineCache) -> Option<Ready<'a>> {
        match self.pipeline {
            Queued::Render(id) => cache.get_render_pipeline(id).map(Ready::Render),
            Queued::Compute(id, tile) => {
                let pipeline = cache.get_compute_pipeline(id)?;
                Some(Ready::Compute(pipeline, tile))
            }
        }
    }

    /// The bind group that was made the latest.
    pub fn bind_group(&self) -> Option<&wgpu::BindGroup> {
        self.bind_groups.last().map(|(_, group)| &**group)
    }

    /// Makes the bind group of these views the latest one, creating it if it is new.
    pub fn bind(&mut self, with: &BlurRecorder, device: &RenderDevice, bound: &Bound) {
        let stores = matches!(self.pipeline, Queued::Compute(..));
        // A render pass does not bind its target.
        let target = if stores { bound.target } else { bound.source };
        let views = [bound.source.id(), target.id()];
        if let Some(known) = self.bind_groups.iter().position(|(ids, _)| *ids == views) {
            let last = self.bind_groups.len() - 1;
            self.bind_groups.swap(known, last);
            return;
        }
        let uniform = BindingResource::Buffer(BufferBinding {
            buffer: bound.uniforms,
            offset: 0,
            size: BufferSize::new(size_of::<PassUniform>() as u64),
        });
        let mut entries = vec![(0, uniform), (1, BindingResource::TextureView(bound.source))];
        if self.key.fetch == Fetch::Filtered {
            entries.push((2, BindingResource::Sampler(&with.pipelines.sampler)));
        }
        if stores {
            entries.push((3, BindingResource::TextureView(bound.target)));
        }
        let entry = |(binding, resource)| BindGroupEntry { binding, resource };
        let entries: Vec<BindGroupEntry> = entries.into_iter().map(entry).collect();
        let layout = with.cache.get_bind_group_layout(&self.key.layout());
        let group = device.create_bind_group("gaussian_blur_bind_group", &layout, &entries);
        if self.bind_groups.len() == bound.most {
            self.bind_groups.remove(0);
        }
        self.bind_groups.push((views, group));
    }
}
