//! Glass that refracts.

use crate::color::{decode_srgb, encode_srgb};
use crate::shape::Shape;
use crate::{EdgeMode, Picture, texel_shown_at};

/// The step of numerical derivatives, in pixels.
const STEP: f64 = 1e-4;

/// A lens in the shape of glass. Lengths are in pixels of its box.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Lens {
    /// The width of the curved rim.
    pub bevel: f64,
    /// How far the picture is moved at the border, positive towards the centre.
    pub displacement: f64,
    /// How much farther blue is moved than red, as a share.
    pub dispersion: f64,
    /// How bright the lit part of the rim is.
    pub rim_light: f64,
    /// Where the light comes from, in radians, clockwise from the top of the viewport.
    pub light_angle: f64,
}

impl Lens {
    /// Whether it changes nothing: glass without a blur and colours is then no glass.
    #[must_use]
    pub fn is_neutral(&self) -> bool {
        self.bevel <= 0.0 || self.displacement == 0.0 && self.rim_light <= 0.0
    }

    /// The width of the rim in a box: at most half its shorter side.
    fn width(&self, shape: &Shape) -> f64 {
        self.bevel.min(0.5 * shape.size[0].min(shape.size[1]))
    }

    /// How far a point of the box is across the rim: 0 where it begins, 1 at the border, and more beyond.
    ///
    /// Near a corner it is constant on curves that go from the rounded corner, by way of squircles where there is room, to ever rounder
    /// ones: xᵖ + yᵖ - s xᵖ yᵖ is constant, in a square of the corner.
    fn across(&self, shape: &Shape, point: [f64; 2]) -> f64 {
        let (radius, width) = (shape.radius(point), self.width(shape));
        let half = 0.5 * shape.size[0].min(shape.size[1]);
        let cut = 1.0 - 0.5_f64.sqrt();
        // The squircle, p = 4, of this side meets the arc on the diagonal.
        let roomy = radius * cut / (1.0 - 0.5_f64.powf(0.25));
        let side = roomy.min(half).max(radius).max(width);
        let [x, y] = [0, 1].map(|axis| {
            let inwards = 0.5 * shape.size[axis] - point[axis].abs();
            (1.0 - inwards / side).max(0.0)
        });
        // The curve is 1 at the middle of the corner's arc.
        let middle = 1.0 - cut * radius / side;
        let p = (0.5_f64.ln() / middle.ln()).min(4.0);
        let p = if middle < 1.0 { p } else { 4.0 };
        let s = (2.0 * middle.powf(p) - 1.0).max(0.0) / middle.powf(2.0 * p);
        let [across_x, across_y] = [x.powf(p), y.powf(p)];
        let curve = (across_x + across_y - s * across_x * across_y).max(0.0).powf(1.0 / p);
        (1.0 - side * (1.0 - curve) / width).max(0.0)
    }

    /// The height of the glass at a point of its box: 1 within the rim, and 0 at the border.
    fn height(&self, shape: &Shape, point: [f64; 2]) -> f64 {
        1.0 - self.across(shape, point).powi(3)
    }

    /// The slope of the glass at a point of its box, downwards, as a share of the slope at the border: 3 over the width. It is no larger
    /// beyond.
    fn slope(&self, shape: &Shape, [x, y]: [f64; 2]) -> [f64; 2] {
        let height = |dx: f64, dy: f64| self.height(shape, [x + dx, y + dy]);
        let down = [
            height(-STEP, 0.0) - height(STEP, 0.0),
            height(0.0, -STEP) - height(0.0, STEP),
        ];
        let most = 3.0 * self.across(shape, [x, y]).max(1.0).powi(2) / self.width(shape);
        down.map(|difference| difference / (2.0 * STEP) / most)
    }

