//! Paints panes of glass, and plain boxes between them, over a picture, in float64.
//!
//! This reference is independent of the GPU code: it has no pyramid, no groups of panels, no draws. A pane is the
//! [`gaussian_blur`] of a part of the picture, coloured as in CSS and mixed in where Bevy would paint a background.

use super::formats::{self, Kind};
use super::functions::Functions;
use super::reference::{Picture, gaussian_blur};
use super::{assert_close, twins, within_rounding};
use bevy::render::render_resource::TextureFormat;
use bevy_gaussian_blur::prelude::EdgeMode;
use std::ops::Range;

/// A coverage this close to 0 or 1 counts as 0 or 1. This close to its edge, a box may miss a pixel or cover it.
const DOUBT: f64 = 0.01;

/// A pane of glass. Lengths are in physical pixels of the viewport, whose top left corner is the origin.
#[derive(Clone, Debug, PartialEq)]
pub struct Panel {
    pub centre: [f64; 2],
    /// The sides of the box, before its transform.
    pub size: [f64; 2],
    /// The steps in the viewport for one pixel along the box's own x, and for one along its own y.
    pub axes: [[f64; 2]; 2],
    /// Top left, top right, bottom right, bottom left; before the transform.
    pub radii: [f64; 4],
    /// The least and the greatest corner of the clip; may be infinite.
    pub clip: Option<[[f64; 2]; 2]>,
    /// Whether edges are antialiased.
    pub is_soft: bool,
    /// Along x and y of the viewport.
    pub sigma: [f64; 2],
    pub edge: EdgeMode,
    /// Whether the blur reads the pixels around the box, so that [`edge`](Self::edge) acts at the viewport.
    pub sees_surroundings: bool,
    pub functions: Functions,
    pub opacity: f64,
}

/// A plain box on whole pixels, painted as Bevy's user interface does: `[red, green, blue, alpha]`, in linear light,
/// the colour not multiplied by alpha.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Fill {
    /// The first column and row, and one past the last.
    pub min: [usize; 2],
    pub max: [usize; 2],
    pub colour: [f64; 4],
}

/// Something that is painted over the picture.
#[derive(Clone, Debug, PartialEq)]
pub enum Layer {
    Glass(Panel),
    Fill(Fill),
}

impl Panel {
    /// The centre of a pixel of the viewport, in the box's own pixels from its centre.
    fn local(&self, x: usize, y: usize) -> [f64; 2] {
        let [[xx, xy], [yx, yy]] = self.axes;
        let [dx, dy] = [x as f64 + 0.5 - self.centre[0], y as f64 + 0.5 - self.centre[1]];
        let determinant = xx * yy - xy * yx;
        [(dx * yy - dy * yx) / determinant, (dy * xx - dx * xy) / determinant]
    }

    /// The distance of a point of the box from its rounded outline, negative inside: `sd_rounded_box` of Bevy's
    /// `ui.wgsl`.
    fn distance(&self, [x, y]: [f64; 2]) -> f64 {
        let corner = match (x > 0.0, y > 0.0) {
            (false, false) => 0,
            (true, false) => 1,
            (true, true) => 2,
            (false, true) => 3,
        };
        let radius = self.radii[corner];
        let from_arc = [
            x.abs() - 0.5 * self.size[0] + radius,
            y.abs() - 0.5 * self.size[1] + radius,
        ];
        let from_centre = from_arc[0].hypot(from_arc[1]);
        if from_arc.into_iter().all(|distance| distance > 0.0) {
            return from_centre - radius;
        }
        from_arc[0].max(from_arc[1]) - radius
    }

    /// How far a point is outside the box without its radii. The GPU rasterises only that box.
    fn beyond(&self, [x, y]: [f64; 2]) -> f64 {
        (x.abs() - 0.5 * self.size[0]).max(y.abs() - 0.5 * self.size[1])
    }

