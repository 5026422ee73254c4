//! How exactly the GPU filters textures, and blends. Probes ask the driver, since no name of a GPU says it.

use super::headless::adapter;
use super::reference::{decode_srgb, encode_srgb};
use bevy::tasks::block_on;
use core::f64::consts::TAU;
use std::sync::OnceLock;
use wgpu::util::DeviceExt;

/// The positions between two texels at which the probe reads.
const READS: u32 = 1024;

const PROBE: &str = "
@group(0) @binding(0) var texels: texture_2d<f32>;
@group(0) @binding(1) var linear: sampler;
@group(0) @binding(2) var<storage, read_write> read: array<f32>;

@compute @workgroup_size(64)
fn probe(@builtin(global_invocation_id) id: vec3<u32>) {
    let between = (f32(id.x) + 0.5) / f32(arrayLength(&read));
    read[id.x] = textureSampleLevel(texels, linear, vec2<f32>(0.25 + 0.5 * between, 0.5), 0.0).x;
}
";

/// What filtering adds to the error of a blur, as a share of its peak. The last pass fetches from a level whose sigma is at least 1.5
/// texels, so its neighbours differ by at most the steepest slope of such a Gaussian; it fetches along two axes.
pub fn error_of_blurs() -> f64 {
    let steepest = 1.0 / (1.5 * TAU.sqrt());
    2.0 * steepest * filtering_error()
}

/// What filtering adds to the light of a single bright texel, as a share of it. The first pass that filters fetches pairs of texels,
/// whose weights it shares between the two. The other texel of a pair weighs about as much, so twice the error of a fetch is missing
/// or too much, along each of two axes. What later passes read is smooth: they take from a texel what they give to its equal.
pub fn error_of_light() -> f64 {
    2.0 * 2.0 * filtering_error()
}

/// The worst error of a fetch between a texel of 0 and one of 1. It is 1/512 if the sampler rounds the position to eight bits.
/// Less than a tenth of that counts as exact.
fn filtering_error() -> f64 {
    static ERROR: OnceLock<f64> = OnceLock::new();
    *ERROR.get_or_init(|| {
        let worst = block_on(probe()).map_or(0.0, |read| worst_of(&read));
        println!("filtered fetches are off by up to {worst:.6}");
        if worst < 0.1 / 512.0 { 0.0 } else { worst }
    })
}

fn worst_of(read: &[f32]) -> f64 {
    let exact = |index: usize| (index as f64 + 0.5) / read.len() as f64;
    let errors = read.iter().enumerate();
    errors.fold(0.0, |worst, (index, value)| {
        (f64::from(*value) - exact(index)).abs().max(worst)
    })
}

async fn gpu() -> Option<(wgpu::Device, wgpu::Queue)> {
    let adapter = adapter().ok()?;
    adapter.request_device(&wgpu::DeviceDescriptor::default()).await.ok()
}

/// What a compute shader reads; `None` without a GPU that has them.
async fn probe() -> Option<Vec<f32>> {
    let (device, queue) = gpu().await?;
    let size = wgpu::Extent3d {
        width: 2,
        height: 1,
        depth_or_array_layers: 1,
    };
    let descriptor = wgpu::TextureDescriptor {
        label: Some("probe"),
        size,
        mip_level_count: 1,
        sample_count: 1,
        dimension: wgpu::TextureDimension::D2,
        format: wgpu::TextureFormat::R16Float,
        usage: wgpu::TextureUsages::TEXTURE_BINDING,
        view_formats: &[],
    };
    let texels = [half::f16::ZERO, half::f16::ONE].map(half::f16::to_le_bytes).concat();
    let texture =
        device.create_texture_with_data(&queue, &descriptor, wgpu::util::TextureDataOrder::default(), &texels);
    let view = texture.create_view(&wgpu::TextureViewDescriptor::default());
    let sampler = device.create_sampler(&wgpu::SamplerDescriptor {
        mag_filter: wgpu::FilterMode::Linear,
        min_filter: wgpu::FilterMode::Linear,
        ..Default::default()
    });
    let buffer = |usage| {
        device.create_buffer(&wgpu::BufferDescriptor {
            label: Some("probe"),
            size: u64::from(READS) * 4,
            usage,
            mapped_at_creation: false,
        })
    };
    let written = buffer(wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_SRC);
    let mapped = buffer(wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST);
    let module = device.create_shader_module(wgpu::ShaderModuleDescriptor {
        label: Some("probe"),
        source: wgpu::ShaderSource::Wgsl(PROBE.into()),
    });
    let pipeline = device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
        label: Some("probe"),
        layout: None,
        module: &module,
        entry_point: None,
        compilation_options: Default::default(),
        cache: None,
    });
    let resources = [
        wgpu::BindingResource::TextureView(&view),
        wgpu::BindingResource::Sampler(&sampler),
        written.as_entire_binding(),
    ];
    let entries: Vec<_> = resources
        .into_iter()
        .zip(0..)
        .map(|(resource, binding)| wgpu::BindGroupEntry { binding, resource })
        .collect();
    let group = device.create_bind_group(&wgpu::BindGroupDescriptor {
        label: Some("probe"),
        layout: &pipeline.get_bind_group_layout(0),
        entries: &entries,
    });
    let mut encoder = device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
    let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor::default());
    pass.set_pipeline(&pipeline);
    pass.set_bind_group(0, &group, &[]);
    pass.dispatch_workgroups(READS / 64, 1, 1);
    drop(pass);
    encoder.copy_buffer_to_buffer(&written, 0, &mapped, 0, mapped.size());
    queue.submit([encoder.finish()]);
    let bytes = bytes_of(&device, &mapped)?;
    let floats = bytes.as_chunks::<4>().0.iter();
    Some(floats.map(|bytes| f32::from_le_bytes(*bytes)).collect())
}

