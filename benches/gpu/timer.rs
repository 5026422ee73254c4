//! GPU times of encoded commands.

use crate::stage::Gpu;
use bevy::ecs::resource::Resource;
use wgpu::{Buffer, BufferDescriptor, BufferUsages, CommandEncoder, MapMode, PollType, QuerySet, QuerySetDescriptor};
use wgpu::{QUERY_SIZE, QueryType};

/// The number of timestamps: beginning and end.
const QUERIES: u32 = 2;

/// Encodes, submits and waits, one run at a time.
#[derive(Resource)]
pub struct Timer {
    gpu: Gpu,
    queries: QuerySet,
    resolved: Buffer,
    readable: Buffer,
}

impl Timer {
    pub fn new(gpu: &Gpu) -> Self {
        let buffer = |label, usage| {
            gpu.device.create_buffer(&BufferDescriptor {
                label: Some(label),
                size: u64::from(QUERIES * QUERY_SIZE),
                usage,
                mapped_at_creation: false,
            })
        };
        Self {
            gpu: gpu.clone(),
            queries: gpu.device.create_query_set(&QuerySetDescriptor {
                label: Some("beginning and end"),
                ty: QueryType::Timestamp,
                count: QUERIES,
            }),
            resolved: buffer("timestamps", BufferUsages::QUERY_RESOLVE | BufferUsages::COPY_SRC),
            readable: buffer("timestamps to read", BufferUsages::COPY_DST | BufferUsages::MAP_READ),
        }
    }

    /// The GPU time of the commands that `record` encodes, in microseconds.
    pub fn time(&self, record: impl FnOnce(&mut CommandEncoder)) -> f64 {
        let mut encoder = self.gpu.device.create_command_encoder(&Default::default());
        if self.gpu.is_software {
            // Software rendering executes passes and copies at once, and writes timestamps only when a submission ends.
            record(&mut encoder);
            self.begin();
            self.gpu.queue.submit([encoder.finish()]);
            self.end();
        } else {
            self.encode_begin(&mut encoder);
            record(&mut encoder);
            self.encode_end(&mut encoder);
            self.gpu.queue.submit([encoder.finish()]);
        }
        self.read()
    }

    /// Encodes the first timestamp.
    pub fn encode_begin(&self, encoder: &mut CommandEncoder) {
        encoder.write_timestamp(&self.queries, 0);
    }

    /// Submits the first timestamp on its own.
    pub fn begin(&self) {
        let mut encoder = self.gpu.device.create_command_encoder(&Default::default());
        self.encode_begin(&mut encoder);
        self.gpu.queue.submit([encoder.finish()]);
    }

    /// Submits the second timestamp on its own.
    pub fn end(&self) {
        let mut encoder = self.gpu.device.create_command_encoder(&Default::default());
        self.encode_end(&mut encoder);
        self.gpu.queue.submit([encoder.finish()]);
    }

    /// Encodes the second timestamp, and the copy of both.
    pub fn encode_end(&self, encoder: &mut CommandEncoder) {
        encoder.write_timestamp(&self.queries, 1);
        encoder.resolve_query_set(&self.queries, 0..QUERIES, &self.resolved, 0);
        encoder.copy_buffer_to_buffer(&self.resolved, 0, &self.readable, 0, self.readable.size());
    }

    /// The microseconds between the timestamps. Waits for them.
    pub fn read(&self) -> f64 {
        let ticks = self.ticks();
        let period = f64::from(self.gpu.queue.get_timestamp_period());
        ticks[1].saturating_sub(ticks[0]) as f64 * period / 1000.0
    }

    fn ticks(&self) -> [u64; 2] {
        let whole = self.readable.slice(..);
        whole.map_async(MapMode::Read, |result| result.expect("timestamps can be read"));
        // A failure here also fails the mapping, which reports it.
        let _ = self.gpu.device.poll(PollType::wait_indefinitely());
        let ticks = {
            let bytes = whole.get_mapped_range();
            let (ticks, _) = bytes.as_chunks::<8>();
            [u64::from_le_bytes(ticks[0]), u64::from_le_bytes(ticks[1])]
        };
        self.readable.unmap();
        ticks
    }
}
