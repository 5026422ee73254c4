//! How strong filters are, in physical pixels.

use crate::schedule::{FAR, Shadow, reach_of, scale_of};
use crate::settings::{BlurSwitch, DropShadow, RADIUS_IN_SIGMAS, UiFilter};
use bevy::prelude::*;
use bevy::ui::{ComputedUiRenderTargetInfo, UiGlobalTransform};

/// A filter on a node.
#[derive(Clone, Copy)]
pub struct NodeFilter<'a> {
    pub filter: &'a UiFilter,
    pub info: &'a ComputedUiRenderTargetInfo,
    pub transform: &'a UiGlobalTransform,
    pub switch: BlurSwitch,
}

impl<'a> NodeFilter<'a> {
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
            let color = shadow.color.to_linear();
            let [red, green, blue] = [color.red, color.green, color.blue].map(|value| value * color.alpha);
            Shadow {
                offset: (shadow.offset * scale).clamp(-far, far),
                sigma: (shadow.radius / RADIUS_IN_SIGMAS * scale).min(Vec2::splat(f32::MAX)),
                color: [red, green, blue, if shadow.is_glow { 0.0 } else { color.alpha }],
                is_inset: shadow.is_inset,
            }
        })
    }

    /// How far the filter moves colours.
    pub fn reach(self) -> Vec2 {
        let reach = |shadow: Shadow| reach_of(shadow.sigma).as_vec2() + shadow.offset.abs().ceil();
        reach_of(self.sigma()).as_vec2() + self.shadows().map(reach).fold(Vec2::ZERO, Vec2::max)
    }
}
