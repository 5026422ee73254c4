//! Executes plans: the only place that opens the blur's passes.
//!
//! A front end keeps one [`BlurJob`] for everything it blurs. In the prepare phase [`BlurPreparer::prepare`] brings the
//! job up to date with what is asked for; in the render phase [`BlurJob::record`] encodes it. What did not change
//! between two frames is not touched: the plan, the uniforms, the bind groups and the pipelines all stay.

use crate::diagnostics::{self, BlurLabel};
use crate::pipelines::{Alpha, BlurPipelineKey, BlurPipelines, Fetch, Program, fetch_of};
use crate::plan::{BlurPlan, BlurRequest, Filter, Fusion, Pass, PassKind, Precision, Surface};
use crate::settings::{BlurAlpha, BlurError, EdgeMode};
use crate::textures::{intermediate_bytes, intermediate_format, take_intermediates};
use crate::uniforms::PassUniform;
use bevy::ecs::system::SystemParam;
use bevy::prelude::*;
use bevy::render::diagnostic::{DiagnosticsRecorder, RecordDiagnostics};
use bevy::render::render_resource::{
    BindGroup, BindGroupEntry, BindingResource, Buffer, BufferBinding, BufferDescriptor, BufferSize, BufferUsages,
    CachedRenderPipelineId, CommandEncoder, LoadOp, Operations, PipelineCache, RenderPassColorAttachment,
    RenderPassDescriptor, RenderPipeline, SpecializedRenderPipelines, StoreOp, TextureFormat, TextureView,
    TextureViewId,
};
use bevy::render::renderer::{RenderContext, RenderDevice, RenderQueue};
use bevy::render::texture::{CachedTexture, TextureCache};

/// The distance of two uniforms in their buffer: dynamic offsets are multiples of 256 bytes.
const UNIFORM_STRIDE: u64 = (size_of::<PassUniform>() as u64).next_multiple_of(256);

/// What a job is to do: everything that decides its plan and its pipelines.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BlurTask {
    /// The plan to execute; `None` for an exact copy of `region`.
    pub request: Option<BlurRequest>,
    /// The texels to read and write.
    pub region: URect,
    /// What alpha means in source and destination.
    pub alpha: BlurAlpha,
    /// The format of the source's view.
    pub source: TextureFormat,
    /// The format of the destination's view.
    pub destination: TextureFormat,
}

/// What one blur keeps between frames.
#[derive(Default)]
pub struct BlurJob {
    task: Option<BlurTask>,
    plan: BlurPlan,
    textures: Vec<CachedTexture>,
    uniforms: Option<Buffer>,
    steps: Vec<Step>,
}

impl BlurTask {
    /// Whether both tasks are about the same textures, as far as a task can tell.
    fn has_textures_of(&self, other: &Self) -> bool {
        let textures = |task: &Self| (task.region, task.source, task.destination);
        textures(self) == textures(other)
    }
}

/// What one pass keeps between frames.
struct Step {
    pipeline: CachedRenderPipelineId,
    fetch: Fetch,
    /// The bind groups of the views that this pass has read, the latest last.
    bind_groups: Vec<(TextureViewId, BindGroup)>,
}

/// All that it takes to bring a [`BlurJob`] up to date.
#[derive(SystemParam)]
pub struct BlurPreparer<'w> {
    device: Res<'w, RenderDevice>,
    queue: Res<'w, RenderQueue>,
    pipelines: Res<'w, BlurPipelines>,
    cache: Res<'w, PipelineCache>,
    specialized: ResMut<'w, SpecializedRenderPipelines<BlurPipelines>>,
    textures: ResMut<'w, TextureCache>,
    bytes: ResMut<'w, IntermediateBytes>,
}

/// How many bytes the intermediates of this frame hold.
#[derive(Resource, Clone, Copy, Debug, Default)]
pub struct IntermediateBytes(pub u64);

