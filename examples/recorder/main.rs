//! Glowing outlines of selected meshes, by a blur that the example's own render system records.
//!
//! ```text
//! cargo run --release --example recorder [-- --frames N --screenshot FILE]
//! ```
//!
//! You should see a sphere, a cube and a ring. A glow that swells outlines one after the other. It has the same
//! thickness, as a share of the window, in small and in large windows. A second camera draws the selected mesh into a
//! mask, the recorder blurs the mask, and a UI material combines the two.

#[path = "../common/mod.rs"]
mod common;
mod scene;

use bevy::core_pipeline::{schedule::Core3d, upscaling::upscaling};
use bevy::prelude::*;
use bevy::render::camera::ExtractedCamera;
use bevy::render::render_asset::RenderAssets;
use bevy::render::renderer::{RenderContext, ViewQuery};
use bevy::render::texture::GpuImage;
use bevy::render::{Extract, ExtractSchedule, Render, RenderApp, RenderSystems};
use bevy_gaussian_blur::recorder::{BlurTexture, TextureBlur, TextureBlurRecorder, TextureBlurRequest, TextureBlurs};
use common::example;

/// The order of the camera that draws the mask: before the camera that shows the scene.
const MASK_CAMERA: isize = -1;

/// The mask of the selected mesh, its blur, and the strength of the blur, in texels.
#[derive(Resource, Clone, Default)]
struct Outline {
    mask: Handle<Image>,
    glow: Handle<Image>,
    sigma: f32,
}

fn main() -> AppExit {
    example("Gaussian blur: outlines", |app, _| {
        app.add_plugins(scene::ScenePlugin);
        app.sub_app_mut(RenderApp)
            .init_resource::<OutlineBlur>()
            .add_systems(ExtractSchedule, extract_outline)
            .add_systems(Render, prepare_outline.in_set(RenderSystems::PrepareBindGroups))
            // After the mask is drawn, and before the camera that shows the outline.
            .add_systems(Core3d, record_outline.after(upscaling));
    })
}

/// The blur, which is kept from frame to frame.
#[derive(Resource, Default)]
struct OutlineBlur(TextureBlur);

fn extract_outline(mut commands: Commands, outline: Extract<Res<Outline>>) {
    commands.insert_resource(outline.clone());
}

/// The mask and its blur on the GPU.
fn textures(outline: &Outline, images: &RenderAssets<GpuImage>) -> Option<[BlurTexture; 2]> {
    Some([images.get(&outline.mask)?.into(), images.get(&outline.glow)?.into()])
}

fn prepare_outline(
    mut blur: ResMut<OutlineBlur>,
    outline: Res<Outline>,
    images: Res<RenderAssets<GpuImage>>,
    mut blurs: TextureBlurs,
) {
    let Some([mask, glow]) = textures(&outline, &images) else {
        return;
    };
    if let Err(error) = blurs.prepare(
        &mut blur.0,
        &TextureBlurRequest::new(&mask, &glow, Vec2::splat(outline.sigma)),
    ) {
        error!("the outline: {error}");
    }
}

fn record_outline(
    camera: ViewQuery<&ExtractedCamera>,
    mut blur: ResMut<OutlineBlur>,
    outline: Res<Outline>,
    images: Res<RenderAssets<GpuImage>>,
    blurs: TextureBlurRecorder,
    mut context: RenderContext,
) {
    if camera.into_inner().order == MASK_CAMERA
        && let Some([mask, glow]) = textures(&outline, &images)
    {
        blurs.record(&mut blur.0, &mut context, &mask, &glow, None);
    }
}
