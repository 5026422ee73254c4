//! Extracts glass from the main world: regions. Needs no user interface.

use super::extracted::{ExtractedBackdrop, Picture, Shape};
use super::freeze::FrozenBackdrops;
use super::paint_order::PaintOrder;
use crate::formats::{CameraFinish, CameraFinishItem};
use crate::settings::{BackdropBlur, BackdropLayer, BackdropRegion, BlurProfile};
use bevy::camera::Camera;
use bevy::math::Affine2;
use bevy::prelude::*;
use bevy::render::Extract;
use bevy::render::sync_world::RenderEntity;

/// The visible backdrops of this frame. Everything else refers to them by index.
#[derive(Resource, Default)]
pub struct ExtractedBackdrops(pub Vec<ExtractedBackdrop>);

/// Whether the bounds of items are needed in this frame. Only then are the boxes of gradients and materials collected.
#[cfg(feature = "ui")]
#[derive(Resource, Default)]
pub struct BoundsWanted(pub bool);

/// What an active camera paints into.
pub fn picture_of(entity: Entity, camera: &Camera, finish: &CameraFinishItem) -> Option<Picture> {
    if !camera.is_active {
        return None;
    }
    Some(Picture {
        camera: entity,
        size: camera.physical_target_size()?,
        viewport: camera.physical_viewport_rect()?,
        is_light: finish.is_light(),
        dithers: finish.dithers(),
    })
}

type SeenCamera = (RenderEntity, &'static Camera, CameraFinish);

type RegionData = (
    Entity,
    &'static BackdropRegion,
    &'static BackdropBlur,
    Option<&'static BlurProfile>,
);

/// Extracts regions, as the first backdrops of a frame.
pub fn extract_regions(
    mut backdrops: ResMut<ExtractedBackdrops>,
    frozen: Res<FrozenBackdrops>,
    regions: Extract<Query<RegionData>>,
    cameras: Extract<Query<SeenCamera>>,
) {
    backdrops.0.clear();
    for (entity, region, glass, profile) in &regions {
        let Ok((camera_entity, camera, finish)) = cameras.get(region.camera) else {
            continue;
        };
        let Some(picture) = picture_of(camera_entity, camera, &finish) else {
            continue;
        };
        let scale = camera.target_scaling_factor().unwrap_or(1.0);
        let height = picture.viewport.height();
        // A radius out of range means no blur; `validation` reports it.
        let sigma = glass.blur.sigma_in_texels(scale, height).unwrap_or(Vec2::ZERO);
        let layer = || match region.layer {
            BackdropLayer::BelowUi => PaintOrder::BelowUi(region.order),
            BackdropLayer::AboveUi => PaintOrder::AboveUi(region.order),
        };
        let shape = shape_of(region, scale);
        let backdrop = ExtractedBackdrop::new(entity, picture, shape, glass, sigma, frozen.get(entity), layer);
        backdrops
            .0
            .extend(backdrop.map(|backdrop| backdrop.with_profile(profile)));
    }
}

/// A region in physical pixels.
fn shape_of(region: &BackdropRegion, scale: f32) -> Shape {
    let (min, max) = (region.rect.min * scale, region.rect.max * scale);
    let size = max - min;
    let largest = 0.5 * size.min_element();
    let radius = |corner: f32| {
        let radius = corner * scale;
        // NaN is not larger than 0 either.
        if radius > 0.0 { radius.min(largest) } else { 0.0 }
    };
    Shape {
        transform: Affine2::from_translation(0.5 * (min + max)),
        size,
        radii: region.corners.to_array().map(radius),
        clip: None,
        is_soft: true,
    }
}
