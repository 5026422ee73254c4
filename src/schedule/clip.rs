//! What clips leave visible of a viewport.

use super::shape::{CORNERS, bounds_of};
use bevy::math::{Affine2, Rect, Vec2};

/// The number of turned boxes that a clip holds. The shader tests every pixel against each of them.
const CLIP_BOXES: usize = 2;

/// Beyond all textures. Sides that do not clip are infinite, and zero times infinity is NaN.
const FAR: Vec2 = Vec2::splat(1e6);

/// What the ancestors of a node leave visible, in pixels of the viewport.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Clip {
    /// The intersection of all upright boxes. It may be infinite.
    pub rect: Rect,
    /// The boxes that are turned. Nested boxes that are turned alike are one box; of more than [`CLIP_BOXES`], the others only
    /// clip by their bounds, which are part of `rect`.
    pub boxes: [Option<ClipBox>; CLIP_BOXES],
}

/// A box that is turned or sheared against the viewport.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ClipBox {
    /// From the viewport to the box, whose center is the origin.
    pub to_box: Affine2,
    /// Half of its sides.
    pub half_size: Vec2,
}

impl From<Rect> for Clip {
    fn from(rect: Rect) -> Self {
        let boxes = [None; CLIP_BOXES];
        Self { rect, boxes }
    }
}

impl Clip {
    /// What lies in all these rectangles, to whose coordinates the transforms lead.
    pub fn inside_all(rects: impl IntoIterator<Item = (Rect, Affine2)>) -> Self {
        let everything = Self::from(Rect {
            min: Vec2::NEG_INFINITY,
            max: Vec2::INFINITY,
        });
        rects
            .into_iter()
            .fold(everything, |all, (rect, to_local)| all.inside(rect, to_local))
    }

    /// The part of it that lies in a rectangle, to whose coordinates `to_local` leads.
    fn inside(self, rect: Rect, to_local: Affine2) -> Self {
        let (min, max) = (rect.min.max(-FAR), rect.max.min(FAR));
        let (x_axis, y_axis) = (to_local.matrix2.x_axis, to_local.matrix2.y_axis);
        if x_axis.y != 0.0 || y_axis.x != 0.0 {
            let to_center = Affine2::from_translation(-0.5 * (min + max));
            return self.inside_box(ClipBox {
                to_box: to_center * to_local,
                half_size: (0.5 * (max - min)).max(Vec2::ZERO),
            });
        }
        let to_viewport = to_local.inverse();
        let corners = [min, max].map(|corner| to_viewport.transform_point2(corner));
        let is_empty = min.cmpgt(max).any();
        let rect = if is_empty {
            Rect::default()
        } else {
            Rect::from_corners(corners[0], corners[1])
        };
        Self {
            rect: self.rect.intersect(rect),
            ..self
        }
    }

    /// What both leave visible.
    pub fn and(self, other: Self) -> Self {
        let rect = self.rect.intersect(other.rect);
        let both = Self { rect, ..self };
        other.boxes.into_iter().flatten().fold(both, Self::inside_box)
    }

    fn inside_box(mut self, new: ClipBox) -> Self {
        for slot in &mut self.boxes {
            match slot {
                Some(old) if old.to_box.matrix2 != new.to_box.matrix2 => {}
                Some(old) => {
                    *old = old.and(new);
                    return self;
                }
                None => {
                    *slot = Some(new);
                    return self;
                }
            }
        }
        self.rect = self.rect.intersect(new.bounds());
        self
    }

    /// The bounds of what is visible. They may be infinite.
    pub fn bounds(self) -> Rect {
        let boxes = self.boxes.iter().flatten();
        boxes.fold(self.rect, |all, clip| all.intersect(clip.bounds()))
    }

    /// Whether its bounds are not all that clips.
    pub fn is_turned(&self) -> bool {
        self.boxes[0].is_some()
    }
}

/// What two clips leave visible, `None` if they leave everything.
pub fn both(one: Option<Clip>, other: Option<Clip>) -> Option<Clip> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one.and(other)),
        (one, other) => one.or(other),
    }
}

