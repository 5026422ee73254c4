//! Brings jobs up to date with what is asked for.

use super::step::{Queued, Step};
use super::{BlurJob, BlurTask};
use crate::pipelines::{Alpha, BlurPipelineKey, BlurPipelines, Fetch, Program, can_compute, fetch_of};
use crate::plan::{AxisPass, BlurPlan, BlurRequest, Filter, Filtering, Fusion, Pass, PassKind, Precision, Surface};
use crate::settings::{BlurAlpha, BlurBackend, BlurError, EdgeMode};
use crate::textures::{intermediate_bytes, intermediate_format, take_intermediates};
use crate::uniforms::uniform_bytes;
use bevy::ecs::system::SystemParam;
use bevy::prelude::*;
use bevy::render::render_resource::{
    BufferDescriptor, BufferUsages, PipelineCache, SpecializedComputePipelines, SpecializedRenderPipelines,
    TextureFormat, TextureUsages,
};
use bevy::render::renderer::{RenderAdapter, RenderDevice, RenderQueue};
use bevy::render::texture::TextureCache;

/// Which kinds of passes this app uses on this GPU.
#[derive(Resource, Clone, Copy, Debug, PartialEq, Eq)]
pub struct Executor {
    /// Compute passes for what can be stored to.
    computes: bool,
}

impl Executor {
    /// Decides for a GPU.
    ///
    /// [`BlurBackend::Auto`] computes whatever can be stored: on every GPU that was measured, a software rasteriser among
    /// them, that was faster than render passes, also where a render pass has to follow for the destination.
    #[must_use]
    pub fn new(backend: BlurBackend, adapter: &RenderAdapter) -> Self {
        Self {
            computes: backend != BlurBackend::Fragment && can_compute(adapter),
        }
    }

    /// How much the passes of a task may do.
    fn fusion(self, task: &BlurTask, intermediate: TextureFormat) -> Fusion {
        // The tiles of compute passes lie in workgroup memory as half floats.
        let fits = intermediate == TextureFormat::Rgba16Float && task.blur.is_some();
        if self.computes && fits {
            Fusion::Tiled {
                direct: task.is_storable && !task.in_place,
            }
        } else {
            Fusion::None
        }
    }
}

/// How many bytes the intermediates of this frame hold.
#[derive(Resource, Clone, Copy, Debug, Default)]
pub struct IntermediateBytes(pub u64);

/// Starts counting anew for the next frame.
pub fn reset_bytes(mut bytes: ResMut<IntermediateBytes>) {
    bytes.0 = 0;
}

/// All that it takes to bring a [`BlurJob`] up to date.
#[derive(SystemParam)]
pub struct BlurPreparer<'w> {
    device: Res<'w, RenderDevice>,
    queue: Res<'w, RenderQueue>,
    executor: Res<'w, Executor>,
    pipelines: Res<'w, BlurPipelines>,
    cache: Res<'w, PipelineCache>,
    rendering: ResMut<'w, SpecializedRenderPipelines<BlurPipelines>>,
    computing: ResMut<'w, SpecializedComputePipelines<BlurPipelines>>,
    textures: ResMut<'w, TextureCache>,
    bytes: ResMut<'w, IntermediateBytes>,
}

