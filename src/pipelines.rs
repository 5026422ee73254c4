//! Layouts, samplers, typed pipeline keys and their specialisation.

use crate::uniforms::PassUniform;
use bevy::asset::{AssetServer, load_embedded_asset};
use bevy::core_pipeline::FullscreenShader;
use bevy::prelude::*;
use bevy::render::render_resource::binding_types::{sampler, texture_2d, texture_storage_2d, uniform_buffer_sized};
use bevy::render::render_resource::{
    AddressMode, BindGroupLayoutDescriptor, BufferSize, ColorTargetState, ColorWrites, ComputePipelineDescriptor,
    Extent3d, FilterMode, FragmentState, RenderPipelineDescriptor, Sampler, SamplerBindingType, SamplerDescriptor,
    ShaderStages, SpecializedComputePipeline, SpecializedRenderPipeline, StorageTextureAccess, TextureDimension,
    TextureFormat, TextureSampleType, TextureUsages,
};
use bevy::render::renderer::{RenderAdapter, RenderAdapterInfo, RenderDevice};
use bevy::shader::ShaderDefVal;
use std::borrow::Cow;
use wgpu::DownlevelFlags;

/// Which program a pass runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Program {
    /// Render: a weighted sum of so many neighbouring texels along x and y.
    Texels(UVec2),
    /// Render: half the resolution along both axes, with fetches between texels.
    Halve,
    /// Render: one texel as it is.
    Copy,
    /// Render: the cubic B-spline.
    Upsample,
    /// Compute: goes to a coarser level, by so many source texels per target texel along x and y.
    Decimate(UVec2),
    /// Compute: both convolutions, with kernels that reach so many texels.
    Blur(u32),
    /// Compute: the cubic B-spline, out of so many coarse rows at most.
    Interpolate(u32),
}

/// The height of the tiles of [`Program::Interpolate`].
const INTERPOLATED_ROWS: u32 = 64;

impl Program {
    /// The program that interpolates rows which are so many octaves coarser.
    #[must_use]
    pub fn interpolate(octaves: u32) -> Self {
        // From three octaves on, fewer rows would let no more tiles run at once.
        match octaves.min(3) {
            0 => Self::Interpolate(INTERPOLATED_ROWS),
            octaves => Self::Interpolate((INTERPOLATED_ROWS >> octaves) + 4),
        }
    }

    /// The entry point in the shader of the same room.
    fn entry_point(self) -> &'static str {
        match self {
            Self::Texels(_) => "texels",
            Self::Halve => "halve",
            Self::Copy => "copy",
            Self::Upsample => "upsample",
            Self::Decimate(_) => "decimate",
            Self::Blur(_) => "blur_tile",
            Self::Interpolate(_) => "interpolate",
        }
    }

    /// The texels that a workgroup writes, `None` for a program of a render pass.
    #[must_use]
    pub fn tile(self) -> Option<UVec2> {
        match self {
            Self::Texels(_) | Self::Halve | Self::Copy | Self::Upsample => None,
            // As many columns as 128 source columns are enough for.
            Self::Decimate(step) => Some(UVec2::new((127 - 5 * (step.x - 1)) / step.x + 1, 6)),
            Self::Blur(_) => Some(UVec2::new(64, 16)),
            Self::Interpolate(_) => Some(UVec2::new(16, INTERPOLATED_ROWS)),
        }
    }

    /// The numbers that the shader is compiled for.
    fn numbers(self) -> Vec<(&'static str, u32)> {
        match self {
            // A shader is compiled as a whole, whichever of its entry points is asked for.
            Self::Copy => vec![("TEXELS_X", 1), ("TEXELS_Y", 1)],
            Self::Texels(texels) => vec![("TEXELS_X", texels.x), ("TEXELS_Y", texels.y)],
            Self::Halve | Self::Upsample => Vec::new(),
            Self::Decimate(step) => vec![("STEP_X", step.x), ("STEP_Y", step.y)],
            Self::Blur(reach) => vec![("REACH", reach)],
            Self::Interpolate(rows) => vec![("ROWS", rows)],
        }
    }

    /// Whether what this program writes has been packed as half floats before.
    fn writes_packed(self) -> bool {
        matches!(self, Self::Blur(_))
    }

    fn stage(self) -> ShaderStages {
        if self.tile().is_some() {
            ShaderStages::COMPUTE
        } else {
            ShaderStages::FRAGMENT
        }
    }
}

/// How a pass reads its source.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Fetch {
    /// Two texels at once through a sampler, wherever that is exact.
    Filtered,
    /// Texel by texel.
    Loaded,
}

/// What happens to a value between the picture and a blur.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Alpha {
    /// It stays as it is.
    Keep,
    /// Straight alpha on one side, premultiplied alpha inside.
    Convert,
    /// Alpha becomes 1.
    Opaque,
}

