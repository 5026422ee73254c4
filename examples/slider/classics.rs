//! The classical Gaussian filters of the benchmark, and their times on this GPU.
//!
//! As long as an [`Order`] is set, the render world executes it in every frame: a filter at a radius, repeated several
//! times. Two timestamps measure its time, at the beginning of its first pass and at the end of its last. WebGL 2 has no
//! timestamps; there the example measures the time of the whole frame.

use crate::host::FrameTimer;
use bevy::prelude::*;
use bevy::render::render_resource::{
    BindGroup, BindGroupEntries, BindGroupLayout, BindGroupLayoutEntries, Buffer, BufferDescriptor,
    BufferInitDescriptor, BufferUsages, Extent3d, LoadOp, MapMode, Operations, RenderPassColorAttachment,
    RenderPassDescriptor, ShaderStages, StoreOp, TextureDescriptor, TextureDimension, TextureFormat, TextureSampleType,
    TextureUsages, TextureView, binding_types,
};
use bevy::render::renderer::{RenderContext, RenderDevice, RenderGraph, RenderGraphSystems, RenderQueue};
use bevy::render::settings::WgpuFeatures;
use bevy::render::{RenderApp, RenderStartup};
use bytemuck::{Pod, Zeroable};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use wgpu::{QUERY_SIZE, QuerySet, QuerySetDescriptor, QueryType, RenderPassTimestampWrites};

/// The size of the picture that is blurred.
pub const SIZE: UVec2 = UVec2::new(960, 540);

/// The format of the picture and of its blur.
const FORMAT: TextureFormat = TextureFormat::Rgba8UnormSrgb;

/// A classical filter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Classic {
    /// Sums the square of texels around each texel.
    Direct2d,
    /// Blurs rows, then columns.
    Separable,
}

/// The work of the render world in every frame, until the next order.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Order {
    /// Identifies the order: every order has a different number.
    pub number: u32,
    /// The filter and its radius. `None` if no classical filter runs: for this blur, or for an empty frame.
    pub classic: Option<(Classic, f32)>,
    /// How often the filter is repeated.
    pub repeats: u32,
}

/// How times are measured.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Clock {
    /// Not at all.
    #[default]
    None,
    /// By timestamps around the order alone.
    Timestamps,
    /// By the times of whole frames.
    Frames,
}

/// The state that the main world and the render world share.
#[derive(Resource, Clone, Default)]
pub struct Bench(Arc<Mutex<Shared>>);

#[derive(Default)]
struct Shared {
    clock: Clock,
    order: Option<Order>,
    /// The numbers of orders, each with the milliseconds that one frame took.
    times: Vec<(u32, f64)>,
}

impl Bench {
    pub fn clock(&self) -> Clock {
        self.shared().clock
    }

    /// Sets the order to measure from now on.
    pub fn order(&self, order: Option<Order>) {
        self.shared().order = order;
    }

    /// Takes the times that have arrived for an order since the last call, in milliseconds.
    pub fn take(&self, number: u32) -> Vec<f64> {
        let times = core::mem::take(&mut self.shared().times);
        let times = times.into_iter().filter(|(of, _)| *of == number);
        times.map(|(_, milliseconds)| milliseconds).collect()
    }