    /// What is seen of a picture at the centre of a pixel of the viewport. The picture begins at `origin`, and what lies beyond is its
    /// mirror image.
    #[must_use]
    pub fn seen(&self, shape: &Shape, picture: &Picture, pixel: [usize; 2], origin: [usize; 2]) -> [f64; 4] {
        let pixel = pixel.map(|place| place as f64);
        let slope = self.slope(shape, shape.local(pixel));
        let moved = |more: f64| {
            let by = slope.map(|slope| -slope * self.displacement * (1.0 + more * self.dispersion));
            let place = [0, 1].map(|axis| {
                let along = by[0] * shape.axes[0][axis] + by[1] * shape.axes[1][axis];
                pixel[axis] + along - origin[axis] as f64
            });
            between(picture, place)
        };
        let [red, green, blue] = [-0.5, 0.0, 0.5].map(moved);
        [red[0], green[1], blue[2], green[3]]
    }

    /// A colour that is multiplied by alpha, with the light on the rim.
    #[must_use]
    pub fn lit(&self, shape: &Shape, pixel: [usize; 2], [red, green, blue, alpha]: [f64; 4]) -> [f64; 4] {
        let slope = self.slope(shape, shape.local(pixel.map(|place| place as f64)));
        // How the height falls towards the light.
        let [light_x, light_y] = [self.light_angle.sin(), -self.light_angle.cos()];
        let ahead = shape.local_vector([light_x, light_y]);
        let facing = (slope[0] * ahead[0] + slope[1] * ahead[1]) / ahead[0].hypot(ahead[1]);
        let share = self.rim_light * facing.max(0.0).powi(2);
        if share <= 0.0 || alpha <= 0.0 {
            return [red, green, blue, alpha];
        }
        let [red, green, blue] = [red, green, blue].map(|value| {
            let encoded = encode_srgb(value / alpha);
            decode_srgb(encoded + share * (1.0 - encoded).max(0.0)) * alpha
        });
        [red, green, blue, alpha]
    }
}

/// A picture at a place: 0 is the centre of the first texel. Between texels lies a cubic curve through four of them (Keys, 1981), along
/// x and then along y, that does not leave the range of the two beside the place.
fn between(picture: &Picture, [x, y]: [f64; 2]) -> [f64; 4] {
    let shown = |place: f64, length: usize| {
        let texel = texel_shown_at(place as isize, length, EdgeMode::Mirror);
        texel.expect("a mirror image is everywhere")
    };
    let rows = [-1.0, 0.0, 1.0, 2.0].map(|row| {
        let row = shown(y.floor() + row, picture.height);
        let texels = [-1.0, 0.0, 1.0, 2.0].map(|column| picture.at(shown(x.floor() + column, picture.width), row));
        through(texels, x - x.floor())
    });
    through(rows, y - y.floor())
}

