//! Prepares requests: plans them, and keeps what executes them from frame to frame, which is their pipelines and what they bind.

use super::pipeline_key::{PipelineKey, Queued, bindings};
use super::pipelines::{BlurPipelines, Uses};
use super::pool::{IntermediateTextures, Need, TextureKind, User, bytes, create, kind_of, made_size};
use super::request::{BlurRequest, Work, WorkKind};
use super::uniforms::{SHARES_AT, SIGMA_LEVELS_AT, SigmaLevelsUniform, buffer_bytes, offset_of_pass};
use super::view_info::{ViewInfo, view_of_mask};
use crate::errors::BlurError;
use crate::formats::{Capabilities, Ends, Resolved};
use crate::plan::batch::{BatchedBlur, together};
use crate::plan::pack::PageSet;
use crate::plan::pass::{Pass, TextureSlot};
use crate::plan::{BlurPlan, Finish, PlanRequest};
use crate::program::Program;
use crate::settings::EdgeMode;
use crate::sigma_field::{Mask, Shares};
use bevy::ecs::system::SystemParam;
use bevy::platform::collections::HashMap;
use bevy::prelude::*;
use bevy::render::render_asset::RenderAssets;
use bevy::render::render_resource::{
    BindGroup, BindGroupEntry, BindGroupLayout, BindGroupLayoutId, BindingResource, Buffer, BufferBinding,
    BufferDescriptor, BufferSize, BufferUsages, PipelineCache, TextureView, TextureViewId,
};
use bevy::render::renderer::{RenderDevice, RenderQueue};
use bevy::render::texture::GpuImage;
use core::ops::Range;
use core::sync::atomic::{AtomicBool, Ordering};

/// Everything needed to update a [`BlurJob`].
#[derive(SystemParam)]
pub struct BlurPreparer<'w> {
    pub device: Res<'w, RenderDevice>,
    pub(super) queue: Res<'w, RenderQueue>,
    pub capabilities: Res<'w, Capabilities>,
    pub pipelines: ResMut<'w, BlurPipelines>,
    pub cache: Res<'w, PipelineCache>,
    pub textures: ResMut<'w, IntermediateTextures>,
    images: Res<'w, RenderAssets<GpuImage>>,
}

