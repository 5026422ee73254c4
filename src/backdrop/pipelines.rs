//! The pipelines that paint glass.
//!
//! # Mixing four channels
//!
//! `mix(below, glass, c)` in colour *and* alpha, where `c` is coverage times opacity, needs two alphas of the source at
//! once: `c` to scale the picture below, and `glass.a * c` to add to it. A blend state has one source alpha, and a draw
//! cannot read its own target. So there are three draws, two of which are cheap for most backdrops:
//!
//! - [`Mix::Replace`] where `c` is 1, without blending;
//! - [`Mix::Keep`], whose alpha is `c`: `below * (1 - c)`;
//! - [`Mix::Add`]: the result of that, plus `glass * c`.
//!
//! The latter two paint the rim, as a frame. If glass is not solid, they paint all of it, and the first draw is skipped.
//! Unlike a single draw, they round twice.

use super::uniform::BackdropUniform;
use crate::formats::table::{Format, Sample};
use crate::gpu::{deferred_definitions, deferred_layout, fragment_state};
use bevy::asset::AssetServer;
use bevy::platform::collections::HashMap;
use bevy::prelude::*;
use bevy::render::render_resource::binding_types::uniform_buffer_sized;
use bevy::render::render_resource::{
    BindGroupLayoutDescriptor, BlendComponent, BlendFactor, BlendOperation, BlendState, BufferSize,
    CachedRenderPipelineId, ColorTargetState, ColorWrites, PipelineCache, RenderPipelineDescriptor, ShaderStages,
    TextureFormat, TextureFormatFeatureFlags, VertexState, WgpuFeatures,
};
use bevy::render::renderer::RenderDevice;
use bevy::shader::ShaderDefVal;

/// How a draw changes the picture below.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Mix {
    /// Writes glass to fully covered pixels.
    Replace,
    /// Scales the picture by the share that the glass does not cover.
    Keep,
    /// Adds the glass, scaled by the share that it covers.
    Add,
}

impl Mix {
    /// In the order in which they are drawn.
    pub const ALL: [Self; 3] = [Self::Replace, Self::Keep, Self::Add];

    fn blend(self) -> Option<BlendState> {
        let all_channels = |src_factor, dst_factor| {
            let component = BlendComponent {
                src_factor,
                dst_factor,
                operation: BlendOperation::Add,
            };
            BlendState {
                color: component,
                alpha: component,
            }
        };
        match self {
            Self::Replace => None,
            Self::Keep => Some(all_channels(BlendFactor::Zero, BlendFactor::OneMinusSrcAlpha)),
            Self::Add => Some(all_channels(BlendFactor::One, BlendFactor::One)),
        }
    }

    /// The shader definition of this draw.
    fn definition(self) -> &'static str {
        match self {
            Self::Replace => "REPLACE",
            Self::Keep => "KEEP",
            Self::Add => "ADD",
        }
    }
}

/// All that distinguishes one pipeline from another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct BackdropKey {
    /// The format of the picture.
    pub format: TextureFormat,
    /// How the draw changes the picture below.
    pub mix: Mix,
    /// Whether the blurred level is read with filtered fetches.
    pub filtered: bool,
}

/// The pipelines of all glass. Recreated with the render device.
#[derive(Resource)]
pub struct BackdropPipelines {
    shader: Handle<Shader>,
    features: WgpuFeatures,
    queued: HashMap<BackdropKey, CachedRenderPipelineId>,
}

/// Creates [`BackdropPipelines`].
pub fn init_pipelines(mut commands: Commands, device: Res<RenderDevice>, assets: Res<AssetServer>) {
    commands.insert_resource(BackdropPipelines {
        shader: assets.load(format!(
            "embedded://{}/shaders/backdrop/backdrop.wgsl",
            env!("CARGO_PKG_NAME")
        )),
        features: device.features(),
        queued: HashMap::default(),
    });
}

impl BackdropPipelines {
    /// Queues all pipelines of a format, if glass can be painted on it. Returns the new ones.
    pub fn announce(&mut self, format: TextureFormat, cache: &PipelineCache) -> Vec<CachedRenderPipelineId> {
        let are_mixed = self.mixes(format);
        let mut new = Vec::new();
        for mix in Mix::ALL.into_iter().filter(|mix| are_drawn(*mix, are_mixed)) {
            for filtered in [false, true] {
                let key = BackdropKey { format, mix, filtered };
                self.queued.entry(key).or_insert_with(|| {
                    let id = cache.queue_render_pipeline(descriptor(&self.shader, key));
                    new.push(id);
                    id
                });
            }
        }
        new
    }

    /// All queued pipelines of a format.
    pub fn of_format(&self, format: TextureFormat) -> impl Iterator<Item = CachedRenderPipelineId> {
        let queued = self.queued.iter().filter(move |(key, _)| key.format == format);
        queued.map(|(_, id)| *id)
    }

    /// Whether the GPU can mix colours of a format. `None` for integer formats: glass cannot be painted on them.
    #[must_use]
    pub fn mixes(&self, format: TextureFormat) -> Option<bool> {
        Format::of(format).filter(|format| format.sample() == Sample::Float)?;
        let features = format.guaranteed_format_features(self.features);
        Some(features.flags.contains(TextureFormatFeatureFlags::BLENDABLE))
    }

    /// A pipeline, if it is compiled.
    #[must_use]
    pub fn ready(&self, key: BackdropKey, cache: &PipelineCache) -> Option<CachedRenderPipelineId> {
        let id = *self.queued.get(&key)?;
        cache.get_render_pipeline(id).map(|_| id)
    }
}

/// Whether a draw is used on a format, given [whether its colours can be mixed](BackdropPipelines::mixes).
fn are_drawn(mix: Mix, are_mixed: Option<bool>) -> bool {
    match mix {
        Mix::Replace => are_mixed.is_some(),
        Mix::Keep | Mix::Add => are_mixed == Some(true),
    }
}

/// The layout of a backdrop's uniform. Its group comes after the group of the deferred blur.
#[must_use]
pub fn backdrop_layout() -> BindGroupLayoutDescriptor {
    let uniform = uniform_buffer_sized(true, BufferSize::new(size_of::<BackdropUniform>() as u64));
    let entries = [uniform.build(0, ShaderStages::VERTEX_FRAGMENT)];
    BindGroupLayoutDescriptor::new("gaussian_blur_backdrop_layout", &entries)
}

fn descriptor(shader: &Handle<Shader>, key: BackdropKey) -> RenderPipelineDescriptor {
    let definitions = definitions(key);
    RenderPipelineDescriptor {
        label: Some("gaussian_blur_backdrop".into()),
        layout: vec![deferred_layout(key.filtered, key.format), backdrop_layout()],
        vertex: VertexState {
            shader: shader.clone(),
            shader_defs: definitions.clone(),
            entry_point: Some("backdrop_vertex".into()),
            ..default()
        },
        fragment: Some(fragment_state(
            shader.clone(),
            definitions,
            "backdrop_fragment",
            ColorTargetState {
                format: key.format,
                blend: key.mix.blend(),
                write_mask: ColorWrites::ALL,
            },
        )),
        // Nothing is culled: a negative scale turns quads around.
        ..default()
    }
}

/// The shader definitions to finish the deferred blur and to write this format.
pub(crate) fn definitions(key: BackdropKey) -> Vec<ShaderDefVal> {
    let mut definitions = deferred_definitions(key.filtered, key.format);
    definitions.push(key.mix.definition().into());
    definitions
}