fn through(values: [[f64; 4]; 4], t: f64) -> [f64; 4] {
    core::array::from_fn(|channel| {
        let [before, first, second, after] = values.map(|value| value[channel]);
        // The slopes at the middle two are those between their neighbours.
        let [slope, last_slope] = [0.5 * (second - before), 0.5 * (after - first)];
        let (rise, t2, t3) = (second - first, t * t, t * t * t);
        let curve =
            first + slope * t + (3.0 * rise - 2.0 * slope - last_slope) * t2 + (slope + last_slope - 2.0 * rise) * t3;
        curve.clamp(first.min(second), first.max(second))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const LENS: Lens = Lens {
        bevel: 20.0,
        displacement: 10.0,
        dispersion: 0.0,
        rim_light: 0.5,
        light_angle: 0.0,
    };

    fn square(radius: f64) -> Shape {
        Shape {
            centre: [60.0, 60.0],
            size: [120.0, 100.0],
            axes: [[1.0, 0.0], [0.0, 1.0]],
            radii: [radius; 4],
        }
    }

    #[test]
    fn the_border_moves_by_the_displacement() {
        for radius in [0.0, 4.0, 12.0, 20.0, 50.0] {
            let slope = LENS.slope(&square(radius), [60.0, 0.0]);
            assert!((slope[0] - 1.0).abs() < 1e-3 && slope[1].abs() < 1e-6, "{slope:?}");
            let slope = LENS.slope(&square(radius), [0.0, 25.0]);
            assert_eq!(slope, [0.0; 2], "within the rim");
        }
    }

    /// All along a rounded corner the rim ends at the border. The curve of the corner meets the arc at its ends and in its middle; between
    /// them the shapes differ: it lies beside the arc by at most 4.3 % of the radius.
    #[test]
    fn the_rim_ends_at_the_border() {
        for (bevel, radius) in [3.0, 5.0, 20.0, 50.0]
            .into_iter()
            .flat_map(|bevel| (1..=100).map(move |half| (bevel, half)))
        {
            let (lens, radius) = (Lens { bevel, ..LENS }, 0.5 * f64::from(radius));
            let shape = square(radius);
            for step in 0..=90 {
                let (sin, cos) = f64::from(step).to_radians().sin_cos();
                let border = [60.0 - radius + radius * cos, 50.0 - radius + radius * sin];
                let beyond = (lens.across(&shape, border) - 1.0) * bevel;
                assert!(
                    beyond.abs() <= 0.043 * radius,
                    "{beyond} at {step} degrees of {radius}, bevel {bevel}"
                );
            }
        }
    }

    /// From one place to the next, the slope changes little: nowhere is a seam.
    #[test]
    fn the_slope_has_no_seam() {
        for radius in [0.0, 2.0, 8.0, 20.0, 35.0, 50.0] {
            let shape = square(radius);
            for (x, y) in (0..480).flat_map(|y| (0..400).map(move |x| (x, y))) {
                let point = [f64::from(x) * 0.125 - 59.5, f64::from(y) * 0.125 - 49.5];
                if point.into_iter().any(|place| place > 0.0) || shape.distance(point) > -0.5 {
                    continue;
                }
                let slopes = [[0.0, 0.0], [0.125, 0.0], [0.0, 0.125]]
                    .map(|by| LENS.slope(&shape, [point[0] + by[0], point[1] + by[1]]));
                for slope in &slopes[1..] {
                    let change = (slope[0] - slopes[0][0]).hypot(slope[1] - slopes[0][1]);
                    assert!(change < 0.03, "{change} at {point:?}, with corners of {radius}");
                }
            }
        }
    }

    /// Where a corner joins a side, nothing bends at once: from one pixel to the next, the stretch of a ramp that is seen changes little.
    #[test]
    fn corners_join_the_sides_without_a_bend() {
        for radius in [0.0, 4.0, 8.0, 12.0, 20.0, 30.0] {
            let shape = square(radius);
            for inset in [3.0, 8.0] {
                let seen = |x: f64| x - LENS.displacement * LENS.slope(&shape, [x, inset - 50.0])[0];
                let places = (0..)
                    .map(f64::from)
                    .take_while(|x| shape.distance([*x, inset - 50.0]) < -1.0);
                for x in places {
                    let bend = seen(x - 1.0) - 2.0 * seen(x) + seen(x + 1.0);
                    assert!(
                        bend.abs() < 0.1,
                        "{bend} at {x}, {inset} pixels inside of corners of {radius}"
                    );
                }
            }
        }
    }

    #[test]
    fn between_texels_lies_a_curve_through_them() {
        let picture = Picture::from_fn(8, 4, |x, y| [x as f64, y as f64, if x < 4 { 0.0 } else { 1.0 }, 1.0]);
        assert_eq!(between(&picture, [3.0, 2.0]), [3.0, 2.0, 0.0, 1.0]);
        let [x, y, step, _] = between(&picture, [3.25, 1.5]);
        assert!((x - 3.25).abs() < 1e-12 && (y - 1.5).abs() < 1e-12);
        assert!(step > 0.0 && step < 0.5);
        assert_eq!(between(&picture, [5.3, 1.0])[2], 1.0, "no overshoot");
        assert_eq!(between(&picture, [-3.0, 0.0])[0], 2.0, "mirrored");
    }
}
