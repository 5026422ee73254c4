//! A Gaussian blur for [Bevy](https://bevy.org): on cameras, as a post-process, and on images.
//!
//! It is *the* Gaussian, within a third of a grey level at every strength, at a cost that does not grow with the
//! strength.
//!
//! # A camera
//!
//! ```no_run
//! use bevy::prelude::*;
//! use bevy_gaussian_blur::prelude::*;
//!
//! App::new()
//!     .add_plugins((DefaultPlugins, GaussianBlurPlugin::default()))
//!     .add_systems(Startup, |mut commands: Commands| {
//!         commands.spawn((Camera3d::default(), GaussianBlur::new(24.0)));
//!     })
//!     .run();
//! ```
//!
//! [`GaussianBlur`] holds the radius, which is three standard deviations, and may change in any frame. [`BlurStage`]
//! says whether light, the finished picture, or that and the user interface are blurred.
//!
//! # An image
//!
//! ```no_run
//! # use bevy::prelude::*;
//! # use bevy_gaussian_blur::prelude::*;
//! fn blur_photo(mut commands: Commands, assets: Res<AssetServer>) {
//!     let photo = assets.load("photo.png");
//!     commands
//!         .spawn((GaussianBlur::from_sigma(8.0), BlurImage::new(photo)))
//!         .observe(|finished: On<BlurFinished>, blurs: Query<&BlurImage>| {
//!             let image = blurs.get(finished.entity).ok().and_then(|blur| blur.target.clone());
//!             info!("blurred into {image:?}");
//!         });
//! }
//! ```
//!
//! [`BlurImage`] names the source and, if you have one, the target. [`BlurFinished`] and [`BlurFailed`] tell how it went.
//!
//! # What it costs
//!
//! [`GaussianBlurDiagnosticsPlugin`] publishes GPU times from timestamps; [`BlurLabel`](diagnostics::BlurLabel) builds
//! their paths.
//!
//! # How the crate is built
//!
//! A blur is a *plan*: a short list of passes, computed from sigma, size, edge mode and precision without a GPU. The front
//! ends for cameras and images differ only in where a plan reads and writes, and one executor runs them all. The
//! derivation of the plan is at the top of `src/plan.rs`, that of the kernels in `src/kernel.rs`.

#![forbid(unsafe_code)]
#![deny(missing_docs)]

mod camera;
pub mod diagnostics;
mod image;
mod kernel;
mod labels;
mod measurements;
mod passes;
mod pipelines;
mod plan;
mod settings;
mod textures;
mod uniforms;

use bevy::asset::embedded_asset;
use bevy::prelude::*;
use bevy::render::render_resource::{SpecializedComputePipelines, SpecializedRenderPipelines};
use bevy::render::renderer::RenderAdapter;
use bevy::render::{GpuResourceAppExt, Render, RenderApp, RenderStartup, RenderSystems};
use bevy::shader::load_shader_library;
use passes::Executor;
use pipelines::{BlurPipelines, init_pipelines};

pub use camera::GaussianBlurSystems;
pub use measurements::GaussianBlurDiagnosticsPlugin;
pub use settings::{
    BlurAlpha, BlurBackend, BlurError, BlurFailed, BlurFinished, BlurImage, BlurStage, BlurUnit, BlurUpdate, EdgeMode,
    GaussianBlur, RADIUS_IN_SIGMAS,
};

/// What nearly every user of the crate needs.
pub mod prelude {
    pub use crate::diagnostics::BlurLabel;
    pub use crate::{
        BlurAlpha, BlurBackend, BlurError, BlurFailed, BlurFinished, BlurImage, BlurStage, BlurUnit, BlurUpdate,
        EdgeMode, GaussianBlur, GaussianBlurDiagnosticsPlugin, GaussianBlurPlugin,
    };
}

/// Adds [`GaussianBlur`] to an app.
#[derive(Clone, Copy, Debug, Default)]
pub struct GaussianBlurPlugin {
    /// Which kind of GPU pass executes blurs. Default: [`BlurBackend::Auto`].
    pub backend: BlurBackend,
}

impl Plugin for GaussianBlurPlugin {
    fn build(&self, app: &mut App) {
        load_shader_library!(app, "shaders/common.wgsl");
        load_shader_library!(app, "shaders/cubic.wgsl");
        embedded_asset!(app, "shaders/texels.wgsl");
        embedded_asset!(app, "shaders/halve.wgsl");
        embedded_asset!(app, "shaders/upsample.wgsl");
        embedded_asset!(app, "shaders/decimate.wgsl");
        embedded_asset!(app, "shaders/blur.wgsl");
        embedded_asset!(app, "shaders/interpolate.wgsl");

        app.register_type::<GaussianBlur>()
            .register_type::<BlurImage>()
            .register_type::<BlurStage>()
            .add_plugins((
                labels::BlurLabelPlugin,
                camera::BlurCameraPlugin,
                image::BlurImagePlugin,
            ));

        let Some(render_app) = app.get_sub_app_mut(RenderApp) else {
            return;
        };
        render_app
            .init_gpu_resource::<SpecializedRenderPipelines<BlurPipelines>>()
            .init_gpu_resource::<SpecializedComputePipelines<BlurPipelines>>()
            .init_resource::<passes::IntermediateBytes>()
            .add_systems(RenderStartup, (init_pipelines, choose_executor(self.backend)))
            .add_systems(Render, passes::reset_bytes.in_set(RenderSystems::Cleanup));
    }
}

/// The system that decides which passes execute blurs on the GPU at hand.
fn choose_executor(backend: BlurBackend) -> impl FnMut(Commands, Res<RenderAdapter>) {
    move |mut commands, adapter| {
        commands.insert_resource(Executor::new(backend, &adapter));
    }
}
