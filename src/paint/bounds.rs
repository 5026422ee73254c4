//! Which pixels an item of Bevy's user interface can touch.
//!
//! Bevy clips by moving vertices by their names: it moves left ones to the right, up to the clip's left side, and so on.
//! This can move vertices out of a rotated node, so the bounds enclose the moved vertices.

use super::inputs::{PaintInputs, PaintSystems};
use super::ui_clip::{clip_of, visible};
use crate::schedule::{CORNERS, Clip, bounds_of};
use bevy::ecs::entity::EntityHashMap;
use bevy::ecs::system::SystemParam;
use bevy::math::{Affine2, FloatOrd};
use bevy::prelude::*;
use bevy::render::render_phase::PhaseItem;
use bevy::render::{Extract, Render, RenderApp, RenderSystems};
use bevy::ui::{
    BackgroundGradient, BorderGradient, CalculatedClip, ComputedNode, ComputedStackIndex, UiGlobalTransform,
};
use bevy::ui_render::box_shadow::ExtractedBoxShadows;
use bevy::ui_render::prelude::UiMaterial;
use bevy::ui_render::ui_texture_slice_pipeline::ExtractedUiTextureSlices;
use bevy::ui_render::{
    ExtractedUiItem, ExtractedUiMaterialNodes, ExtractedUiNode, ExtractedUiNodes, TransparentUi, stack_z_offsets,
};
use core::marker::PhantomData;

/// The lists of items. They are valid after the sorting of phases, until `RenderSystems::PrepareBindGroups` empties
/// them.
#[derive(SystemParam)]
pub struct ItemBounds<'w> {
    nodes: Res<'w, ExtractedUiNodes>,
    shadows: Res<'w, ExtractedBoxShadows>,
    slices: Res<'w, ExtractedUiTextureSlices>,
    gradients: Res<'w, GradientBoxes>,
    materials: Res<'w, MaterialBounds>,
}

/// The bounds of materials that stay inside their boxes, in pixels of the viewport, by the entity of their item.
#[derive(Resource, Default)]
pub struct MaterialBounds(pub EntityHashMap<Rect>);

impl ItemBounds<'_> {
    /// The bounds of an item in pixels of the viewport. `None` if they are unknown: for undeclared materials and other
    /// crates' items.
    pub fn find(&self, item: &TransparentUi) -> Option<Rect> {
        // An index points into one of these lists, depending on the item's kind. Bevy compares the entity, too.
        let (index, entity) = (item.index, item.entity());
        let node = self.nodes.uinodes.get(index);
        if let Some(node) = node.filter(|node| node.render_entity == entity) {
            return self.of_node(node);
        }
        let shadow = self.shadows.box_shadows.get(index);
        if let Some(shadow) = shadow.filter(|shadow| shadow.render_entity == entity) {
            let clip = visible(&shadow.clip);
            return Some(quad(shadow.transform, Vec2::ZERO, shadow.bounds, clip));
        }
        let slices = self.slices.slices.get(index);
        if let Some(slices) = slices.filter(|slices| slices.render_entity == entity) {
            let clip = visible(&slices.clip);
            return Some(quad(slices.transform, Vec2::ZERO, slices.rect.size(), clip));
        }
        let material = || self.materials.0.get(&entity).copied();
        self.of_gradient(item).or_else(material)
    }

    /// A background, border, outline, image or viewport; or text, with a quad for each glyph.
    fn of_node(&self, node: &ExtractedUiNode) -> Option<Rect> {
        let quad = |centre: Vec2, size: Vec2| quad(node.transform, centre, size, visible(&node.clip));
        match &node.item {
            ExtractedUiItem::Node { rect, .. } => Some(quad(Vec2::ZERO, rect.size())),
            ExtractedUiItem::Glyphs { range } => {
                let glyphs = self.nodes.glyphs.get(range.clone())?.iter();
                let quads = glyphs.map(|glyph| quad(glyph.translation, glyph.rect.size()));
                Some(quads.fold(Rect::EMPTY, |all, glyph| all.union(glyph)))
            }
        }
    }

    /// An item of a node with a gradient is the gradient if it has a gradient's sort key.
    fn of_gradient(&self, item: &TransparentUi) -> Option<Rect> {
        let (stack_index, bounds) = self.gradients.0.get(&item.main_entity().id())?;
        let key = |offset: f32| FloatOrd(*stack_index as f32 + offset);
        let keys = [stack_z_offsets::GRADIENT, stack_z_offsets::BORDER_GRADIENT].map(key);
        keys.contains(&item.sort_key).then_some(*bounds)
    }
}

