//! Carries plans out: the only place that opens the blur's passes.
//!
//! There are two kinds of passes. A **render** pass writes every format, on every GPU, inside a viewport. A **compute**
//! pass shares work between neighbouring texels, but can store to some formats only. A plan can mix them, so a job uses
//! compute passes for its intermediates even where the destination needs a render pass.

use super::compile::{BlurPipelines, Ready};
use super::job::{BlurJob, Bound, Prepared, Step, Usable, pipelines_of, uniform_offset};
use crate::diagnostics::label::{self, BlurLabel};
use crate::plan::pass::{Pass, PassKind, Surface};
use bevy::ecs::system::SystemParam;
use bevy::prelude::*;
use bevy::render::diagnostic::{DiagnosticsRecorder, RecordDiagnostics};
use bevy::render::render_resource::{
    CommandEncoder, ComputePassDescriptor, LoadOp, Operations, PipelineCache, RenderPassColorAttachment,
    RenderPassDescriptor, StoreOp, TextureView,
};
use bevy::render::renderer::RenderContext;
use bevy::render::texture::CachedTexture;

/// The two textures of a blur.
pub struct Views<'a> {
    /// What is read.
    pub source: &'a TextureView,
    /// What is written.
    pub destination: &'a TextureView,
    /// The destination as a render pass writes it.
    pub attachment: RenderPassColorAttachment<'a>,
    /// How many pairs of textures take turns in this job.
    pub turns: usize,
}

/// What encoding a job needs from the render world.
#[derive(SystemParam)]
pub struct BlurRecorder<'w> {
    pipelines: Res<'w, BlurPipelines>,
    cache: Res<'w, PipelineCache>,
}

impl<'a> Views<'a> {
    /// From one texture to another, or in place.
    #[must_use]
    pub fn new(source: &'a TextureView, destination: &'a TextureView) -> Self {
        Self {
            source,
            destination,
            attachment: attachment(destination, LoadOp::Load),
            turns: 1,
        }
    }
}

/// Encodes what belongs together, and times it as a whole.
pub fn record_together(context: &mut RenderContext, label: &BlurLabel, encode: impl FnOnce(&mut RenderContext)) {
    let recorder = context.diagnostic_recorder();
    let name = recorder.as_ref().map_or_else(String::new, |_| label.span());
    let recorder = recorder.as_deref();
    let whole = recorder.time_span(context.command_encoder(), name);
    encode(context);
    whole.end(context.command_encoder());
}

impl BlurJob {
    /// Whether what is asked for can be encoded.
    #[must_use]
    pub fn is_ready(&self, with: &BlurRecorder) -> bool {
        self.current
            .as_ref()
            .is_some_and(|current| pipelines_of(&current.steps, &with.pipelines, &with.cache).is_some())
    }

    /// Encodes the passes of what was asked for, or of what was drawn last while pipelines are missing. They are timed if
    /// there is a label.
    ///
    /// Returns whether it is what was asked for.
    pub fn record(
        &mut self,
        with: &BlurRecorder,
        context: &mut RenderContext,
        label: Option<&BlurLabel>,
        views: &Views,
    ) -> bool {
        let Some(current) = &mut self.current else {
            return false;
        };
        if current.record(with, context, label, views) {
            self.last = None;
            return true;
        }
        if let Some(last) = &mut self.last {
            last.record(with, context, label, views);
        }
        false
    }
}

impl Prepared {
    /// Encodes the passes. Returns `false`, having encoded nothing, while a pipeline is still being compiled.
    fn record(
        &mut self,
        with: &BlurRecorder,
        context: &mut RenderContext,
        label: Option<&BlurLabel>,
        views: &Views,
    ) -> bool {
        let Some(ready) = pipelines_of(&self.steps, &with.pipelines, &with.cache) else {
            return false;
        };
        let device = context.render_device().clone();
        for (pass, step) in self.plan.passes.iter().zip(&mut self.steps) {
            let bound = Bound {
                source: view_of(&self.textures, pass.source, views.source),
                target: view_of(&self.textures, pass.target, views.destination),
                uniforms: &self.uniforms,
                // Intermediates are always the same.
                most: match (pass.source, pass.target) {
                    (Surface::Intermediate(_), Surface::Intermediate(_)) => 1,
                    _ => views.turns,
                },
            };
            step.bind(&with.pipelines, &with.cache, &device, &bound);
        }
        let recorder = context.diagnostic_recorder().filter(|_| label.is_some());
        let encoder = context.command_encoder();
        self.encode(encoder, recorder.as_deref(), label, &ready, views);
        self.was_drawn = true;
        true
    }

