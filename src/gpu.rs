//! Carries plans out on the GPU.
//!
//! A front end keeps one [`BlurJob`] for everything it blurs. In the prepare phase [`BlurJob::update`] brings the job up to
//! date with a [`BlurRequest`]; in the render phase [`BlurJob::record`] encodes it. What did not change between two frames
//! is not touched: the plan, the uniforms, the bind groups and the pipelines all stay.

mod blend;
mod compile;
mod job;
mod masks;
mod names;
mod pipelines;
mod prepare;
mod prepared;
mod record;
mod request;
mod step;
mod textures;
mod timing;
mod uniforms;
mod view_info;

use crate::formats::Capabilities;
use crate::settings::BlurBackend;
use bevy::asset::embedded_asset;
use bevy::prelude::*;
use bevy::render::renderer::{RenderAdapter, RenderDevice};
use bevy::render::{ExtractSchedule, GpuResourceAppExt, Render, RenderApp, RenderStartup, RenderSystems};
use bevy::shader::load_shader_library;

pub use compile::{BlurCompilation, BlurPipelines, BlurReadiness, Uses, blurs_ready};
pub use job::{BlurJob, BlurState, Left};
pub use pipelines::{left_definitions, left_layout};
pub use prepare::BlurPreparer;
pub use record::{BlurAccess, BlurRecorder, Views, record_together};
pub use request::{BlurIo, BlurPart, BlurRequest, Work, WorkKind};
pub use textures::create_texture;
pub use timing::Timed;
pub use view_info::{Viewed, first_part, layers_of};

/// The backend that the app has chosen.
#[derive(Resource, Clone, Copy, Debug, Default)]
pub struct ChosenBackend(pub BlurBackend);

/// Adds all that front ends need to blur.
pub struct BlurGpuPlugin {
    /// Which kind of pass to use.
    pub backend: BlurBackend,
}

impl Plugin for BlurGpuPlugin {
    fn build(&self, app: &mut App) {
        load_shader_library!(app, "shaders/srgb.wgsl");
        load_shader_library!(app, "shaders/dither.wgsl");
        load_shader_library!(app, "shaders/leave.wgsl");
        load_shader_library!(app, "shaders/common.wgsl");
        load_shader_library!(app, "shaders/cubic.wgsl");
        load_shader_library!(app, "shaders/spline.wgsl");
        load_shader_library!(app, "shaders/tile.wgsl");
        load_shader_library!(app, "shaders/sums.wgsl");
        load_shader_library!(app, "shaders/shares.wgsl");
        load_shader_library!(app, "shaders/needed.wgsl");
        load_shader_library!(app, "shaders/rungs.wgsl");
        load_shader_library!(app, "shaders/strips.wgsl");
        load_shader_library!(app, "shaders/layers.wgsl");
        load_shader_library!(app, "shaders/blend.wgsl");
        embedded_asset!(app, "shaders/copy_fragment.wgsl");
        embedded_asset!(app, "shaders/opaque_fragment.wgsl");
        embedded_asset!(app, "shaders/mipmap_fragment.wgsl");
        embedded_asset!(app, "shaders/downsample_fragment.wgsl");
        embedded_asset!(app, "shaders/convolve_fragment.wgsl");
        embedded_asset!(app, "shaders/upsample_fragment.wgsl");
        embedded_asset!(app, "shaders/blend_fragment.wgsl");
        embedded_asset!(app, "shaders/gather_fragment.wgsl");
        embedded_asset!(app, "shaders/gather_compute.wgsl");
        embedded_asset!(app, "shaders/blend_compute.wgsl");
        embedded_asset!(app, "shaders/downsample_compute.wgsl");
        embedded_asset!(app, "shaders/convolve_compute.wgsl");
        embedded_asset!(app, "shaders/upsample_compute.wgsl");

        let readiness = BlurReadiness::default();
        app.insert_resource(readiness.clone())
            .init_resource::<BlurCompilation>()
            .insert_resource(ChosenBackend(self.backend));
        let Some(render_app) = app.get_sub_app_mut(RenderApp) else {
            // Nothing will ever be drawn: nobody has to wait for it.
            readiness.set(true, true);
            return;
        };
        let backend = self.backend;
        let ask = move |mut commands: Commands, adapter: Res<RenderAdapter>, device: Res<RenderDevice>| {
            commands.insert_resource(Capabilities::new(backend, &adapter, &device));
        };
        render_app
            .insert_resource(readiness)
            .init_resource::<BlurCompilation>()
            .init_gpu_resource::<textures::IntermediateTextures>()
            .add_systems(RenderStartup, (compile::init_pipelines, ask))
            .add_systems(ExtractSchedule, compile::extract_compilation)
            .add_systems(
                Render,
                (textures::give_back_textures, compile::compile_more).in_set(RenderSystems::Cleanup),
            );
    }
}

#[cfg(test)]
mod tests;
