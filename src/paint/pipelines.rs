//! The pipelines that paint glass and the layers of groups.
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
//!
//! A group over transparent black has its colour multiplied by alpha, so one draw suffices for each of its layers: [`Mix::Over`],
//! or [`Mix::Atop`] for a shadow inside of it. A line around it has a pipeline of its own, [`Mix::Line`]: where both sides of a branch
//! run, its loop would run for every sharp layer.

use super::uniform::{ColorStepsUniform, PaintUniform};
use crate::formats::table::{Format, Sample};
use crate::gpu::{BlurPreparer, deferred_definitions, deferred_layout, fragment_state};
use bevy::platform::collections::HashMap;
use bevy::prelude::*;
use bevy::render::render_resource::binding_types::{texture_2d, uniform_buffer};
use bevy::render::render_resource::{
    BindGroupLayoutDescriptor, BlendComponent, BlendFactor, BlendOperation, BlendState, CachedRenderPipelineId,
    ColorTargetState, ColorWrites, PipelineCache, RenderPipeline, RenderPipelineDescriptor, ShaderStages,
    TextureFormat, TextureFormatFeatureFlags, TextureSampleType, VertexState, WgpuFeatures,
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
    /// Paints a layer whose colour is multiplied by alpha.
    Over,
    /// Paints such a layer inside of what has been painted, whose alpha stays.
    Atop,
    /// Paints a line around such a layer.
    Line,
}

impl Mix {
    /// Those of glass, in the order in which they are drawn.
    pub const GLASS: [Self; 3] = [Self::Replace, Self::Keep, Self::Add];

    /// The draws of glass that read its source.
    pub const READING: [Self; 2] = [Self::Replace, Self::Add];

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
            Self::Over | Self::Line => Some(BlendState::PREMULTIPLIED_ALPHA_BLENDING),
            Self::Atop => Some(all_channels(BlendFactor::DstAlpha, BlendFactor::OneMinusSrcAlpha)),
        }
    }

    /// The label of its pipelines.
    fn label(self) -> &'static str {
        match self {
            Self::Replace | Self::Keep | Self::Add => "gaussian_blur_backdrop",
            Self::Over | Self::Atop | Self::Line => "gaussian_blur_filter",
        }
    }

    /// The shader definitions of this draw.
    fn definitions(self) -> &'static [&'static str] {
        match self {
            Self::Replace => &["REPLACE"],
            Self::Keep => &["KEEP"],
            Self::Add => &["ADD"],
            Self::Over | Self::Atop => &["OVER"],
            Self::Line => &["OVER", "LINE"],
        }
    }
}

/// What is painted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PaintSource {
    /// A picture without a blur, or one colour.
    Sharp,
    /// The lowest level of a blur, whose last step runs here.
    Blurred {
        /// Whether the level is read with filtered fetches.
        filtered: bool,
        /// Whether it is seen through a lens.
        refracts: bool,
    },
}

impl PaintSource {
    /// The sources of glass and filters without a lens.
    pub const FLAT: [Self; 3] = [Self::Sharp, Self::blurred(false, false), Self::blurred(true, false)];

    /// The sources of glass with a lens.
    pub const REFRACTED: [Self; 2] = [Self::blurred(false, true), Self::blurred(true, true)];

    const fn blurred(filtered: bool, refracts: bool) -> Self {
        Self::Blurred { filtered, refracts }
    }

    /// The same source without a lens.
    pub fn flat(self) -> Self {
        match self {
            Self::Blurred { filtered, .. } => Self::blurred(filtered, false),
            Self::Sharp => self,
        }
    }

    /// Whether it is seen through a lens.
    pub fn refracts(self) -> bool {
        self != self.flat()
    }
}

/// All that distinguishes one pipeline from another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PaintKey {
    /// The format of the picture.
    pub format: TextureFormat,
    /// How the draw changes the picture below.
    pub mix: Mix,
    /// What is painted.
    pub source: PaintSource,
}

impl PaintKey {
    /// Whether it leaves the frame of the box out.
    pub fn is_inner(&self) -> bool {
        self.mix == Mix::Replace && !self.source.refracts()
    }
}

/// The pipelines. Recreated with the render device.
#[derive(Resource)]
pub struct PaintPipelines {
    shader: Handle<Shader>,
    features: WgpuFeatures,
    queued: HashMap<PaintKey, CachedRenderPipelineId>,
}