/// The bounds of a quad, clipped as Bevy does. `centre` is the quad's centre before the transform.
pub fn quad(transform: Affine2, centre: Vec2, size: Vec2, clip: Option<Rect>) -> Rect {
    let moved = |corner: Vec2| {
        let at = transform.transform_point2(centre + corner * size);
        let is_first = corner.cmplt(Vec2::ZERO);
        clip.map_or(at, |clip| Vec2::select(is_first, at.max(clip.min), at.min(clip.max)))
    };
    bounds_of(CORNERS.map(moved))
}

/// The places of all nodes with gradients in the stack of all nodes, and their bounds in pixels of the viewport, by the main world's
/// entity: Bevy's own list of gradients is private.
#[derive(Resource, Default)]
pub struct GradientBoxes(EntityHashMap<(u32, Rect)>);

type GradientNode = (
    Entity,
    &'static ComputedNode,
    &'static ComputedStackIndex,
    &'static UiGlobalTransform,
    Option<&'static CalculatedClip>,
);

type HasGradient = Or<(With<BackgroundGradient>, With<BorderGradient>)>;

/// Extracts the boxes of gradients.
pub fn extract_gradient_boxes(
    mut boxes: ResMut<GradientBoxes>,
    inputs: Res<PaintInputs>,
    nodes: Extract<Query<GradientNode, HasGradient>>,
) {
    boxes.0.clear();
    if !inputs.have_nodes() {
        return;
    }
    for (entity, node, stack_index, transform, clip) in &nodes {
        let clip = clip_of(clip).map(Clip::bounds);
        let bounds = quad(transform.affine(), Vec2::ZERO, node.size(), clip);
        boxes.0.insert(entity, (stack_index.0, bounds));
    }
}

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
                    .in_set(PaintSystems::CollectBounds),
            );
        }
    }
}

/// Collects the boxes of a material, before Bevy clears them in `RenderSystems::PrepareBindGroups`.
fn collect_bounds<M: UiMaterial>(
    nodes: Option<Res<ExtractedUiMaterialNodes<M>>>,
    inputs: Res<PaintInputs>,
    bounds: Option<ResMut<MaterialBounds>>,
) {
    let (Some(nodes), Some(mut bounds)) = (nodes, bounds) else {
        return;
    };
    if !inputs.have_nodes() {
        return;
    }
    for node in &nodes.uinodes {
        let place = quad(node.transform, Vec2::ZERO, node.rect.size(), visible(&node.clip));
        bounds.0.insert(node.render_entity, place);
    }
}

/// Clears the boxes: items have new entities in every frame.
pub fn forget_bounds(mut bounds: ResMut<MaterialBounds>) {
    bounds.0.clear();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clipped_box_ends_at_the_clip() {
        let place = Affine2::from_translation(Vec2::new(50.0, 50.0));
        let clip = Rect::new(40.0, -1000.0, 1000.0, 55.0);
        let bounds = quad(place, Vec2::ZERO, Vec2::new(40.0, 20.0), Some(clip));
        assert_eq!(bounds, Rect::new(40.0, 40.0, 70.0, 55.0));
        let bounds = quad(place, Vec2::new(5.0, 0.0), Vec2::new(40.0, 20.0), None);
        assert_eq!(bounds, Rect::new(35.0, 40.0, 75.0, 60.0));
    }

    #[test]
    fn clipping_moves_rotated_vertices_out_of_the_box() {
        // Upside down: left vertices are on the right.
        let turned = Affine2::from_angle_translation(core::f32::consts::PI, Vec2::new(50.0, 50.0));
        let clip = Rect::new(90.0, 0.0, 100.0, 100.0);
        let bounds = quad(turned, Vec2::ZERO, Vec2::new(40.0, 20.0), Some(clip));
        assert!(bounds.max.x >= 90.0, "{bounds:?}");
    }
}
