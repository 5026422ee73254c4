//! What one blur keeps between frames: what was asked for, the plan, its textures, and the pipeline and bind groups of each
//! pass.

use super::blend::{Blend, Blended};
use super::compile::{BlurPipelines, Ready};
use super::pipelines::{PipelineKey, Queued};
use super::uniforms::PassUniform;
use crate::formats::dither::Dither;
use crate::formats::{Ends, Resolved};
use crate::plan::pass::{Pass, Surface};
use crate::plan::{BlurPlan, Finish};
use crate::program::Program;
use crate::settings::EdgeMode;
use bevy::math::{URect, UVec2, Vec2};
use bevy::render::render_resource::{
    BindGroup, BindGroupEntry, BindingResource, Buffer, BufferBinding, PipelineCache, TextureView, TextureViewId,
};
use bevy::render::renderer::RenderDevice;
use std::sync::Arc;

/// What a job is to do: everything that decides its plan and its pipelines.
#[derive(Clone, Debug, PartialEq)]
pub struct BlurTask {
    /// From what to what.
    pub ends: Ends,
    /// What is to be done, and by whom its last step.
    pub work: Work,
    pub finish: Finish,
    /// The texels to write, and to read but for a mip level.
    pub region: URect,
    /// The size of the source's texture, of which the region is a part.
    pub source_size: UVec2,
}

/// What is to be done between two ends.
#[derive(Clone, Debug, PartialEq)]
pub enum Work {
    /// An exact copy.
    Copy,
    /// A blur.
    Blur {
        /// The standard deviations along x and y, in texels.
        sigma: Vec2,
        /// What lies outside the region.
        edge: EdgeMode,
    },
    /// A blur whose sigma varies.
    Vary {
        /// The largest standard deviations along x and y, in texels.
        sigma: Vec2,
        /// What lies outside the region.
        edge: EdgeMode,
    },
    /// The whole of a mip level, out of the one before it.
    Mipmap,
    /// Blurs of parts of the region, whose last steps are left.
    Parts(Arc<[BlurPart]>),
}

/// A blur of a part of a picture.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BlurPart {
    /// The standard deviations along x and y, in texels. Where both are too small, this is a copy.
    pub sigma: Vec2,
    /// What lies outside what is read.
    pub edge: EdgeMode,
    /// The texels to read.
    pub reads: URect,
    /// Those of them for which the last step will be done.
    pub region: URect,
}

/// A blur from frame to frame.
#[derive(Default)]
pub struct BlurJob {
    /// What is asked for.
    pub(super) current: Option<Prepared>,
    /// What was drawn last, as long as pipelines of what is asked for are missing.
    pub(super) last: Option<Prepared>,
}

/// A task that can be carried out as soon as its pipelines are there.
pub(super) struct Prepared {
    pub task: BlurTask,
    pub resolved: Resolved,
    pub plan: BlurPlan,
    /// The sizes that intermediates need. Those of the plan may be larger.
    pub needed: Vec<UVec2>,
    pub steps: Vec<Step>,
    /// The plans of [parts](Work::Parts), to be used again for those that do not change.
    pub parts: Vec<BlurPlan>,
    /// What steps read that are left to somebody else.
    pub left: Vec<BoundLevel>,
    pub uniforms: Buffer,
    /// What passes read whose sigma varies.
    pub blend: Option<Blend>,
    /// The intermediates of this frame.
    pub textures: Vec<TextureView>,
    /// Whether it has been drawn before.
    pub was_drawn: bool,
}

/// A texture that a step reads which is left to somebody else.
pub(super) struct BoundLevel {
    pub level: TextureViewId,
    pub filtered: bool,
    pub group: BindGroup,
}

impl BlurJob {
    /// Whether nothing is asked for.
    pub fn is_idle(&self) -> bool {
        self.current.is_none()
    }

    /// How many texels its passes write.
    #[must_use]
    pub fn texels(&self) -> u64 {
        let area = |pass: &Pass| u64::from(pass.size.x) * u64::from(pass.size.y);
        let passes = self.current.iter().flat_map(|current| &current.plan.passes);
        passes.map(area).sum()
    }

    /// Lets the textures go. What is cheap to keep stays, so that the blur resumes without a hitch.
    pub fn release(&mut self) {
        self.last = None;
        if let Some(prepared) = &mut self.current {
            prepared.textures.clear();
            prepared.left.clear();
            prepared.steps.iter_mut().for_each(|step| step.bind_groups.clear());
        }
    }

    /// What a step reads that is left to somebody else: the only one, or that of a [part](Work::Parts). `None` until the
    /// job is bound.
    #[must_use]
    pub fn left(&self, part: usize) -> Option<Left<'_>> {
        let prepared = self.current.as_ref()?;
        let pass = prepared.plan.left.get(part)?;
        let (level, filtered) = (prepared.level_of(pass)?.id(), pass.program.filters());
        let is_it = |bound: &&BoundLevel| bound.level == level && bound.filtered == filtered;
        Some(Left {
            bind_group: &prepared.left.iter().find(is_it)?.group,
            offset: uniform_offset(prepared.plan.passes.len() + part),
            filtered,
        })
    }
}

/// What a step reads that is left to somebody else: a bind group of [`left_layout`](super::left_layout).
pub struct Left<'a> {
    /// The uniform, the level, and the sampler if it is filtered.
    pub bind_group: &'a BindGroup,
    /// The dynamic offset of the uniform.
    pub offset: u32,
    /// Whether the level is read with filtered fetches.
    pub filtered: bool,
}