/// Creates [`PaintPipelines`].
pub fn init_pipelines(mut commands: Commands, device: Res<RenderDevice>, assets: Res<AssetServer>) {
    commands.insert_resource(PaintPipelines {
        shader: assets.load(format!(
            "embedded://{}/shaders/paint/paint.wgsl",
            env!("CARGO_PKG_NAME")
        )),
        features: device.features(),
        queued: HashMap::default(),
    });
}

impl PaintPipelines {
    /// Queues pipelines of a format, as far as it allows them.
    pub fn announce(
        &mut self,
        format: TextureFormat,
        mixes: &[Mix],
        sources: &[PaintSource],
        preparer: &mut BlurPreparer,
    ) {
        let (are_mixed, takes_groups) = (self.mixes(format), self.takes_groups(format));
        let is_allowed = |mix: &&Mix| match mix {
            Mix::Replace => are_mixed.is_some(),
            Mix::Keep | Mix::Add => are_mixed == Some(true),
            Mix::Over | Mix::Atop | Mix::Line => takes_groups,
        };
        for mix in mixes.iter().filter(is_allowed).copied() {
            for source in sources.iter().copied() {
                let key = PaintKey { format, mix, source };
                self.queued.entry(key).or_insert_with(|| {
                    let id = preparer.cache.queue_render_pipeline(descriptor(&self.shader, key));
                    preparer.pipelines.wait_for(id);
                    id
                });
            }
        }
    }

    /// Whether the GPU can mix colours of a format. `None` for integer formats: nothing can be painted on them.
    pub fn mixes(&self, format: TextureFormat) -> Option<bool> {
        Format::find(format).filter(|format| format.sample() == Sample::Float)?;
        let features = format.guaranteed_format_features(self.features);
        Some(features.flags.contains(TextureFormatFeatureFlags::BLENDABLE))
    }

    /// Whether groups can be painted on pictures of a format: they keep their opacity there, which two bits could not hold.
    pub fn takes_groups(&self, format: TextureFormat) -> bool {
        let has_opacity = Format::find(format).is_some_and(|format| format.keeps_opacity());
        has_opacity && self.mixes(format) == Some(true)
    }

    /// A pipeline, if it is compiled.
    pub fn ready<'a>(&self, key: PaintKey, cache: &'a PipelineCache) -> Option<&'a RenderPipeline> {
        cache.get_render_pipeline(*self.queued.get(&key)?)
    }
}

/// The layout of a draw's uniform. Its group comes after the group of the source.
pub fn uniform_layout() -> BindGroupLayoutDescriptor {
    let uniform = uniform_buffer::<PaintUniform>(true);
    let colors = uniform_buffer::<ColorStepsUniform>(true);
    let entries = [
        uniform.build(0, ShaderStages::VERTEX_FRAGMENT),
        colors.build(1, ShaderStages::FRAGMENT),
    ];
    BindGroupLayoutDescriptor::new("gaussian_blur_paint_layout", &entries)
}

/// The layout of a picture that is read without a blur.
pub fn picture_layout() -> BindGroupLayoutDescriptor {
    let picture = texture_2d(TextureSampleType::Float { filterable: false });
    let entries = [picture.build(0, ShaderStages::FRAGMENT)];
    BindGroupLayoutDescriptor::new("gaussian_blur_picture_layout", &entries)
}

fn descriptor(shader: &Handle<Shader>, key: PaintKey) -> RenderPipelineDescriptor {
    let definitions = definitions(key);
    let source = match key.source {
        PaintSource::Sharp => picture_layout(),
        PaintSource::Blurred { filtered, .. } => deferred_layout(filtered, key.format),
    };
    RenderPipelineDescriptor {
        label: Some(key.mix.label().into()),
        layout: vec![source, uniform_layout()],
        vertex: VertexState {
            shader: shader.clone(),
            shader_defs: definitions.clone(),
            entry_point: Some("paint_vertex".into()),
            ..default()
        },
        fragment: Some(fragment_state(
            shader.clone(),
            definitions,
            "paint_fragment",
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

/// The shader definitions to paint a source on this format.
pub(crate) fn definitions(key: PaintKey) -> Vec<ShaderDefVal> {
    let filters = matches!(key.source, PaintSource::Blurred { filtered: true, .. });
    let mut definitions = deferred_definitions(filters, key.format);
    definitions.extend(key.mix.definitions().iter().map(|name| (*name).into()));
    if key.source == PaintSource::Sharp {
        definitions.push("SHARP".into());
    }
    if key.source.refracts() {
        definitions.push("LENS".into());
    }
    if key.is_inner() {
        definitions.push("INNER".into());
    }
    definitions
}
