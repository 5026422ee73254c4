//! What a filter is on its node, in physical pixels.

use crate::paint::ui_clip::inner_radii_of;
use crate::schedule::{FAR, Filter, Shadow, Shape, scale_of};
use crate::settings::{BackdropBlur, BlurProfile, BlurSwitch, ColorMatrices, DropShadow, RADIUS_IN_SIGMAS, UiFilter};
use crate::sigma_field::SigmaField;
use bevy::ecs::query::QueryData;
use bevy::math::Affine2;
use bevy::prelude::*;
use bevy::ui::{ComputedNode, ComputedUiRenderTargetInfo, ComputedUiTargetCamera, UiGlobalTransform};

/// The least slope of a fade, and one over the greatest.
const LEAST_SLOPE: f32 = 1e-6;

/// The greatest width of a line around a group, in physical pixels.
const MOST_WIDTH: f32 = 16.0;

/// A node with a filter.
#[derive(QueryData)]
pub struct FilterData {
    pub filter: &'static UiFilter,
    pub profile: Option<&'static BlurProfile>,
    pub has_glass: Has<BackdropBlur>,
    pub node: &'static ComputedNode,
    pub transform: &'static UiGlobalTransform,
    pub info: &'static ComputedUiRenderTargetInfo,
    pub target: &'static ComputedUiTargetCamera,
}

impl FilterDataItem<'_, '_> {
    /// The group of the node with its descendants, without its place in the stack. Values out of range mean nothing; `validation` reports
    /// them.
    pub fn group(&self, entity: Entity, switch: BlurSwitch) -> Filter {
        let (filter, scale) = (self.filter, self.info.scale_factor());
        let (size, transform, edge) = (self.node.size(), self.transform.affine(), filter.blur.edge);
        let whole = Shape {
            transform,
            ..Shape::of_rect(Rect::from_center_size(Vec2::ZERO, size))
        };
        let sigma = filter.blur.sigma_in_texels(scale, self.info.physical_size().y).ok();
        let sigma = sigma.filter(|_| switch.is_on()).unwrap_or(Vec2::ZERO) * self.stretch();
        // A profile beside glass is the profile of the glass.
        let profile = self.profile.filter(|profile| !profile.is_uniform() && !self.has_glass);
        let shadows = filter
            .shadows
            .iter()
            .filter(|shadow| shadow.is_seen() && switch.is_on());
        let fade = self.fade();
        Filter {
            sigma: sigma.min(Vec2::splat(f32::MAX)),
            edge,
            border: (!edge.spreads()).then(|| Shape::of_rect(whole.bounds())),
            field: SigmaField::new(profile, size, transform * Affine2::from_translation(-0.5 * size)),
            outline: fade.map(|_| self.padding_box()),
            fade,
            colors: ColorMatrices::new(&filter.colors),
            line: self.line(),
            shadows: shadows.map(|shadow| self.shadow(shadow)).collect(),
            opacity: filter.opacity_in_range(),
            ..Filter::neutral(entity)
        }
    }

    /// The descendants of the node, in its rounded padding box.
    pub fn content(&self, entity: Entity) -> Filter {
        Filter {
            outline: Some(self.padding_box()),
            ..Filter::neutral(entity)
        }
    }

    /// How the node's transform scales lengths.
    fn stretch(&self) -> Vec2 {
        let stretch = scale_of(self.transform.affine().matrix2);
        if stretch.is_finite() { stretch } else { Vec2::ONE }
    }

    fn shadow(&self, shadow: &DropShadow) -> Shadow {
        let far = Vec2::splat(FAR as f32);
        let scale = self.info.scale_factor() * self.stretch();
        Shadow {
            offset: (shadow.offset * scale).clamp(-far, far),
            sigma: (shadow.radius / RADIUS_IN_SIGMAS * scale).min(Vec2::splat(f32::MAX)),
            width: 0.0,
            color: shadow.color.to_linear(),
            is_glow: shadow.is_glow,
            is_inset: shadow.is_inset,
        }
    }

    /// The visible line around the group. The root of the product of unequal scales keeps it as wide on all sides.
    fn line(&self) -> Option<Shadow> {
        let stretch = self.stretch();
        let scale = self.info.scale_factor() * (stretch.x * stretch.y).sqrt();
        let width = (self.filter.outline.seen_width() * scale).min(MOST_WIDTH);
        (width > 0.0).then(|| Shadow {
            width,
            ..self.shadow(&DropShadow::new(Vec2::ZERO, 0.0, self.filter.outline.color))
        })
    }

    /// The node's padding box, in which it fades its group and clips its descendants.
    fn padding_box(&self) -> Shape {
        let border = self.node.border();
        let center = 0.5 * (border.min_inset - border.max_inset);
        Shape {
            transform: self.transform.affine() * Affine2::from_translation(center),
            size: (self.node.size() - border.min_inset - border.max_inset).max(Vec2::ZERO),
            radii: inner_radii_of(self.node),
            is_soft: true,
        }
    }

    /// Which share of its opacity the group gains with every pixel of the padding box, inwards from the left, top, right and bottom: 0
    /// where it does not fade. `None` if it fades nowhere.
    fn fade(&self) -> Option<[f32; 4]> {
        let (scale, target) = (self.info.scale_factor(), self.info.physical_size().as_vec2());
        let (sides, size) = (self.filter.fades(), self.padding_box().size);
        let slopes = [0, 1, 2, 3].map(|side| match sides[side].resolve(scale, size[side % 2], target) {
            Ok(length) if length.is_finite() && length > 0.0 => length.recip().clamp(LEAST_SLOPE, LEAST_SLOPE.recip()),
            _ => 0.0,
        });
        (slopes != [0.0; 4]).then_some(slopes)
    }
}
