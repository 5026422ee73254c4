//! Paints panes of glass, and plain boxes between them, over a picture, in float64.
//!
//! This reference is independent of the GPU code: it has no pyramid, no groups of panels, no draws. A [pane](Panel) is the
//! Gaussian blur of a part of the picture, coloured as in CSS and mixed in where Bevy would paint a background.

use super::formats::Kind;
use super::prelude::*;
pub use super::reference::Panel;
use super::{precision, twins};

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
    Glass(Box<Panel>),
    Fill(Fill),
}

/// A pane over `below`, with the blur of `behind` as the format stores it. Both are usually the same, but the pane's own shadow,
/// for example, is below and not behind.
pub fn glass_over(pane: &Panel, below: &Picture, behind: &Picture, format: TextureFormat) -> Picture {
    let is_bounded = matches!(formats::kind(format), Kind::Srgb | Kind::Unorm);
    pane.over(below, &formats::quantised(behind, format), is_bounded)
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
    pub fn glass(panel: Panel) -> Self {
        Self::Glass(Box::new(panel))
    }

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
        Layer::Glass(panel) => glass_over(panel, &picture, &picture, format),
        Layer::Fill(fill) => fill.over(&picture),
    })
}

/// The tolerance for solid glass, beyond the rounding of its format, for values up to `peak`: 1.5/255, with a high
/// dynamic range 0.2 % of the peak.
pub fn tolerance(format: TextureFormat, peak: f64) -> f64 {
    match formats::kind(format) {
        Kind::Srgb | Kind::Unorm => 1.5 / 255.0 + peak * precision::error_of_blurs(),
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
        &RGBA,
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
