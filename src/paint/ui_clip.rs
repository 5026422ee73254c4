//! Clips and corners of Bevy's user interface: all code that computes with a `CalculatedClip` or a border radius.

use crate::schedule::Clip;
use bevy::math::Affine2;
use bevy::prelude::*;
use bevy::ui::{CalculatedClip, ComputedNode, ResolvedBorderRadius, UiGlobalTransform};

/// What a node's clip leaves visible.
pub fn clip_of(clip: Option<&CalculatedClip>) -> Option<Clip> {
    clip.map(|clip| Clip::inside_all([(clip.clip, Affine2::IDENTITY)]))
}

/// The bounds of what the clip of an extracted item leaves visible.
pub fn visible(clip: &Option<Rect>) -> Option<Rect> {
    *clip
}

/// The radii of a box along x and y: top left, top right, bottom right, bottom left.
pub fn radii_of(radius: ResolvedBorderRadius) -> [[f32; 4]; 2] {
    [radius.into(); 2]
}

/// The radii of a node's padding box: those of the node, without the wider of the borders at each corner, as Bevy draws backgrounds.
/// (`ComputedNode::inner_radius` does not take the borders off.)
pub fn inner_radii_of(node: &ComputedNode) -> [[f32; 4]; 2] {
    let border = node.border();
    let ([left, top], [right, bottom]) = (border.min_inset.to_array(), border.max_inset.to_array());
    let widths = [left.max(top), right.max(top), right.max(bottom), left.max(bottom)];
    let largest = (0.5 * (node.size() - border.min_inset - border.max_inset).min_element()).max(0.0);
    radii_of(node.border_radius()).map(|radii| [0, 1, 2, 3].map(|i| (radii[i] - widths[i]).max(0.0).min(largest)))
}

/// The clip that clips nothing. It is finite, because Bevy computes with its numbers.
pub fn everything() -> CalculatedClip {
    let clip = Rect::from_center_half_size(Vec2::ZERO, Vec2::splat(1e9));
    CalculatedClip { clip }
}

/// Whether two clips are the same.
pub fn is_same(one: &CalculatedClip, other: &CalculatedClip) -> bool {
    one.clip == other.clip
}

/// A clip that leaves everything visible that is no farther away than this.
pub fn grown(clip: &CalculatedClip, reach: Vec2) -> CalculatedClip {
    let Rect { min, max } = clip.clip;
    CalculatedClip {
        clip: Rect {
            min: min - reach,
            max: max + reach,
        },
    }
}

/// The intersection of a clip with `own`, the clip of a node with this transform, which counts from the node's centre.
pub fn clipped(clip: Option<&CalculatedClip>, own: Rect, transform: &UiGlobalTransform) -> CalculatedClip {
    let [min, max] = [own.min, own.max].map(|corner| corner + transform.translation);
    let own = Rect { min, max };
    let clip = clip.map_or(own, |clip| clip.clip.intersect(own));
    CalculatedClip { clip }
}