impl BlurPreparer<'_> {
    /// Requests all pipelines needed between two ends, ahead of the first blur.
    pub fn announce(&mut self, ends: Ends, kind: WorkKind, finish: Finish) {
        let uses = Uses { ends, kind, finish };
        self.pipelines.announce(uses, &self.capabilities, &self.cache);
    }

    /// Makes a texture for a target of the plugin's own, with the sampler of another one. `None` if it is too large.
    pub fn make_target(&self, wanted: ViewInfo, like: &GpuImage) -> Option<GpuImage> {
        if wanted.size.max_element() > self.capabilities.largest_side() {
            return None;
        }
        let (_, usages) = self.capabilities.own_target(wanted.format).ok()?;
        let mut image = wanted.image("gaussian_blur_target");
        image.texture_descriptor.usage |= usages;
        let texture = self.device.create_texture(&image.texture_descriptor);
        Some(GpuImage {
            texture_view: texture.create_view(&image.texture_view_descriptor.clone().unwrap_or_default()),
            texture,
            sampler: like.sampler.clone(),
            texture_descriptor: image.texture_descriptor,
            texture_view_descriptor: image.texture_view_descriptor,
            had_data: false,
        })
    }

    /// Takes pages of at least these sizes for a front end to paint on in this frame.
    ///
    /// # Errors
    /// [`BlurError::OutOfMemory`].
    pub fn take_pages(
        &mut self,
        set: PageSet,
        needed: &[UVec2],
        kind: TextureKind,
    ) -> Result<Vec<TextureView>, BlurError> {
        let needed = needed.iter().copied().enumerate();
        let take = |(index, size)| {
            let user = User::Page(set, index);
            self.textures
                .take_view(Need { size, kind, user }, None, &self.capabilities)
        };
        needed.map(take).collect()
    }

    /// Counts a frame that draws a request, until all its kernels have pipelines of their own.
    pub(super) fn note_drawn(&mut self, prepared: &mut Prepared) {
        if !prepared.is_specialised && !prepared.is_kept() {
            let passes = &prepared.steps[..prepared.plan.passes.len()];
            let keys = passes.iter().map(|step| step.key);
            let uses = Uses::new(&prepared.request);
            prepared.is_specialised = self.pipelines.draw(keys, uses, &prepared.resolved);
        }
    }

    /// Finds the texture of a request's mask, unless it is missing.
    ///
    /// # Errors
    /// It cannot be the mask of a blur that writes the request's target.
    pub(super) fn find_mask(&self, request: &mut BlurRequest) -> Result<(), BlurError> {
        let target = request.target;
        if let Some(mask) = request.mask_mut()
            && let Some(Mask::Image(image)) = mask
            && let Some(image) = self.images.get(*image)
        {
            let view = view_of_mask(image, target)?;
            self.capabilities.check_layers("mask", &image.texture)?;
            *mask = Some(Mask::Texture(view));
        }
        Ok(())
    }

    /// Plans a request, which may be like an earlier one.
    ///
    /// # Errors
    /// The request cannot be carried out.
    pub(super) fn plan(&mut self, request: BlurRequest, old: Option<&mut Prepared>) -> Result<Prepared, BlurError> {
        let old = old.filter(|old| old.request.ends == request.ends);
        let known = old.as_ref().map(|old| old.resolved);
        let resolved = known.map_or_else(|| self.capabilities.resolve(&request.ends), Ok)?;
        let limit = self.capabilities.largest_side();
        let items = plan_items(&request, &resolved, old);
        let plan = plan_of(&request, &resolved, &items, limit).with_source_at(request.source_at);
        let size = plan.largest_intermediate();
        if size.max_element() > limit {
            return Err(BlurError::TooLarge { size, limit });
        }
        let steps = self.steps(&plan, &request.ends, &resolved);
        Ok(Prepared {
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
        })
    }

    /// The steps of a plan, with the pipelines that serve any kernel.
    fn steps(&mut self, plan: &BlurPlan, ends: &Ends, resolved: &Resolved) -> Vec<BoundPass> {
        let key = |pass: &Pass| (PipelineKey::new(pass.stage(), ends, resolved), true);
        let deferred = |pass: &Pass| (PipelineKey::deferred(pass.program.filters(), ends.destination), false);
        let step = |(key, is_encoded): (PipelineKey, bool)| BoundPass {
            key,
            any_kernel: is_encoded.then(|| self.pipelines.serving_any_kernel(key, &self.cache)),
            layout: self.pipelines.layout(key, &self.cache),
        };
        let keys = plan.passes.iter().map(key).chain(plan.deferred.iter().map(deferred));
        keys.map(step).collect()
    }

    pub(super) fn is_ready(&self, prepared: &Prepared) -> bool {
        prepared.is_ready(&self.pipelines, &self.cache)
    }

    /// Takes textures for this frame, which may be larger than needed, and writes what has changed.
    ///
    /// # Errors
    /// There is no memory.
    pub(super) fn equip(&mut self, prepared: &mut Prepared) -> Result<(), BlurError> {
        prepared.held.updates += 1;
        if prepared.is_kept() {
            prepared.held.textures.clear();
            prepared
                .held
                .result
                .iter()
                .for_each(|view| self.textures.count_view(view));
        } else if prepared.take_textures(&mut self.textures, &self.capabilities)? || !prepared.is_written {
            self.write_uniforms(prepared);
        }
        let Prepared {
            request, plan, held, ..
        } = prepared;
        let varying = request.work.varying().filter(|_| plan.sigma_levels.is_some());
        let shares = varying.map(|(_, field)| field.shares_from(request.source_at));
        if let (Some(uniforms), Some(shares)) = (&held.uniforms, shares)
            && held.shares != Some(shares)
        {
            self.queue
                .write_buffer(uniforms, SHARES_AT, bytemuck::bytes_of(&shares));
            held.shares = Some(shares);
        }
        Ok(())
    }

    /// Writes the uniforms of a plan, which depend on the sizes of its textures.
    fn write_uniforms(&self, prepared: &mut Prepared) {
        let Prepared {
            request, plan, held, ..
        } = prepared;
        let largest = request.work.varying().map_or(0.0, |(sigma, _)| sigma.max_element());
        let bytes = buffer_bytes(plan, request.source_size, largest);
        let buffer = match held.uniforms.take() {
            Some(old) if old.size() >= bytes.len() as u64 => old,
            _ => {
                held.groups.clear();
                self.device.create_buffer(&BufferDescriptor {
                    label: Some("gaussian_blur_uniforms"),
                    size: bytes.len() as u64,
                    usage: BufferUsages::UNIFORM | BufferUsages::COPY_DST,
                    mapped_at_creation: false,
                })
            }
        };
        self.queue.write_buffer(&buffer, 0, &bytes);
        (held.uniforms, held.shares) = (Some(buffer), None);
        prepared.is_written = true;
    }
}

