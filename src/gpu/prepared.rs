//! A request with everything needed to execute it, from frame to frame: its plan, its pipelines, and what it binds.

use super::pipeline_key::{PipelineKey, Queued, bindings};
use super::pipelines::BlurPipelines;
use super::request::BlurRequest;
use super::uniforms::{SHARES_AT, SIGMA_LEVELS_AT, SigmaLevelsUniform, offset_of_pass};
use crate::diagnostics::label::BlurLabel;
use crate::diagnostics::timestamps::PassTimer;
use crate::formats::Resolved;
use crate::plan::BlurPlan;
use crate::plan::pass::{Pass, TextureSlot};
use crate::program::Program;
use crate::sigma_field::Shares;
use bevy::math::UVec2;
use bevy::platform::collections::HashMap;
use bevy::render::diagnostic::DiagnosticsRecorder;
use bevy::render::render_resource::{
    BindGroup, BindGroupEntry, BindGroupLayout, BindGroupLayoutId, BindingResource, Buffer, BufferBinding, BufferSize,
    PipelineCache, TextureView, TextureViewId,
};
use core::ops::Range;
use core::sync::atomic::{AtomicBool, Ordering};

/// How many updates a bind group outlives without being used: a picture may be in each of two textures in turns.
const IDLE_UPDATES: u64 = 2;

/// Everything needed to encode passes.
#[derive(Clone, Copy)]
pub struct BlurAccess<'a> {
    pub pipelines: &'a BlurPipelines,
    pub cache: &'a PipelineCache,
    /// Bevy's recorder, for a span of passes.
    pub recorder: Option<&'a DiagnosticsRecorder>,
    /// The timer for single passes, and their label.
    pub timer: Option<(&'a PassTimer, &'a BlurLabel)>,
}

/// A request that can be executed as soon as its mask exists and its pipelines are compiled.
pub struct Prepared {
    pub request: BlurRequest,
    pub resolved: Resolved,
    pub plan: BlurPlan,
    /// The sizes that the intermediate textures need. The plan's may be larger.
    pub needed: Vec<UVec2>,
    /// The steps of all passes, and then the deferred ones.
    pub steps: Vec<BoundPass>,
    /// The plans of [items](super::Work::Batch), reused for items that do not change.
    pub items: Vec<BlurPlan>,
    pub held: Held,
    /// Whether the uniform buffer holds the numbers of this plan.
    pub is_written: bool,
    /// Whether each of its kernels has a pipeline of its own, compiled or not.
    pub is_specialised: bool,
    /// Whether it has been drawn, and may be drawn again in the place of another request.
    pub was_drawn: bool,
    /// Whether the result that it [keeps](BlurRequest::keeps) exists. Atomic, because encoding has shared access.
    pub is_blurred: AtomicBool,
}

/// The pipeline and the layout of a pass.
pub struct BoundPass {
    pub key: PipelineKey,
    /// The pipeline that serves any kernel. `None` for a deferred step: a front end has its pipeline.
    any_kernel: Option<Queued>,
    layout: BindGroupLayout,
}

/// What a request holds on the GPU. The next one takes it over.
#[derive(Default)]
pub struct Held {
    pub uniforms: Option<Buffer>,
    /// The shares that were written last.
    pub shares: Option<Shares>,
    /// The intermediate textures of this frame. None while only a kept result is needed.
    pub textures: Vec<TextureView>,
    /// The intermediate texture that it [keeps](BlurRequest::keeps).
    pub result: Option<TextureView>,
    /// The sources from which it may be encoded, if its last step is deferred.
    pub sources: Vec<TextureView>,
    /// The bind groups by what they bind beside the uniforms, with the update that used each last.
    pub groups: HashMap<Bound, (BindGroup, u64)>,
    /// The number of updates.
    pub updates: u64,
}

/// A layout and the views of a pass: of its source, of the texture that it stores to, and of what it blends: the atlas, the
/// mask, and the sums of the sharp picture or of its rows.
type Bound = (BindGroupLayoutId, [TextureViewId; 5]);

/// The two ends of a blur: what it reads and what it writes.
pub type EndViews<'a> = [&'a TextureView; 2];

