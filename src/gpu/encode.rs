//! Encodes plans: the only place that opens the blur's passes.
//!
//! There are two kinds of passes. A **render** pass writes every format, on every GPU, inside a viewport. A **compute**
//! pass shares work between neighbouring texels, but can store to some formats only. A plan can mix them, so a job uses
//! compute passes for its intermediate textures even if the destination needs a render pass.

use super::pipeline_key::Queued;
use super::pipelines::BlurPipelines;
use super::prepare::{EndViews, Prepared};
use crate::diagnostics::label::{self, BlurLabel};
use crate::diagnostics::timestamps::{PassTimer, timed};
use crate::plan::pass::{PassKind, TextureSlot};
use bevy::ecs::system::SystemParam;
use bevy::prelude::*;
use bevy::render::diagnostic::{DiagnosticsRecorder, RecordDiagnostics};
use bevy::render::render_resource::{
    CommandEncoder, ComputePassDescriptor, LoadOp, Operations, PipelineCache, RenderPassColorAttachment,
    RenderPassDescriptor, StoreOp, TextureView,
};
use bevy::render::renderer::RenderContext;
use bevy::render::view::ViewTarget;
use core::ops::Range;
use wgpu::{ComputePassTimestampWrites, RenderPassTimestampWrites};

/// The two textures of a blur.
pub struct Views<'a> {
    /// The texture to read, and the one to write.
    pub ends: EndViews<'a>,
    /// The latter as the colour attachment of a render pass.
    pub attachment: RenderPassColorAttachment<'a>,
}

