//! GPU times where only passes can write timestamps, at both of their ends, as in browsers.
//!
//! Bevy's recorder writes timestamps between passes, which WebGPU does not offer: there, a pass names the slots of its
//! two timestamps when it is opened. So a blur requests such a pair for each of its passes. All timestamps of a frame
//! are read back together, a few frames later:
//!
//! - the time of a span is the sum over its passes, from the beginning of each to its end;
//! - the time of the whole blur goes from the first beginning to the last end, as with Bevy's recorder.
//!
//! Browsers round timestamps, to 0.1 ms for instance, against side-channel attacks. A single figure may then be zero,
//! but the mean over frames is right.

use super::label::BlurLabel;
use crate::mailbox::{Mailbox, lock};
use bevy::platform::collections::HashMap;
use bevy::prelude::*;
use bevy::render::diagnostic::{DiagnosticsRecorder, RecordDiagnostics};
use bevy::render::render_resource::{Buffer, BufferDescriptor, BufferUsages, MapMode};
use bevy::render::renderer::{RenderContext, RenderDevice, RenderQueue};
use bevy::render::settings::WgpuFeatures;
use std::sync::{Arc, Mutex};
use wgpu::{ComputePassTimestampWrites, QUERY_SIZE, QuerySet, QuerySetDescriptor, QueryType};

/// How many passes are timed in a frame. Further passes are not.
const MOST_PASSES: usize = 128;

/// A timed pass: its blur and its span.
type TimedPass = (BlurLabel, &'static str);

/// The times of one blur in one frame, in milliseconds.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BlurTimes {
    pub whole: f64,
    /// The times of its spans.
    pub spans: HashMap<&'static str, f64>,
}

/// The times of a frame's blurs.
pub type FrameTimes = HashMap<BlurLabel, BlurTimes>;

/// Hands out timestamps to passes. The resource exists only where Bevy's recorder has none.
#[derive(Resource)]
pub struct PassTimer {
    queries: QuerySet,
    /// The buffer into which the queries are resolved.
    resolved: Buffer,
    /// The buffers that the CPU reads, one for each frame in flight.
    readable: Arc<Mutex<Vec<Buffer>>>,
    /// Milliseconds between two ticks.
    period: f64,
    /// The passes of this frame that have timestamps, each a pair.
    passes: Mutex<Vec<TimedPass>>,
}

/// Whether Bevy's recorder times command encoders. On macOS Bevy writes no timestamps there, and its spans would have GPU times of
/// 0. So passes are timed instead, and there are no CPU times.
const TIMES_ENCODERS: bool = !cfg!(target_os = "macos");

/// Encodes what takes the time of a label, if there is one, as a span of Bevy's recorder, if that times command encoders. What is
/// encoded may divide its span.
pub fn timed<R>(
    context: &mut RenderContext,
    label: Option<&BlurLabel>,
    encode: impl FnOnce(&mut RenderContext, Option<&DiagnosticsRecorder>) -> R,
) -> R {
    let times = |_: &Res<DiagnosticsRecorder>| TIMES_ENCODERS && label.is_some();
    let recorder = context.diagnostic_recorder().filter(times);
    let recorder = recorder.as_deref();
    // The name is built only if it is used.
    let name = recorder.and(label).map_or_else(String::new, BlurLabel::span);
    let whole = recorder.time_span(context.command_encoder(), name);
    let result = encode(context, recorder);
    whole.end(context.command_encoder());
    result
}

impl PassTimer {
    /// `None` if the device has no timestamps at all, or better ones.
    fn new(device: &RenderDevice, queue: &RenderQueue) -> Option<Self> {
        let features = device.features();
        let has_better = TIMES_ENCODERS && features.contains(WgpuFeatures::TIMESTAMP_QUERY_INSIDE_ENCODERS);
        if has_better || !features.contains(WgpuFeatures::TIMESTAMP_QUERY) {
            return None;
        }
        Some(Self {
            queries: device.wgpu_device().create_query_set(&QuerySetDescriptor {
                label: Some("blur_timestamps"),
                ty: QueryType::Timestamp,
                count: 2 * MOST_PASSES as u32,
            }),
            resolved: buffer(device, BufferUsages::QUERY_RESOLVE | BufferUsages::COPY_SRC),
            readable: Arc::default(),
            period: f64::from(queue.get_timestamp_period()) / 1e6,
            passes: Mutex::default(),
        })
    }

