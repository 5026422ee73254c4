//! Executes plans on the GPU.
//!
//! A front end keeps one [`BlurJob`] for everything it blurs. In the prepare phase [`BlurJob::update`] brings the job
//! up to date with a [`BlurRequest`]; in the render phase [`BlurJob::record`] encodes it. The job keeps everything that
//! did not change between two frames: the plan, the uniforms, the bind groups and the pipelines.

mod encode;
mod job;
mod pipeline_key;
mod pipelines;
mod pool;
mod prepare;
mod request;
mod uniforms;
mod view_info;

use crate::formats::Capabilities;
use crate::settings::{BlurBackend, BlurCompilation};
use bevy::asset::embedded_asset;
use bevy::prelude::*;
use bevy::render::renderer::{RenderAdapter, RenderDevice};
use bevy::render::{ExtractSchedule, GpuResourceAppExt, Render, RenderApp, RenderStartup, RenderSystems};
use bevy::shader::load_shader_library;

pub use encode::{BlurAccess, BlurRecorder, Timed, Views, attachment};
pub use job::{BlurJob, BlurJobs, BlurState, Deferred, JobKey};
pub use pipeline_key::{deferred_definitions, deferred_layout};
pub use pipelines::{BlurReadiness, blurs_ready, fragment_state};
pub use pool::{TextureKind, create_texel_buffer, create_texture};
pub use prepare::BlurPreparer;
pub use request::{BlurRequest, Work, WorkKind};
pub use view_info::{ViewInfo, first_part, holds_shares, layer_view, layers_of, part_from, texture_size};

/// Embeds all shaders of blurs in an app: first those that others import.
fn embed_shaders(app: &mut App) {
    load_shader_library!(app, "shaders/common/srgb.wgsl");
    load_shader_library!(app, "shaders/common/compositing.wgsl");
    load_shader_library!(app, "shaders/common/color_functions.wgsl");
    load_shader_library!(app, "shaders/common/dither.wgsl");
    load_shader_library!(app, "shaders/common/output.wgsl");
    load_shader_library!(app, "shaders/common/pass.wgsl");
    load_shader_library!(app, "shaders/common/cubic.wgsl");
    load_shader_library!(app, "shaders/uniform/spline.wgsl");
    load_shader_library!(app, "shaders/uniform/column.wgsl");
    load_shader_library!(app, "shaders/uniform/walk.wgsl");
    load_shader_library!(app, "shaders/common/tile.wgsl");
    load_shader_library!(app, "shaders/profile/direct_sum.wgsl");
    load_shader_library!(app, "shaders/profile/sigma_field.wgsl");
    load_shader_library!(app, "shaders/profile/tile_culling.wgsl");
    load_shader_library!(app, "shaders/profile/log_sigma.wgsl");
    load_shader_library!(app, "shaders/profile/strips.wgsl");
    load_shader_library!(app, "shaders/profile/sigma_levels.wgsl");
    load_shader_library!(app, "shaders/profile/blend.wgsl");
    load_shader_library!(app, "shaders/paint/lens.wgsl");
    embedded_asset!(app, "shaders/uniform/copy_fragment.wgsl");
    embedded_asset!(app, "shaders/uniform/opaque_fragment.wgsl");
    embedded_asset!(app, "shaders/uniform/mipmap_fragment.wgsl");
    embedded_asset!(app, "shaders/uniform/downsample_fragment.wgsl");
    embedded_asset!(app, "shaders/uniform/convolve_fragment.wgsl");
    embedded_asset!(app, "shaders/uniform/upsample_fragment.wgsl");
    embedded_asset!(app, "shaders/profile/blend_fragment.wgsl");
    embedded_asset!(app, "shaders/profile/gather_fragment.wgsl");
    embedded_asset!(app, "shaders/profile/gather_compute.wgsl");
    embedded_asset!(app, "shaders/profile/blend_compute.wgsl");
    embedded_asset!(app, "shaders/uniform/downsample_compute.wgsl");
    embedded_asset!(app, "shaders/uniform/convolve_compute.wgsl");
    embedded_asset!(app, "shaders/uniform/convolve_halves_compute.wgsl");
    embedded_asset!(app, "shaders/uniform/upsample_compute.wgsl");
    embedded_asset!(app, "shaders/uniform/blur_upsample_compute.wgsl");
}

/// Adds everything that front ends need to blur.
pub fn plugin(app: &mut App, backend: BlurBackend) {
    // A server has no renderer, and may have no shaders as assets.
    if app.get_sub_app(RenderApp).is_some() {
        embed_shaders(app);
    }
    let readiness = BlurReadiness::default();
    let ask = move |mut commands: Commands, adapter: Res<RenderAdapter>, device: Res<RenderDevice>| {
        commands.insert_resource(Capabilities::new(backend, &adapter, &device));
    };
    app.insert_resource(readiness.clone())
        .init_resource::<BlurCompilation>()
        .add_systems(First, ask.run_if(resource_exists_and_changed::<RenderDevice>));
    let Some(render_app) = app.get_sub_app_mut(RenderApp) else {
        // Without a renderer there are no pipelines to wait for.
        readiness.set(true, true);
        return;
    };
    render_app
        .insert_resource(readiness)
        .init_resource::<BlurCompilation>()
        .init_gpu_resource::<pool::IntermediateTextures>()
        .init_gpu_resource::<BlurJobs>()
        .add_systems(RenderStartup, (pipelines::init_pipelines, ask))
        .init_resource::<pool::FrameTime>()
        .add_systems(ExtractSchedule, (pipelines::extract_compilation, pool::extract_time))
        .add_systems(
            Render,
            (pool::give_back_textures, pipelines::compile_more, job::sweep_jobs).in_set(RenderSystems::Cleanup),
        );
}

#[cfg(test)]
mod tests;
