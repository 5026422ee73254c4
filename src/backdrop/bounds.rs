//! Which pixels an item of Bevy's user interface can touch (feature `ui`).
//!
//! Bevy clips by moving vertices by their names: it moves left ones to the right, up to the clip's left side, and so on.
//! This can move vertices out of a rotated node, so the bounds enclose the moved vertices.

use super::extracted::{CORNERS, bounds_of};
use super::nodes::GradientBoxes;
use bevy::ecs::entity::EntityHashMap;
use bevy::ecs::system::SystemParam;
use bevy::math::{Affine2, FloatOrd};
use bevy::prelude::*;
use bevy::render::render_phase::PhaseItem;
use bevy::ui_render::box_shadow::ExtractedBoxShadows;
use bevy::ui_render::ui_texture_slice_pipeline::ExtractedUiTextureSlices;
use bevy::ui_render::{ExtractedUiItem, ExtractedUiNode, ExtractedUiNodes, TransparentUi, stack_z_offsets};

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
    #[must_use]
    pub fn of(&self, item: &TransparentUi) -> Option<Rect> {
        // An index points into one of these lists, depending on the item's kind. Bevy compares the entity, too.
        let (index, entity) = (item.index, item.entity());
        let node = self.nodes.uinodes.get(index);
        if let Some(node) = node.filter(|node| node.render_entity == entity) {
            return self.of_node(node);
        }
        let shadow = self.shadows.box_shadows.get(index);
        if let Some(shadow) = shadow.filter(|shadow| shadow.render_entity == entity) {
            return Some(quad(shadow.transform, Vec2::ZERO, shadow.bounds, shadow.clip));
        }
        let slices = self.slices.slices.get(index);
        if let Some(slices) = slices.filter(|slices| slices.render_entity == entity) {
            return Some(quad(slices.transform, Vec2::ZERO, slices.rect.size(), slices.clip));
        }
        let material = || self.materials.0.get(&entity).copied();
        self.of_gradient(item).or_else(material)
    }

    /// A background, border, outline, image or viewport; or text, with a quad for each glyph.
    fn of_node(&self, node: &ExtractedUiNode) -> Option<Rect> {
        let quad = |centre: Vec2, size: Vec2| quad(node.transform, centre, size, node.clip);
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
        let gradient = self.gradients.0.get(&item.main_entity().id())?;
        let key = |offset: f32| FloatOrd(gradient.stack_index as f32 + offset);
        let keys = [stack_z_offsets::GRADIENT, stack_z_offsets::BORDER_GRADIENT].map(key);
        let bounds = || quad(gradient.transform, Vec2::ZERO, gradient.size, gradient.clip);
        keys.contains(&item.sort_key).then(bounds)
    }
}

/// The bounds of a quad, clipped as Bevy does. `centre` is the quad's centre before the transform.
pub fn quad(transform: Affine2, centre: Vec2, size: Vec2, clip: Option<Rect>) -> Rect {
    let moved = |corner: Vec2| {
        let at = transform.transform_point2(centre + corner * size);
        let Some(clip) = clip else {
            return at;
        };
        Vec2::new(
            if corner.x < 0.0 {
                at.x.max(clip.min.x)
            } else {
                at.x.min(clip.max.x)
            },
            if corner.y < 0.0 {
                at.y.max(clip.min.y)
            } else {
                at.y.min(clip.max.y)
            },
        )
    };
    bounds_of(CORNERS.map(moved))
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
