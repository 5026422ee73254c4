//! Rounded boxes under any transform, with the coverage that Bevy's user interface gives them, and rectangular clips.

use std::ops::Range;

/// A coverage this close to 0 or 1 counts as 0 or 1. This close to its edge, a box may miss a pixel or cover it.
pub const DOUBT: f64 = 0.01;

/// The distance beyond the viewport, in pixels, from which blurs of a few pixels bring little into it.
const BROUGHT_IN: f64 = 24.0;

/// A rectangle: its least and its greatest corner. It may be infinite, and it is empty if they are in the wrong order.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Clip {
    pub min: [f64; 2],
    pub max: [f64; 2],
}

impl Clip {
    /// Clips nothing.
    pub const EVERYTHING: Self = Self {
        min: [f64::NEG_INFINITY; 2],
        max: [f64::INFINITY; 2],
    };

    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self {
            min: [0, 1].map(|axis| self.min[axis].max(other.min[axis])),
            max: [0, 1].map(|axis| self.max[axis].min(other.max[axis])),
        }
    }

    /// The rectangle with everything within a distance.
    #[must_use]
    pub fn grown(self, by: [f64; 2]) -> Self {
        Self {
            min: [0, 1].map(|axis| self.min[axis] - by[axis]),
            max: [0, 1].map(|axis| self.max[axis] + by[axis]),
        }
    }

    /// Whether it contains the centre of a pixel.
    #[must_use]
    pub fn contains(self, [x, y]: [f64; 2]) -> bool {
        let centre = [x + 0.5, y + 0.5];
        (0..2).all(|axis| self.min[axis] <= centre[axis] && centre[axis] < self.max[axis])
    }
}

/// A rounded box. Lengths are in physical pixels of the viewport, whose top left corner is the origin.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Shape {
    pub centre: [f64; 2],
    /// The sides of the box, before its transform.
    pub size: [f64; 2],
    /// The steps in the viewport for one pixel along the box's own x, and for one along its own y.
    pub axes: [[f64; 2]; 2],
    /// Top left, top right, bottom right, bottom left; before the transform.
    pub radii: [f64; 4],
}

impl Shape {
    /// The box without a border of these widths: left, top, right, bottom. Its corners are less round, by the wider one at each.
    #[must_use]
    pub fn inset(&self, [left, top, right, bottom]: [f64; 4]) -> Self {
        let by = [0.5 * (left - right), 0.5 * (top - bottom)];
        let size = [self.size[0] - left - right, self.size[1] - top - bottom];
        let wider = [left.max(top), right.max(top), right.max(bottom), left.max(bottom)];
        let most = 0.5 * size[0].min(size[1]);
        Self {
            centre: [0, 1].map(|axis| self.centre[axis] + by[0] * self.axes[0][axis] + by[1] * self.axes[1][axis]),
            size,
            radii: [0, 1, 2, 3].map(|corner| (self.radii[corner] - wider[corner]).max(0.0).min(most)),
            ..*self
        }
    }

    /// The box with this much around it. Sharp corners stay sharp.
    #[must_use]
    pub fn grown(&self, by: f64) -> Self {
        Self {
            size: self.size.map(|side| side + 2.0 * by),
            radii: self.radii.map(|radius| if radius > 0.0 { radius + by } else { 0.0 }),
            ..*self
        }
    }

    /// The centre of a pixel of the viewport, in the box's own pixels from its centre.
    #[must_use]
    pub fn local(&self, [x, y]: [f64; 2]) -> [f64; 2] {
        let [[xx, xy], [yx, yy]] = self.axes;
        let [dx, dy] = [x + 0.5 - self.centre[0], y + 0.5 - self.centre[1]];
        let determinant = xx * yy - xy * yx;
        [(dx * yy - dy * yx) / determinant, (dy * xx - dx * xy) / determinant]
    }

    /// A vector of the viewport in the box's own pixels.
    #[must_use]
    pub fn local_vector(&self, [x, y]: [f64; 2]) -> [f64; 2] {
        let [to, from] = [[x, y], [0.0; 2]].map(|by| self.local([self.centre[0] + by[0], self.centre[1] + by[1]]));
        [to[0] - from[0], to[1] - from[1]]
    }

    /// The radius of the corner next to a point.
    #[must_use]
    pub fn radius(&self, [x, y]: [f64; 2]) -> f64 {
        self.radii[match (x > 0.0, y > 0.0) {
            (false, false) => 0,
            (true, false) => 1,
            (true, true) => 2,
            (false, true) => 3,
        }]
    }

    /// How far a point is beyond the centre of the arc next to it, along both axes.
    fn beyond_arc(&self, [x, y]: [f64; 2]) -> [f64; 2] {
        let radius = self.radius([x, y]);
        [
            x.abs() - 0.5 * self.size[0] + radius,
            y.abs() - 0.5 * self.size[1] + radius,
        ]
    }

    /// The distance of a point of the box from its rounded outline, negative inside: `sd_rounded_box` of Bevy's `ui.wgsl`.
    #[must_use]
    pub fn distance(&self, point: [f64; 2]) -> f64 {
        let from_arc = self.beyond_arc(point);
        let from_centre = if from_arc.into_iter().all(|distance| distance > 0.0) {
            from_arc[0].hypot(from_arc[1])
        } else {
            from_arc[0].max(from_arc[1])
        };
        from_centre - self.radius(point)
    }