/// How the time of a blur is measured.
#[derive(Clone, Copy)]
pub enum Timed<'a> {
    /// As the time of a label.
    Whole(&'a BlurLabel),
    /// As a part of the time of a label, which [`timed`] measures.
    Nested(&'a BlurLabel),
    /// Not at all.
    Not,
}

impl<'a> Timed<'a> {
    /// As the time of a label, if there is one.
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
    pub pipelines: Res<'w, BlurPipelines>,
    pub(super) cache: Res<'w, PipelineCache>,
    timer: Option<Res<'w, PassTimer>>,
}

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

/// The attachment to which a render pass writes the result, if the plan has the last step.
type Attachment<'a> = Option<&'a RenderPassColorAttachment<'a>>;

impl<'a> Views<'a> {
    /// From one texture to another, or in place.
    pub fn new(source: &'a TextureView, destination: &'a TextureView) -> Self {
        Self {
            ends: [source, destination],
            attachment: attachment(destination, LoadOp::Load),
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
            ..Self::new(source, target.main_texture_view())
        }
    }
}

impl Prepared {
    /// Encodes the passes. Returns `false` and encodes nothing while a pipeline is still being compiled.
    pub(super) fn record(
        &mut self,
        with: &BlurRecorder,
        context: &mut RenderContext,
        timing: Timed,
        views: &Views,
    ) -> bool {
        if !self.is_ready(&with.pipelines, &with.cache) {
            return false;
        }
        let ends = views.ends;
        self.bind(&with.pipelines, ends);
        let whole = timing.label().filter(|_| matches!(timing, Timed::Whole(_)));
        timed(context, whole, |context, recorder| {
            let with = BlurAccess {
                pipelines: &with.pipelines,
                cache: &with.cache,
                recorder,
                timer: with.timer.as_deref().zip(timing.label()),
            };
            self.encode(context.command_encoder(), with, ends, Some(&views.attachment));
        });
        self.was_drawn = true;
        true
    }

    /// Encodes the passes in order.
    ///
    /// Consecutive passes of one kind share a span. Unless they are timed, consecutive compute passes become one GPU
    /// pass with several dispatches, which takes less time. Consecutive render passes of one kind and target become one
    /// GPU pass with several draws.
    pub(super) fn encode(&self, encoder: &mut CommandEncoder, with: BlurAccess, ends: EndViews, last: Attachment) {
        let is_timed = with.recorder.is_some() || with.timer.is_some();
        let passes = &self.plan.passes;
        let computes = |index: usize| passes[index].program.computes();
        let is_alike = |one: usize, next: usize| {
            let is_kind = passes[next].kind == passes[one].kind;
            computes(next) == computes(one) && (is_kind || computes(next) && !is_timed)
        };
        for run in runs(0..passes.len(), is_alike) {
            let span = with.recorder.time_span(encoder, passes[run.start].kind.names().1);
            if computes(run.start) {
                self.dispatch_all(encoder, run, with, ends);
            } else {
                let is_target = |one: usize, next: usize| passes[one].target == passes[next].target;
                runs(run, is_target).for_each(|run| self.draw_all(encoder, run, with, ends, last));
            }
            span.end(encoder);
        }
    }

    fn draw_all(
        &self,
        encoder: &mut CommandEncoder,
        run: Range<usize>,
        with: BlurAccess,
        ends: EndViews,
        last: Attachment,
    ) {
        let Some(attachment) = self.attachment(run.start, last) else {
            return;
        };
        let (label, timestamps) = opened(self.plan.passes[run.start].kind, with);
        let mut render_pass = encoder.begin_render_pass(&RenderPassDescriptor {
            label: Some(label),
            color_attachments: &[Some(attachment)],
            timestamp_writes: timestamps.map(|timestamps| RenderPassTimestampWrites {
                query_set: timestamps.query_set,
                beginning_of_pass_write_index: timestamps.beginning_of_pass_write_index,
                end_of_pass_write_index: timestamps.end_of_pass_write_index,
            }),
            ..default()
        });
        run.for_each(|index| self.draw(&mut render_pass, index, with, ends));
    }

    /// The attachment of the GPU pass that begins with the pass at `index`.
    fn attachment<'a>(&'a self, index: usize, last: Attachment<'a>) -> Option<RenderPassColorAttachment<'a>> {
        let passes = &self.plan.passes;
        let TextureSlot::Intermediate(texture) = passes[index].target else {
            return last.cloned();
        };
        // Load the previous contents only if a pass of another kind has written a part of the texture.
        let is_part = passes[index].size != self.plan.intermediates[texture];
        let was_written = passes[..index].iter().any(|pass| pass.target == passes[index].target);
        let load = if is_part && was_written {
            LoadOp::Load
        } else {
            LoadOp::Clear(default())
        };
        Some(attachment(&self.held.textures[texture], load))
    }

    fn draw(&self, render_pass: &mut wgpu::RenderPass, index: usize, with: BlurAccess, ends: EndViews) {
        let pass = &self.plan.passes[index];
        let pipeline = match self.steps[index].ready(with.pipelines, with.cache) {
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
        let group = self.group(index, ends).map(|group| &**group);
        render_pass.set_bind_group(0, group, &[self.offset_of(index)]);
        render_pass.draw(0..3, 0..1);
    }

    /// Encodes compute passes. Those that share a source, a target and a pipeline that merges passes become one dispatch: the
    /// GPU need not wait between them.
    fn dispatch_all(&self, encoder: &mut CommandEncoder, run: Range<usize>, with: BlurAccess, ends: EndViews) {
        let passes = &self.plan.passes;
        let (label, timestamp_writes) = opened(passes[run.start].kind, with);
        let mut compute_pass = encoder.begin_compute_pass(&ComputePassDescriptor {
            label: Some(label),
            timestamp_writes,
        });
        let step = |index: usize| (passes[index].source, passes[index].target, self.steps[index].key);
        for run in runs(run, |one, next| step(one) == step(next)) {
            let most = self.steps[run.start].key.most_passes();
            for first in run.clone().step_by(most) {
                let merged = &passes[first..run.end.min(first + most)];
                let Some((program, Queued::Compute(id))) = self.steps[first].ready(with.pipelines, with.cache) else {
                    continue;
                };
                let largest = merged.iter().fold(UVec2::ZERO, |largest, pass| largest.max(pass.size));
                let groups = program.workgroups(largest).zip(with.cache.get_compute_pipeline(id));
                if let Some((groups, pipeline)) = groups {
                    let group = self.group(first, ends).map(|group| &**group);
                    compute_pass.set_pipeline(pipeline);
                    compute_pass.set_bind_group(0, group, &[self.offset_of(first)]);
                    compute_pass.dispatch_workgroups(groups.x, groups.y, merged.len() as u32);
                }
            }
        }
    }
}

/// The label of a GPU pass that begins with a pass of this kind, and the timestamps that it writes.
fn opened<'a>(kind: PassKind, with: BlurAccess<'a>) -> (&'static str, Option<ComputePassTimestampWrites<'a>>) {
    let (label, span) = kind.names();
    let timestamps = with.timer.and_then(|(timer, of)| timer.timestamps(of, span));
    (label, timestamps)
}

/// Divides a range into runs, in which each two neighbours are alike.
fn runs(range: Range<usize>, is_alike: impl Fn(usize, usize) -> bool) -> impl Iterator<Item = Range<usize>> {
    let mut start = range.start;
    core::iter::from_fn(move || {
        let first = start;
        if first >= range.end {
            return None;
        }
        let goes_on = |next: &usize| is_alike(*next - 1, *next);
        start += 1 + (first + 1..range.end).take_while(goes_on).count();
        Some(first..start)
    })
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
    /// The name of the pass in debuggers and validation layers, and the one under which its time is published.
    pub(super) fn names(self) -> (&'static str, &'static str) {
        match self {
            Self::Copy => ("gaussian_blur_copy", label::COPY),
            // Never timed on its own.
            Self::Mipmap => ("gaussian_blur_mipmap", "mipmap"),
            Self::Downsample => ("gaussian_blur_downsample", label::DOWNSAMPLE),
            Self::Horizontal => ("gaussian_blur_horizontal", label::HORIZONTAL),
            Self::Vertical => ("gaussian_blur_vertical", label::VERTICAL),
            Self::Blur => ("gaussian_blur_blur", label::BLUR),
            Self::Upsample => ("gaussian_blur_upsample", label::UPSAMPLE),
            Self::Gather => ("gaussian_blur_gather", label::GATHER),
            Self::Blend => ("gaussian_blur_blend", label::BLEND),
        }
    }
}
