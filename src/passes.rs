//! Executes plans: the only place that opens the blur's passes.
//!
//! A front end keeps one [`BlurJob`] for everything it blurs. In the prepare phase [`BlurPreparer::prepare`] brings the
//! job up to date with what is asked for; in the render phase [`BlurJob::record`] encodes it. What did not change
//! between two frames is not touched: the plan, the uniforms, the bind groups and the pipelines all stay.
//!
//! There are two kinds of passes. A **render** pass writes every format, on every GPU, inside a viewport. A **compute**
//! pass shares work between neighbouring texels, but can store to some formats only. A plan can mix them, so a job uses
//! compute passes for its intermediates even where the destination needs a render pass.

mod prepare;
mod step;

use crate::diagnostics::{self, BlurLabel};
use crate::plan::{BlurPlan, Pass, PassKind, Surface};
use crate::settings::{BlurAlpha, EdgeMode};
use bevy::ecs::system::SystemParam;
use bevy::prelude::*;
use bevy::render::diagnostic::{DiagnosticsRecorder, RecordDiagnostics};
use bevy::render::render_resource::{
    Buffer, CommandEncoder, ComputePassDescriptor, LoadOp, Operations, PipelineCache, RenderPassColorAttachment,
    RenderPassDescriptor, StoreOp, TextureFormat, TextureView,
};
use bevy::render::renderer::RenderContext;
use bevy::render::texture::CachedTexture;
pub use prepare::{BlurPreparer, Executor, IntermediateBytes, reset_bytes};
use step::{Bound, Ready, Step};

use crate::pipelines::BlurPipelines;

/// What a job is to do: everything that decides its plan and its pipelines.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BlurTask {
    /// The standard deviations in texels and the edge mode; `None` for an exact copy.
    pub blur: Option<(Vec2, EdgeMode)>,
    /// The texels to read and write.
    pub region: URect,
    /// What alpha means in source and destination.
    pub alpha: BlurAlpha,
    /// The format of the source's view.
    pub source: TextureFormat,
    /// The size of the source's texture, of which the region is a part.
    pub source_size: UVec2,
    /// The format of the destination's view.
    pub destination: TextureFormat,
    /// Whether compute passes can store to the destination.
    pub is_storable: bool,
    /// Whether source and destination are one texture.
    pub in_place: bool,
}

/// The ends of a blur.
pub struct Ends<'a> {
    /// What is read.
    pub source: &'a TextureView,
    /// What is written.
    pub destination: &'a TextureView,
    /// The destination as a render pass writes it.
    pub attachment: RenderPassColorAttachment<'a>,
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

/// What encoding a job needs from the render world.
#[derive(SystemParam)]
pub struct BlurRecorder<'w> {
    pipelines: Res<'w, BlurPipelines>,
    cache: Res<'w, PipelineCache>,
}

impl BlurTask {
    /// Whether both tasks are about the same textures, as far as a task can tell.
    fn has_textures_of(&self, other: &Self) -> bool {
        let textures = |task: &Self| (task.region, task.source_size, task.source, task.destination);
        textures(self) == textures(other)
    }
}

impl BlurJob {
    /// Lets the textures go. What is cheap to keep stays, so that the blur resumes without a hitch.
    pub fn release(&mut self) {
        self.textures.clear();
        self.steps.iter_mut().for_each(Step::release);
    }

    /// Encodes the passes between two ends, which may be one texture.
    ///
    /// Returns `false`, having encoded nothing, while a pipeline is still being compiled.
    pub fn record(&mut self, with: &BlurRecorder, context: &mut RenderContext, label: &BlurLabel, ends: &Ends) -> bool {
        let ready: Option<Vec<Ready>> = self.steps.iter().map(|step| step.ready(&with.cache)).collect();
        let (Some(ready), Some(uniforms)) = (ready, self.uniforms.clone()) else {
            return self.steps.is_empty();
        };
        let device = context.render_device().clone();
        for (pass, step) in self.plan.passes.iter().zip(&mut self.steps) {
            let bound = Bound {
                source: view_of(&self.textures, pass.source, ends.source),
                target: view_of(&self.textures, pass.target, ends.destination),
                uniforms: &uniforms,
                // The two textures of a camera take turns; an intermediate has one.
                most: if pass.source == Surface::Source { 2 } else { 1 },
            };
            step.bind(with, &device, &bound);
        }
        let recorder = context.diagnostic_recorder();
        let encoder = context.command_encoder();
        self.encode(encoder, recorder.as_deref(), label, &ready, ends);
        true
    }

