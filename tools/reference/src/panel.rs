//! Panes of glass.

use crate::color::Functions;
use crate::lens::Lens;
use crate::shape::{Clip, DOUBT, Shape, pixels};
use crate::{EdgeMode, Picture, gaussian_blur, varying_blur};
use std::ops::Range;

/// A pane of glass: the [`gaussian_blur`] of a part of the picture, coloured as in CSS and mixed in.
#[derive(Clone, Debug, PartialEq)]
pub struct Panel {
    pub shape: Shape,
    pub clip: Clip,
    /// Whether edges are antialiased.
    pub is_soft: bool,
    /// Along x and y of the viewport.
    pub sigma: [f64; 2],
    /// The share of sigma that each place gets.
    pub ramp: Option<Ramp>,
    pub edge: EdgeMode,
    /// Whether the blur reads the pixels around the box, so that [`edge`](Self::edge) acts at the viewport.
    pub sees_surroundings: bool,
    pub functions: Functions,
    pub opacity: f64,
    /// How it refracts.
    pub lens: Option<Lens>,
}

/// A share that grows along a line, in shares of a box, from one value to another.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ramp {
    pub start: [f64; 2],
    pub end: [f64; 2],
    pub from: f64,
    pub to: f64,
}

impl Ramp {
    /// The share at a place of a box, whose top left corner is the origin.
    #[must_use]
    pub fn share(&self, size: [f64; 2], place: [f64; 2]) -> f64 {
        let along = [0, 1].map(|axis| (self.end[axis] - self.start[axis]) * size[axis]);
        let from = [0, 1].map(|axis| place[axis] - self.start[axis] * size[axis]);
        let dot = |one: [f64; 2], other: [f64; 2]| one[0] * other[0] + one[1] * other[1];
        let t = (dot(from, along) / dot(along, along)).clamp(0.0, 1.0);
        (self.from + (self.to - self.from) * t).clamp(0.0, 1.0)
    }
}

impl Panel {
    fn is_in_clip(&self, x: usize, y: usize) -> bool {
        self.clip.contains([x as f64, y as f64])
    }

    fn local(&self, x: usize, y: usize) -> [f64; 2] {
        self.shape.local([x as f64, y as f64])
    }

    /// The covered share of a pixel, without the opacity.
    #[must_use]
    pub fn coverage(&self, x: usize, y: usize) -> f64 {
        if self.is_in_clip(x, y) {
            self.shape.coverage([x as f64, y as f64], self.is_soft)
        } else {
            0.0
        }
    }

    /// Whether a pixel is on the antialiased rim, or so near to an edge that rounding decides whether it is covered.
    #[must_use]
    pub fn is_rim(&self, x: usize, y: usize) -> bool {
        if !self.is_in_clip(x, y) {
            return false;
        }
        let point = self.local(x, y);
        let is_partial = (DOUBT..1.0 - DOUBT).contains(&self.coverage(x, y));
        let is_near_step = !self.is_soft && self.shape.distance(point).abs() < DOUBT;
        is_partial || is_near_step || self.shape.beyond(point).abs() < DOUBT
    }

    /// Whether a pixel is fully covered.
    #[must_use]
    pub fn is_inside(&self, x: usize, y: usize) -> bool {
        self.coverage(x, y) > 1.0 - DOUBT && !self.is_rim(x, y)
    }

    /// Whether a pixel may differ from the picture below.
    #[must_use]
    pub fn touches(&self, x: usize, y: usize) -> bool {
        self.coverage(x, y) > 0.0 || self.is_rim(x, y)
    }

    /// The columns and rows whose centres lie in the box's axis-aligned bounds, in the clip and in the viewport.
    #[must_use]
    pub fn region(&self, viewport: [usize; 2]) -> [Range<usize>; 2] {
        pixels(self.shape.bounds().and(self.clip), viewport)
    }

    /// The glass in its region of the viewport: the picture `behind` it, blurred and coloured.
    #[must_use]
    pub fn glass(&self, behind: &Picture, is_bounded: bool) -> Picture {
        let [columns, rows] = self.region([behind.width, behind.height]);
        let [origin, size] = [[columns.start, rows.start], [columns.len(), rows.len()]];
        let (blurred, first) = if self.sees_surroundings {
            (self.blurred(behind, [0, 0]), [0, 0])
        } else {
            (self.blurred(&behind.crop(origin, size), origin), origin)
        };
        Picture::from_fn(size[0], size[1], |x, y| {
            let pixel = [x + origin[0], y + origin[1]];
            let seen = match self.lens {
                Some(lens) => lens.seen(&self.shape, &blurred, pixel, first),
                None => blurred.at(pixel[0] - first[0], pixel[1] - first[1]),
            };
            let colored = self.functions.colored(seen, is_bounded);
            self.lens.map_or(colored, |lens| lens.lit(&self.shape, pixel, colored))
        })
    }

    /// A part of the viewport, blurred.
    fn blurred(&self, picture: &Picture, origin: [usize; 2]) -> Picture {
        let Some(ramp) = self.ramp else {
            return gaussian_blur(picture, self.sigma, self.edge);
        };
        varying_blur(picture, self.edge, |x, y| {
            let [x, y] = [x + origin[0], y + origin[1]];
            // A lens may show any of it.
            if self.lens.is_none() && !self.touches(x, y) {
                return [0.0; 2];
            }
            let [across, down] = self.local(x, y);
            let [width, height] = self.shape.size;
            let share = ramp.share([width, height], [across + 0.5 * width, down + 0.5 * height]);
            self.sigma.map(|sigma| sigma * share)
        })
    }

    /// The pane over `below`, with the blur of `behind`. Both are usually the same, but the pane's own shadow, for
    /// example, is below and not behind.
    #[must_use]
    pub fn over(&self, below: &Picture, behind: &Picture, is_bounded: bool) -> Picture {
        let [columns, rows] = self.region([below.width, below.height]);
        let mut over = below.clone();
        if columns.is_empty() || rows.is_empty() {
            return over;
        }
        let glass = self.glass(behind, is_bounded);
        for y in rows.clone() {
            for x in columns.clone() {
                let share = self.coverage(x, y) * self.opacity;
                let seen = glass.at(x - columns.start, y - rows.start);
                let texel = &mut over.texels[y * below.width + x];
                for (value, seen) in texel.iter_mut().zip(seen) {
                    *value += (seen - *value) * share;
                }
            }
        }
        over
    }
}