impl BoundPass {
    /// The step of a pass of a plan.
    pub fn new(key: PipelineKey, pipelines: &mut BlurPipelines, cache: &PipelineCache) -> Self {
        Self {
            any_kernel: Some(pipelines.serving_any_kernel(key, cache)),
            ..Self::deferred(key, pipelines, cache)
        }
    }

    /// A step that a front end does.
    pub fn deferred(key: PipelineKey, pipelines: &mut BlurPipelines, cache: &PipelineCache) -> Self {
        Self {
            key,
            any_kernel: None,
            layout: pipelines.layout(key, cache),
        }
    }

    /// The best compiled pipeline, and its program.
    pub fn ready(&self, pipelines: &BlurPipelines, cache: &PipelineCache) -> Option<(Program, Queued)> {
        let fast = pipelines.get(&self.key).map(|queued| (self.key.program, queued));
        let general = self
            .any_kernel
            .map(|queued| (self.key.program.for_any_kernel(), queued));
        let mut both = [fast, general].into_iter().flatten();
        both.find(|(_, queued)| queued.is_ready(cache))
    }
}

impl Prepared {
    /// A planned request, with its steps. It holds nothing yet.
    pub fn new(
        request: BlurRequest,
        resolved: Resolved,
        (plan, items): (BlurPlan, Vec<BlurPlan>),
        pipelines: &mut BlurPipelines,
        cache: &PipelineCache,
    ) -> Self {
        let ends = request.ends;
        let key = |pass: &Pass| PipelineKey::new(pass.stage(), &ends, &resolved);
        let deferred = |pass: &Pass| PipelineKey::deferred(pass.program.filters(), ends.destination);
        let mut steps = Vec::with_capacity(plan.passes.len() + plan.deferred.len());
        steps.extend(
            plan.passes
                .iter()
                .map(|pass| BoundPass::new(key(pass), pipelines, cache)),
        );
        let last = plan.deferred.iter();
        steps.extend(last.map(|pass| BoundPass::deferred(deferred(pass), pipelines, cache)));
        Self {
            request,
            resolved,
            needed: plan.intermediates.clone(),
            plan,
            steps,
            items,
            held: Held::default(),
            is_written: false,
            is_specialised: false,
            was_drawn: false,
            is_blurred: AtomicBool::new(false),
        }
    }

    /// Takes another request with the same plan.
    pub fn take_request(&mut self, request: BlurRequest) {
        if self.request != request {
            *self.is_blurred.get_mut() = false;
            self.request = request;
        }
    }

    /// Releases the textures, but not the mask.
    pub fn release(&mut self) {
        self.held = Held {
            uniforms: self.held.uniforms.take(),
            shares: self.held.shares,
            ..Held::default()
        };
        *self.is_blurred.get_mut() = false;
    }

    /// Whether its result is kept and exists: nothing is left to blur.
    pub fn is_kept(&self) -> bool {
        self.request.keeps.is_some() && self.held.result.is_some() && self.is_blurred.load(Ordering::Relaxed)
    }

    /// Whether its mask exists, and the pipelines of all passes are compiled.
    pub fn is_ready(&self, pipelines: &BlurPipelines, cache: &PipelineCache) -> bool {
        let mut alike = self.steps[..self.plan.passes.len()].chunk_by(|one, other| one.key == other.key);
        self.request.has_mask() && alike.all(|alike| alike[0].ready(pipelines, cache).is_some())
    }

    /// The dynamic offset of the uniform of a step.
    pub fn offset_of(&self, step: usize) -> u32 {
        offset_of_pass(&self.plan, step)
    }

    /// Binds what all passes read and write between two ends.
    pub fn bind(&mut self, with: &BlurPipelines, ends: EndViews) {
        self.bind_steps(0..self.plan.passes.len(), with, ends);
    }

    /// Binds everything, to be encoded from any of these sources before a front end does the deferred steps.
    pub fn bind_deferred(&mut self, with: &BlurPipelines, sources: &[&TextureView]) {
        self.held.sources.clear();
        self.held.sources.extend(sources.iter().copied().cloned());
        let (passes, all) = (self.plan.passes.len(), self.steps.len());
        for source in sources {
            let first = if self.is_kept() { passes } else { 0 };
            self.bind_steps(first..all, with, [source; 2]);
        }
    }

