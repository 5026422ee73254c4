//! The pipelines that blend the layers of groups, with premultiplied alpha, over the target.

use super::uniform::LayerUniform;
use crate::backdrop::pipelines::BackdropPipelines;
use crate::formats::table::Format;
use crate::gpu::{deferred_definitions, deferred_layout, fragment_state};
use bevy::asset::AssetServer;
use bevy::platform::collections::HashMap;
use bevy::prelude::*;
use bevy::render::render_resource::binding_types::{texture_2d, uniform_buffer};
use bevy::render::render_resource::{
    BindGroupLayoutDescriptor, BlendState, CachedRenderPipelineId, ColorTargetState, ColorWrites, PipelineCache,
    RenderPipelineDescriptor, ShaderStages, TextureFormat, TextureSampleType, VertexState,
};
use bevy::shader::ShaderDefVal;

/// What a layer is read from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LayerSource {
    /// The picture itself.
    Sharp,
    /// The lowest level of a blur, whose last step runs here.
    Blurred {
        /// Whether the level is read with filtered fetches.
        filtered: bool,
    },
}

/// All that distinguishes one pipeline from another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct FilterKey {
    /// The format of the pictures.
    pub format: TextureFormat,
    /// What is read.
    pub source: LayerSource,
}

/// The pipelines of all groups. Recreated with the render device.
#[derive(Resource)]
pub struct FilterPipelines {
    shader: Handle<Shader>,
    queued: HashMap<FilterKey, CachedRenderPipelineId>,
}

/// Creates [`FilterPipelines`].
pub fn init_pipelines(mut commands: Commands, assets: Res<AssetServer>) {
    commands.insert_resource(FilterPipelines {
        shader: assets.load(format!(
            "embedded://{}/shaders/backdrop/filter.wgsl",
            env!("CARGO_PKG_NAME")
        )),
        queued: HashMap::default(),
    });
}

impl FilterPipelines {
    /// Queues all pipelines of a format. Returns the new ones.
    pub fn announce(&mut self, format: TextureFormat, cache: &PipelineCache) -> Vec<CachedRenderPipelineId> {
        let mut new = Vec::new();
        let blurred = [false, true].map(|filtered| LayerSource::Blurred { filtered });
        for source in blurred.into_iter().chain([LayerSource::Sharp]) {
            let key = FilterKey { format, source };
            self.queued.entry(key).or_insert_with(|| {
                let id = cache.queue_render_pipeline(descriptor(&self.shader, key));
                new.push(id);
                id
            });
        }
        new
    }

    /// All queued pipelines of a format.
    pub fn of_format(&self, format: TextureFormat) -> impl Iterator<Item = CachedRenderPipelineId> {
        let queued = self.queued.iter().filter(move |(key, _)| key.format == format);
        queued.map(|(_, id)| *id)
    }

    /// A pipeline, if it is compiled.
    pub fn ready(&self, key: FilterKey, cache: &PipelineCache) -> Option<CachedRenderPipelineId> {
        let id = *self.queued.get(&key)?;
        cache.get_render_pipeline(id).map(|_| id)
    }
}

/// Whether groups can be painted on pictures of a format.
pub fn takes_groups(backdrops: &BackdropPipelines, format: TextureFormat) -> bool {
    let has_opacity = Format::of(format).is_some_and(|format| format.has_opacity());
    has_opacity && backdrops.mixes(format) == Some(true)
}

/// The layout of a layer's uniform.
pub fn layer_layout() -> BindGroupLayoutDescriptor {
    let uniform = uniform_buffer::<LayerUniform>(true);
    let entries = [uniform.build(0, ShaderStages::VERTEX_FRAGMENT)];
    BindGroupLayoutDescriptor::new("gaussian_blur_filter_layer_layout", &entries)
}

/// The layout of a picture that is read without a blur.
pub fn picture_layout() -> BindGroupLayoutDescriptor {
    let picture = texture_2d(TextureSampleType::Float { filterable: false });
    let entries = [picture.build(0, ShaderStages::FRAGMENT)];
    BindGroupLayoutDescriptor::new("gaussian_blur_filter_picture_layout", &entries)
}

fn descriptor(shader: &Handle<Shader>, key: FilterKey) -> RenderPipelineDescriptor {
    let definitions = definitions(key);
    let source = match key.source {
        LayerSource::Sharp => picture_layout(),
        LayerSource::Blurred { filtered } => deferred_layout(filtered, key.format),
    };
    RenderPipelineDescriptor {
        label: Some("gaussian_blur_filter".into()),
        layout: vec![source, layer_layout()],
        vertex: VertexState {
            shader: shader.clone(),
            shader_defs: definitions.clone(),
            entry_point: Some("filter_vertex".into()),
            ..default()
        },
        fragment: Some(fragment_state(
            shader.clone(),
            definitions,
            "filter_fragment",
            ColorTargetState {
                format: key.format,
                blend: Some(BlendState::PREMULTIPLIED_ALPHA_BLENDING),
                write_mask: ColorWrites::ALL,
            },
        )),
        ..default()
    }
}

/// The definitions that the shader is compiled with.
pub(crate) fn definitions(key: FilterKey) -> Vec<ShaderDefVal> {
    let filtered = key.source == LayerSource::Blurred { filtered: true };
    let mut definitions = deferred_definitions(filtered, key.format);
    if key.source == LayerSource::Sharp {
        definitions.push("SHARP".into());
    }
    definitions
}