/// Starts counting anew for the next frame.
pub fn reset_bytes(mut bytes: ResMut<IntermediateBytes>) {
    bytes.0 = 0;
}

impl BlurPreparer<'_> {
    /// Brings a job up to date and takes its textures for this frame.
    ///
    /// # Errors
    /// [`BlurError::UnsupportedSource`] and [`BlurError::TooLarge`]; the job then has nothing to do.
    pub fn prepare(&mut self, job: &mut BlurJob, task: BlurTask) -> Result<(), BlurError> {
        let format = intermediate_format(task.source, task.destination);
        if job.task != Some(task) {
            let same_textures = job.task.take().is_some_and(|old| old.has_textures_of(&task));
            let plan = task
                .request
                .map_or_else(|| BlurPlan::copy(task.region), |request| BlurPlan::new(&request));
            self.check_size(&plan)?;
            let steps = self.steps(&plan, &task, format)?;
            let replaced = self.write_uniforms(job, &plan);
            let old = core::mem::replace(&mut job.steps, steps);
            if same_textures && !replaced {
                job.keep_bind_groups(old);
            }
            job.plan = plan;
            job.task = Some(task);
        }
        job.textures = take_intermediates(&job.plan, format, &self.device, &mut self.textures);
        self.bytes.0 += intermediate_bytes(&job.plan, format);
        Ok(())
    }

    /// Queues the pipelines that blurs of any strength would need between two formats, without blurring.
    pub fn warm_up(&mut self, task: BlurTask) {
        let strengths = [Precision::Standard.rho(), 4.0 * Precision::Hdr.rho()];
        for sigma in strengths {
            let plan = BlurPlan::new(&BlurRequest {
                sigma: Vec2::splat(sigma as f32),
                region: URect::from_corners(UVec2::ZERO, UVec2::splat(64)),
                edge: EdgeMode::Clamp,
                precision: Precision::Standard,
                fusion: Fusion::None,
            });
            // A format that cannot be blurred is reported when it is.
            let _ = self.steps(&plan, &task, intermediate_format(task.source, task.destination));
        }
    }

    fn check_size(&self, plan: &BlurPlan) -> Result<(), BlurError> {
        let limit = self.device.limits().max_texture_dimension_2d;
        let size = plan.largest_intermediate();
        if size.max_element() > limit {
            return Err(BlurError::TooLarge { size, limit });
        }
        Ok(())
    }

    fn steps(&mut self, plan: &BlurPlan, task: &BlurTask, intermediate: TextureFormat) -> Result<Vec<Step>, BlurError> {
        let source = fetch_of(task.source, &self.device).ok_or(BlurError::UnsupportedSource(task.source))?;
        let between = fetch_of(intermediate, &self.device).unwrap_or(Fetch::Loaded);
        // Only texel by texel can colour be multiplied with alpha before it is filtered, and only so is a copy exact.
        let is_copy = plan.passes.first().is_some_and(|pass| pass.kind == PassKind::Copy);
        let exact = task.alpha == BlurAlpha::Straight || is_copy;
        let step = |pass: &Pass| {
            let first = pass.source == Surface::Source;
            let last = pass.target == Surface::Destination;
            let fetch = match (first, exact) {
                (true, true) => Fetch::Loaded,
                (true, false) => source,
                (false, _) => between,
            };
            let key = BlurPipelineKey {
                program: match pass.x.filter {
                    Filter::Taps(_) => Program::Stencil,
                    Filter::CubicUp { .. } => Program::Upsample,
                },
                fetch,
                enter: first.then(|| entering(task.alpha)),
                leave: last.then(|| leaving(task.alpha)),
                target: if last { task.destination } else { intermediate },
                intermediate,
            };
            Step {
                pipeline: self.specialized.specialize(&self.cache, &self.pipelines, key),
                fetch,
                bind_groups: Vec::new(),
            }
        };
        Ok(plan.passes.iter().map(step).collect())
    }

    /// Writes the uniforms of all passes. Returns whether the buffer had to be replaced by a larger one.
    fn write_uniforms(&self, job: &mut BlurJob, plan: &BlurPlan) -> bool {
        if plan.passes.is_empty() {
            return false;
        }
        let stride = UNIFORM_STRIDE as usize;
        let mut bytes = vec![0; stride * plan.passes.len()];
        for (slot, pass) in bytes.chunks_mut(stride).zip(&plan.passes) {
            let uniform = PassUniform::from(pass);
            slot[..size_of::<PassUniform>()].copy_from_slice(bytemuck::bytes_of(&uniform));
        }
        let fits = |buffer: &&Buffer| buffer.size() >= bytes.len() as u64;
        let replaced = job.uniforms.as_ref().filter(fits).is_none();
        if replaced {
            job.uniforms = Some(self.device.create_buffer(&BufferDescriptor {
                label: Some("gaussian_blur_uniforms"),
                size: bytes.len() as u64,
                usage: BufferUsages::UNIFORM | BufferUsages::COPY_DST,
                mapped_at_creation: false,
            }));
        }
        if let Some(buffer) = &job.uniforms {
            self.queue.write_buffer(buffer, 0, &bytes);
        }
        replaced
    }
}