impl BlurPreparer<'_> {
    /// Brings a job up to date and takes its textures for this frame.
    ///
    /// # Errors
    /// [`BlurError::UnsupportedSource`] and [`BlurError::TooLarge`]; the job then has nothing to do.
    pub fn prepare(&mut self, job: &mut BlurJob, task: BlurTask) -> Result<(), BlurError> {
        let format = intermediate_format(task.source, task.destination);
        let fusion = self.executor.fusion(&task, format);
        if job.task != Some(task) {
            let same_textures = job.task.take().is_some_and(|old| old.has_textures_of(&task));
            let filtering = self.filtering(&task, format)?;
            let plan = plan_of(&task, fusion, filtering);
            self.check_size(&plan)?;
            let steps = self.steps(&plan, &task, format, filtering);
            let replaced = self.write_uniforms(job, &plan, task.source_size);
            let old = core::mem::replace(&mut job.steps, steps);
            if same_textures && !replaced {
                job.steps.iter_mut().zip(old).for_each(|(step, old)| step.inherit(old));
            }
            job.plan = plan;
            job.task = Some(task);
        }
        let usage = match fusion {
            Fusion::None => TextureUsages::RENDER_ATTACHMENT,
            Fusion::Tiled { .. } => TextureUsages::RENDER_ATTACHMENT | TextureUsages::STORAGE_BINDING,
        };
        job.textures = take_intermediates(&job.plan, format, &self.device, &mut self.textures, usage);
        self.bytes.0 += intermediate_bytes(&job.plan, format);
        Ok(())
    }

    /// Queues the pipelines that blurs of any strength would need for a task, without blurring.
    pub fn warm_up(&mut self, task: BlurTask) {
        // Small steps meet every kernel, and the largest meets every octave.
        for sigma in (0..=20).map(|i| 0.5 * 1.4_f32.powi(i)) {
            let task = BlurTask {
                blur: Some((Vec2::splat(sigma), EdgeMode::Clamp)),
                ..task
            };
            let format = intermediate_format(task.source, task.destination);
            // A format that cannot be blurred is reported when it is.
            if let Ok(filtering) = self.filtering(&task, format) {
                let plan = plan_of(&task, self.executor.fusion(&task, format), filtering);
                self.steps(&plan, &task, format, filtering);
            }
        }
    }

    /// What a task may read between texels. Colour has to be multiplied with alpha before it is filtered.
    fn filtering(&self, task: &BlurTask, intermediate: TextureFormat) -> Result<Filtering, BlurError> {
        let source = fetch_of(task.source, &self.device).ok_or(BlurError::UnsupportedSource(task.source))?;
        Ok(Filtering {
            source: source == Fetch::Filtered && task.alpha != BlurAlpha::Straight,
            intermediates: fetch_of(intermediate, &self.device) == Some(Fetch::Filtered),
        })
    }

    fn check_size(&self, plan: &BlurPlan) -> Result<(), BlurError> {
        let limit = self.device.limits().max_texture_dimension_2d;
        let size = plan.largest_intermediate();
        if size.max_element() > limit {
            return Err(BlurError::TooLarge { size, limit });
        }
        Ok(())
    }

    fn steps(
        &mut self,
        plan: &BlurPlan,
        task: &BlurTask,
        intermediate: TextureFormat,
        filtering: Filtering,
    ) -> Vec<Step> {
        let samples_spline = filtering.intermediates && Precision::of(task.source) == Precision::Standard;
        let step = |pass: &Pass| {
            let first = pass.source == Surface::Source;
            let last = pass.target == Surface::Destination;
            let program = self.program(pass, task, intermediate);
            let key = BlurPipelineKey {
                program,
                fetch: fetch_by(program, pass, samples_spline),
                enter: first.then(|| entering(task.alpha)),
                leave: last.then(|| leaving(task.alpha, task.blur.is_some())),
                target: if last { task.destination } else { intermediate },
                intermediate,
            };
            let pipeline = match key.program.tile() {
                None => Queued::Render(self.rendering.specialize(&self.cache, &self.pipelines, key.clone())),
                Some(tile) => {
                    let id = self.computing.specialize(&self.cache, &self.pipelines, key.clone());
                    Queued::Compute(id, tile)
                }
            };
            Step::new(key, pipeline)
        };
        plan.passes.iter().map(step).collect()
    }

    /// The program of a pass: a compute program wherever its target can be stored to.
    fn program(&self, pass: &Pass, task: &BlurTask, intermediate: TextureFormat) -> Program {
        let stores = pass.target != Surface::Destination || task.is_storable;
        match self.executor.fusion(task, intermediate) {
            Fusion::Tiled { .. } if stores => match pass.kind {
                PassKind::Downsample => Program::Decimate(UVec2::new(pass.x.step as u32, pass.y.step as u32)),
                PassKind::Upsample => Program::interpolate(octaves_of(&pass.y)),
                PassKind::Blur => Program::Blur(reach_of(&pass.x)),
                PassKind::Copy => Program::Copy,
                PassKind::Horizontal | PassKind::Vertical => texels_of(pass),
            },
            _ => match pass.kind {
                PassKind::Copy => Program::Copy,
                PassKind::Upsample => Program::Upsample,
                PassKind::Downsample if matches!(pass.x.filter, Filter::Taps(_)) => Program::Halve,
                PassKind::Downsample | PassKind::Horizontal | PassKind::Vertical | PassKind::Blur => texels_of(pass),
            },
        }
    }

    /// Writes the uniforms of all passes. Returns whether the buffer had to be replaced by a larger one.
    fn write_uniforms(&self, job: &mut BlurJob, plan: &BlurPlan, source_size: UVec2) -> bool {
        let bytes = uniform_bytes(plan, source_size);
        if let Some(buffer) = job
            .uniforms
            .as_ref()
            .filter(|buffer| buffer.size() >= bytes.len() as u64)
        {
            self.queue.write_buffer(buffer, 0, &bytes);
            return false;
        }
        let buffer = self.device.create_buffer(&BufferDescriptor {
            label: Some("gaussian_blur_uniforms"),
            size: bytes.len() as u64,
            usage: BufferUsages::UNIFORM | BufferUsages::COPY_DST,
            mapped_at_creation: false,
        });
        self.queue.write_buffer(&buffer, 0, &bytes);
        job.uniforms = Some(buffer);
        true
    }
}

