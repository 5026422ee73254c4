//! Encodes plans: the only place that opens the blur's passes.
//!
//! There are two kinds of passes. A **render** pass writes every format, on every GPU, inside a viewport. A **compute**
//! pass shares work between neighbouring texels, but can store to some formats only. A plan can mix them, so a job uses
//! compute passes for its intermediate textures even if the destination needs a render pass.

use super::job::{BlurJob, BlurState};
use super::pipeline_key::Queued;
use super::pipeline_queue::BlurPipelines;
use super::prepare::BlurPreparer;
use super::prepared::Prepared;
use super::request::BlurRequest;
use super::step::{BlurAccess, uniform_offset};
use crate::diagnostics::label::{self, BlurLabel};
use crate::diagnostics::timestamps::{PassTimer, recorder_of};
use crate::errors::BlurError;
use crate::plan::pass::{Pass, PassKind, TextureSlot};
use bevy::ecs::system::SystemParam;
use bevy::prelude::*;
use bevy::render::diagnostic::RecordDiagnostics;
use bevy::render::render_resource::{
    CommandEncoder, CommandEncoderDescriptor, ComputePassDescriptor, LoadOp, Operations, PipelineCache,
    RenderPassColorAttachment, RenderPassDescriptor, StoreOp, TextureView, TextureViewId,
};
use bevy::render::renderer::RenderContext;
use bevy::render::view::ViewTarget;
use core::ops::Range;
use core::sync::atomic::Ordering;
use wgpu::RenderPassTimestampWrites;

/// The two textures of a blur.
pub struct Views<'a> {
    /// The texture to read.
    pub source: &'a TextureView,
    /// The texture to write.
    pub destination: &'a TextureView,
    /// The destination as the colour attachment of a render pass.
    pub attachment: RenderPassColorAttachment<'a>,
    /// How many pairs of source and destination the job alternates between.
    pub turns: usize,
}

/// How the time of a blur is measured.
#[derive(Clone, Copy)]
pub enum Timed<'a> {
    /// As the time of a label.
    Whole(&'a BlurLabel),
    /// As a part of the time that [`record_together`] measures for a label.
    Nested(&'a BlurLabel),
    /// Not at all.
    Not,
}

impl<'a> Timed<'a> {
    /// The time of a label, if there is one.
    pub fn whole(label: Option<&'a BlurLabel>) -> Self {
        label.map_or(Self::Not, Self::Whole)
    }

    /// The label.
    pub fn label(self) -> Option<&'a BlurLabel> {
        match self {
            Self::Whole(label) | Self::Nested(label) => Some(label),
            Self::Not => None,
        }
    }
}

/// The resources of the render world that encoding a job requires.
#[derive(SystemParam)]
pub struct BlurRecorder<'w> {
    pipelines: Res<'w, BlurPipelines>,
    cache: Res<'w, PipelineCache>,
    timer: Option<Res<'w, PassTimer>>,
}

/// The texture that a blur reads, and the attachment to which a render pass writes its result.
type End<'a> = (TextureViewId, Option<&'a RenderPassColorAttachment<'a>>);

impl BlurRecorder<'_> {
    /// See [`BlurPreparer::moment`](super::BlurPreparer::moment).
    pub fn moment(&self) -> [u64; 2] {
        self.pipelines.moment
    }
}

impl<'a> Views<'a> {
    /// From one texture to another, or in place.
    pub fn new(source: &'a TextureView, destination: &'a TextureView) -> Self {
        Self {
            source,
            destination,
            attachment: attachment(destination, LoadOp::Load),
            turns: 1,
        }
    }

    /// In place, in a camera's picture.
    pub fn in_camera(target: &'a ViewTarget) -> Self {
        Self::onto_camera(target.main_texture_view(), target)
    }

    /// From another texture to a camera's picture.
    pub fn onto_camera(source: &'a TextureView, target: &'a ViewTarget) -> Self {
        Self {
            attachment: target.get_unsampled_color_attachment(),
            // The main texture is a pair; either one may be current.
            turns: 2,
            ..Self::new(source, target.main_texture_view())
        }
    }
}