    /// Opens one pass after the other.
    ///
    /// Passes of a kind share a span. Where nobody measures, neighbouring compute passes are one pass of the GPU's with
    /// several dispatches, which takes less time.
    fn encode(
        &self,
        encoder: &mut CommandEncoder,
        recorder: Option<&DiagnosticsRecorder>,
        label: Option<&BlurLabel>,
        ready: &[Usable],
        views: &Views,
    ) {
        let passes = self.plan.passes.iter().zip(&self.steps).zip(ready).enumerate();
        let passes: Vec<Encoded> = passes
            .map(|(index, ((pass, step), usable))| Encoded {
                index,
                pass,
                step,
                usable,
            })
            .collect();
        // A name that nobody will see is not put together.
        let name = recorder.and(label).map_or_else(String::new, BlurLabel::span);
        let whole = recorder.time_span(encoder, name);
        let unmeasured = recorder.is_none();
        let together = |a: &Encoded, b: &Encoded| {
            a.computes() == b.computes() && (a.pass.kind == b.pass.kind || a.computes() && unmeasured)
        };
        for group in passes.chunk_by(together) {
            let span = recorder.time_span(encoder, group[0].pass.kind.span());
            if group[0].computes() {
                dispatch(encoder, group);
            } else {
                group.iter().for_each(|one| self.draw(encoder, one, views));
            }
            span.end(encoder);
        }
        whole.end(encoder);
    }

    fn draw(&self, encoder: &mut CommandEncoder, one: &Encoded, views: &Views) {
        let Ready::Render(pipeline) = one.usable.pipeline else {
            return;
        };
        let attachment = match one.pass.target {
            // It is written everywhere: what it held before does not matter.
            Surface::Intermediate(texture) => {
                attachment(&self.textures[texture].default_view, LoadOp::Clear(default()))
            }
            Surface::Source | Surface::Destination => views.attachment.clone(),
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
        render_pass.set_bind_group(0, one.step.bind_group(), &[uniform_offset(one.index)]);
        render_pass.draw(0..3, 0..1);
    }
}

/// A pass of a plan with all that it takes to encode it.
struct Encoded<'a> {
    index: usize,
    pass: &'a Pass,
    step: &'a Step,
    usable: &'a Usable<'a>,
}

impl Encoded<'_> {
    fn computes(&self) -> bool {
        self.usable.program.computes()
    }
}

fn dispatch(encoder: &mut CommandEncoder, group: &[Encoded]) {
    let mut compute_pass = encoder.begin_compute_pass(&ComputePassDescriptor {
        label: Some(group[0].pass.kind.span()),
        ..default()
    });
    for one in group {
        let (Ready::Compute(pipeline), Some(tile)) = (&one.usable.pipeline, one.usable.program.tile()) else {
            continue;
        };
        let size = one.pass.size;
        compute_pass.set_pipeline(pipeline);
        compute_pass.set_bind_group(0, one.step.bind_group(), &[uniform_offset(one.index)]);
        compute_pass.dispatch_workgroups(size.x.div_ceil(tile.x), size.y.div_ceil(tile.y), 1);
    }
}

impl PassKind {
    fn span(self) -> &'static str {
        match self {
            Self::Copy => label::COPY,
            // Never timed on its own.
            Self::Mipmap => "mipmap",
            Self::Downsample => label::DOWNSAMPLE,
            Self::Horizontal => label::HORIZONTAL,
            Self::Vertical => label::VERTICAL,
            Self::Blur => label::BLUR,
            Self::Upsample => label::UPSAMPLE,
        }
    }
}

fn view_of<'a>(textures: &'a [CachedTexture], surface: Surface, end: &'a TextureView) -> &'a TextureView {
    match surface {
        Surface::Intermediate(index) => &textures[index].default_view,
        Surface::Source | Surface::Destination => end,
    }
}

fn attachment(view: &TextureView, load: LoadOp<wgpu::Color>) -> RenderPassColorAttachment<'_> {
    RenderPassColorAttachment {
        view,
        depth_slice: None,
        resolve_target: None,
        ops: Operations {
            load,
            store: StoreOp::Store,
        },
    }
}
