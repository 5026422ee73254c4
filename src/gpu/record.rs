//! Carries plans out: the only place that opens the blur's passes.
//!
//! There are two kinds of passes. A **render** pass writes every format, on every GPU, inside a viewport. A **compute**
//! pass shares work between neighbouring texels, but can store to some formats only. A plan can mix them, so a job uses
//! compute passes for its intermediates even where the destination needs a render pass.

use super::compile::{BlurPipelines, Ready};
use super::job::{BlurJob, Bound, Prepared, uniform_offset};
use crate::diagnostics::label::{self, BlurLabel};
use crate::plan::pass::{Pass, PassKind, Surface};
use bevy::ecs::system::SystemParam;
use bevy::prelude::*;
use bevy::render::diagnostic::{DiagnosticsRecorder, RecordDiagnostics};
use bevy::render::render_resource::{
    CommandEncoder, ComputePassDescriptor, LoadOp, Operations, PipelineCache, RenderPassColorAttachment,
    RenderPassDescriptor, StoreOp, TextureView, TextureViewId,
};
use bevy::render::renderer::{RenderContext, RenderDevice};
use core::ops::Range;

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

/// The same, for systems that have the whole world.
#[derive(Clone, Copy)]
pub struct BlurAccess<'w> {
    pub pipelines: &'w BlurPipelines,
    pub cache: &'w PipelineCache,
}

/// What a blur reads, and what a render pass writes its result to.
type End<'a> = (TextureViewId, Option<&'a RenderPassColorAttachment<'a>>);

