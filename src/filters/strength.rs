//! What a filter is on its node, in physical pixels.

use crate::paint::ui_clip::inner_radii_of;
use crate::plan::blurs;
use crate::schedule::{Border, Clip, Clips, FAR, Filter, Line, Shade, Shadow, Shape, reach_of, reads_of, scale_of};
use crate::settings::{
    BackdropBlur, BlurProfile, BlurSwitch, ColorMatrices, DropShadow, GroupOutline, RADIUS_IN_SIGMAS, UiFilter,
};
use crate::sigma_field::SigmaField;
use bevy::ecs::query::QueryData;
use bevy::math::Affine2;
use bevy::prelude::*;
use bevy::ui::{ComputedNode, ComputedUiRenderTargetInfo, ComputedUiTargetCamera, UiGlobalTransform};
use core::ops::Range;

/// The least slope of a fade, and one over the greatest.
const LEAST_SLOPE: f32 = 1e-6;

/// The greatest width of a line around a group, in physical pixels.
const MOST_WIDTH: f32 = 16.0;

/// A node with a filter.
#[derive(QueryData)]
pub struct FilterData {
    filter: &'static UiFilter,
    profile: Option<&'static BlurProfile>,
    has_glass: Has<BackdropBlur>,
    node: &'static ComputedNode,
    transform: &'static UiGlobalTransform,
    info: &'static ComputedUiRenderTargetInfo,
    pub target: &'static ComputedUiTargetCamera,
}

/// A filter on a node.
#[derive(Clone, Copy)]
pub struct NodeFilter<'a> {
    pub filter: &'a UiFilter,
    pub profile: Option<&'a BlurProfile>,
    pub node: &'a ComputedNode,
    pub info: &'a ComputedUiRenderTargetInfo,
    pub transform: &'a UiGlobalTransform,
    pub switch: BlurSwitch,
}

impl<'a> NodeFilter<'a> {
    pub fn new(data: FilterDataItem<'a, '_>, switch: BlurSwitch) -> Self {
        Self {
            filter: data.filter,
            // A profile beside glass is the profile of the glass.
            profile: data.profile.filter(|profile| !profile.is_uniform() && !data.has_glass),
            node: data.node,
            info: data.info,
            transform: data.transform,
            switch,
        }
    }

    /// The standard deviations of the group's blur. A radius out of range means no blur; `validation` reports it.
    pub fn sigma(self) -> Vec2 {
        if !self.switch.is_on() {
            return Vec2::ZERO;
        }
        let (scale, height) = (self.info.scale_factor(), self.info.physical_size().y);
        let sigma = self.filter.blur.sigma_in_texels(scale, height);
        (sigma.unwrap_or(Vec2::ZERO) * self.stretch()).min(Vec2::splat(f32::MAX))
    }

    /// How the node's transform scales lengths.
    fn stretch(self) -> Vec2 {
        let stretch = scale_of(self.transform.affine().matrix2);
        if stretch.is_finite() { stretch } else { Vec2::ONE }
    }

    /// The visible shadows of the group.
    pub fn shadows(self) -> impl Iterator<Item = Shadow> + use<'a> {
        let far = Vec2::splat(FAR as f32);
        let scale = self.info.scale_factor() * self.stretch();
        let is_seen = move |shadow: &&DropShadow| shadow.is_seen() && self.switch.is_on();
        self.filter.shadows.iter().filter(is_seen).map(move |shadow| {
            let shade = Shade {
                color: shadow.color.to_linear(),
                is_glow: shadow.is_glow,
            };
            Shadow {
                offset: (shadow.offset * scale).clamp(-far, far),
                sigma: (shadow.radius / RADIUS_IN_SIGMAS * scale).min(Vec2::splat(f32::MAX)),
                shade,
                is_inset: shadow.is_inset,
            }
        })
    }

    /// The visible line around the group. The root of the product of unequal scales keeps it as wide on all sides.
    fn line(self) -> Option<Line> {
        let GroupOutline { color, .. } = self.filter.outline;
        let stretch = self.stretch();
        let scale = self.info.scale_factor() * (stretch.x * stretch.y).sqrt();
        let width = (self.filter.outline.seen_width() * scale).min(MOST_WIDTH);
        (width > 0.0).then(|| Line {
            width,
            shade: Shade {
                color: color.to_linear(),
                is_glow: false,
            },
        })
    }

    /// How far the filter moves colours.
    pub fn reach(self) -> Vec2 {
        let reach = |shadow: Shadow| reach_of(shadow.sigma).as_vec2() + shadow.offset.abs().ceil();
        let blur = reads_of(self.sigma(), self.filter.blur.edge).as_vec2();
        let line = self.line().map_or(0.0, |line| line.width.ceil());
        blur + line + self.shadows().map(reach).fold(Vec2::ZERO, Vec2::max)
    }

    /// The node's padding box, in which it fades its group and clips its descendants.
    fn padding_box(self) -> Shape {
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
    fn fade(self) -> Option<[f32; 4]> {
        let (scale, target) = (self.info.scale_factor(), self.info.physical_size().as_vec2());
        let (sides, size) = (self.filter.fades(), self.padding_box().size);
        let slopes = [0, 1, 2, 3].map(|side| match sides[side].resolve(scale, size[side % 2], target) {
            Ok(length) if length.is_finite() && length > 0.0 => length.recip().clamp(LEAST_SLOPE, LEAST_SLOPE.recip()),
            _ => 0.0,
        });
        (slopes != [0.0; 4]).then_some(slopes)
    }

    /// Whether it changes the group, and not only clips what lies inside of the node.
    pub fn changes(self) -> bool {
        let filter = self.filter;
        blurs(self.sigma())
            || !filter.blur.edge.spreads()
            || filter.opacity_in_range() < 1.0
            || !filter.matrices().is_neutral()
            || self.shadows().next().is_some()
            || self.line().is_some()
            || self.fade().is_some()
    }

    /// The group of a node with its descendants, which have these places in the stack.
    pub fn group(self, entity: Entity, nodes: Range<u32>, clip: Option<Clip>, clips: Clips) -> Filter {
        let (size, transform, edge) = (self.node.size(), self.transform.affine(), self.filter.blur.edge);
        let whole = Shape {
            transform,
            ..Shape::of_rect(Rect::from_center_size(Vec2::ZERO, size))
        };
        Filter {
            entity,
            node: nodes.start,
            nodes,
            clip,
            clips,
            sigma: self.sigma(),
            border: (!edge.spreads()).then(|| Border {
                shape: Shape::of_rect(whole.bounds()),
                edge,
            }),
            field: SigmaField::new(self.profile, size, transform * Affine2::from_translation(-0.5 * size)),
            outline: self.fade().map(|_| self.padding_box()),
            fade: self.fade(),
            colors: self.filter.matrices(),
            line: self.line(),
            shadows: self.shadows().collect(),
            opacity: self.filter.opacity_in_range(),
        }
    }

    /// The descendants of a node at this place, which end before another one, in the rounded padding box of the node.
    pub fn content(self, entity: Entity, node: u32, end: u32, clip: Option<Clip>, clips: Clips) -> Filter {
        Filter {
            entity,
            node,
            nodes: node + 1..end,
            clip,
            clips,
            sigma: Vec2::ZERO,
            border: None,
            field: None,
            outline: Some(self.padding_box()),
            fade: None,
            colors: ColorMatrices::NEUTRAL,
            line: None,
            shadows: Vec::new(),
            opacity: 1.0,
        }
    }
}