fn entering(alpha: BlurAlpha) -> Alpha {
    match alpha {
        BlurAlpha::Straight => Alpha::Convert,
        BlurAlpha::Premultiplied | BlurAlpha::Opaque => Alpha::Keep,
    }
}

fn leaving(alpha: BlurAlpha) -> Alpha {
    match alpha {
        BlurAlpha::Premultiplied => Alpha::Keep,
        BlurAlpha::Straight => Alpha::Convert,
        BlurAlpha::Opaque => Alpha::Opaque,
    }
}

impl PassKind {
    fn span(self) -> &'static str {
        match self {
            Self::Copy => diagnostics::COPY,
            Self::Downsample => diagnostics::DOWNSAMPLE,
            Self::Horizontal => diagnostics::HORIZONTAL,
            Self::Vertical => diagnostics::VERTICAL,
            Self::Blur => diagnostics::BLUR,
            Self::Upsample => diagnostics::UPSAMPLE,
        }
    }
}

/// What encoding a job needs from the render world.
#[derive(SystemParam)]
pub struct BlurRecorder<'w> {
    pipelines: Res<'w, BlurPipelines>,
    cache: Res<'w, PipelineCache>,
}

impl BlurJob {
    /// Lets the textures go. What is cheap to keep stays, so that the blur resumes without a hitch.
    pub fn release(&mut self) {
        self.textures.clear();
        self.steps.iter_mut().for_each(|step| step.bind_groups.clear());
    }

    /// Hands the bind groups of the passes before to the passes that read the same surfaces in the same way.
    fn keep_bind_groups(&mut self, old: Vec<Step>) {
        for (step, old) in self.steps.iter_mut().zip(old) {
            if step.fetch == old.fetch {
                step.bind_groups = old.bind_groups;
            }
        }
    }

    /// Encodes the passes from `source` into `destination`. Both may show one texture.
    ///
    /// Returns `false`, having encoded nothing, while a pipeline is still being compiled.
    pub fn record(
        &mut self,
        with: &BlurRecorder,
        context: &mut RenderContext,
        label: &BlurLabel,
        source: &TextureView,
        destination: &RenderPassColorAttachment,
    ) -> bool {
        let pipelines: Option<Vec<&RenderPipeline>> = self
            .steps
            .iter()
            .map(|step| with.cache.get_render_pipeline(step.pipeline))
            .collect();
        let Some(pipelines) = pipelines else {
            return false;
        };
        let Some(uniforms) = self.uniforms.clone() else {
            return true;
        };
        let device = context.render_device().clone();
        for (pass, step) in self.plan.passes.iter().zip(&mut self.steps) {
            let view = view_of(&self.textures, pass.source, source);
            // The two textures of a camera take turns; an intermediate has one.
            let most = if pass.source == Surface::Source { 2 } else { 1 };
            step.bind(with, &device, &uniforms, view, most);
        }
        let recorder = context.diagnostic_recorder();
        let recorder = recorder.as_deref();
        let encoder = context.command_encoder();
        let whole = recorder.time_span(encoder, label.span());
        self.encode(encoder, recorder, &pipelines, destination);
        whole.end(encoder);
        true
    }