    fn is_in_clip(&self, x: usize, y: usize) -> bool {
        self.clip.is_none_or(|[min, max]| {
            let centre = [x as f64 + 0.5, y as f64 + 0.5];
            (0..2).all(|axis| min[axis] <= centre[axis] && centre[axis] < max[axis])
        })
    }

    /// The covered share of a pixel, without the opacity.
    pub fn coverage(&self, x: usize, y: usize) -> f64 {
        let point = self.local(x, y);
        if self.beyond(point) > 0.0 || !self.is_in_clip(x, y) {
            return 0.0;
        }
        let distance = self.distance(point);
        if self.is_soft {
            (0.5 - distance).clamp(0.0, 1.0)
        } else {
            f64::from(u8::from(distance < 0.0))
        }
    }

    /// Whether a pixel is on the antialiased rim, or so near to an edge that rounding decides whether it is covered.
    pub fn is_rim(&self, x: usize, y: usize) -> bool {
        if !self.is_in_clip(x, y) {
            return false;
        }
        let point = self.local(x, y);
        let is_partial = (DOUBT..1.0 - DOUBT).contains(&self.coverage(x, y));
        let is_near_step = !self.is_soft && self.distance(point).abs() < DOUBT;
        is_partial || is_near_step || self.beyond(point).abs() < DOUBT
    }

    /// Whether a pixel is fully covered.
    pub fn is_inside(&self, x: usize, y: usize) -> bool {
        self.coverage(x, y) > 1.0 - DOUBT && !self.is_rim(x, y)
    }

    /// Whether a pixel may differ from the picture below.
    fn touches(&self, x: usize, y: usize) -> bool {
        self.coverage(x, y) > 0.0 || self.is_rim(x, y)
    }

    /// The columns and rows whose centres lie in the box's axis-aligned bounds, in the clip and in the viewport.
    pub fn region(&self, viewport: [usize; 2]) -> [Range<usize>; 2] {
        core::array::from_fn(|axis| {
            let half = 0.5 * (self.axes[0][axis].abs() * self.size[0] + self.axes[1][axis].abs() * self.size[1]);
            let [mut min, mut max] = [self.centre[axis] - half, self.centre[axis] + half];
            if let Some(clip) = self.clip {
                min = min.max(clip[0][axis]);
                max = max.min(clip[1][axis]);
            }
            let first = |edge: f64| (edge - 0.5).ceil().clamp(0.0, viewport[axis] as f64) as usize;
            first(min)..first(max).max(first(min))
        })
    }

    /// The glass in the region: `behind`, as the format stores it, blurred and coloured.
    fn glass(&self, behind: &Picture, [columns, rows]: &[Range<usize>; 2], format: TextureFormat) -> Picture {
        let [origin, size] = [[columns.start, rows.start], [columns.len(), rows.len()]];
        let blurred = |picture: &Picture| gaussian_blur(&formats::quantised(picture, format), self.sigma, self.edge);
        let mut glass = if self.sees_surroundings {
            blurred(behind).crop(origin, size)
        } else {
            blurred(&behind.crop(origin, size))
        };
        let is_bounded = matches!(formats::kind(format), Kind::Srgb | Kind::Unorm);
        for texel in &mut glass.texels {
            *texel = self.functions.colored(*texel, is_bounded);
        }
        glass
    }