impl ClipBox {
    /// The intersection with a box that is turned alike.
    fn and(self, other: Self) -> Self {
        let offset = self.to_box.translation - other.to_box.translation;
        let min = (-self.half_size).max(offset - other.half_size);
        let max = self.half_size.min(offset + other.half_size);
        Self {
            to_box: Affine2::from_translation(-0.5 * (min + max)) * self.to_box,
            half_size: (0.5 * (max - min)).max(Vec2::ZERO),
        }
    }

    fn bounds(&self) -> Rect {
        let to_viewport = self.to_box.inverse();
        bounds_of(CORNERS.map(|corner| to_viewport.transform_point2(2.0 * corner * self.half_size)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use core::f32::consts::FRAC_PI_4;

    /// To a box of this angle around a point.
    fn to_local(angle: f32, center: Vec2) -> Affine2 {
        Affine2::from_angle_translation(angle, center).inverse()
    }

    fn centered(size: Vec2) -> Rect {
        Rect::from_center_size(Vec2::ZERO, size)
    }

    fn assert_close(got: Rect, expected: Rect) {
        let off = (got.min - expected.min).abs().max((got.max - expected.max).abs());
        assert!(off.max_element() < 1e-3, "{got:?}, {expected:?} expected");
    }

    #[test]
    fn upright_boxes_are_one_rectangle() {
        let upright = (centered(Vec2::new(40.0, 20.0)), to_local(0.0, Vec2::new(50.0, 60.0)));
        assert_eq!(Clip::inside_all([upright]), Rect::new(30.0, 50.0, 70.0, 70.0).into());
        let mirrored = Affine2::from_scale_angle_translation(Vec2::new(-2.0, 1.0), 0.0, Vec2::new(60.0, 60.0));
        let half = Rect {
            min: Vec2::new(0.0, f32::NEG_INFINITY),
            max: Vec2::new(10.0, f32::INFINITY),
        };
        let clip = Clip::inside_all([upright, (half, mirrored.inverse())]);
        assert_eq!(clip, Rect::new(40.0, 50.0, 60.0, 70.0).into());
        let empty = Rect {
            min: Vec2::new(5.0, 0.0),
            max: Vec2::new(4.0, 9.0),
        };
        assert!(Clip::inside_all([(empty, Affine2::IDENTITY)]).bounds().is_empty());
    }

    #[test]
    fn boxes_that_are_turned_alike_are_one_box() {
        let outer = (centered(Vec2::new(40.0, 20.0)), to_local(FRAC_PI_4, Vec2::splat(100.0)));
        let reach = 30.0 * 0.5_f32.sqrt();
        assert_close(
            Clip::inside_all([outer]).bounds(),
            Rect::from_center_half_size(Vec2::splat(100.0), Vec2::splat(reach)),
        );
        // Ten pixels farther along the box's own x, so that 30 of 40 pixels stay.
        let along = Vec2::from_angle(FRAC_PI_4);
        let x_only = Rect {
            min: Vec2::new(-20.0, f32::NEG_INFINITY),
            max: Vec2::new(20.0, f32::INFINITY),
        };
        let both = Clip::inside_all([outer, (x_only, to_local(FRAC_PI_4, 100.0 + 10.0 * along))]);
        assert_eq!(both.boxes[1], None);
        let clip = both.boxes[0].expect("it is turned");
        assert!((clip.half_size - Vec2::new(15.0, 10.0)).length() < 0.1, "{clip:?}");
        let center = clip.to_box.inverse().translation;
        assert!((center - (100.0 + 5.0 * along)).length() < 0.1, "{center}");
    }

    #[test]
    fn further_boxes_clip_by_their_bounds() {
        let clip = |angle: f32| Clip::inside_all([(centered(Vec2::splat(40.0)), to_local(angle, Vec2::ZERO))]);
        let all = [0.1, 0.2, 0.3].map(clip).into_iter().reduce(Clip::and);
        let all = all.expect("there are three");
        assert_eq!(all.boxes, [clip(0.1).boxes[0], clip(0.2).boxes[0]]);
        assert_close(all.rect, clip(0.3).bounds());
        assert_eq!(both(Some(clip(0.1)), None), Some(clip(0.1)));
    }
}
