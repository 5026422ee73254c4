//! Clips and corners of Bevy's user interface (feature `ui`): all code that computes with a `CalculatedClip` or a border radius.

use crate::schedule::Clip;
use bevy::math::Affine2;
use bevy::prelude::*;
use bevy::ui::{CalculatedClip, ResolvedBorderRadius, UiGlobalTransform};

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
