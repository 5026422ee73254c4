//! Passes of the classical methods, each with its own pipeline.

use crate::method::Method;
use crate::stage::{Gpu, Surface};
use bevy::math::IVec2;
use bytemuck::{Pod, Zeroable};
use wgpu::util::{BufferInitDescriptor, DeviceExt};
use wgpu::{
    BindGroup, BindGroupDescriptor, BindGroupEntry, BindGroupLayout, BindingResource, Buffer, BufferUsages,
    ComputePipeline, ComputePipelineDescriptor, FilterMode, FragmentState, RenderPipeline, RenderPipelineDescriptor,
    Sampler, SamplerDescriptor, ShaderModule, ShaderModuleDescriptor, ShaderRuntimeChecks, ShaderSource, TextureFormat,
    VertexState,
};

/// Invocations of a workgroup along x and y.
pub const WORKGROUP: u32 = 16;

/// `Parameters` of `common.wgsl`.
#[repr(C)]
#[derive(Clone, Copy, Pod, Zeroable)]
pub struct Parameters {
    pub axis: IVec2,
    pub radius: i32,
    pub sigma: f32,
    pub outermost: f32,
    pub padding: [u32; 3],
}

/// What distinguishes one method from another.
pub struct Recipe {
    pub shader: &'static str,
    /// One pass for each axis, or one for both.
    pub axes: &'static [IVec2],
    pub parameters: Option<Parameters>,
    pub table: Option<Vec<f32>>,
    pub sampler: bool,
}

/// A pipeline of either kind.
pub enum Program {
    Fragment(RenderPipeline),
    Compute(ComputePipeline),
}

/// One pass, ready to be encoded.
pub struct Pass<'a> {
    pub program: Program,
    pub bind_group: BindGroup,
    pub target: &'a Surface,
}

/// Prepares a pass along one axis, or both.
pub fn pass<'a>(
    gpu: &Gpu,
    method: Method,
    recipe: &Recipe,
    axis: IVec2,
    source: &Surface,
    target: &'a Surface,
    format: TextureFormat,
) -> Pass<'a> {
    let module = module(gpu, recipe.shader, format);
    let (program, layout) = if method.is_compute() {
        let pipeline = compute_pipeline(gpu, &module);
        let layout = pipeline.get_bind_group_layout(0);
        (Program::Compute(pipeline), layout)
    } else {
        let pipeline = render_pipeline(gpu, &module, format);
        let layout = pipeline.get_bind_group_layout(0);
        (Program::Fragment(pipeline), layout)
    };
    let output = method.is_compute().then_some(target);
    Pass {
        program,
        bind_group: bind(gpu, recipe, axis, source, output, &layout),
        target,
    }
}

fn module(gpu: &Gpu, shader: &str, format: TextureFormat) -> ShaderModule {
    // WGSL cannot parameterise the format of a storage texture, so insert it as text.
    let storage = match format {
        TextureFormat::Rgba8Unorm => "rgba8unorm",
        TextureFormat::Rgba32Float => "rgba32float",
        _ => "rgba16float",
    };
    let shader = shader
        .replace("STORAGE_FORMAT", storage)
        .replace("WORKGROUP", &WORKGROUP.to_string());
    let text = [include_str!("common.wgsl"), &shader].concat();
    let descriptor = ShaderModuleDescriptor {
        label: Some("classic"),
        source: ShaderSource::Wgsl(text.into()),
    };
    // Without runtime checks, as Bevy compiles the shaders that these are compared with.
    // SAFETY: every index of these shaders is clamped or within bounds by construction, and every loop ends.
    unsafe {
        gpu.device
            .create_shader_module_trusted(descriptor, ShaderRuntimeChecks::unchecked())
    }
}

fn render_pipeline(gpu: &Gpu, module: &ShaderModule, format: TextureFormat) -> RenderPipeline {
    gpu.device.create_render_pipeline(&RenderPipelineDescriptor {
        label: Some("classic"),
        layout: None,
        vertex: VertexState {
            module,
            entry_point: None,
            compilation_options: Default::default(),
            buffers: &[],
        },
        primitive: Default::default(),
        depth_stencil: None,
        multisample: Default::default(),
        fragment: Some(FragmentState {
            module,
            entry_point: None,
            compilation_options: Default::default(),
            targets: &[Some(format.into())],
        }),
        multiview_mask: None,
        cache: None,
    })
}

fn compute_pipeline(gpu: &Gpu, module: &ShaderModule) -> ComputePipeline {
    gpu.device.create_compute_pipeline(&ComputePipelineDescriptor {
        label: Some("classic"),
        layout: None,
        module,
        entry_point: None,
        compilation_options: Default::default(),
        cache: None,
    })
}

/// Binds only what the shader uses: the layout is deduced from it.
fn bind(
    gpu: &Gpu,
    recipe: &Recipe,
    axis: IVec2,
    source: &Surface,
    output: Option<&Surface>,
    layout: &BindGroupLayout,
) -> BindGroup {
    let parameters = recipe.parameters.map(|parameters| Parameters { axis, ..parameters });
    let parameters = parameters.map(|it| buffer(gpu, bytemuck::bytes_of(&it), BufferUsages::UNIFORM));
    let table = recipe.table.as_ref();
    let table = table.map(|table| buffer(gpu, bytemuck::cast_slice(table), BufferUsages::STORAGE));
    let sampler = recipe.sampler.then(|| linear_sampler(gpu));
    let resources = [
        parameters.as_ref().map(Buffer::as_entire_binding),
        Some(BindingResource::TextureView(&source.view)),
        output.map(|output| BindingResource::TextureView(&output.view)),
        table.as_ref().map(Buffer::as_entire_binding),
        sampler.as_ref().map(BindingResource::Sampler),
    ];
    let mut entries = Vec::new();
    for (binding, resource) in (0..).zip(resources) {
        entries.extend(resource.map(|resource| BindGroupEntry { binding, resource }));
    }
    gpu.device.create_bind_group(&BindGroupDescriptor {
        label: Some("classic"),
        layout,
        entries: &entries,
    })
}

fn buffer(gpu: &Gpu, contents: &[u8], usage: BufferUsages) -> Buffer {
    gpu.device.create_buffer_init(&BufferInitDescriptor {
        label: Some("classic"),
        contents,
        usage,
    })
}

/// A sampler that interpolates, and repeats the border.
fn linear_sampler(gpu: &Gpu) -> Sampler {
    gpu.device.create_sampler(&SamplerDescriptor {
        mag_filter: FilterMode::Linear,
        min_filter: FilterMode::Linear,
        ..Default::default()
    })
}