fn bytes_of(device: &wgpu::Device, buffer: &wgpu::Buffer) -> Option<Vec<u8>> {
    buffer
        .slice(..)
        .map_async(wgpu::MapMode::Read, |result| result.expect("the buffer can be read"));
    device.poll(wgpu::PollType::wait_indefinitely()).ok()?;
    Some(buffer.slice(..).get_mapped_range().to_vec())
}

/// The sides of the picture that is blended: a level of the picture below for every column, a share for every row.
const BLENDED: [u32; 2] = [256, 64];

const BLEND: &str = "
@vertex
fn vertex(@builtin(vertex_index) index: u32) -> @builtin(position) vec4<f32> {
    return vec4<f32>(f32(index & 1u) * 4.0 - 1.0, f32(index >> 1u) * 4.0 - 1.0, 0.0, 1.0);
}

@fragment
fn fragment(@builtin(position) position: vec4<f32>) -> @location(0) vec4<f32> {
    let place = vec2<u32>(position.xy);
    let light = f32((place.x * 37u + place.y * 101u) % 256u) / 255.0;
    let share = (f32(place.y) + 0.5) / 64.0;
    return vec4<f32>(vec3<f32>(light * share), share);
}
";

/// By how many levels a draw that blends misses light that is stored as sRGB, before and with its rounding: half a level if it rounds to
/// the nearest one.
pub fn error_of_blending() -> f64 {
    static ERROR: OnceLock<f64> = OnceLock::new();
    *ERROR.get_or_init(|| {
        let worst = block_on(blend()).map_or(0.0, |levels| worst_blend(&levels));
        println!("draws that blend are off by up to {worst:.3} levels");
        worst.max(0.5)
    })
}

fn worst_blend(texels: &[u8]) -> f64 {
    let columns = BLENDED[0] as usize;
    let errors = texels.as_chunks::<4>().0.iter().enumerate().map(|(index, texel)| {
        let [x, y] = [index % columns, index / columns];
        let share = (y as f64 + 0.5) / 64.0;
        let light = ((x * 37 + y * 101) % 256) as f64 / 255.0;
        let exact = light * share + decode_srgb(x as f64 / 255.0) * (1.0 - share);
        (f64::from(texel[0]) - 255.0 * encode_srgb(exact)).abs()
    });
    errors.fold(0.0, f64::max)
}

/// The texels that are left when a triangle is blended into every level.
async fn blend() -> Option<Vec<u8>> {
    let (device, queue) = gpu().await?;
    let format = wgpu::TextureFormat::Rgba8UnormSrgb;
    let [width, height] = BLENDED;
    let descriptor = wgpu::TextureDescriptor {
        label: Some("blended"),
        size: wgpu::Extent3d {
            width,
            height,
            depth_or_array_layers: 1,
        },
        mip_level_count: 1,
        sample_count: 1,
        dimension: wgpu::TextureDimension::D2,
        format,
        usage: wgpu::TextureUsages::RENDER_ATTACHMENT | wgpu::TextureUsages::COPY_SRC | wgpu::TextureUsages::COPY_DST,
        view_formats: &[],
    };
    let below: Vec<u8> = (0..width * height)
        .flat_map(|index| [(index % width) as u8; 4])
        .collect();
    let texture = device.create_texture_with_data(&queue, &descriptor, wgpu::util::TextureDataOrder::default(), &below);
    let module = device.create_shader_module(wgpu::ShaderModuleDescriptor {
        label: Some("blend"),
        source: wgpu::ShaderSource::Wgsl(BLEND.into()),
    });
    let pipeline = device.create_render_pipeline(&wgpu::RenderPipelineDescriptor {
        label: Some("blend"),
        layout: None,
        vertex: wgpu::VertexState {
            module: &module,
            entry_point: None,
            compilation_options: Default::default(),
            buffers: &[],
        },
        primitive: Default::default(),
        depth_stencil: None,
        multisample: Default::default(),
        fragment: Some(wgpu::FragmentState {
            module: &module,
            entry_point: None,
            compilation_options: Default::default(),
            targets: &[Some(wgpu::ColorTargetState {
                format,
                blend: Some(wgpu::BlendState::PREMULTIPLIED_ALPHA_BLENDING),
                write_mask: wgpu::ColorWrites::ALL,
            })],
        }),
        multiview_mask: None,
        cache: None,
    });
    let read = device.create_buffer(&wgpu::BufferDescriptor {
        label: Some("blended"),
        size: below.len() as u64,
        usage: wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST,
        mapped_at_creation: false,
    });
    let view = texture.create_view(&Default::default());
    let mut encoder = device.create_command_encoder(&Default::default());
    let mut pass = encoder.begin_render_pass(&wgpu::RenderPassDescriptor {
        label: Some("blend"),
        color_attachments: &[Some(wgpu::RenderPassColorAttachment {
            view: &view,
            depth_slice: None,
            resolve_target: None,
            ops: wgpu::Operations {
                load: wgpu::LoadOp::Load,
                store: wgpu::StoreOp::Store,
            },
        })],
        ..Default::default()
    });
    pass.set_pipeline(&pipeline);
    pass.draw(0..3, 0..1);
    drop(pass);
    let layout = wgpu::TexelCopyBufferLayout {
        offset: 0,
        bytes_per_row: Some(4 * width),
        rows_per_image: None,
    };
    let target = wgpu::TexelCopyBufferInfo { buffer: &read, layout };
    encoder.copy_texture_to_buffer(texture.as_image_copy(), target, descriptor.size);
    queue.submit([encoder.finish()]);
    bytes_of(&device, &read)
}
