//! A rounded box in a viewport.

use super::rects::{NOWHERE, whole};
use bevy::math::{Affine2, IRect, Mat2, Rect, Vec2};

/// A rounded box in the viewport, in physical pixels.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Shape {
    /// From the box, centred on the origin, to the viewport.
    pub transform: Affine2,
    /// The size of the box before the transform.
    pub size: Vec2,
    /// The radii along x, and those along y: top left, top right, bottom right, bottom left.
    pub radii: [[f32; 4]; 2],
    /// Whether it is antialiased.
    pub is_soft: bool,
}

/// The radii of a box without round corners.
const SQUARE: [[f32; 4]; 2] = [[0.0; 4]; 2];

/// The corners of a box around the origin with sides of 1: top left, top right, bottom right, bottom left.
pub const CORNERS: [Vec2; 4] = [
    Vec2::new(-0.5, -0.5),
    Vec2::new(0.5, -0.5),
    Vec2::new(0.5, 0.5),
    Vec2::new(-0.5, 0.5),
];

/// The bounds of a quad.
pub fn bounds_of([first, others @ ..]: [Vec2; 4]) -> Rect {
    let start = Rect { min: first, max: first };
    others.iter().fold(start, |bounds, corner| bounds.union_point(*corner))
}

impl Shape {
    /// An upright rectangle with hard edges.
    pub fn of_rect(rect: Rect) -> Self {
        Self {
            transform: Affine2::from_translation(rect.center()),
            size: rect.size(),
            radii: SQUARE,
            is_soft: false,
        }
    }

    /// Its axis-aligned bounds in the viewport.
    pub fn bounds(&self) -> Rect {
        bounds_of(self.corners())
    }

    /// Top left, top right, bottom right, bottom left, in the viewport.
    pub fn corners(&self) -> [Vec2; 4] {
        CORNERS.map(|corner| self.transform.transform_point2(corner * self.size))
    }

    /// Whether it is an upright rectangle of whole pixels.
    pub fn is_on_pixels(&self) -> bool {
        let [min, _, max, _] = self.corners();
        let is_rectangle = self.transform.matrix2 == Mat2::IDENTITY && self.radii == SQUARE;
        is_rectangle && [min, max].iter().all(|corner| *corner == corner.round())
    }

    /// Whether it covers some pixels only in part.
    pub fn has_rim(&self) -> bool {
        self.is_soft && !self.is_on_pixels()
    }

    /// Pixels that it covers as a whole: of an upright box, those that are two pixels or more away from its edge.
    pub fn covered(&self) -> IRect {
        let matrix = self.transform.matrix2;
        let is_upright = matrix.x_axis.y == 0.0 && matrix.y_axis.x == 0.0;
        let (bounds, depth) = (self.bounds(), self.rim() * self.scale() + 2.0);
        let inside = Rect {
            min: bounds.min + depth,
            max: bounds.max - depth,
        };
        if is_upright { whole(inside) } else { NOWHERE }
    }

    /// How deep the rim reaches into the box, in the box's units: the depth of the middle of the largest corner's arc, plus a
    /// pixel for the antialiasing. An ellipse lies inside the corner of a circle with its larger radius.
    pub fn rim(&self) -> f32 {
        let largest = self.radii.into_iter().flatten().fold(0.0, f32::max);
        largest * (1.0 - 0.5_f32.sqrt()) + 1.0
    }

    /// The factors by which the transform scales lengths along x and y.
    pub fn scale(&self) -> Vec2 {
        scale_of(self.transform.matrix2)
    }

    /// Whether it has an area.
    pub fn is_drawable(&self) -> bool {
        let scale = self.scale();
        let has_area = self.size.cmpgt(Vec2::ZERO).all() && scale.cmpgt(Vec2::ZERO).all();
        has_area && scale.is_finite() && self.size.is_finite() && self.transform.is_finite()
    }
}

/// The factors by which a matrix scales standard deviations along the axes of the viewport: the lengths of its rows. A blur that turns
/// with its box has these deviations.
pub fn scale_of(matrix: Mat2) -> Vec2 {
    let rows = matrix.transpose();
    Vec2::new(rows.x_axis.length(), rows.y_axis.length())
}

#[cfg(test)]
mod tests {
    use super::*;
    use core::f32::consts::{FRAC_PI_2, FRAC_PI_4, PI};

    #[test]
    fn scales_turn_with_the_box() {
        assert_eq!(
            scale_of(Mat2::from_diagonal(Vec2::new(3.0, -1.0 / 3.0))),
            Vec2::new(3.0, 1.0 / 3.0)
        );
        assert_eq!(scale_of(Mat2::from_diagonal(Vec2::splat(2.0))), Vec2::splat(2.0));
        let turned = |angle: f32| scale_of(Mat2::from_angle(angle) * Mat2::from_diagonal(Vec2::new(4.0, 1.0)));
        for (angle, expected) in [
            (1e-5, Vec2::new(4.0, 1.0)),
            (FRAC_PI_4, Vec2::splat(8.5_f32.sqrt())),
            (FRAC_PI_2, Vec2::new(1.0, 4.0)),
            (PI, Vec2::new(4.0, 1.0)),
        ] {
            assert!((turned(angle) - expected).length() < 1e-4, "{angle}");
        }
    }

    #[test]
    fn pixels_away_from_edges_are_covered() {
        let square = Shape::of_rect(Rect::new(10.25, 10.0, 50.0, 31.0));
        assert_eq!(square.covered(), IRect::new(14, 13, 47, 28));
        let round = Shape {
            radii: [[10.0; 4]; 2],
            ..square
        };
        assert_eq!(round.covered(), IRect::new(17, 16, 44, 25));
        let turned = Shape {
            transform: Affine2::from_angle(0.1),
            ..square
        };
        assert_eq!(turned.covered(), NOWHERE);
        assert_eq!(Shape::of_rect(Rect::new(0.0, 0.0, 5.0, 50.0)).covered(), NOWHERE);
    }

    #[test]
    fn only_rectangles_on_whole_pixels_have_no_rim() {
        let shape = |min: f32, max: f32| Shape {
            is_soft: true,
            ..Shape::of_rect(Rect::from_corners(Vec2::splat(min), Vec2::splat(max)))
        };
        let whole = shape(10.0, 21.0);
        assert!(!whole.has_rim());
        assert!(shape(10.25, 21.25).has_rim());
        let round = Shape {
            radii: [[0.0, 4.0, 0.0, 0.0]; 2],
            ..whole
        };
        assert!(round.has_rim());
        let hard = Shape {
            is_soft: false,
            ..round
        };
        assert!(!hard.has_rim());
    }
}
