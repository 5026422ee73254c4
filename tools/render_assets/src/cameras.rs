//! The cameras of both pictures, and the water with the mirrored camera that it reflects.

use crate::stage::Stage;
use crate::texture::{empty, noise};
use bevy::asset::RenderAssetUsages;
use bevy::camera::{Hdr, RenderTarget, ShadowLodOrigin, visibility::RenderLayers};
use bevy::core_pipeline::tonemapping::Tonemapping;
use bevy::mesh::{Indices, PrimitiveTopology};
use bevy::prelude::*;
use bevy::render::render_resource::{TextureFormat, TextureUsages};
use std::f32::consts::FRAC_PI_8;

/// Both pictures are drawn at twice their size, in each axis, and averaged down.
pub const LDR_TARGET: UVec2 = UVec2::new(2560, 1440);
/// See [`LDR_TARGET`].
pub const HDR_TARGET: UVec2 = UVec2::new(1024, 576);
const MIRROR: UVec2 = UVec2::new(1280, 720);
/// Only the two picture cameras see the water: the mirrored one looks up through it.
const WATER_LAYER: usize = 1;
const EYE: Vec3 = Vec3::new(-3.0, 3.3, 14.5);
const GAZE: Vec3 = Vec3::new(0.6, 4.2, -12.0);

/// Adds the cameras and the water; returns the LDR and the HDR target.
pub fn point(stage: &mut Stage) -> [Handle<Image>; 2] {
    let (float, srgb) = (TextureFormat::Rgba16Float, TextureFormat::Rgba8UnormSrgb);
    let linear = (Hdr, Tonemapping::None);
    let tonemapped = (Tonemapping::TonyMcMapface, ShadowLodOrigin);
    let all = RenderLayers::from_layers(&[0, WATER_LAYER]);
    let mirror = camera(stage, 0, empty(MIRROR, float), vec3(1.0, -1.0, 1.0), linear);
    let ldr = camera(stage, 1, empty(LDR_TARGET, srgb), Vec3::ONE, (tonemapped, all.clone()));
    let hdr = camera(stage, 2, empty(HDR_TARGET, float), Vec3::ONE, (linear, all));

    let dark = Color::linear_rgb(0.004, 0.012, 0.02);
    let surface = stage.lit(dark.into(), Some(mirror), vec3(0.62, 0.68, 0.74), 0.25);
    let looks = (Mesh3d(stage.add(water())), MeshMaterial3d(surface));
    stage.world.spawn((looks, RenderLayers::layer(WATER_LAYER)));
    [ldr, hdr]
}

/// A camera, mirrored by `flip`, that draws into an image.
fn camera(stage: &mut Stage, order: isize, mut image: Image, flip: Vec3, more: impl Bundle) -> Handle<Image> {
    image.texture_descriptor.usage |= TextureUsages::RENDER_ATTACHMENT | TextureUsages::COPY_SRC;
    let image = stage.add(image);
    let camera = (Camera { order, ..default() }, Camera3d::default(), Msaa::Sample4);
    let view = Transform::from_translation(EYE * flip).looking_at(GAZE * flip, Vec3::Y);
    let target = RenderTarget::Image(image.clone().into());
    stage.world.spawn((camera, target, view, more));
    image
}

/// The water plane as a grid whose cells are equal on the screen. Its UVs, bent by ripples, address the mirrored picture.
fn water() -> Mesh {
    const GRID: UVec2 = UVec2::new(640, 320);
    let view = Transform::from_translation(EYE).looking_at(GAZE, Vec3::Y);
    let (tan, aspect) = (FRAC_PI_8.tan(), 16.0 / 9.0);
    // The grid is slightly wider than the picture and ends just under the horizon.
    let horizon = -view.forward().y / (tan * view.up().y) - 0.012;
    let wave = |p: Vec2, scale: Vec2| noise(p * scale, 4096) - 0.47;
    let (mut positions, mut uvs, mut indices) = (Vec::new(), Vec::new(), Vec::new());
    for i in 0..GRID.element_product() {
        let unit = uvec2(i % GRID.x, i / GRID.x).as_vec2() / (GRID - 1).as_vec2();
        let screen = vec2(unit.x * 2.1 - 1.05, (-1.05).lerp(horizon, unit.y));
        let ray = view.rotation * (screen * tan * vec2(aspect, 1.0)).extend(-1.0);
        let at = EYE - ray * EYE.y / ray.y;
        let calm = 1.0 / (1.0 + 0.02 * at.distance(EYE));
        let swell = wave(at.xz(), vec2(0.3, 1.4)) + 0.5 * wave(at.xz(), vec2(1.2, 6.0));
        let bend = vec2(0.025 * wave(at.zx() + 91.0, vec2(1.1, 0.8)), 0.085 * swell) * calm;
        positions.push(at);
        uvs.push(0.5 + 0.5 * screen + bend);
        if unit.x < 1.0 && unit.y < 1.0 {
            indices.extend([0, 1, GRID.x, 1, GRID.x + 1, GRID.x].map(|corner| i + corner));
        }
    }
    Mesh::new(PrimitiveTopology::TriangleList, RenderAssetUsages::RENDER_WORLD)
        .with_inserted_attribute(Mesh::ATTRIBUTE_NORMAL, vec![Vec3::Y; positions.len()])
        .with_inserted_attribute(Mesh::ATTRIBUTE_POSITION, positions)
        .with_inserted_attribute(Mesh::ATTRIBUTE_UV_0, uvs)
        .with_inserted_indices(Indices::U32(indices))
}