fn plan_of(task: &BlurTask, fusion: Fusion, filtering: Filtering) -> BlurPlan {
    let Some((sigma, edge)) = task.blur else {
        return BlurPlan::copy(task.region);
    };
    BlurPlan::new(&BlurRequest {
        sigma,
        region: task.region,
        edge,
        precision: Precision::of(task.source),
        fusion,
        filtering,
    })
}

/// How a program reads in a pass.
///
/// The spline is sampled where that is possible and exact enough: the eight bits that samplers keep of the place between two texels make
/// lights that outshine what is around them a thousand times wrong by a quarter of a percent of their peak.
fn fetch_by(program: Program, pass: &Pass, samples_spline: bool) -> Fetch {
    let is_coarse = octaves_of(&pass.x) > 0 && octaves_of(&pass.y) > 0;
    match program {
        Program::Halve => Fetch::Filtered,
        Program::Upsample if is_coarse && samples_spline => Fetch::Filtered,
        _ => Fetch::Loaded,
    }
}

fn texels_of(pass: &Pass) -> Program {
    Program::Texels(UVec2::new(pass.x.texels(), pass.y.texels()))
}

/// How far a kernel reaches to either side, in texels.
fn reach_of(axis: &AxisPass) -> u32 {
    match &axis.filter {
        Filter::Weights { first, .. } => first.unsigned_abs(),
        Filter::Taps(_) | Filter::CubicUp { .. } => 0,
    }
}

/// How many octaves a pass interpolates along an axis.
fn octaves_of(axis: &AxisPass) -> u32 {
    match &axis.filter {
        Filter::CubicUp { octaves, .. } => *octaves,
        Filter::Taps(_) | Filter::Weights { .. } => 0,
    }
}

fn entering(alpha: BlurAlpha) -> Alpha {
    match alpha {
        BlurAlpha::Straight => Alpha::Convert,
        BlurAlpha::Premultiplied | BlurAlpha::Opaque => Alpha::Keep,
    }
}

fn leaving(alpha: BlurAlpha, is_blurred: bool) -> Alpha {
    match alpha {
        BlurAlpha::Opaque => Alpha::Opaque,
        // What is only copied has not been converted.
        BlurAlpha::Straight if is_blurred => Alpha::Convert,
        BlurAlpha::Premultiplied | BlurAlpha::Straight => Alpha::Keep,
    }
}
