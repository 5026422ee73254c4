//! Which texels of the camera's picture glass paints, reads and keeps.
//!
//! # Whole pixels
//!
//! A rasteriser paints the pixels whose centres lie in a quad, and so does Bevy's user interface: it draws the exact
//! quad of a node, whose antialiasing only ever reaches inwards. So only pixels whose centres lie in the axis-aligned
//! bounds of the box, in the clip and in the viewport can be painted. The blur covers this rectangle of integers, and
//! fragments are clipped to it.

use super::clip::Clip;
use super::rects::{common, pixels};
use super::scene::{Backdrop, Picture};
use crate::plan::reach;
use crate::settings::FreezeArea;
use bevy::math::{IRect, URect, UVec2};

/// The texels of glass in its camera's picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Region {
    /// The texels that are painted. Empty if the surface shows none of them.
    pub painted: URect,
    /// The texels for which the last step of the blur can run. They are the painted ones, or, with a lens, all that it may show.
    pub sampled: URect,
    /// The texels that are read, beyond which the edge mode acts. They contain the sampled ones, and do not depend on how much of
    /// them a surface shows: the mirror line stays where it is.
    pub reads: URect,
    /// The texels that must be painted before its turn: those that it reads, or those that it will keep. `None` if it has already
    /// taken its picture.
    pub sees: Option<URect>,
}

impl Region {
    /// The region of glass under a clip, on a surface that shows these pixels of the viewport. `None` if the glass lies outside of
    /// the clip or of the viewport.
    pub fn new(backdrop: &Backdrop, picture: &Picture, clip: Option<Clip>, shown: IRect) -> Option<Self> {
        let viewport = picture.seen();
        if viewport.is_empty() {
            return None;
        }
        let texels = |pixels: IRect| texels_of(common(pixels, picture.seen_pixels()), picture);
        let bounds = pixels(Some(backdrop.shape.bounds()));
        let covered = texels(common(bounds, pixels(clip.map(Clip::bounds))));
        let kept = backdrop.freeze.map(|freeze| {
            freeze.taken.unwrap_or(match freeze.keeps {
                FreezeArea::Region if !backdrop.is_open => covered,
                _ => viewport,
            })
        });
        let seen = kept.unwrap_or(viewport);
        let covered = covered.intersect(seen);
        let painted = covered.intersect(texels(shown));
        let visible = match backdrop.lens {
            Some(lens) if backdrop.is_open => {
                let [moved, beyond] = lens.reaches(&backdrop.shape);
                let all = around(covered, moved).intersect(seen);
                // What lies beyond the viewport is mirrored into it: also to places beyond the box.
                let is_within = common(bounds, picture.seen_pixels()) == bounds;
                if is_within {
                    all.intersect(around(texels(bounds), beyond))
                } else {
                    all
                }
            }
            _ => covered,
        };
        let reads = if !backdrop.is_open || !backdrop.blurs() {
            visible
        } else if backdrop.edge.reads_far() {
            // A read beyond one side of the viewport returns its other side.
            seen
        } else {
            // Where this ends inside the viewport, it ends beyond the reach of the kernel.
            around(visible, reach(backdrop.sigma)).intersect(seen)
        };
        (!covered.is_empty()).then(|| Self {
            painted,
            sampled: if backdrop.lens.is_some() { visible } else { painted },
            reads,
            sees: match backdrop.freeze {
                _ if backdrop.is_plain => None,
                None => Some(reads),
                Some(freeze) if freeze.taken.is_some() => None,
                Some(_) => kept,
            },
        })
    }

    /// The texels that it needs in this frame, or that its blur reads from the kept picture.
    pub fn looks_at(&self) -> URect {
        self.sees.unwrap_or(self.reads)
    }
}

/// Visible pixels of the viewport as texels of the picture.
fn texels_of(pixels: IRect, picture: &Picture) -> URect {
    URect {
        min: picture.viewport.min + pixels.min.as_uvec2(),
        max: picture.viewport.min + pixels.max.as_uvec2(),
    }
}

fn around(region: URect, by: UVec2) -> URect {
    URect {
        min: region.min.saturating_sub(by),
        max: region.max.saturating_add(by),
    }
}

#[cfg(test)]
mod tests {
    use super::super::lens::Lens;
    use super::super::shape::Shape;
    use super::*;
    use crate::settings::{BackdropBlur, BackdropLens, BackdropSampling, ColorStep, EdgeMode, HasBlur};
    use bevy::math::{Affine2, Rect, Vec2};
    use bevy::prelude::Entity;

    const VIEWPORT: URect = URect {
        min: UVec2::new(100, 50),
        max: UVec2::new(400, 250),
    };

    const PICTURE: Picture = Picture {
        camera: Entity::PLACEHOLDER,
        size: UVec2::new(400, 300),
        viewport: VIEWPORT,
        is_light: false,
        dithers: false,
    };

    fn shape(min: Vec2, max: Vec2) -> Shape {
        Shape {
            is_soft: true,
            ..Shape::of_rect(Rect::from_corners(min, max))
        }
    }

    fn backdrop(shape: Shape, settings: BackdropBlur) -> Option<Backdrop> {
        Backdrop::plain(shape, &settings, &PICTURE).if_seen(false)
    }

    fn region(shape: Shape, clip: Option<Rect>, glass: BackdropBlur) -> Option<Region> {
        Region::new(
            &backdrop(shape, glass)?,
            &PICTURE,
            clip.map(Clip::from),
            PICTURE.seen_pixels(),
        )
    }

