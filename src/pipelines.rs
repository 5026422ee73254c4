//! Layouts, samplers, typed pipeline keys and their specialisation.

use crate::uniforms::PassUniform;
use bevy::asset::{AssetServer, load_embedded_asset};
use bevy::core_pipeline::FullscreenShader;
use bevy::prelude::*;
use bevy::render::render_resource::binding_types::{sampler, texture_2d};
use bevy::render::render_resource::{
    AddressMode, BindGroupLayoutDescriptor, BindGroupLayoutEntry, BindingType, BufferBindingType, BufferSize,
    ColorTargetState, ColorWrites, FilterMode, FragmentState, RenderPipelineDescriptor, Sampler, SamplerBindingType,
    SamplerDescriptor, ShaderStages, SpecializedRenderPipeline, TextureFormat, TextureSampleType, TextureUsages,
};
use bevy::render::renderer::{RenderAdapter, RenderDevice};
use bevy::shader::ShaderDefVal;

/// Which program a pass runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Program {
    /// A weighted sum of fetches.
    Stencil,
    /// The cubic B-spline.
    Upsample,
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

/// All that distinguishes one pipeline of the fragment executor from another.
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
    filtered: BindGroupLayoutDescriptor,
    loaded: BindGroupLayoutDescriptor,
    /// Linear, clamped.
    pub sampler: Sampler,
    fullscreen: FullscreenShader,
    stencil: Handle<Shader>,
    upsample: Handle<Shader>,
}

/// Creates [`BlurPipelines`].
pub fn init_pipelines(
    mut commands: Commands,
    device: Res<RenderDevice>,
    fullscreen: Res<FullscreenShader>,
    assets: Res<AssetServer>,
) {
    commands.insert_resource(BlurPipelines {
        filtered: layout(Fetch::Filtered),
        loaded: layout(Fetch::Loaded),
        sampler: device.create_sampler(&SamplerDescriptor {
            label: Some("gaussian_blur_sampler"),
            min_filter: FilterMode::Linear,
            mag_filter: FilterMode::Linear,
            address_mode_u: AddressMode::ClampToEdge,
            address_mode_v: AddressMode::ClampToEdge,
            ..default()
        }),
        fullscreen: fullscreen.clone(),
        stencil: load_embedded_asset!(assets.as_ref(), "shaders/stencil.wgsl"),
        upsample: load_embedded_asset!(assets.as_ref(), "shaders/upsample.wgsl"),
    });
}

fn layout(fetch: Fetch) -> BindGroupLayoutDescriptor {
    let filterable = fetch == Fetch::Filtered;
    let uniform = BindGroupLayoutEntry {
        binding: 0,
        visibility: ShaderStages::FRAGMENT,
        ty: BindingType::Buffer {
            ty: BufferBindingType::Uniform,
            has_dynamic_offset: true,
            min_binding_size: BufferSize::new(size_of::<PassUniform>() as u64),
        },
        count: None,
    };
    let texture = texture_2d(TextureSampleType::Float { filterable }).build(1, ShaderStages::FRAGMENT);
    let mut entries = vec![uniform, texture];
    if filterable {
        entries.push(sampler(SamplerBindingType::Filtering).build(2, ShaderStages::FRAGMENT));
    }
    BindGroupLayoutDescriptor::new("gaussian_blur_layout", &entries)
}

impl BlurPipelines {
    /// The bind group layout for a way to read: uniform, source and, if filtered, the sampler.
    #[must_use]
    pub fn layout(&self, fetch: Fetch) -> &BindGroupLayoutDescriptor {
        match fetch {
            Fetch::Filtered => &self.filtered,
            Fetch::Loaded => &self.loaded,
        }
    }
}

impl SpecializedRenderPipeline for BlurPipelines {
    type Key = BlurPipelineKey;

    fn specialize(&self, key: Self::Key) -> RenderPipelineDescriptor {
        let (shader, entry_point) = match key.program {
            Program::Stencil => (&self.stencil, "stencil"),
            Program::Upsample => (&self.upsample, "upsample"),
        };
        RenderPipelineDescriptor {
            label: Some(format!("gaussian_blur_{entry_point}").into()),
            layout: vec![self.layout(key.fetch).clone()],
            vertex: self.fullscreen.to_vertex_state(),
            fragment: Some(FragmentState {
                shader: shader.clone(),
                shader_defs: shader_defs(&key),
                entry_point: Some(entry_point.into()),
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

fn shader_defs(key: &BlurPipelineKey) -> Vec<ShaderDefVal> {
    let all = [
        ("FILTERED", key.fetch == Fetch::Filtered),
        ("FIRST", key.enter.is_some()),
        ("HALF_FLOAT", key.intermediate == TextureFormat::Rgba16Float),
        ("PREMULTIPLY", key.enter == Some(Alpha::Convert)),
        ("UNPREMULTIPLY", key.leave == Some(Alpha::Convert)),
        ("OPAQUE", key.leave == Some(Alpha::Opaque)),
        ("ROUND_TO_HALF", is_half_float(key.target)),
    ];
    all.into_iter()
        .filter(|(_, defined)| *defined)
        .map(|(name, _)| name.into())
        .collect()
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
