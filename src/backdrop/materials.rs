//! Where materials of Bevy's user interface paint (feature `ui`).

use super::bounds::{MaterialBounds, quad};
use super::extract::BoundsWanted;
use bevy::prelude::*;
use bevy::render::{Render, RenderApp, RenderSystems};
use bevy::ui_render::ExtractedUiMaterialNodes;
use bevy::ui_render::prelude::UiMaterial;
use core::marker::PhantomData;

/// Declares that a material of Bevy's user interface paints only inside the box of its node, so that more glass can be
/// blurred together.
///
/// Backdrops share their passes if nothing that is painted between them can touch the pixels that they read. A
/// `MaterialNode` may paint anywhere, because a material may have its own vertex shader. So each backdrop after one is
/// blurred by itself, and the nodes below it are drawn in a separate pass, unless the app adds this plugin for the
/// material. Every material with the default `UiMaterial::vertex_shader` stays inside its box.
///
/// The picture is the same with and without the plugin. Do not add it for a material that paints elsewhere: glass there
/// may not show the material.
///
/// ```
/// # use bevy::prelude::*;
/// # use bevy::render::render_resource::AsBindGroup;
/// use bevy_gaussian_blur::BackdropMaterialPlugin;
///
/// # #[derive(Asset, TypePath, AsBindGroup, Debug, Clone)]
/// # struct HealthBar {}
/// # impl UiMaterial for HealthBar {}
/// # fn add(app: &mut App) {
/// app.add_plugins((
///     UiMaterialPlugin::<HealthBar>::default(),
///     BackdropMaterialPlugin::<HealthBar>::default(),
/// ));
/// # }
/// ```
pub struct BackdropMaterialPlugin<M>(PhantomData<M>);

impl<M> Default for BackdropMaterialPlugin<M> {
    fn default() -> Self {
        Self(PhantomData)
    }
}

impl<M: UiMaterial> Plugin for BackdropMaterialPlugin<M> {
    fn build(&self, app: &mut App) {
        if let Some(render_app) = app.get_sub_app_mut(RenderApp) {
            render_app.add_systems(
                Render,
                collect_bounds::<M>
                    .after(RenderSystems::PhaseSort)
                    .before(RenderSystems::PrepareResources)
                    .in_set(CollectBounds),
            );
        }
    }
}

/// The systems that collect the boxes of materials, before other systems read them.
#[derive(SystemSet, Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct CollectBounds;

/// Collects the boxes of a material, before Bevy clears them in `RenderSystems::PrepareBindGroups`.
fn collect_bounds<M: UiMaterial>(
    nodes: Option<Res<ExtractedUiMaterialNodes<M>>>,
    wanted: Option<Res<BoundsWanted>>,
    bounds: Option<ResMut<MaterialBounds>>,
) {
    let (Some(nodes), Some(wanted), Some(mut bounds)) = (nodes, wanted, bounds) else {
        return;
    };
    if !wanted.0 {
        return;
    }
    for node in &nodes.uinodes {
        let place = quad(node.transform, Vec2::ZERO, node.rect.size(), node.clip);
        bounds.0.insert(node.render_entity, place);
    }
}

/// Clears the boxes: items have new entities in every frame.
pub fn forget_bounds(mut bounds: ResMut<MaterialBounds>, mut wanted: ResMut<BoundsWanted>) {
    bounds.0.clear();
    wanted.0 = false;
}