    fn shared(&self) -> MutexGuard<'_, Shared> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Measures in the render world.
pub struct ClassicsPlugin;

impl Plugin for ClassicsPlugin {
    fn build(&self, app: &mut App) {
        let bench = Bench::default();
        app.insert_resource(bench.clone());
        if let Some(render_app) = app.get_sub_app_mut(RenderApp) {
            let (after, before) = (RenderGraphSystems::Render, RenderGraphSystems::Submit);
            render_app
                .insert_resource(bench)
                .add_systems(RenderStartup, set_up)
                .add_systems(
                    RenderGraph,
                    (
                        (filter, begin_frame).chain().after(after).before(before),
                        end_frame.in_set(RenderGraphSystems::Finish),
                    ),
                );
        }
    }
}

/// `Parameters` of the benchmark's `common.wgsl`, padded as WebGL 2 requires.
#[repr(C)]
#[derive(Clone, Copy, Pod, Zeroable)]
struct Parameters {
    axis: IVec2,
    radius: i32,
    sigma: f32,
    padding: [u32; 4],
}

/// The filters and their textures.
#[derive(Resource)]
struct Classics {
    layout: BindGroupLayout,
    direct: wgpu::RenderPipeline,
    rows: wgpu::RenderPipeline,
    columns: wgpu::RenderPipeline,
    source: TextureView,
    intermediate: TextureView,
    target: TextureView,
    timestamps: Option<Timestamps>,
}

struct Timestamps {
    queries: QuerySet,
    resolved: Buffer,
    period: f64,
}

fn set_up(mut commands: Commands, device: Res<RenderDevice>, queue: Res<RenderQueue>, bench: Res<Bench>) {
    let timestamps = Timestamps::new(&device, &queue);
    bench.shared().clock = match &timestamps {
        Some(_) => Clock::Timestamps,
        None if FrameTimer::is_available() => Clock::Frames,
        None => Clock::None,
    };
    let entries = BindGroupLayoutEntries::sequential(
        ShaderStages::FRAGMENT,
        (
            binding_types::uniform_buffer::<[[u32; 4]; 2]>(false),
            binding_types::texture_2d(TextureSampleType::Float { filterable: true }),
        ),
    );
    let layout = device.create_bind_group_layout("classic", &entries);
    let pipeline = |shader, format| pipeline(&device, &layout, shader, format);
    let separable = include_str!("../../benches/gpu/separable.wgsl");
    commands.insert_resource(Classics {
        direct: pipeline(include_str!("../../benches/gpu/direct_2d.wgsl"), FORMAT),
        rows: pipeline(separable, TextureFormat::Rgba16Float),
        columns: pipeline(separable, FORMAT),
        source: texture(&device, FORMAT),
        intermediate: texture(&device, TextureFormat::Rgba16Float),
        target: texture(&device, FORMAT),
        layout,
        timestamps,
    });
}

impl Timestamps {
    fn new(device: &RenderDevice, queue: &RenderQueue) -> Option<Self> {
        let has_timestamps = device.features().contains(WgpuFeatures::TIMESTAMP_QUERY);
        has_timestamps.then(|| Self {
            queries: device.wgpu_device().create_query_set(&QuerySetDescriptor {
                label: Some("classic"),
                ty: QueryType::Timestamp,
                count: 2,
            }),
            resolved: buffer(device, BufferUsages::QUERY_RESOLVE | BufferUsages::COPY_SRC),
            period: f64::from(queue.get_timestamp_period()) / 1e6,
        })
    }
}

fn buffer(device: &RenderDevice, usage: BufferUsages) -> Buffer {
    device.create_buffer(&BufferDescriptor {
        label: Some("classic"),
        size: 2 * u64::from(QUERY_SIZE),
        usage,
        mapped_at_creation: false,
    })
}

fn texture(device: &RenderDevice, format: TextureFormat) -> TextureView {
    let texture = device.create_texture(&TextureDescriptor {
        label: Some("classic"),
        size: Extent3d {
            width: SIZE.x,
            height: SIZE.y,
            depth_or_array_layers: 1,
        },
        mip_level_count: 1,
        sample_count: 1,
        dimension: TextureDimension::D2,
        format,
        usage: TextureUsages::RENDER_ATTACHMENT | TextureUsages::TEXTURE_BINDING,
        view_formats: &[],
    });
    texture.create_view(&default())
}

fn pipeline(
    device: &RenderDevice,
    layout: &BindGroupLayout,
    shader: &str,
    format: TextureFormat,
) -> wgpu::RenderPipeline {
    let device = device.wgpu_device();
    let text = [include_str!("../../benches/gpu/common.wgsl"), shader].concat();
    let module = device.create_shader_module(wgpu::ShaderModuleDescriptor {
        label: Some("classic"),
        source: wgpu::ShaderSource::Wgsl(text.into()),
    });
    let layout = device.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
        label: Some("classic"),
        bind_group_layouts: &[Some(layout)],
        immediate_size: 0,
    });
    device.create_render_pipeline(&wgpu::RenderPipelineDescriptor {
        label: Some("classic"),
        layout: Some(&layout),
        vertex: wgpu::VertexState {
            module: &module,
            entry_point: None,
            compilation_options: default(),
            buffers: &[],
        },
        primitive: default(),
        depth_stencil: None,
        multisample: default(),
        fragment: Some(wgpu::FragmentState {
            module: &module,
            entry_point: None,
            compilation_options: default(),
            targets: &[Some(format.into())],
        }),
        multiview_mask: None,
        cache: None,
    })
}

/// One pass: its pipeline, its source and its target.
type Step<'a> = (&'a wgpu::RenderPipeline, BindGroup, &'a TextureView);