impl BlurRecorder<'_> {
    fn access(&self) -> BlurAccess<'_> {
        BlurAccess {
            pipelines: &self.pipelines,
            cache: &self.cache,
        }
    }
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
            .is_some_and(|current| current.is_ready(&with.pipelines, &with.cache))
    }

    /// Encodes a job that is [bound](super::BlurPreparer::bind), and leaves its last step, for one of the sources that it is
    /// bound for.
    pub fn encode(&self, with: BlurAccess, encoder: &mut CommandEncoder, source: TextureViewId) {
        if let Some(current) = &self.current {
            current.encode(encoder, None, with, (source, None));
        }
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
        if !self.is_ready(&with.pipelines, &with.cache) {
            return false;
        }
        let device = context.render_device().clone();
        let (source, destination) = (views.source, views.destination);
        self.bind(&with.pipelines, &with.cache, &device, source, destination, views.turns);
        let recorder = context.diagnostic_recorder().filter(|_| label.is_some());
        let encoder = context.command_encoder();
        // A name that nobody will see is not put together.
        let name = recorder.as_ref().and(label).map_or_else(String::new, BlurLabel::span);
        let recorder = recorder.as_deref();
        let whole = recorder.time_span(encoder, name);
        self.encode(encoder, recorder, with.access(), (source.id(), Some(&views.attachment)));
        whole.end(encoder);
        self.was_drawn = true;
        true
    }

    /// Makes the bind groups for two ends the latest ones.
    pub(super) fn bind(
        &mut self,
        pipelines: &BlurPipelines,
        cache: &PipelineCache,
        device: &RenderDevice,
        source: &TextureView,
        destination: &TextureView,
        turns: usize,
    ) {
        for (pass, step) in self.plan.passes.iter().zip(&mut self.steps) {
            let bound = Bound {
                source: view_of(&self.textures, pass.source, source),
                target: view_of(&self.textures, pass.target, destination),
                uniforms: &self.uniforms,
                // Intermediates are always the same.
                most: match (pass.source, pass.target) {
                    (Surface::Intermediate(_), Surface::Intermediate(_)) => 1,
                    _ => turns,
                },
            };
            step.bind(pipelines, cache, device, &bound);
        }
    }

    /// Opens one pass after the other.
    ///
    /// Passes of a kind share a span. Where nobody measures, neighbouring compute passes are one pass of the GPU's with
    /// several dispatches, which takes less time.
    fn encode(
        &self,
        encoder: &mut CommandEncoder,
        recorder: Option<&DiagnosticsRecorder>,
        with: BlurAccess,
        ends: End,
    ) {
        let passes = &self.plan.passes;
        let computes = |index: usize| self.steps[index].key.program.computes();
        let goes_on = |next: usize| {
            let is_kind = passes[next].kind == passes[next - 1].kind;
            computes(next) == computes(next - 1) && (is_kind || computes(next) && recorder.is_none())
        };
        let mut start = 0;
        while start < passes.len() {
            let mut end = start + 1;
            while end < passes.len() && goes_on(end) {
                end += 1;
            }
            let span = recorder.time_span(encoder, passes[start].kind.span());
            if computes(start) {
                self.dispatch(encoder, start..end, with, ends.0);
            } else {
                (start..end).for_each(|index| self.draw(encoder, index, with, ends));
            }
            span.end(encoder);
            start = end;
        }
    }

    fn draw(&self, encoder: &mut CommandEncoder, index: usize, with: BlurAccess, (source, destination): End) {
        let (pass, step) = (&self.plan.passes[index], &self.steps[index]);
        let usable = step.ready(with.pipelines, with.cache);
        let Some(Ready::Render(pipeline)) = usable.map(|usable| usable.pipeline) else {
            return;
        };
        let attachment = match pass.target {
            // It is written everywhere: what it held before does not matter.
            Surface::Intermediate(texture) => Some(attachment(&self.textures[texture], LoadOp::Clear(default()))),
            Surface::Source | Surface::Destination => destination.cloned(),
        };
        let mut render_pass = encoder.begin_render_pass(&RenderPassDescriptor {
            label: Some(pass.kind.span()),
            color_attachments: &[attachment],
            ..default()
        });
        let (origin, size) = (pass.origin, pass.size);
        let [x, y, width, height] = [origin.x, origin.y, size.x, size.y].map(|texels| texels as f32);
        render_pass.set_viewport(x, y, width, height, 0.0, 1.0);
        render_pass.set_scissor_rect(origin.x, origin.y, size.x, size.y);
        render_pass.set_pipeline(pipeline);
        render_pass.set_bind_group(
            0,
            step.bind_group(self.source_of(pass, source)),
            &[uniform_offset(index)],
        );
        render_pass.draw(0..3, 0..1);
    }

    /// The view that a pass reads.
    fn source_of(&self, pass: &Pass, source: TextureViewId) -> TextureViewId {
        match pass.source {
            Surface::Intermediate(index) => self.textures[index].id(),
            Surface::Source | Surface::Destination => source,
        }
    }

    fn dispatch(&self, encoder: &mut CommandEncoder, indices: Range<usize>, with: BlurAccess, source: TextureViewId) {
        let mut compute_pass = encoder.begin_compute_pass(&ComputePassDescriptor {
            label: Some(self.plan.passes[indices.start].kind.span()),
            ..default()
        });
        for index in indices {
            let (pass, step) = (&self.plan.passes[index], &self.steps[index]);
            let Some(usable) = step.ready(with.pipelines, with.cache) else {
                continue;
            };
            let (Ready::Compute(pipeline), Some(tile)) = (usable.pipeline, usable.program.tile()) else {
                continue;
            };
            compute_pass.set_pipeline(pipeline);
            compute_pass.set_bind_group(
                0,
                step.bind_group(self.source_of(pass, source)),
                &[uniform_offset(index)],
            );
            compute_pass.dispatch_workgroups(pass.size.x.div_ceil(tile.x), pass.size.y.div_ceil(tile.y), 1);
        }
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

fn view_of<'a>(textures: &'a [TextureView], surface: Surface, end: &'a TextureView) -> &'a TextureView {
    match surface {
        Surface::Intermediate(index) => &textures[index],
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
