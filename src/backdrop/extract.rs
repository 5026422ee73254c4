//! Takes glass over from the main world: regions. Runs without Bevy's user interface.

use super::panel::{Layer, Panel, Picture, Shape};
use crate::formats::{CameraFinish, CameraFinishItem};
use crate::settings::{BackdropBlur, BackdropLayer, BackdropRegion, BlurProfile};
use bevy::camera::Camera;
use bevy::math::Affine2;
use bevy::prelude::*;
use bevy::render::Extract;
use bevy::render::sync_world::RenderEntity;

/// The panels that can be seen in this frame. All else refers to them by their indices.
#[derive(Resource, Default)]
pub struct Panels(pub Vec<Panel>);

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

type GlassRegion = (
    Entity,
    &'static BackdropRegion,
    &'static BackdropBlur,
    Option<&'static BlurProfile>,
);

/// Takes regions over, as the first panels of a frame.
pub fn extract_regions(
    mut panels: ResMut<Panels>,
    regions: Extract<Query<GlassRegion>>,
    cameras: Extract<Query<SeenCamera>>,
) {
    panels.0.clear();
    for (entity, region, glass, profile) in &regions {
        let Ok((camera_entity, camera, finish)) = cameras.get(region.camera) else {
            continue;
        };
        let Some(picture) = picture_of(camera_entity, camera, &finish) else {
            continue;
        };
        let scale = camera.target_scaling_factor().unwrap_or(1.0);
        let height = picture.viewport.height();
        // A radius out of range is no blur, and is reported elsewhere.
        let sigma = glass.blur.sigma_in_texels(scale, height).unwrap_or(Vec2::ZERO);
        let layer = || match region.layer {
            BackdropLayer::BelowUi => Layer::BelowUi(region.order),
            BackdropLayer::AboveUi => Layer::AboveUi(region.order),
        };
        let shape = shape_of(region, scale);
        let panel = Panel::new(entity, picture, shape, glass, sigma, layer);
        panels.0.extend(panel.map(|panel| panel.with_profile(profile)));
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