impl Classics {
    /// The passes of one repetition.
    fn steps(&self, device: &RenderDevice, classic: Classic, radius: f32) -> Vec<Step<'_>> {
        let bind = |axis: IVec2, source: &TextureView| {
            let parameters = Parameters {
                axis,
                radius: radius.ceil() as i32,
                sigma: radius / 3.0,
                padding: [0; 4],
            };
            let buffer = device.create_buffer_with_data(&BufferInitDescriptor {
                label: Some("classic"),
                contents: bytemuck::bytes_of(&parameters),
                usage: BufferUsages::UNIFORM,
            });
            let entries = BindGroupEntries::sequential((buffer.as_entire_binding(), source));
            device.create_bind_group("classic", &self.layout, &entries)
        };
        match classic {
            Classic::Direct2d => vec![(&self.direct, bind(IVec2::ZERO, &self.source), &self.target)],
            Classic::Separable => vec![
                (&self.rows, bind(IVec2::X, &self.source), &self.intermediate),
                (&self.columns, bind(IVec2::Y, &self.intermediate), &self.target),
            ],
        }
    }
}

/// Executes the order.
fn filter(classics: Res<Classics>, bench: Res<Bench>, mut context: RenderContext) {
    let order = bench.shared().order;
    let Some((order, (classic, radius))) = order.and_then(|order| Some((order, order.classic?))) else {
        return;
    };
    let device = context.render_device().clone();
    let steps = classics.steps(&device, classic, radius);
    let count = steps.len() * order.repeats as usize;
    let encoder = context.command_encoder();
    for (index, (pipeline, bind_group, target)) in steps.iter().cycle().take(count).enumerate() {
        let (is_first, is_last) = (index == 0, index + 1 == count);
        let timestamps = classics.timestamps.as_ref().filter(|_| is_first || is_last);
        let mut pass = encoder.begin_render_pass(&RenderPassDescriptor {
            label: Some("classic"),
            color_attachments: &[Some(RenderPassColorAttachment {
                view: target,
                depth_slice: None,
                resolve_target: None,
                ops: Operations {
                    load: LoadOp::Clear(default()),
                    store: StoreOp::Store,
                },
            })],
            timestamp_writes: timestamps.map(|timestamps| RenderPassTimestampWrites {
                query_set: &timestamps.queries,
                beginning_of_pass_write_index: is_first.then_some(0),
                end_of_pass_write_index: is_last.then_some(1),
            }),
            ..default()
        });
        pass.set_pipeline(pipeline);
        pass.set_bind_group(0, &**bind_group, &[]);
        pass.draw(0..3, 0..1);
    }
    if let Some(timestamps) = &classics.timestamps {
        timestamps.read(order.number, &bench, &device, encoder);
    }
}

impl Timestamps {
    /// Stores the time once the GPU has finished.
    fn read(&self, number: u32, bench: &Bench, device: &RenderDevice, encoder: &mut wgpu::CommandEncoder) {
        let readable = buffer(device, BufferUsages::COPY_DST | BufferUsages::MAP_READ);
        encoder.resolve_query_set(&self.queries, 0..2, &self.resolved, 0);
        encoder.copy_buffer_to_buffer(&self.resolved, 0, &readable, 0, readable.size());
        let (mapped, bench, period) = (readable.clone(), bench.clone(), self.period);
        encoder.map_buffer_on_submit(&readable, MapMode::Read, .., move |result| {
            if result.is_ok() {
                let bytes = mapped.slice(..).get_mapped_range();
                let (ticks, _) = bytes.as_chunks::<8>();
                let [begin, end] = [ticks[0], ticks[1]].map(u64::from_le_bytes);
                let milliseconds = end.saturating_sub(begin) as f64 * period;
                bench.shared().times.push((number, milliseconds));
            }
        });
    }
}

/// The orders of the frames whose times are pending.
type Pending = Vec<u32>;

fn begin_frame(bench: Res<Bench>, mut pending: Local<Pending>) {
    let (clock, order) = {
        let shared = bench.shared();
        (shared.clock, shared.order)
    };
    if clock != Clock::Frames {
        return;
    }
    while !pending.is_empty()
        && let Some(milliseconds) = FrameTimer::take()
    {
        let number = pending.remove(0);
        bench.shared().times.push((number, milliseconds));
    }
    if let Some(order) = order {
        pending.push(order.number);
        FrameTimer::begin();
    }
}

fn end_frame(bench: Res<Bench>) {
    let is_timed = {
        let shared = bench.shared();
        shared.clock == Clock::Frames && shared.order.is_some()
    };
    if is_timed {
        FrameTimer::end();
    }
}