/// All that distinguishes one pipeline from another.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct BlurPipelineKey {
    /// What the pass computes.
    pub program: Program,
    /// How it reads.
    pub fetch: Fetch,
    /// `Some` for the pass that reads the picture itself.
    pub enter: Option<Alpha>,
    /// `Some` for the pass that writes the result.
    pub leave: Option<Alpha>,
    /// The format of the target's view.
    pub target: TextureFormat,
    /// The format of the intermediates.
    pub intermediate: TextureFormat,
}

/// What all pipelines share. Made anew when the render device is.
#[derive(Resource)]
pub struct BlurPipelines {
    /// Linear, clamped.
    pub sampler: Sampler,
    /// Whether shaders have to round what they pack as half floats.
    round_packed: bool,
    fullscreen: FullscreenShader,
    texels: Handle<Shader>,
    halve: Handle<Shader>,
    upsample: Handle<Shader>,
    decimate: Handle<Shader>,
    blur: Handle<Shader>,
    interpolate: Handle<Shader>,
}

/// Creates [`BlurPipelines`].
pub fn init_pipelines(
    mut commands: Commands,
    device: Res<RenderDevice>,
    fullscreen: Res<FullscreenShader>,
    assets: Res<AssetServer>,
    info: Res<RenderAdapterInfo>,
) {
    let assets = assets.as_ref();
    commands.insert_resource(BlurPipelines {
        sampler: device.create_sampler(&SamplerDescriptor {
            label: Some("gaussian_blur_sampler"),
            min_filter: FilterMode::Linear,
            mag_filter: FilterMode::Linear,
            address_mode_u: AddressMode::ClampToEdge,
            address_mode_v: AddressMode::ClampToEdge,
            ..default()
        }),
        round_packed: packing_truncates(&info),
        fullscreen: fullscreen.clone(),
        texels: load_embedded_asset!(assets, "shaders/texels.wgsl"),
        halve: load_embedded_asset!(assets, "shaders/halve.wgsl"),
        upsample: load_embedded_asset!(assets, "shaders/upsample.wgsl"),
        decimate: load_embedded_asset!(assets, "shaders/decimate.wgsl"),
        blur: load_embedded_asset!(assets, "shaders/blur.wgsl"),
        interpolate: load_embedded_asset!(assets, "shaders/interpolate.wgsl"),
    });
}

impl BlurPipelineKey {
    /// The bind group layout: uniform, source, the sampler if filtered, and what a compute pass stores to.
    #[must_use]
    pub fn layout(&self) -> BindGroupLayoutDescriptor {
        let stage = self.program.stage();
        let filterable = self.fetch == Fetch::Filtered;
        let uniform = uniform_buffer_sized(true, BufferSize::new(size_of::<PassUniform>() as u64));
        let mut entries = vec![
            uniform.build(0, stage),
            texture_2d(TextureSampleType::Float { filterable }).build(1, stage),
        ];
        if filterable {
            entries.push(sampler(SamplerBindingType::Filtering).build(2, stage));
        }
        if stage == ShaderStages::COMPUTE {
            entries.push(texture_storage_2d(self.target, StorageTextureAccess::WriteOnly).build(3, stage));
        }
        BindGroupLayoutDescriptor::new("gaussian_blur_layout", &entries)
    }
}

impl BlurPipelines {
    fn shader(&self, program: Program) -> Handle<Shader> {
        match program {
            Program::Texels(_) | Program::Copy => &self.texels,
            Program::Halve => &self.halve,
            Program::Upsample => &self.upsample,
            Program::Decimate(_) => &self.decimate,
            Program::Blur(_) => &self.blur,
            Program::Interpolate(_) => &self.interpolate,
        }
        .clone()
    }
}

fn label(program: Program) -> Option<Cow<'static, str>> {
    Some(format!("gaussian_blur_{}", program.entry_point()).into())
}

impl SpecializedRenderPipeline for BlurPipelines {
    type Key = BlurPipelineKey;

    fn specialize(&self, key: Self::Key) -> RenderPipelineDescriptor {
        RenderPipelineDescriptor {
            label: label(key.program),
            layout: vec![key.layout()],
            vertex: self.fullscreen.to_vertex_state(),
            fragment: Some(FragmentState {
                shader: self.shader(key.program),
                shader_defs: shader_defs(&key, self.round_packed),
                entry_point: Some(key.program.entry_point().into()),
                targets: vec![Some(ColorTargetState {
                    format: key.target,
                    blend: None,
                    write_mask: ColorWrites::ALL,
                })],
            }),
            ..default()
        }
    }
}

impl SpecializedComputePipeline for BlurPipelines {
    type Key = BlurPipelineKey;

    fn specialize(&self, key: Self::Key) -> ComputePipelineDescriptor {
        ComputePipelineDescriptor {
            label: label(key.program),
            layout: vec![key.layout()],
            shader: self.shader(key.program),
            shader_defs: shader_defs(&key, self.round_packed),
            entry_point: Some(key.program.entry_point().into()),
            ..default()
        }
    }
}