impl Prepared {
    /// The intermediate that a pass reads.
    pub fn level_of(&self, pass: &Pass) -> Option<&TextureView> {
        match pass.source {
            Surface::Intermediate(index) => self.textures.get(index),
            Surface::Source | Surface::Destination => None,
        }
    }

    /// Whether the pipelines of all steps are there.
    pub fn is_ready(&self, pipelines: &BlurPipelines, cache: &PipelineCache) -> bool {
        self.steps.iter().all(|step| step.ready(pipelines, cache).is_some())
    }
}

impl BlurTask {
    /// Whether both tasks are about the same textures, as far as a task can tell.
    pub fn has_textures_of(&self, other: &Self) -> bool {
        let ends = |task: &Self| Ends {
            dither: Dither::Off,
            ..task.ends
        };
        let textures = |task: &Self| (task.region, task.source_size, ends(task), task.finish);
        textures(self) == textures(other)
    }
}

/// One pass.
pub(super) struct Step {
    pub key: PipelineKey,
    /// The pipeline that serves any kernel.
    any_kernel: Queued,
    /// The bind groups of the views that this pass has read and written, the latest last.
    bind_groups: Vec<([TextureViewId; 5], BindGroup)>,
}

/// What a pass reads and writes in this frame.
pub(super) struct Bound<'a> {
    pub source: &'a TextureView,
    pub target: &'a TextureView,
    pub uniforms: &'a Buffer,
    /// What a pass reads beside its source whose sigma varies.
    pub blended: Option<Blended<'a>>,
    /// How many bind groups to keep.
    pub most: usize,
}

/// A pipeline that can be used.
pub(super) struct Usable<'a> {
    pub program: Program,
    pub pipeline: Ready<'a>,
}

/// What a pass of a pipeline reads and writes, in its [layout](PipelineKey::layout).
pub(super) fn bind_group(
    key: &PipelineKey,
    pipelines: &BlurPipelines,
    cache: &PipelineCache,
    device: &RenderDevice,
    bound: &Bound,
) -> BindGroup {
    let uniform = BindingResource::Buffer(BufferBinding {
        buffer: bound.uniforms,
        offset: 0,
        size: key.uniform_size(),
    });
    let mut entries = vec![(0, uniform), (1, BindingResource::TextureView(bound.source))];
    if key.program.filters() {
        entries.push((2, BindingResource::Sampler(&pipelines.factory.sampler)));
    }
    if key.program.computes() {
        entries.push((3, BindingResource::TextureView(bound.target)));
    }
    if let Some(blended) = &bound.blended {
        entries.extend(blended.bindings(key.program));
    }
    let entry = |(binding, resource)| BindGroupEntry { binding, resource };
    let entries: Vec<BindGroupEntry> = entries.into_iter().map(entry).collect();
    let layout = cache.get_bind_group_layout(&key.layout());
    device.create_bind_group("gaussian_blur_bind_group", &layout, &entries)
}

/// Where the uniform of a pass lies.
pub(super) fn uniform_offset(index: usize) -> u32 {
    (index * size_of::<PassUniform>()) as u32
}

impl Step {
    pub fn new(key: PipelineKey, any_kernel: Queued) -> Self {
        Self {
            key,
            any_kernel,
            bind_groups: Vec::new(),
        }
    }

    /// Takes over the bind groups of a step before this one if they fit.
    pub fn inherit(&mut self, old: Self) {
        if self.key.binds_like(&old.key) {
            self.bind_groups = old.bind_groups;
        }
    }

    /// The best pipeline that is there.
    pub fn ready<'a>(&self, pipelines: &BlurPipelines, cache: &'a PipelineCache) -> Option<Usable<'a>> {
        let usable = |key: PipelineKey, queued: Queued| {
            let program = key.program;
            queued.ready(cache).map(|pipeline| Usable { program, pipeline })
        };
        let fast = pipelines.get(&self.key).and_then(|queued| usable(self.key, queued));
        fast.or_else(|| usable(self.key.for_any_kernel(), self.any_kernel))
    }

    /// The bind group for a source, or the one that was made the latest.
    pub fn bind_group(&self, source: TextureViewId) -> Option<&wgpu::BindGroup> {
        let of_source = self.bind_groups.iter().rfind(|([of, ..], _)| *of == source);
        of_source.or(self.bind_groups.last()).map(|(_, group)| &**group)
    }

    /// Makes the bind group of these views the latest one. If it is new, it is that of a neighbour, or else created.
    pub fn bind(
        &mut self,
        neighbour: Option<&Self>,
        pipelines: &BlurPipelines,
        cache: &PipelineCache,
        device: &RenderDevice,
        bound: &Bound,
    ) {
        let stores = self.key.program.computes();
        // A render pass does not bind its target.
        let target = if stores { bound.target } else { bound.source };
        let [atlas, mask, sums] = bound.blended.map_or([bound.source; 3], |blended| blended.views());
        let views = [bound.source, target, atlas, mask, sums].map(|view| view.id());
        if let Some(known) = self.bind_groups.iter().position(|(ids, _)| *ids == views) {
            let last = self.bind_groups.len() - 1;
            self.bind_groups.swap(known, last);
            return;
        }
        let neighbour = neighbour.filter(|other| other.key.binds_like(&self.key));
        let shared = neighbour.and_then(|other| other.bind_groups.last());
        let group = match shared {
            Some((of, group)) if *of == views => group.clone(),
            _ => bind_group(&self.key, pipelines, cache, device, bound),
        };
        if self.bind_groups.len() == bound.most {
            self.bind_groups.remove(0);
        }
        self.bind_groups.push((views, group));
    }
}
