//! Creates pipelines: their shaders, and the objects that they share.

use super::pipeline_key::{PipelineKey, Queued};
use crate::program::Program;
use bevy::asset::AssetServer;
use bevy::core_pipeline::FullscreenShader;
use bevy::platform::collections::HashMap;
use bevy::prelude::*;
use bevy::render::render_resource::{
    AddressMode, ColorTargetState, ColorWrites, ComputePipelineDescriptor, FilterMode, FragmentState, PipelineCache,
    RenderPipelineDescriptor, Sampler, SamplerDescriptor,
};
use bevy::render::renderer::{RenderAdapterInfo, RenderDevice};
use bevy::shader::ShaderDefVal;

/// The objects that all pipelines share. Created again for every render device.
pub struct PipelineFactory {
    /// Linear, clamped.
    pub sampler: Sampler,
    /// Whether shaders must round before they pack half floats.
    round_packed: bool,
    fullscreen: FullscreenShader,
    /// The shaders by name, loaded before they are needed.
    shaders: HashMap<&'static str, Handle<Shader>>,
}

/// A fragment shader with one target.
pub fn fragment_state(
    shader: Handle<Shader>,
    shader_defs: Vec<ShaderDefVal>,
    entry_point: &'static str,
    target: ColorTargetState,
) -> FragmentState {
    FragmentState {
        shader,
        shader_defs,
        entry_point: Some(entry_point.into()),
        targets: vec![Some(target)],
    }
}

impl PipelineFactory {
    pub fn new(
        device: &RenderDevice,
        info: &RenderAdapterInfo,
        fullscreen: &FullscreenShader,
        assets: &AssetServer,
    ) -> Self {
        Self {
            sampler: device.create_sampler(&SamplerDescriptor {
                label: Some("gaussian_blur_sampler"),
                min_filter: FilterMode::Linear,
                mag_filter: FilterMode::Linear,
                address_mode_u: AddressMode::ClampToEdge,
                address_mode_v: AddressMode::ClampToEdge,
                ..default()
            }),
            round_packed: packing_truncates(info),
            fullscreen: fullscreen.clone(),
            shaders: Program::SHADERS
                .map(|program| (program.name(), load(program, assets)))
                .into(),
        }
    }

    /// Queues a pipeline for compilation.
    pub fn queue(&self, key: &PipelineKey, cache: &PipelineCache) -> Queued {
        if key.program.computes() {
            Queued::Compute(cache.queue_compute_pipeline(self.compute(key)))
        } else {
            Queued::Render(cache.queue_render_pipeline(self.render(key)))
        }
    }

    fn shader(&self, program: Program) -> Handle<Shader> {
        self.shaders[program.name()].clone()
    }

    fn render(&self, key: &PipelineKey) -> RenderPipelineDescriptor {
        RenderPipelineDescriptor {
            label: Some(key.label().into()),
            layout: vec![key.layout()],
            vertex: self.fullscreen.to_vertex_state(),
            fragment: Some(fragment_state(
                self.shader(key.program),
                key.definitions(self.round_packed),
                key.program.name(),
                ColorTargetState {
                    format: key.target,
                    blend: None,
                    write_mask: match key.program {
                        Program::OpaqueFragment => ColorWrites::ALPHA,
                        _ => ColorWrites::ALL,
                    },
                },
            )),
            ..default()
        }
    }

    fn compute(&self, key: &PipelineKey) -> ComputePipelineDescriptor {
        ComputePipelineDescriptor {
            label: Some(key.label().into()),
            layout: vec![key.layout()],
            shader: self.shader(key.program),
            shader_defs: key.definitions(self.round_packed),
            entry_point: Some(key.program.name().into()),
            ..default()
        }
    }
}

fn load(program: Program, assets: &AssetServer) -> Handle<Shader> {
    assets.load(format!(
        "embedded://{}/shaders/{}.wgsl",
        env!("CARGO_PKG_NAME"),
        program.path()
    ))
}

/// Whether a GPU may truncate when `pack2x16float` makes half floats.
///
/// Shading languages allow truncation, and lavapipe truncates. NVIDIA's GPUs round when they pack (they truncate when
/// they *store* half floats, like lavapipe), so shaders need not round before, which makes weak blurs faster.
fn packing_truncates(info: &RenderAdapterInfo) -> bool {
    const NVIDIA: u32 = 0x10de;
    info.vendor != NVIDIA
}