    /// The pane over `below`, with the blur of `behind`. Both are usually the same, but the pane's own shadow, for
    /// example, is below and not behind.
    pub fn over(&self, below: &Picture, behind: &Picture, format: TextureFormat) -> Picture {
        let region = self.region([below.width, below.height]);
        let [columns, rows] = region.clone();
        let mut over = below.clone();
        if columns.is_empty() || rows.is_empty() {
            return over;
        }
        let glass = self.glass(behind, &region, format);
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

impl Fill {
    fn contains(&self, x: usize, y: usize) -> bool {
        (self.min[0]..self.max[0]).contains(&x) && (self.min[1]..self.max[1]).contains(&y)
    }

    fn over(&self, below: &Picture) -> Picture {
        let [red, green, blue, alpha] = self.colour;
        Picture::from_fn(below.width, below.height, |x, y| {
            let texel = below.at(x, y);
            if !self.contains(x, y) {
                return texel;
            }
            let painted = [red * alpha, green * alpha, blue * alpha, alpha];
            core::array::from_fn(|channel| painted[channel] + texel[channel] * (1.0 - alpha))
        })
    }
}

impl Layer {
    fn touches(&self, x: usize, y: usize) -> bool {
        match self {
            Self::Glass(panel) => panel.touches(x, y),
            Self::Fill(fill) => fill.contains(x, y),
        }
    }

    fn is_rim(&self, x: usize, y: usize) -> bool {
        matches!(self, Self::Glass(panel) if panel.is_rim(x, y))
    }
}

/// The layers over a picture, one after the other: each pane sees the layers before it.
pub fn compose(below: &Picture, layers: &[Layer], format: TextureFormat) -> Picture {
    layers.iter().fold(below.clone(), |picture, layer| match layer {
        Layer::Glass(panel) => panel.over(&picture, &picture, format),
        Layer::Fill(fill) => fill.over(&picture),
    })
}

/// The tolerance for solid glass, beyond the rounding of its format, for values up to `peak`: 1.5/255, with a high
/// dynamic range 0.2 % of the peak.
pub fn tolerance(format: TextureFormat, peak: f64) -> f64 {
    match formats::kind(format) {
        Kind::Srgb | Kind::Unorm => 1.5 / 255.0,
        _ => twins::tolerance(format, peak),
    }
}

/// Panics if a picture is not `below` with the layers over it: off the rims within [`tolerance`], and bit for bit where
/// no layer touches it. Returns the worst difference.
pub fn assert_composed(name: &str, got: &Picture, below: &Picture, layers: &[Layer], format: TextureFormat) -> f64 {
    assert_untouched(name, got, below, layers);
    assert_painted(name, got, &compose(below, layers, format), layers, format)
}

/// Panics if a picture is not the expected one off the rims of the layers. Returns the worst difference.
pub fn assert_painted(name: &str, got: &Picture, expected: &Picture, layers: &[Layer], format: TextureFormat) -> f64 {
    let expected = within_rounding(got, expected, format);
    let got = Picture::from_fn(got.width, got.height, |x, y| {
        let is_rim = layers.iter().any(|layer| layer.is_rim(x, y));
        if is_rim { expected.at(x, y) } else { got.at(x, y) }
    });
    let peak = expected.texels.iter().flatten().copied().fold(1.0, f64::max);
    assert_close(
        name,
        &got,
        &expected,
        &[0, 1, 2, 3],
        tolerance(format, peak) + rounding(layers, format),
    )
}

/// The additional tolerance of eight bits for glass that is not solid: it is mixed in two steps, and each step rounds.
fn rounding(layers: &[Layer], format: TextureFormat) -> f64 {
    let is_mixed = |layer: &Layer| matches!(layer, Layer::Glass(panel) if panel.opacity < 1.0);
    match formats::kind(format) {
        Kind::Srgb | Kind::Unorm if layers.iter().any(is_mixed) => 0.5 / 255.0,
        _ => 0.0,
    }
}

/// Panics if pixels that no layer touches have changed by a single bit.
pub fn assert_untouched(name: &str, got: &Picture, below: &Picture, layers: &[Layer]) {
    assert_eq!([got.width, got.height], [below.width, below.height], "{name}: the size");
    for y in 0..below.height {
        for x in 0..below.width {
            let is_untouched = !layers.iter().any(|layer| layer.touches(x, y));
            if is_untouched {
                assert_eq!(got.at(x, y), below.at(x, y), "{name}: {x}, {y} is off the glass");
            }
        }
    }
}