    /// The timestamps of one pass, which must be opened with them, or `None` if the frame has none left.
    pub fn timestamps(&self, label: &BlurLabel, span: &'static str) -> Option<ComputePassTimestampWrites<'_>> {
        let mut passes = lock(&self.passes);
        if passes.len() == MOST_PASSES {
            return None;
        }
        passes.push((label.clone(), span));
        let end = 2 * passes.len() as u32 - 1;
        Some(ComputePassTimestampWrites {
            query_set: &self.queries,
            beginning_of_pass_write_index: Some(end - 1),
            end_of_pass_write_index: Some(end),
        })
    }
}

/// Creates the timer for a new device.
pub fn init_timer(mut commands: Commands, device: Res<RenderDevice>, queue: Res<RenderQueue>) {
    match PassTimer::new(&device, &queue) {
        Some(timer) => commands.insert_resource(timer),
        None => commands.remove_resource::<PassTimer>(),
    }
}

/// Reads the timestamps of this frame when the GPU has finished it.
pub fn read_timestamps(timer: Option<Res<PassTimer>>, frames: Res<Mailbox<FrameTimes>>, mut context: RenderContext) {
    let Some(timer) = timer else {
        return;
    };
    let passes = core::mem::take(&mut *lock(&timer.passes));
    if passes.is_empty() {
        return;
    }
    let spare = lock(&timer.readable).pop();
    let readable = spare.unwrap_or_else(|| {
        let usages = BufferUsages::COPY_DST | BufferUsages::MAP_READ;
        buffer(context.render_device(), usages)
    });
    let encoder = context.command_encoder();
    encoder.resolve_query_set(&timer.queries, 0..2 * passes.len() as u32, &timer.resolved, 0);
    encoder.copy_buffer_to_buffer(&timer.resolved, 0, &readable, 0, timer.resolved.size());
    let (buffers, frames, period) = (timer.readable.clone(), frames.clone(), timer.period);
    let mapped = readable.clone();
    encoder.map_buffer_on_submit(&readable, MapMode::Read, .., move |result| {
        // Mapping fails when the device is lost; nothing can be read then.
        if result.is_err() {
            return;
        }
        let times = {
            let bytes = mapped.slice(..).get_mapped_range();
            let (ticks, _) = bytes.as_chunks::<{ QUERY_SIZE as usize }>();
            let ticks: Vec<u64> = ticks.iter().map(|ticks| u64::from_le_bytes(*ticks)).collect();
            frame_times(&passes, &ticks, period)
        };
        mapped.unmap();
        frames.push(times);
        lock(&buffers).push(mapped);
    });
}

/// The times of a frame, from the two ticks of each of its passes.
fn frame_times(passes: &[TimedPass], ticks: &[u64], period: f64) -> FrameTimes {
    let mut times = FrameTimes::default();
    let mut ends: HashMap<&BlurLabel, [u64; 2]> = HashMap::default();
    for ((label, span), pair) in passes.iter().zip(ticks.chunks_exact(2)) {
        let milliseconds = |[begin, end]: [u64; 2]| end.saturating_sub(begin) as f64 * period;
        let (begin, end) = (pair[0], pair[1]);
        let whole = ends.entry(label).or_insert([begin, end]);
        *whole = [whole[0].min(begin), whole[1].max(end)];
        let blur = times.entry(label.clone()).or_default();
        blur.whole = milliseconds(*whole);
        *blur.spans.entry(*span).or_default() += milliseconds([begin, end]);
    }
    times
}

fn buffer(device: &RenderDevice, usage: BufferUsages) -> Buffer {
    device.create_buffer(&BufferDescriptor {
        label: Some("blur_timestamps"),
        size: 2 * MOST_PASSES as u64 * u64::from(QUERY_SIZE),
        usage,
        mapped_at_creation: false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_add_up_and_the_whole_has_the_gaps() {
        let [a, b] = ["a", "b"].map(BlurLabel::new);
        let passes = [
            (a.clone(), "downsample"),
            (a.clone(), "downsample"),
            (b.clone(), "blur"),
            (a.clone(), "upsample"),
        ];
        let times = frame_times(&passes, &[1000, 1400, 1500, 1600, 5000, 5000, 1700, 2700], 0.01);
        assert_eq!(times[&a].whole, 17.0);
        assert_eq!(times[&a].spans["downsample"], 5.0);
        assert_eq!(times[&a].spans["upsample"], 10.0);
        assert_eq!(times[&b].whole, 0.0);
        assert_eq!(times.len(), 2);
    }

    #[test]
    fn clocks_that_run_backwards_make_no_huge_times() {
        let label = BlurLabel::new("a");
        let times = frame_times(&[(label.clone(), "blur")], &[7, 3], 1.0);
        assert_eq!(times[&label].whole, 0.0);
    }
}