/// Encodes several jobs, and times them as a whole.
pub fn record_together(context: &mut RenderContext, label: &BlurLabel, encode: impl FnOnce(&mut RenderContext)) {
    let recorder = recorder_of(context);
    let name = recorder.as_ref().map_or_else(String::new, |_| label.span());
    let recorder = recorder.as_deref();
    let whole = recorder.time_span(context.command_encoder(), name);
    encode(context);
    whole.end(context.command_encoder());
}

impl BlurJob {
    /// Whether the requested blur can be encoded.
    pub fn is_ready(&self, with: &BlurRecorder) -> bool {
        let current = self.shown.current();
        current.is_some_and(|current| current.is_ready(&with.pipelines, &with.cache))
    }

    /// Updates the job and executes it at once, before everything that this frame encodes. Returns whether it could be
    /// executed.
    ///
    /// # Errors
    /// The errors of [`BlurJob::try_update`].
    pub fn run(&mut self, preparer: &mut BlurPreparer, request: BlurRequest, views: &Views) -> Result<bool, BlurError> {
        if self.try_update(preparer, request)? != BlurState::Ready {
            return Ok(false);
        }
        if let Some(prepared) = self.shown.drawn_mut() {
            let with = preparer.access();
            prepared.bind(with, views.source, views.destination, 1);
            let mut encoder = with.device.create_command_encoder(&CommandEncoderDescriptor {
                label: Some("gaussian_blur_at_once"),
            });
            let ends = (views.source.id(), Some(&views.attachment));
            prepared.encode(&mut encoder, with, ends);
            preparer.submit(encoder);
        }
        self.release();
        Ok(true)
    }

    /// Encodes a [bound](super::BlurPreparer::bind) job without its deferred step, for one of its bound sources.
    pub fn encode(&self, with: BlurAccess, encoder: &mut CommandEncoder, source: TextureViewId) {
        if let Some(drawn) = self.drawn().filter(|drawn| !drawn.is_kept()) {
            drawn.encode(encoder, with, (source, None));
            // While an input is on its way, an older one stands in for it.
            drawn
                .is_blurred
                .store(self.state != BlurState::Waiting, Ordering::Relaxed);
        }
    }

    /// Encodes the passes of the requested blur, or of the one that was drawn last while pipelines are missing.
    ///
    /// Returns whether it encoded the requested blur.
    pub fn record(&mut self, with: &BlurRecorder, context: &mut RenderContext, timed: Timed, views: &Views) -> bool {
        // A pipeline may have been compiled since the request was prepared.
        let is_ready = self.is_ready(with);
        if is_ready {
            self.shown = core::mem::take(&mut self.shown).go_on(true);
        }
        let drawn = self.shown.drawn_mut();
        let is_drawn = drawn.is_some_and(|drawn| drawn.record(with, context, timed, views));
        is_drawn && is_ready && self.state != BlurState::Waiting
    }
}

impl Prepared {
    /// Encodes the passes. Returns `false` and encodes nothing while a pipeline is still being compiled.
    fn record(&mut self, with: &BlurRecorder, context: &mut RenderContext, timed: Timed, views: &Views) -> bool {
        if !self.is_ready(&with.pipelines, &with.cache) {
            return false;
        }
        let (source, destination) = (views.source, views.destination);
        let device = context.render_device().clone();
        let is_whole = matches!(timed, Timed::Whole(_));
        let recorder = recorder_of(context).filter(|_| is_whole);
        let access = BlurAccess {
            pipelines: &with.pipelines,
            cache: &with.cache,
            device: &device,
            recorder: recorder.as_deref(),
            timer: with.timer.as_deref().zip(timed.label()),
        };
        self.bind(access, source, destination, views.turns);
        let encoder = context.command_encoder();
        // The name is built only if it is used.
        let named = recorder.as_ref().and(timed.label());
        let name = named.map_or_else(String::new, BlurLabel::span);
        let whole = access.recorder.time_span(encoder, name);
        self.encode(encoder, access, (source.id(), Some(&views.attachment)));
        whole.end(encoder);
        self.was_drawn = true;
        true
    }