    /// Opens one pass after the other.
    ///
    /// Passes of a kind share a span. Where nobody measures, neighbouring compute passes are one pass of the GPU's with
    /// several dispatches: every pass of its own takes 4 us more on an H200.
    fn encode(
        &self,
        encoder: &mut CommandEncoder,
        recorder: Option<&DiagnosticsRecorder>,
        label: &BlurLabel,
        ready: &[Ready],
        ends: &Ends,
    ) {
        let passes = self.plan.passes.iter().zip(&self.steps).zip(ready).enumerate();
        let passes: Vec<Encoded> = passes
            .map(|(index, ((pass, step), ready))| Encoded {
                index,
                pass,
                step,
                ready,
            })
            .collect();
        let whole = recorder.time_span(encoder, label.span());
        let unmeasured = recorder.is_none();
        let together = |a: &Encoded, b: &Encoded| {
            a.computes() == b.computes() && (a.pass.kind == b.pass.kind || a.computes() && unmeasured)
        };
        for group in passes.chunk_by(together) {
            let span = recorder.time_span(encoder, group[0].pass.kind.span());
            if group[0].computes() {
                dispatch(encoder, group);
            } else {
                group.iter().for_each(|one| self.draw(encoder, one, ends));
            }
            span.end(encoder);
        }
        whole.end(encoder);
    }

    fn draw(&self, encoder: &mut CommandEncoder, one: &Encoded, ends: &Ends) {
        let Ready::Render(pipeline) = one.ready else {
            return;
        };
        let attachment = match one.pass.target {
            Surface::Intermediate(texture) => whole_texture(&self.textures[texture].default_view),
            Surface::Source | Surface::Destination => ends.attachment.clone(),
        };
        let mut render_pass = encoder.begin_render_pass(&RenderPassDescriptor {
            label: Some(one.pass.kind.span()),
            color_attachments: &[Some(attachment)],
            ..default()
        });
        let (origin, size) = (one.pass.origin, one.pass.size);
        let [x, y, width, height] = [origin.x, origin.y, size.x, size.y].map(|texels| texels as f32);
        render_pass.set_viewport(x, y, width, height, 0.0, 1.0);
        render_pass.set_scissor_rect(origin.x, origin.y, size.x, size.y);
        render_pass.set_pipeline(pipeline);
        render_pass.set_bind_group(0, one.step.bind_group(), &[step::uniform_offset(one.index)]);
        render_pass.draw(0..3, 0..1);
    }
}

/// A pass of a plan with all that it takes to encode it.
struct Encoded<'a> {
    index: usize,
    pass: &'a Pass,
    step: &'a Step,
    ready: &'a Ready<'a>,
}

impl Encoded<'_> {
    fn computes(&self) -> bool {
        matches!(self.ready, Ready::Compute(..))
    }
}

fn dispatch(encoder: &mut CommandEncoder, group: &[Encoded]) {
    let mut compute_pass = encoder.begin_compute_pass(&ComputePassDescriptor {
        label: Some(group[0].pass.kind.span()),
        ..default()
    });
    for one in group {
        let Ready::Compute(pipeline, tile) = one.ready else {
            continue;
        };
        let size = one.pass.size;
        compute_pass.set_pipeline(pipeline);
        compute_pass.set_bind_group(0, one.step.bind_group(), &[step::uniform_offset(one.index)]);
        compute_pass.dispatch_workgroups(size.x.div_ceil(tile.x), size.y.div_ceil(tile.y), 1);
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

fn view_of<'a>(textures: &'a [CachedTexture], surface: Surface, end: &'a TextureView) -> &'a TextureView {
    match surface {
        Surface::Intermediate(index) => &textures[index].default_view,
        Surface::Source | Surface::Destination => end,
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
