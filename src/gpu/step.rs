//! One pass of a job from frame to frame: its pipelines and bind groups.

use super::pipeline_key::{PipelineKey, Queued};
use super::pipeline_queue::BlurPipelines;
use super::profile_bindings::Blend;
use super::uniforms::PassUniform;
use crate::diagnostics::label::BlurLabel;
use crate::diagnostics::timestamps::PassTimer;
use crate::plan::pass::PassKind;
use crate::program::Program;
use bevy::render::diagnostic::DiagnosticsRecorder;
use bevy::render::render_resource::{
    BindGroup, BindGroupEntry, BindingResource, Buffer, BufferBinding, PipelineCache, TextureView, TextureViewId,
};
use bevy::render::renderer::RenderDevice;
use wgpu::ComputePassTimestampWrites;

/// Everything needed to create bind groups, and to encode passes.
#[derive(Clone, Copy)]
pub struct BlurAccess<'a> {
    pub pipelines: &'a BlurPipelines,
    pub cache: &'a PipelineCache,
    pub device: &'a RenderDevice,
    /// Bevy's recorder, for a span of passes.
    pub recorder: Option<&'a DiagnosticsRecorder>,
    /// The timer for single passes, and their label.
    pub timer: Option<(&'a PassTimer, &'a BlurLabel)>,
}

impl<'a> BlurAccess<'a> {
    /// The timestamps that a pass of this kind writes.
    pub fn timestamps(&self, kind: PassKind) -> Option<ComputePassTimestampWrites<'a>> {
        let (timer, label) = self.timer?;
        timer.timestamps(label, kind.span())
    }
}

/// One pass.
pub struct KeptPass {
    pub key: PipelineKey,
    /// The pipeline that serves any kernel.
    any_kernel: Queued,
    /// The bind groups of the views that this pass has read and written, the latest last.
    bind_groups: Vec<([TextureViewId; 5], BindGroup)>,
}

/// What a pass reads and writes in this frame.
pub struct Bound<'a> {
    pub source: &'a TextureView,
    pub target: &'a TextureView,
    pub uniforms: &'a Buffer,
    /// What a pass with a varying sigma reads beside its source: buffers, and the atlas, the mask, and the sums of the sharp
    /// picture or of its rows.
    pub blended: Option<(&'a Blend, [&'a TextureView; 3])>,
    /// How many bind groups to keep.
    pub most: usize,
}

/// The bind group of a pass, in the [layout](PipelineKey::layout) of its pipeline.
pub fn bind_group(key: &PipelineKey, with: BlurAccess, bound: &Bound) -> BindGroup {
    let uniform = BindingResource::Buffer(BufferBinding {
        buffer: bound.uniforms,
        offset: 0,
        size: key.uniform_size(),
    });
    let mut entries = vec![(0, uniform), (1, BindingResource::TextureView(bound.source))];
    if key.program.filters() {
        entries.push((2, BindingResource::Sampler(&with.pipelines.factory.sampler)));
    }
    if key.program.computes() {
        entries.push((3, BindingResource::TextureView(bound.target)));
    }
    if let Some((blend, views)) = bound.blended {
        entries.extend(blend.bindings(key.program, views));
    }
    let entry = |(binding, resource)| BindGroupEntry { binding, resource };
    let entries: Vec<BindGroupEntry> = entries.into_iter().map(entry).collect();
    let layout = with.cache.get_bind_group_layout(&key.layout());
    with.device
        .create_bind_group("gaussian_blur_bind_group", &layout, &entries)
}

/// The offset of a pass' uniform.
pub fn uniform_offset(index: usize) -> u32 {
    (index * size_of::<PassUniform>()) as u32
}

impl KeptPass {
    pub fn new(key: PipelineKey, any_kernel: Queued) -> Self {
        Self {
            key,
            any_kernel,
            bind_groups: Vec::new(),
        }
    }

    /// Releases the bind groups, and with them the textures.
    pub fn release(&mut self) {
        self.bind_groups.clear();
    }

    /// Inherits the bind groups of an earlier step if they fit.
    pub fn inherit(&mut self, old: Self) {
        if self.key.binds_like(&old.key) {
            self.bind_groups = old.bind_groups;
        }
    }

    /// The best compiled pipeline, and its program.
    pub fn ready(&self, pipelines: &BlurPipelines, cache: &PipelineCache) -> Option<(Program, Queued)> {
        let fast = pipelines.get(&self.key).map(|queued| (self.key.program, queued));
        let fast = fast.filter(|(_, queued)| queued.is_ready(cache));
        let general = (self.key.program.for_any_kernel(), self.any_kernel);
        fast.or_else(|| self.any_kernel.is_ready(cache).then_some(general))
    }

    /// The bind group for a source, or the latest one.
    pub fn bind_group(&self, source: TextureViewId) -> Option<&wgpu::BindGroup> {
        let of_source = self.bind_groups.iter().rfind(|([of, ..], _)| *of == source);
        of_source.or(self.bind_groups.last()).map(|(_, group)| &**group)
    }

    /// Makes the bind group of these views the latest one. A missing one is shared with a neighbour if it fits, or else
    /// created.
    pub fn bind(&mut self, neighbour: Option<&Self>, with: BlurAccess, bound: &Bound) {
        let stores = self.key.program.computes();
        // A render pass does not bind its target.
        let target = if stores { bound.target } else { bound.source };
        let [atlas, mask, sums] = bound.blended.map_or([bound.source; 3], |(_, views)| views);
        let views = [bound.source, target, atlas, mask, sums].map(|view| view.id());
        if self.bind_groups.len() <= bound.most && self.bind_groups.last().is_some_and(|(ids, _)| *ids == views) {
            return;
        }
        let known = self.bind_groups.iter().position(|(ids, _)| *ids == views);
        let group = match known.map(|known| self.bind_groups.remove(known)) {
            Some((_, group)) => group,
            None => {
                let neighbour = neighbour.filter(|other| other.key.binds_like(&self.key));
                match neighbour.and_then(|other| other.bind_groups.last()) {
                    Some((of, group)) if *of == views => group.clone(),
                    _ => bind_group(&self.key, with, bound),
                }
            }
        };
        // There may be surplus bind groups, inherited from another step or left by an image with more layers.
        let surplus = self.bind_groups.len().saturating_sub(bound.most.saturating_sub(1));
        self.bind_groups.drain(..surplus);
        self.bind_groups.push((views, group));
    }
}