    /// Encodes the passes in order.
    ///
    /// Consecutive passes of one kind share a span. Unless they are timed, consecutive compute passes become one GPU
    /// pass with several dispatches, which takes less time. Consecutive render passes of one kind and target become one
    /// GPU pass with several draws.
    fn encode(&self, encoder: &mut CommandEncoder, with: BlurAccess, ends: End) {
        let is_timed = with.recorder.is_some() || with.timer.is_some();
        let passes = &self.plan.passes;
        let computes = |index: usize| self.steps[index].key.program.computes();
        let goes_on = |next: usize| {
            let is_kind = passes[next].kind == passes[next - 1].kind;
            computes(next) == computes(next - 1) && (is_kind || computes(next) && !is_timed)
        };
        let mut start = 0;
        while start < passes.len() {
            let mut end = start + 1;
            while end < passes.len() && goes_on(end) {
                end += 1;
            }
            let span = with.recorder.time_span(encoder, passes[start].kind.span());
            if computes(start) {
                self.dispatch(encoder, start..end, with, ends.0);
            } else {
                self.draw_all(encoder, start..end, with, ends);
            }
            span.end(encoder);
            start = end;
        }
    }

    fn draw_all(&self, encoder: &mut CommandEncoder, indices: Range<usize>, with: BlurAccess, ends: End) {
        let mut start = indices.start;
        while start < indices.end {
            let target = self.plan.passes[start].target;
            let goes_on = |index: &usize| self.plan.passes[*index].target == target;
            let end = (start..indices.end).take_while(goes_on).count() + start;
            let Some(attachment) = self.attachment(start, ends.1) else {
                return;
            };
            let kind = self.plan.passes[start].kind;
            let timestamps = with.timestamps(kind);
            let mut render_pass = encoder.begin_render_pass(&RenderPassDescriptor {
                label: Some(kind.label()),
                color_attachments: &[Some(attachment)],
                timestamp_writes: timestamps.map(|timestamps| RenderPassTimestampWrites {
                    query_set: timestamps.query_set,
                    beginning_of_pass_write_index: timestamps.beginning_of_pass_write_index,
                    end_of_pass_write_index: timestamps.end_of_pass_write_index,
                }),
                ..default()
            });
            (start..end).for_each(|index| self.draw(&mut render_pass, index, with, ends.0));
            start = end;
        }
    }