fn shader_defs(key: &BlurPipelineKey, round_packed: bool) -> Vec<ShaderDefVal> {
    let all = [
        ("FILTERED", key.fetch == Fetch::Filtered),
        ("FIRST", key.enter.is_some()),
        ("HALF_FLOAT", key.intermediate == TextureFormat::Rgba16Float),
        ("PREMULTIPLY", key.enter == Some(Alpha::Convert)),
        ("UNPREMULTIPLY", key.leave == Some(Alpha::Convert)),
        ("OPAQUE", key.leave == Some(Alpha::Opaque)),
        (
            "ROUND_TO_HALF",
            is_half_float(key.target) && !key.program.writes_packed(),
        ),
        ("ROUND_PACKED", round_packed),
        ("COMPUTE", key.program.tile().is_some()),
        ("STORE_RGBA16FLOAT", key.target == TextureFormat::Rgba16Float),
        ("STORE_RGBA32FLOAT", key.target == TextureFormat::Rgba32Float),
        ("STORE_RGBA8UNORM", key.target == TextureFormat::Rgba8Unorm),
    ];
    let defined = all.into_iter().filter(|(_, defined)| *defined);
    let numbers = key.program.numbers().into_iter();
    let numbers = numbers.map(|(name, number)| ShaderDefVal::UInt(name.into(), number));
    defined.map(|(name, _)| name.into()).chain(numbers).collect()
}

/// Whether a GPU may cut off the bits that do not fit when `pack2x16float` makes half floats.
///
/// The languages allow it, and lavapipe does it. NVIDIA's GPUs round (seen on an H200; what it *stores* as half floats it
/// cuts, like lavapipe). There, leaving it to them saves a tenth of the time of a weak blur.
fn packing_truncates(info: &RenderAdapterInfo) -> bool {
    const NVIDIA: u32 = 0x10de;
    info.vendor != NVIDIA
}

fn is_half_float(format: TextureFormat) -> bool {
    matches!(
        format,
        TextureFormat::R16Float | TextureFormat::Rg16Float | TextureFormat::Rgba16Float
    )
}

/// How a texture of this format can be read, `None` if it holds no floating-point values.
///
/// Some software rasterisers filter 8-bit textures with 8-bit arithmetic, which is off by up to 1/255 a fetch, so those
/// are read texel by texel. Formats in sRGB are decoded before they are filtered, in full precision.
#[must_use]
pub fn fetch_of(format: TextureFormat, device: &RenderDevice) -> Option<Fetch> {
    let eight_bit = matches!(
        format,
        TextureFormat::R8Unorm
            | TextureFormat::R8Snorm
            | TextureFormat::Rg8Unorm
            | TextureFormat::Rg8Snorm
            | TextureFormat::Rgba8Unorm
            | TextureFormat::Rgba8Snorm
            | TextureFormat::Bgra8Unorm
    );
    match format.sample_type(None, Some(device.features()))? {
        TextureSampleType::Float { filterable: true } if !eight_bit => Some(Fetch::Filtered),
        TextureSampleType::Float { .. } => Some(Fetch::Loaded),
        _ => None,
    }
}

/// Whether a pass can render to a texture of this format.
#[must_use]
pub fn is_renderable(format: TextureFormat, adapter: &RenderAdapter, device: &RenderDevice) -> bool {
    let features = if device
        .features()
        .contains(bevy::render::settings::WgpuFeatures::TEXTURE_ADAPTER_SPECIFIC_FORMAT_FEATURES)
    {
        adapter.get_texture_format_features(format)
    } else {
        format.guaranteed_format_features(device.features())
    };
    format.has_color_aspect() && features.allowed_usages.contains(TextureUsages::RENDER_ATTACHMENT)
}

/// Whether a compute pass can store to a texture of this format: the formats that the shaders know, all of which every
/// device with compute shaders can store to.
#[must_use]
pub fn is_storable(format: TextureFormat) -> bool {
    matches!(
        format,
        TextureFormat::Rgba8Unorm | TextureFormat::Rgba16Float | TextureFormat::Rgba32Float
    )
}

/// Whether this GPU has compute shaders and textures that they can store to: all but WebGL's.
#[must_use]
pub fn can_compute(adapter: &RenderAdapter) -> bool {
    let flags = adapter.get_downlevel_capabilities().flags;
    flags.contains(DownlevelFlags::COMPUTE_SHADERS)
}

/// Whether a texture is a single two-dimensional layer without multisampling.
#[must_use]
pub fn is_flat(dimension: TextureDimension, size: Extent3d, sample_count: u32) -> bool {
    dimension == TextureDimension::D2 && size.depth_or_array_layers == 1 && sample_count == 1
}
