//! Extracts glass from the main world: regions, which need no user interface, and nodes.
//!
//! It reads only the main world, so it may run before or after Bevy's own extraction.

use crate::formats::{CameraFinish, CameraFinishItem};
use crate::paint::{FrozenBackdrops, PaintInputs, picture_of};
use crate::schedule::{Backdrop, Clip, Lens, Order, Shape};
use crate::settings::{BackdropBlur, BackdropLayer, BackdropLens, BackdropRegion, BlurProfile, BlurSwitch};
use bevy::camera::Camera;
use bevy::math::Affine2;
use bevy::prelude::*;
use bevy::render::Extract;
use bevy::render::sync_world::RenderEntity;

type RegionData = (
    Entity,
    &'static BackdropRegion,
    &'static BackdropBlur,
    Option<&'static BlurProfile>,
    Option<&'static BackdropLens>,
);

/// Extracts regions.
pub fn extract_regions(
    mut inputs: ResMut<PaintInputs>,
    frozen: Res<FrozenBackdrops>,
    regions: Extract<Query<RegionData>>,
    cameras: Extract<Query<(RenderEntity, &'static Camera, CameraFinish)>>,
    switch: Extract<Res<BlurSwitch>>,
) {
    for (entity, region, glass, profile, lens) in &regions {
        let Ok((camera_entity, camera, finish)) = cameras.get(region.camera) else {
            continue;
        };
        let of = Glass {
            entity,
            glass,
            profile,
            lens,
            scale: camera.target_scaling_factor().unwrap_or(1.0),
            switch: **switch,
            shares: None,
        };
        let order = match region.layer {
            BackdropLayer::BelowUi => Order::BelowUi(region.order),
            BackdropLayer::AboveUi => Order::AboveUi(region.order),
        };
        let shape = shape_of(region, of.scale);
        of.extract(
            (camera_entity, camera, &finish),
            (order, shape, None),
            &frozen,
            &mut inputs,
        );
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
        radii: [region.corners.to_array().map(radius); 2],
        is_soft: true,
    }
}

/// Glass of the main world.
struct Glass<'a> {
    entity: Entity,
    glass: &'a BackdropBlur,
    profile: Option<&'a BlurProfile>,
    lens: Option<&'a BackdropLens>,
    /// Physical pixels per logical pixel.
    scale: f32,
    switch: BlurSwitch,
    /// The node whose glass shares one backdrop.
    shares: Option<Entity>,
}

impl Glass<'_> {
    /// Extracts glass on a camera, if it may be visible.
    fn extract(
        &self,
        (camera_entity, camera, finish): (Entity, &Camera, &CameraFinishItem),
        (order, shape, clip): (Order, Shape, Option<Clip>),
        frozen: &FrozenBackdrops,
        inputs: &mut PaintInputs,
    ) {
        let Some(picture) = picture_of(camera_entity, camera, finish) else {
            return;
        };
        let height = picture.viewport.height();
        // A radius out of range means no blur; `validation` reports it.
        let sigma = self
            .glass
            .blur
            .sigma_in_texels(self.scale, height)
            .unwrap_or(Vec2::ZERO);
        let freeze = frozen.get(self.entity, picture.seen());
        let of = (self.entity, order);
        let backdrop = Backdrop::new(
            of,
            &picture,
            (shape, clip),
            self.glass,
            (sigma, self.profile),
            (freeze, self.switch),
            self.lens.and_then(|lens| Lens::new(lens, self.scale, &shape)),
        );
        if let Some(backdrop) = backdrop {
            let shares = self.shares;
            inputs.of(picture).backdrops.push(Backdrop { shares, ..backdrop });
        }
    }
}

#[cfg(feature = "ui")]
pub use nodes::extract_nodes;

#[cfg(feature = "ui")]
mod nodes {
    use super::*;
    use crate::paint::ui_clip::{clip_of, radii_of};
    use crate::settings::BackdropGroup;
    use bevy::camera::visibility::InheritedVisibility;
    use bevy::ecs::system::SystemParam;
    use bevy::ui::{
        CalculatedClip, ComputedNode, ComputedStackIndex, ComputedUiRenderTargetInfo, ComputedUiTargetCamera,
        UiGlobalTransform,
    };
    use bevy::ui_render::{UiAntiAlias, UiCameraMap};

    type BackdropNode = (
        Entity,
        &'static BackdropBlur,
        Option<&'static BlurProfile>,
        Option<&'static BackdropLens>,
        &'static ComputedNode,
        &'static ComputedStackIndex,
        &'static UiGlobalTransform,
        &'static InheritedVisibility,
        Option<&'static CalculatedClip>,
        &'static ComputedUiTargetCamera,
        &'static ComputedUiRenderTargetInfo,
    );

    /// The groups that share a backdrop.
    #[derive(SystemParam)]
    pub struct SharedGlass<'w, 's> {
        groups: Query<'w, 's, (), With<BackdropGroup>>,
        roots: Query<'w, 's, (), With<GlobalZIndex>>,
        parents: Query<'w, 's, &'static ChildOf>,
    }

    impl SharedGlass<'_, '_> {
        /// The innermost group around a node. Nodes with a `GlobalZIndex` leave the groups of their ancestors.
        fn group_of(&self, node: Entity) -> Option<Entity> {
            if self.groups.is_empty() {
                return None;
            }
            let parent = |inner: &Entity| {
                let is_root = self.roots.contains(*inner);
                (!is_root)
                    .then(|| self.parents.get(*inner).ok())
                    .flatten()
                    .map(ChildOf::parent)
            };
            core::iter::successors(Some(node), parent).find(|node| self.groups.contains(*node))
        }
    }

    type UiCamera = (&'static Camera, CameraFinish, Option<&'static UiAntiAlias>);

    /// Extracts nodes, after regions.
    pub fn extract_nodes(
        mut inputs: ResMut<PaintInputs>,
        frozen: Res<FrozenBackdrops>,
        nodes: Extract<Query<BackdropNode, Without<BackdropRegion>>>,
        cameras: Extract<Query<UiCamera>>,
        (camera_map, switch): (Extract<UiCameraMap>, Extract<Res<BlurSwitch>>),
        shared: Extract<SharedGlass>,
    ) {
        let mut mapper = camera_map.get_mapper();
        for (entity, glass, profile, lens, node, stack_index, transform, visibility, clip, target, info) in &nodes {
            // `Display::None` makes nodes empty, and clips their descendants to nothing.
            if !visibility.get() || node.is_empty() {
                continue;
            }
            let (Some(camera_entity), Some(seen)) = (mapper.map(target), target.get()) else {
                continue;
            };
            let Ok((camera, finish, anti_alias)) = cameras.get(seen) else {
                continue;
            };
            let shape = Shape {
                transform: transform.affine(),
                size: node.size(),
                radii: radii_of(node.border_radius()),
                is_soft: anti_alias != Some(&UiAntiAlias::Off),
            };
            let of = Glass {
                entity,
                glass,
                profile,
                lens,
                // The scale factor is the target's, times `UiScale`.
                scale: info.scale_factor(),
                switch: **switch,
                shares: shared.group_of(entity),
            };
            let order = Order::Node(stack_index.0);
            of.extract(
                (camera_entity, camera, &finish),
                (order, shape, clip_of(clip)),
                &frozen,
                &mut inputs,
            );
        }
    }
}
