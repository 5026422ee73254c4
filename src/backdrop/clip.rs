//! What Bevy's user interface clips (feature `ui`): all that is done with Bevy's own clips.

use bevy::prelude::*;
use bevy::ui::{CalculatedClip, UiGlobalTransform};

/// The bounds of what a clip leaves to be seen, in pixels of the viewport.
pub fn clip_of(clip: Option<&CalculatedClip>) -> Option<Rect> {
    clip.map(|clip| clip.clip)
}

/// The clip of what is not clipped. Where it is a number, Bevy computes with it, so it is finite.
pub fn everything() -> CalculatedClip {
    let clip = Rect::from_center_half_size(Vec2::ZERO, Vec2::splat(1e9));
    CalculatedClip { clip }
}

/// The clip that leaves nothing to be seen.
pub fn nothing() -> CalculatedClip {
    let clip = Rect::default();
    CalculatedClip { clip }
}

/// Whether two clips are the same.
pub fn is_same(one: &CalculatedClip, other: &CalculatedClip) -> bool {
    one.clip == other.clip
}

/// What is left where a node with this transform clips, too: to a box around its own centre.
pub fn clipped(clip: Option<&CalculatedClip>, own: Rect, transform: &UiGlobalTransform) -> CalculatedClip {
    let [min, max] = [own.min, own.max].map(|corner| corner + transform.translation);
    let own = Rect { min, max };
    let clip = clip.map_or(own, |clip| clip.clip.intersect(own));
    CalculatedClip { clip }
}