    /// Opens one pass after the other. Passes of a kind share a span.
    fn encode(
        &self,
        encoder: &mut CommandEncoder,
        recorder: Option<&DiagnosticsRecorder>,
        pipelines: &[&RenderPipeline],
        destination: &RenderPassColorAttachment,
    ) {
        let mut index = 0;
        for group in self.plan.passes.chunk_by(|a, b| a.kind == b.kind) {
            let span = recorder.time_span(encoder, group[0].kind.span());
            for pass in group {
                let step = &self.steps[index];
                let attachment = match pass.target {
                    Surface::Intermediate(texture) => whole_texture(&self.textures[texture].default_view),
                    Surface::Source | Surface::Destination => destination.clone(),
                };
                let mut render_pass = encoder.begin_render_pass(&RenderPassDescriptor {
                    label: Some(pass.kind.span()),
                    color_attachments: &[Some(attachment)],
                    ..default()
                });
                let (origin, size) = (pass.origin, pass.size);
                render_pass.set_viewport(origin.x as f32, origin.y as f32, size.x as f32, size.y as f32, 0.0, 1.0);
                render_pass.set_scissor_rect(origin.x, origin.y, size.x, size.y);
                render_pass.set_pipeline(pipelines[index]);
                if let Some((_, bind_group)) = step.bind_groups.last() {
                    render_pass.set_bind_group(0, &**bind_group, &[(index as u64 * UNIFORM_STRIDE) as u32]);
                }
                render_pass.draw(0..3, 0..1);
                index += 1;
            }
            span.end(encoder);
        }
    }
}

impl Step {
    /// Makes the bind group that reads `view` the latest one, creating it if it is new.
    fn bind(&mut self, with: &BlurRecorder, device: &RenderDevice, uniforms: &Buffer, view: &TextureView, most: usize) {
        if let Some(known) = self.bind_groups.iter().position(|(id, _)| *id == view.id()) {
            let last = self.bind_groups.len() - 1;
            self.bind_groups.swap(known, last);
            return;
        }
        let uniform = BindingResource::Buffer(BufferBinding {
            buffer: uniforms,
            offset: 0,
            size: BufferSize::new(size_of::<PassUniform>() as u64),
        });
        let mut resources = vec![uniform, BindingResource::TextureView(view)];
        if self.fetch == Fetch::Filtered {
            resources.push(BindingResource::Sampler(&with.pipelines.sampler));
        }
        let entries: Vec<BindGroupEntry> = (0..)
            .zip(resources)
            .map(|(binding, resource)| BindGroupEntry { binding, resource })
            .collect();
        let layout = with.cache.get_bind_group_layout(with.pipelines.layout(self.fetch));
        let group = device.create_bind_group("gaussian_blur_bind_group", &layout, &entries);
        if self.bind_groups.len() == most {
            self.bind_groups.remove(0);
        }
        self.bind_groups.push((view.id(), group));
    }
}

fn view_of<'a>(textures: &'a [CachedTexture], surface: Surface, source: &'a TextureView) -> &'a TextureView {
    match surface {
        Surface::Intermediate(index) => &textures[index].default_view,
        Surface::Source | Surface::Destination => source,
    }
}

/// An attachment that is written everywhere: what it held before does not matter.
fn whole_texture(view: &TextureView) -> RenderPassColorAttachment<'_> {
    RenderPassColorAttachment {
        view,
        depth_slice: None,
        resolve_target: None,
        ops: Operations {
            load: LoadOp::Clear(default()),
            store: StoreOp::Store,
        },
    }
}