    /// The attachment of the GPU pass that begins with the pass at `index`.
    fn attachment<'a>(
        &'a self,
        index: usize,
        destination: Option<&RenderPassColorAttachment<'a>>,
    ) -> Option<RenderPassColorAttachment<'a>> {
        let passes = &self.plan.passes;
        let TextureSlot::Intermediate(texture) = passes[index].target else {
            return destination.cloned();
        };
        // Load the previous contents only if a pass of another kind has written a part of the texture.
        let is_part = passes[index].size != self.plan.intermediates[texture];
        let was_written = passes[..index].iter().any(|pass| pass.target == passes[index].target);
        let load = if is_part && was_written {
            LoadOp::Load
        } else {
            LoadOp::Clear(default())
        };
        Some(attachment(&self.textures[texture], load))
    }

    fn draw(&self, render_pass: &mut wgpu::RenderPass, index: usize, with: BlurAccess, source: TextureViewId) {
        let (pass, step) = (&self.plan.passes[index], &self.steps[index]);
        let pipeline = match step.ready(with.pipelines, with.cache) {
            Some((_, Queued::Render(id))) => with.cache.get_render_pipeline(id),
            _ => None,
        };
        let Some(pipeline) = pipeline else {
            return;
        };
        let (origin, size) = (pass.origin, pass.size);
        let [x, y, width, height] = [origin.x, origin.y, size.x, size.y].map(|texels| texels as f32);
        render_pass.set_viewport(x, y, width, height, 0.0, 1.0);
        let written = URect::from_corners(origin, origin + size);
        let scissor = self.plan.scissor.filter(|_| pass.target == TextureSlot::Destination);
        let written = scissor.map_or(written, |scissor| scissor.intersect(written));
        render_pass.set_scissor_rect(written.min.x, written.min.y, written.width(), written.height());
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
            TextureSlot::Intermediate(index) => self.textures[index].id(),
            TextureSlot::Source | TextureSlot::Destination => source,
        }
    }

    fn dispatch(&self, encoder: &mut CommandEncoder, indices: Range<usize>, with: BlurAccess, source: TextureViewId) {
        let kind = self.plan.passes[indices.start].kind;
        let timestamps = with.timestamps(kind);
        let mut compute_pass = encoder.begin_compute_pass(&ComputePassDescriptor {
            label: Some(kind.label()),
            timestamp_writes: timestamps,
        });
        let mut next = indices.start;
        while next < indices.end {
            let index = next;
            let merged = self.merged(index..indices.end);
            next += merged.len();
            let (pass, step) = (&self.plan.passes[index], &self.steps[index]);
            let Some((program, Queued::Compute(id))) = step.ready(with.pipelines, with.cache) else {
                continue;
            };
            let largest = merged.iter().fold(UVec2::ZERO, |largest, pass| largest.max(pass.size));
            let (Some(groups), Some(pipeline)) = (program.workgroups(largest), with.cache.get_compute_pipeline(id))
            else {
                continue;
            };
            compute_pass.set_pipeline(pipeline);
            compute_pass.set_bind_group(
                0,
                step.bind_group(self.source_of(pass, source)),
                &[uniform_offset(index)],
            );
            compute_pass.dispatch_workgroups(groups.x, groups.y, merged.len() as u32);
        }
    }

    /// The leading passes of these that become one dispatch: they share a source, a target and a pipeline that merges
    /// passes. The GPU need not wait between them.
    fn merged(&self, indices: Range<usize>) -> &[Pass] {
        let (first, passes) = (indices.start, &self.plan.passes);
        let ends = |pass: &Pass| (pass.source, pass.target);
        let goes_on = |index: &usize| {
            self.steps[*index].key == self.steps[first].key && ends(&passes[*index]) == ends(&passes[first])
        };
        let count = indices
            .take(self.steps[first].key.most_passes())
            .take_while(goes_on)
            .count();
        &passes[first..first + count]
    }
}

/// A texture to which a render pass writes.
pub fn attachment(view: &TextureView, load: LoadOp<wgpu::Color>) -> RenderPassColorAttachment<'_> {
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

impl PassKind {
    /// The name of the pass in debuggers and validation layers.
    fn label(self) -> &'static str {
        match self {
            Self::Copy => "gaussian_blur_copy",
            Self::Mipmap => "gaussian_blur_mipmap",
            Self::Downsample => "gaussian_blur_downsample",
            Self::Horizontal => "gaussian_blur_horizontal",
            Self::Vertical => "gaussian_blur_vertical",
            Self::Blur => "gaussian_blur_blur",
            Self::Upsample => "gaussian_blur_upsample",
            Self::Gather => "gaussian_blur_gather",
            Self::Blend => "gaussian_blur_blend",
        }
    }

    /// The name under which its time is published.
    pub(super) fn span(self) -> &'static str {
        match self {
            Self::Copy => label::COPY,
            // Never timed on its own.
            Self::Mipmap => "mipmap",
            Self::Downsample => label::DOWNSAMPLE,
            Self::Horizontal => label::HORIZONTAL,
            Self::Vertical => label::VERTICAL,
            Self::Blur => label::BLUR,
            Self::Upsample => label::UPSAMPLE,
            Self::Gather => label::GATHER,
            Self::Blend => label::BLEND,
        }
    }
}
