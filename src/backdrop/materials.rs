//! Where materials of Bevy's user interface paint (feature `ui`).

use super::bounds::{MaterialBounds, quad};
use super::extract::BoundsWanted;
use bevy::prelude::*;
use bevy::render::{Render, RenderApp, RenderSystems};
use bevy::ui_render::ExtractedUiMaterialNodes;
use bevy::ui_render::prelude::UiMaterial;
use core::marker::PhantomData;

/// Tells glass that a material of Bevy's user interface paints in the box of its node and nowhere else, so that more
/// glass can be blurred together.
///
/// Backdrops of glass share their passes where nothing that is painted between them can touch what they read. Of a
/// `MaterialNode` that is not known, because a material may have a vertex shader of its own. So each backdrop after one is
/// blurred by itself, and what lies below it is drawn in a pass of its own, unless this plugin has been added for the
/// material. All that leave `UiMaterial::vertex_shader` alone keep to their boxes.
///
/// The picture is the same with and without it. For a material that does paint elsewhere it is wrong: glass there may not
/// show it.
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

/// When the boxes of materials are taken, before anything asks for them.
#[derive(SystemSet, Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct CollectBounds;

/// Takes the boxes of a material, before Bevy forgets them in `RenderSystems::PrepareBindGroups`.
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

/// Items have other entities in every frame.
pub fn forget_bounds(mut bounds: ResMut<MaterialBounds>, mut wanted: ResMut<BoundsWanted>) {
    bounds.0.clear();
    wanted.0 = false;
}