    /// How far a point is outside the box without its radii. The GPU rasterises only that box.
    #[must_use]
    pub fn beyond(&self, [x, y]: [f64; 2]) -> f64 {
        (x.abs() - 0.5 * self.size[0]).max(y.abs() - 0.5 * self.size[1])
    }

    /// The covered share of a pixel.
    #[must_use]
    pub fn coverage(&self, pixel: [f64; 2], is_soft: bool) -> f64 {
        let point = self.local(pixel);
        if self.beyond(point) > 0.0 {
            return 0.0;
        }
        let distance = self.distance(point);
        if is_soft {
            (0.5 - distance).clamp(0.0, 1.0)
        } else {
            f64::from(u8::from(distance < 0.0))
        }
    }

    /// The share of a pixel that the box covers without its border, or, with `is_border`, the border alone.
    #[must_use]
    pub fn part(&self, pixel: [f64; 2], border: [f64; 4], is_border: bool) -> f64 {
        let point = self.local(pixel);
        if self.beyond(point) > 0.0 {
            return 0.0;
        }
        let inner = self.inset(border);
        let inside = inner.distance(inner.local(pixel));
        let distance = if is_border {
            self.distance(point).max(-inside)
        } else {
            inside
        };
        (0.5 - distance).clamp(0.0, 1.0)
    }

    /// The share of a pixel inside the outline, also of pixels whose centres lie outside of the box.
    #[must_use]
    pub fn outlined(&self, pixel: [f64; 2]) -> f64 {
        let point = self.local(pixel);
        let [x, y] = self.normal(point);
        // Distances are in the box's own pixels: how they change from one pixel to the next.
        let [[xx, xy], [yx, yy]] = self.axes;
        let slope = (x * yy - y * xy).hypot(y * xx - x * yx) / (xx * yy - xy * yx).abs();
        (0.5 - self.distance(point) / slope).clamp(0.0, 1.0)
    }

    /// The share of a pixel if the box fades over these lengths, inwards from the left, top, right and bottom.
    #[must_use]
    pub fn faded(&self, pixel: [f64; 2], lengths: [f64; 4]) -> f64 {
        let ([x, y], [width, height]) = (self.local(pixel), self.size);
        let inwards = [0.5 * width + x, 0.5 * height + y, 0.5 * width - x, 0.5 * height - y];
        let sides = inwards.into_iter().zip(lengths).filter(|(_, length)| *length > 0.0);
        sides
            .map(|(inwards, length)| (inwards / length).clamp(0.0, 1.0))
            .product()
    }

    /// The direction in which the distance from the outline grows.
    fn normal(&self, [x, y]: [f64; 2]) -> [f64; 2] {
        let from_arc = self.beyond_arc([x, y]);
        let sides = [x, y].map(|place| if place < 0.0 { -1.0 } else { 1.0 });
        if from_arc.into_iter().all(|distance| distance > 0.0) {
            let length = from_arc[0].hypot(from_arc[1]);
            return [0, 1].map(|axis| sides[axis] * from_arc[axis] / length);
        }
        if from_arc[0] > from_arc[1] {
            [sides[0], 0.0]
        } else {
            [0.0, sides[1]]
        }
    }

    /// Whether no edge of it is nearer to the centre of a pixel than a rasteriser rounds: to 1/256.
    #[must_use]
    pub fn is_certain(&self, viewport: [usize; 2]) -> bool {
        let [[_, xy], [yx, _]] = self.axes;
        if [xy, yx] == [0.0; 2] {
            let Clip { min, max } = self.bounds();
            let from_centre = |edge: f64| (edge - 0.5 - (edge - 0.5).round()).abs();
            return min.into_iter().chain(max).all(|edge| from_centre(edge) > 2.0 / 256.0);
        }
        let Clip { min, max } = self.bounds().grown([1.0; 2]);
        // Blurs bring pixels from beyond the viewport into it.
        let [columns, rows] = [0, 1].map(|axis| {
            let last = max[axis].min(viewport[axis] as f64 + BROUGHT_IN);
            min[axis].max(-BROUGHT_IN) as i64..=last as i64
        });
        rows.into_iter().all(|y| {
            let is_clear = |x: i64| self.beyond(self.local([x as f64, y as f64])).abs() > 2.0 / 256.0;
            columns.clone().all(is_clear)
        })
    }

    /// The bounds of its corners.
    #[must_use]
    pub fn bounds(&self) -> Clip {
        let half = [0, 1]
            .map(|axis| 0.5 * (self.axes[0][axis].abs() * self.size[0] + self.axes[1][axis].abs() * self.size[1]));
        Clip {
            min: [0, 1].map(|axis| self.centre[axis] - half[axis]),
            max: [0, 1].map(|axis| self.centre[axis] + half[axis]),
        }
    }
}

/// The columns and rows of a picture of this size whose centres lie in a rectangle.
#[must_use]
pub fn pixels(rectangle: Clip, size: [usize; 2]) -> [Range<usize>; 2] {
    core::array::from_fn(|axis| {
        let first = |edge: f64| (edge - 0.5).ceil().clamp(0.0, size[axis] as f64) as usize;
        let start = first(rectangle.min[axis]);
        start..first(rectangle.max[axis]).max(start)
    })
}
