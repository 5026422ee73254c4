//! Rectangles of pixels, in the viewport or beyond it. The position of an empty one means nothing.

use bevy::math::{IRect, IVec2, Rect, URect, UVec2, UVec4, Vec2};

/// Far beyond all textures.
pub const FAR: i32 = 1 << 24;

/// Where an item of unknown bounds may paint.
pub const EVERYWHERE: IRect = IRect {
    min: IVec2::splat(-FAR),
    max: IVec2::splat(FAR),
};

/// The empty rectangle.
pub const NOWHERE: IRect = IRect {
    min: IVec2::ZERO,
    max: IVec2::ZERO,
};

/// The rectangle of this size that begins at a pixel.
pub fn within(origin: IVec2, size: IVec2) -> IRect {
    IRect {
        min: origin,
        max: origin + size,
    }
}

/// Pixels of a texture, none of which lies outside.
pub fn as_texels(rect: IRect) -> URect {
    URect {
        min: rect.min.as_uvec2(),
        max: rect.max.as_uvec2(),
    }
}

/// The pixels between two corners, as far as coordinates reach.
fn between(min: Vec2, max: Vec2) -> IRect {
    let limit = Vec2::splat(FAR as f32);
    let [min, max] = [min, max].map(|corner| corner.clamp(-limit, limit).as_ivec2());
    common(EVERYWHERE, IRect { min, max })
}

/// The pixels whose centres lie in a clip.
pub fn pixels(clip: Option<Rect>) -> IRect {
    clip.map_or(EVERYWHERE, |clip| {
        between((clip.min - 0.5).ceil(), (clip.max - 0.5).ceil())
    })
}

/// All pixels that a rectangle touches.
pub fn touched(bounds: Rect) -> IRect {
    between(bounds.min.floor(), bounds.max.ceil())
}

/// The pixels that lie in a rectangle as a whole, or up to a thousandth.
pub fn whole(bounds: Rect) -> IRect {
    const LEAST: f32 = 1e-3;
    between((bounds.min - LEAST).ceil(), (bounds.max + LEAST).floor())
}

/// The smallest rectangle that contains both.
pub fn joined(one: IRect, other: IRect) -> IRect {
    match (one.is_empty(), other.is_empty()) {
        (true, _) => other,
        (_, true) => one,
        _ => one.union(other),
    }
}

/// The intersection of both.
pub fn common(one: IRect, other: IRect) -> IRect {
    let both = IRect {
        min: one.min.max(other.min),
        max: one.max.min(other.max),
    };
    if both.is_empty() { NOWHERE } else { both }
}

/// A rectangle with a border of this width and height. An empty one stays empty.
pub fn grown(rect: IRect, by: IVec2) -> IRect {
    with_corners_moved(rect, -by, by)
}

/// A rectangle moved by an offset.
pub fn moved(rect: IRect, by: IVec2) -> IRect {
    with_corners_moved(rect, by, by)
}

fn with_corners_moved(rect: IRect, first: IVec2, last: IVec2) -> IRect {
    if rect.is_empty() {
        return NOWHERE;
    }
    let (min, max) = (rect.min.saturating_add(first), rect.max.saturating_add(last));
    common(EVERYWHERE, IRect { min, max })
}

/// A part of a texture to paint on. Its pixels are pixels of a camera's viewport.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Canvas {
    /// The first pixel.
    pub origin: IVec2,
    /// The number of pixels along x and y.
    pub size: Vec2,
    /// From a pixel to a texel.
    pub to_texel: IVec2,
}

impl Canvas {
    /// The viewport of a camera, which is a part of the camera's texture.
    pub fn of_camera(viewport: URect) -> Self {
        Self {
            origin: IVec2::ZERO,
            size: viewport.size().as_vec2(),
            to_texel: viewport.min.as_ivec2(),
        }
    }

    /// The part of a page, from this place on, that shows these texels of a camera's texture.
    pub fn of_texels(texels: URect, viewport: URect, place: UVec2) -> Self {
        let origin = texels.min.as_ivec2() - viewport.min.as_ivec2();
        Self {
            origin,
            size: texels.size().as_vec2(),
            to_texel: place.as_ivec2() - origin,
        }
    }

    /// Its pixels.
    pub fn pixels(self) -> IRect {
        within(self.origin, self.size.as_ivec2())
    }

    /// Its texels: the position of the first, and the number along x and y.
    pub fn texels(self) -> UVec4 {
        let place = (self.origin + self.to_texel).as_uvec2();
        UVec4::from((place, self.size.as_uvec2()))
    }

    /// From one of its texels to the same pixel's texel in the texture of a camera with this viewport.
    pub fn to_screen(self, viewport: URect) -> IVec2 {
        viewport.min.as_ivec2() - self.to_texel
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rectangles_end_far_away_and_nothing_stays_nothing() {
        let rect = IRect::new(-3, 5, 10, 7);
        assert_eq!(grown(rect, IVec2::new(2, 1)), IRect::new(-5, 4, 12, 8));
        assert_eq!(grown(EVERYWHERE, IVec2::splat(i32::MAX)), EVERYWHERE);
        assert_eq!(grown(NOWHERE, IVec2::ONE), NOWHERE);
        assert_eq!(moved(rect, IVec2::new(1, -1)), IRect::new(-2, 4, 11, 6));
        assert_eq!(joined(NOWHERE, rect), rect);
        assert_eq!(common(rect, IRect::new(10, 0, 20, 20)), NOWHERE);
    }

    #[test]
    fn clips_take_centres_and_bounds_take_all() {
        let rect = Rect::new(0.4, 0.6, 9.5, 9.6);
        assert_eq!(pixels(Some(rect)), IRect::new(0, 1, 9, 10));
        assert_eq!(touched(rect), IRect::new(0, 0, 10, 10));
        assert_eq!(whole(rect), IRect::new(1, 1, 9, 9));
        assert_eq!(whole(Rect::new(0.0004, 0.2, 9.0, 0.9)), NOWHERE);
        assert_eq!(pixels(None), EVERYWHERE);
        let infinite = Rect::from_corners(Vec2::splat(f32::NEG_INFINITY), Vec2::splat(f32::INFINITY));
        assert_eq!(pixels(Some(infinite)), EVERYWHERE);
    }
}