    /// Whether it is bound for a source, in this frame.
    pub fn is_bound(&self) -> bool {
        !self.held.sources.is_empty()
    }

    fn bind_steps(&mut self, steps: Range<usize>, with: &BlurPipelines, ends: EndViews) {
        let now = self.held.updates;
        let mut groups = core::mem::take(&mut self.held.groups);
        for step in steps {
            let views = self.views(step, ends);
            let bound = (self.steps[step].layout.id(), views.map(|view| view.id()));
            if let Some((_, used)) = groups.get_mut(&bound) {
                *used = now;
            } else if let Some(uniforms) = &self.held.uniforms {
                groups.insert(bound, (self.steps[step].bind_group(with, uniforms, views), now));
            }
        }
        groups.retain(|_, (_, used)| *used + IDLE_UPDATES >= now);
        self.held.groups = groups;
    }

    /// What a step binds, once it is bound for these ends.
    pub fn group(&self, step: usize, ends: EndViews) -> Option<&BindGroup> {
        let views = self.views(step, ends).map(|view| view.id());
        let bound = (self.steps[step].layout.id(), views);
        self.held.groups.get(&bound).map(|(group, _)| group)
    }

    /// The views of a step, in the order of [`Bound`].
    fn views<'a>(&'a self, step: usize, [source, destination]: EndViews<'a>) -> [&'a TextureView; 5] {
        let pass = match self.plan.passes.get(step) {
            Some(pass) => pass,
            None => &self.plan.deferred[step - self.plan.passes.len()],
        };
        let read = self.view(pass.source, source);
        // A render pass does not bind its target.
        let stored = if pass.program.computes() {
            self.view(pass.target, destination)
        } else {
            read
        };
        let blends = pass.program.varies() || pass.needed.is_some();
        let Some(sigma_levels) = self.plan.sigma_levels.as_ref().filter(|_| blends) else {
            return [read, stored, read, read, read];
        };
        let (atlas, sums) = (
            self.view(sigma_levels.atlas, source),
            self.view(sigma_levels.sums, source),
        );
        // Without a mask, no shader reads it.
        let mask = self.request.work.varying().and_then(|(_, field)| field.mask.as_ref());
        let mask = mask.and_then(|mask| mask.texture()).unwrap_or(atlas);
        [read, stored, atlas, mask, sums]
    }

    fn view<'a>(&'a self, slot: TextureSlot, end: &'a TextureView) -> &'a TextureView {
        match (slot, &self.held.result) {
            // Only a deferred step is left.
            (TextureSlot::Intermediate(_), Some(result)) if self.is_kept() => result,
            (TextureSlot::Intermediate(index), _) => &self.held.textures[index],
            (TextureSlot::Source | TextureSlot::Destination, _) => end,
        }
    }
}

impl BoundPass {
    fn bind_group(&self, with: &BlurPipelines, uniforms: &Buffer, views: [&TextureView; 5]) -> BindGroup {
        let texture = |index: usize| BindingResource::TextureView(views[index]);
        let uniform = |offset: u64, size: Option<BufferSize>| {
            BindingResource::Buffer(BufferBinding {
                buffer: uniforms,
                offset,
                size,
            })
        };
        let sized = |offset, size: usize| uniform(offset, BufferSize::new(size as u64));
        let resource = |binding: u32| match binding {
            bindings::SOURCE => texture(0),
            bindings::SAMPLER => BindingResource::Sampler(&with.sampler),
            bindings::STORED => texture(1),
            bindings::SIGMA_LEVELS => sized(SIGMA_LEVELS_AT, size_of::<SigmaLevelsUniform>()),
            bindings::ATLAS => texture(2),
            bindings::SHARES => sized(SHARES_AT, size_of::<Shares>()),
            bindings::MASK => texture(3),
            bindings::SUMS => texture(4),
            _ => uniform(0, self.key.uniform_size()),
        };
        let entries: Vec<BindGroupEntry> = (self.key.bindings())
            .map(|binding| BindGroupEntry {
                binding,
                resource: resource(binding),
            })
            .collect();
        let label = "gaussian_blur_bind_group";
        with.device.create_bind_group(label, &self.layout, &entries)
    }
}