    fn painted(shape: Shape, clip: Option<Rect>) -> Option<URect> {
        region(shape, clip, BackdropBlur::default()).map(|region| region.painted)
    }

    #[test]
    fn pixels_belong_to_a_box_by_their_centres() {
        let fractional = shape(Vec2::new(10.3, 20.5), Vec2::new(20.6, 30.5));
        assert_eq!(painted(fractional, None), Some(URect::new(110, 70, 121, 80)));
        let sliver = shape(Vec2::new(10.6, 20.0), Vec2::new(11.4, 30.0));
        assert_eq!(painted(sliver, None), None, "no centre lies in it");
        let outside = shape(Vec2::new(-20.0, 190.0), Vec2::new(5.0, 900.0));
        assert_eq!(painted(outside, None), Some(URect::new(100, 240, 105, 250)));
    }

    #[test]
    fn clips_may_be_infinite_or_empty() {
        let square = shape(Vec2::new(10.0, 10.0), Vec2::new(50.0, 50.0));
        let clip = Rect {
            min: Vec2::new(f32::NEG_INFINITY, 20.5),
            max: Vec2::new(f32::INFINITY, 30.0),
        };
        assert_eq!(painted(square, Some(clip)), Some(URect::new(110, 70, 150, 80)));
        assert_eq!(painted(square, Some(Rect::default())), None);
    }

    #[test]
    fn only_what_changes_something_is_glass() {
        let shape = shape(Vec2::ZERO, Vec2::splat(40.0));
        let clear = BackdropBlur::new(0.0);
        assert!(backdrop(shape, clear.clone()).is_none());
        assert!(backdrop(shape, clear.with_color(ColorStep::Saturate(0.0))).is_some_and(|backdrop| !backdrop.blurs()));
        assert!(backdrop(shape, BackdropBlur::new(24.0)).is_some_and(|backdrop| backdrop.blurs()));
        assert!(backdrop(shape, BackdropBlur::new(24.0).with_opacity(0.0)).is_none());
        let flat = Shape {
            transform: Affine2::from_scale(Vec2::new(1.0, 0.0)),
            ..shape
        };
        assert!(backdrop(flat, BackdropBlur::new(24.0)).is_none());
    }

    #[test]
    fn surroundings_end_at_the_viewport() {
        let shape = shape(Vec2::splat(90.0), Vec2::splat(110.0));
        let glass = BackdropBlur::from_sigma(8.0).with_sampling(BackdropSampling::Surroundings);
        let reads = |glass| region(shape, None, glass).map(|region| region.reads);
        // Four sigma, and six texels of a level that is four times coarser.
        assert_eq!(reads(glass.clone()), Some(URect::new(134, 84, 266, 216)));
        assert_eq!(reads(glass.clone().with_edge(EdgeMode::Wrap)), Some(VIEWPORT));
        assert_eq!(
            reads(BackdropBlur::from_sigma(200.0).with_sampling(BackdropSampling::Surroundings)),
            Some(VIEWPORT)
        );
        let inside = glass.with_sampling(BackdropSampling::Inside);
        assert_eq!(reads(inside), Some(URect::new(190, 140, 210, 160)));
    }

    #[test]
    fn a_lens_samples_what_it_shows() {
        let square = shape(Vec2::splat(90.0), Vec2::splat(110.0));
        let glass = BackdropBlur::from_sigma(8.0).with_sampling(BackdropSampling::Surroundings);
        let region = |glass: BackdropBlur, displacement: f32, clip: Option<Rect>| {
            let settings = BackdropLens {
                displacement,
                ..BackdropLens::default()
            };
            let mut backdrop = backdrop(square, glass)?;
            backdrop.lens = Lens::new(&settings, 1.0, &square);
            Region::new(&backdrop, &PICTURE, clip.map(Clip::from), PICTURE.seen_pixels())
        };
        let covered = URect::new(190, 140, 210, 160);
        let around = region(glass.clone(), -5.0, None);
        assert_eq!(
            around.map(|region| (region.painted, region.sampled, region.reads)),
            Some((covered, URect::new(183, 133, 217, 167), URect::new(127, 77, 273, 223)))
        );
        let inwards = region(glass.clone(), 5.0, None);
        assert_eq!(
            inwards.map(|region| region.sampled),
            Some(URect::new(188, 138, 212, 162))
        );
        let inside = region(glass.clone().with_sampling(BackdropSampling::Inside), -5.0, None);
        assert_eq!(
            inside.map(|region| (region.sampled, region.reads)),
            Some((covered, covered))
        );
        // What is clipped away may be shown through the rest.
        let clip = Rect::new(0.0, 0.0, 95.0, 300.0);
        let clipped = region(glass, 5.0, Some(clip));
        assert_eq!(
            clipped.map(|region| region.sampled),
            Some(URect::new(188, 138, 202, 162))
        );
    }

    #[test]
    fn a_surface_that_shows_less_does_not_move_the_mirror_line() {
        let square = backdrop(shape(Vec2::splat(10.0), Vec2::splat(50.0)), BackdropBlur::new(24.0));
        let shown = IRect::new(0, 0, 300, 20);
        let region = square.and_then(|square| Region::new(&square, &PICTURE, None, shown));
        let region = region.map(|region| (region.painted, region.reads));
        assert_eq!(
            region,
            Some((URect::new(110, 60, 150, 70), URect::new(110, 60, 150, 100)))
        );
    }
}
