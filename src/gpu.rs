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

/// Lists all shaders of blurs, and embeds them in an app.
macro_rules! shaders {
    (libraries: $($library:literal,)* programs: $($program:literal,)*) => {
        /// The shaders that others import.
        #[cfg(test)]
        const LIBRARIES: &[&str] = &[$($library),*];

        /// The shaders with entry points.
        #[cfg(test)]
        const PROGRAMS: &[&str] = &[$($program),*];

        fn embed_shaders(app: &mut App) {
            $(load_shader_library!(app, $library);)*
            $(embedded_asset!(app, $program);)*
        }
    };
}

shaders! {
    libraries:
    "shaders/common/srgb.wgsl",
    "shaders/common/compositing.wgsl",
    "shaders/common/color_functions.wgsl",
    "shaders/common/dither.wgsl",
    "shaders/common/output.wgsl",
    "shaders/common/pass.wgsl",
    "shaders/common/cubic.wgsl",
    "shaders/uniform/spline.wgsl",
    "shaders/common/tile.wgsl",
    "shaders/profile/direct_sum.wgsl",
    "shaders/profile/sigma_field.wgsl",
    "shaders/profile/tile_culling.wgsl",
    "shaders/profile/log_sigma.wgsl",
    "shaders/profile/strips.wgsl",
    "shaders/profile/sigma_levels.wgsl",
    "shaders/profile/blend.wgsl",
    "shaders/paint/lens.wgsl",
    programs:
    "shaders/uniform/copy_fragment.wgsl",
    "shaders/uniform/opaque_fragment.wgsl",
    "shaders/uniform/mipmap_fragment.wgsl",
    "shaders/uniform/downsample_fragment.wgsl",
    "shaders/uniform/convolve_fragment.wgsl",
    "shaders/uniform/upsample_fragment.wgsl",
    "shaders/profile/blend_fragment.wgsl",
    "shaders/profile/gather_fragment.wgsl",
    "shaders/profile/gather_compute.wgsl",
    "shaders/profile/blend_compute.wgsl",
    "shaders/uniform/downsample_compute.wgsl",
    "shaders/uniform/convolve_compute.wgsl",
    "shaders/uniform/convolve_halves_compute.wgsl",
    "shaders/uniform/upsample_compute.wgsl",
    "shaders/uniform/blur_upsample_compute.wgsl",
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