/// What to plan for a blur of these bounds.
fn planned(request: &BlurRequest, resolved: &Resolved, sigma: Vec2, region: URect, edge: EdgeMode) -> PlanRequest {
    PlanRequest {
        sigma,
        region,
        edge,
        means: resolved.means,
        finish: request.finish,
    }
}

/// Plans a request whose items are planned already.
fn plan_of(request: &BlurRequest, resolved: &Resolved, items: &[BlurPlan], limit: u32) -> BlurPlan {
    let (sigma, edge, varies) = match &request.work {
        Work::Copy => return BlurPlan::copy(request.region, request.finish),
        Work::Mipmap => return BlurPlan::mipmap(request.source_size, request.region.size()),
        Work::Batch(_, asked) => return together(asked, items, limit),
        Work::Blur { sigma, edge, field } => (*sigma, *edge, field.is_some()),
    };
    let plan = if varies { BlurPlan::varying } else { BlurPlan::new };
    BlurPlan {
        scissor: (request.region != request.bounds).then_some(request.region),
        ..plan(&planned(request, resolved, sigma, request.bounds, edge))
    }
}

/// Plans the items of a request. Unchanged items keep their plans.
fn plan_items(request: &BlurRequest, resolved: &Resolved, old: Option<&mut Prepared>) -> Vec<BlurPlan> {
    let Work::Batch(_, items) = &request.work else {
        return Vec::new();
    };
    let (mut before, mut plans) = (None, Vec::new());
    if let Some(old) = old
        && let Work::Batch(_, items) = &old.request.work
    {
        (before, plans) = (Some(items), core::mem::take(&mut old.items));
    }
    let plan = |(index, item): (usize, &BatchedBlur)| match plans.get_mut(index) {
        Some(known) if before.is_some_and(|before| before.get(index) == Some(item)) => core::mem::take(known),
        _ => {
            let planned = planned(request, resolved, item.sigma, item.bounds, item.edge);
            BlurPlan::shifted(&planned, item.shift)
        }
    };
    items.iter().enumerate().map(plan).collect()
}

/// How many updates a bind group outlives without being used: a picture may be in each of two textures in turns.
const IDLE_UPDATES: u64 = 2;

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

    /// Takes textures of at least the needed sizes for this frame, if possible those that were taken before. Returns whether any
    /// size has changed. If a job keeps the input of its deferred step, that texture is the job's own, and there is one such step.
    ///
    /// # Errors
    /// [`BlurError::OutOfMemory`]; then only some have been taken, and the request is given up.
    fn take_textures(
        &mut self,
        pool: &mut IntermediateTextures,
        capabilities: &Capabilities,
    ) -> Result<bool, BlurError> {
        pool.begin_plan();
        let kind = TextureKind {
            format: self.resolved.intermediate,
            usages: self.resolved.intermediate_usages(),
        };
        let is_own = self.request.keeps.is_some();
        let (own, taken) = (&mut self.held.result, &mut self.held.textures);
        let mut are_others = false;
        for (index, size) in self.needed.iter().copied().enumerate() {
            let is_deferred = self.plan.reads_later(index);
            let view = if is_own && is_deferred {
                // The size that the pool would make, so that a kept picture has the same bits as a live one.
                let size = made_size(size, capabilities);
                let view = match own.take().filter(|view| kind_of(view) == (size, kind)) {
                    Some(view) => view,
                    None => create(size, kind, &capabilities.device)?,
                };
                pool.count(bytes(size, kind));
                own.insert(view).clone()
            } else {
                let user = match self.request.work {
                    // Pages serve many jobs, but a kept result belongs to one.
                    Work::Batch(set, _) if !is_own => User::Page(set, index),
                    _ if is_deferred => User::Job,
                    _ => User::Plans,
                };
                pool.take_view(Need { size, kind, user }, taken.get(index), capabilities)?
            };
            let (size, _) = kind_of(&view);
            are_others |= core::mem::replace(&mut self.plan.intermediates[index], size) != size;
            match taken.get_mut(index) {
                Some(known) => *known = view,
                None => taken.push(view),
            }
        }
        taken.truncate(self.needed.len());
        Ok(are_others)
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
