//! Glass that refracts: how far, and which texels it shows.

use super::shape::Shape;
use crate::settings::BackdropLens;
use bevy::math::{UVec2, Vec2};

/// How many texels beside a place the interpolation between texels reads.
const NEIGHBORS: u32 = 2;

/// `CUT` and `WIDER` of `shaders/paint/lens.wgsl`, and the place of a squircle on the diagonal: ⁴√½.
const CUT: f32 = 0.292_893_23;
const WIDER: f32 = 1.8409;
const SQUIRCLE: f32 = 0.840_896_4;

/// A lens in the shape of glass. Lengths are pixels of its box.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Lens {
    /// The width of the rim, at most half the shorter side of the box.
    pub bevel: f32,
    /// How far the picture is moved at the border, positive towards the centre.
    pub displacement: f32,
    /// How much farther blue is moved than red, from 0 to 1.
    pub dispersion: f32,
    /// How bright the lit part of the rim is, from 0 to 1.
    pub rim_light: f32,
    /// The direction in the box from where light comes, of length 1.
    pub light: Vec2,
}

impl Lens {
    /// The lens of glass with so many pixels per logical pixel. `None` if it changes nothing.
    pub fn new(settings: &BackdropLens, scale: f32, shape: &Shape) -> Option<Self> {
        let settings = settings.in_range();
        let (sin, cos) = settings.light_angle.sin_cos();
        let to_box = shape.transform.matrix2.inverse();
        let lens = Self {
            bevel: (settings.bevel * scale).min(0.5 * shape.size.min_element()),
            displacement: settings.displacement * scale,
            dispersion: settings.dispersion,
            rim_light: settings.rim_light,
            light: (to_box * Vec2::new(sin, -cos)).normalize_or_zero(),
        };
        let changes = lens.displacement != 0.0 || lens.rim_light > 0.0;
        (changes && lens.bevel > 0.0).then_some(lens)
    }

    /// How deep the rim reaches into the box from its sides; the middle is flat. In a corner it reaches farthest on the diagonal.
    pub fn depth(&self, shape: &Shape) -> f32 {
        let half = 0.5 * shape.size.min_element();
        let depths = [0, 1, 2, 3].map(|corner| {
            let radius = shape.radii[0][corner].min(shape.radii[1][corner]);
            let side = (WIDER * radius).min(half).max(radius).max(self.bevel);
            let diagonal = (1.0 - CUT * radius / side).min(SQUIRCLE);
            side - (side - self.bevel) * diagonal
        });
        depths.into_iter().fold(self.bevel, f32::max)
    }

    /// How far it reads beside the place where it moves the picture, and how far beyond its box: in pixels of the viewport along x and y.
    pub fn reaches(&self, shape: &Shape) -> [UVec2; 2] {
        let farthest = self.displacement * (1.0 + 0.5 * self.dispersion);
        // Towards the centre, it leaves the box only on the other side.
        let beyond = (-farthest).max(farthest - shape.size.min_element()).max(0.0);
        [farthest.abs(), beyond].map(|length| {
            (length * shape.scale())
                .ceil()
                .as_uvec2()
                .saturating_add(UVec2::splat(NEIGHBORS))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bevy::math::{Affine2, Rect};
    use core::f32::consts::FRAC_PI_2;

    const BOX: Rect = Rect {
        min: Vec2::new(10.0, 10.0),
        max: Vec2::new(110.0, 50.0),
    };

    #[test]
    fn only_what_bends_or_shines_is_a_lens() {
        let shape = Shape::of_rect(BOX);
        let lens = |settings: BackdropLens| Lens::new(&settings, 2.0, &shape);
        let usual = BackdropLens::default();
        assert_eq!(
            lens(usual).map(|lens| (lens.bevel, lens.displacement)),
            Some((20.0, 32.0))
        );
        let dark = BackdropLens {
            rim_light: 0.0,
            ..usual
        };
        let straight = BackdropLens {
            displacement: 0.0,
            ..dark
        };
        assert!(lens(dark).is_some());
        assert!(lens(straight).is_none());
        assert!(
            lens(BackdropLens {
                bevel: f32::NAN,
                ..usual
            })
            .is_none()
        );
    }

    /// At a corner whose radius exceeds the bevel, glass bends farther inside than the bevel says.
    #[test]
    fn round_corners_bend_deeper_than_their_bevel() {
        let depth = |radius: f32| {
            let shape = Shape {
                radii: [[radius, 0.0, 0.0, 0.0]; 2],
                ..Shape::of_rect(BOX)
            };
            let settings = BackdropLens {
                bevel: 4.0,
                ..BackdropLens::default()
            };
            Lens::new(&settings, 1.0, &shape).map_or(0.0, |lens| lens.depth(&shape))
        };
        assert_eq!(depth(0.0), 4.0);
        let [weak, strong] = [10.0, 20.0].map(depth);
        // The middle of an arc lies this far from both sides of the box.
        let arc = |radius: f32| (1.0 - 0.5_f32.sqrt()) * radius;
        assert!(
            4.0 + arc(10.0) * 0.5 < weak && weak < strong && strong < 20.0,
            "{weak}, {strong}"
        );
    }

    #[test]
    fn light_stays_where_it_is_when_glass_turns() {
        let turned = Shape {
            transform: Affine2::from_angle(FRAC_PI_2),
            ..Shape::of_rect(BOX)
        };
        let from_top = BackdropLens {
            light_angle: 0.0,
            ..BackdropLens::default()
        };
        let light = |shape: &Shape| Lens::new(&from_top, 1.0, shape).map_or(Vec2::ZERO, |lens| lens.light);
        assert!(light(&Shape::of_rect(BOX)).distance(Vec2::NEG_Y) < 1e-6);
        // The box's left side is at the top.
        assert!(light(&turned).distance(Vec2::NEG_X) < 1e-6);
    }

    #[test]
    fn it_shows_the_outside_where_it_leaves_the_box() {
        let shape = Shape::of_rect(BOX);
        let reach = |displacement: f32, dispersion: f32| {
            let settings = BackdropLens {
                displacement,
                dispersion,
                ..BackdropLens::default()
            };
            Lens::new(&settings, 1.0, &shape).map(|lens| lens.reaches(&shape))
        };
        assert_eq!(reach(16.0, 0.0), Some([UVec2::splat(18), UVec2::splat(2)]));
        assert_eq!(reach(-10.0, 0.5), Some([UVec2::splat(15); 2]));
        assert_eq!(reach(45.0, 0.0), Some([UVec2::splat(47), UVec2::splat(7)]));
    }
}
