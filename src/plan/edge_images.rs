//! The weights of a level's images, for the periodic edge modes.
//!
//! A mirrored or repeated picture is the sum of images of the region, each with nothing around it. Downsampling is
//! linear, so a level may hold the region alone, and only the residual Gaussian adds the images. The period is not a
//! multiple of a level's texels, so images do not lie on its grid. But a Gaussian has a value at every distance:
//! nothing is interpolated, no level needs a wide apron, and short regions with many images are not a special case.
//!
//! Against the Gaussian of the infinitely continued picture, this is off by at most 0.24/255 along an axis, for any
//! picture, length and start (0.053/255 of the peak with [`Precision::Hdr`](crate::kernel::Precision::Hdr)).

use super::pass::ImageTable;
use crate::kernel::Gaussian;
use crate::program::workgroups::{IMAGE_MARGIN, MAX_REACH};
use crate::settings::EdgeMode;
use core::ops::Range;

/// The weights by the distance in texels between the centre and a read.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct ImageWeights {
    /// For reads inside the bounds, from 0 on, and for those below and above, from 1 on.
    inside: Vec<f64>,
    below: Vec<f64>,
    above: Vec<f64>,
}

impl ImageWeights {
    /// The weights of the residual kernel at the lowest level. The borders of the region are in texels of that level, where texel
    /// `j` has its centre at `j`; `texels` are the stored ones that may be non-zero.
    pub fn new(region: Range<f64>, texels: Range<i32>, kernel: Gaussian, edge: EdgeMode) -> Self {
        let count = f64::from(texels.end - texels.start);
        let length = region.end - region.start;
        let mirrors = edge == EdgeMode::Mirror;
        let period = edge.period().unwrap_or(1.0) * length;
        // How much farther away the nearest image of a texel is than the read that stands for it, below and above the
        // bounds.
        let [below, above] = if mirrors {
            let (first, last) = (f64::from(texels.start), f64::from(texels.end - 1));
            [first - region.start, region.end - last].map(|inset| 2.0 * inset - 1.0)
        } else {
            [period - count; 2]
        };
        let end = kernel.end();
        let images = ((2.0 * (end + count) / period) as i32 + 2).max(1);
        let side = |farther: f64| {
            let distances = (1..).map(f64::from).take_while(|d| d + farther < end);
            let offsets = (0..images).map(|m| farther + f64::from(m) * period);
            summed(kernel, offsets, distances)
        };
        // An image mirrored twice has moved by a period. In a short region it lies among the region's own texels.
        let overlaps = mirrors && period - (count - 1.0) < end;
        let mut inside = if overlaps {
            let distances = (0..texels.end - texels.start).map(f64::from);
            let offsets = (-images..=images).map(|m| f64::from(m) * period);
            summed(kernel, offsets, distances)
        } else {
            let distances = (0..).map(f64::from).take_while(|d| *d < end);
            summed(kernel, [0.0].into_iter(), distances)
        };
        // Compute passes have room for no more. Only reads from one end of a short region to the other are farther.
        inside.truncate((MAX_REACH + IMAGE_MARGIN) as usize + 1);
        Self {
            inside,
            below: side(below),
            above: side(above),
        }
    }

    /// The reach of the weights.
    pub fn reach(&self) -> usize {
        (self.inside.len() - 1).max(self.below.len()).max(self.above.len())
    }

    /// The table for a program that convolves with a kernel of this reach, and the place of the images' weights in it.
    pub fn table(&self, reach: usize) -> (Vec<f64>, ImageTable) {
        let far = self.reach().max(reach);
        let or_zero = |weights: &[f64], index: usize| weights.get(index).copied().unwrap_or(0.0);
        let kernel = (-(reach as i32)..=far as i32).map(|x| or_zero(&self.inside, x.unsigned_abs() as usize));
        let mut table: Vec<f64> = kernel.collect();
        let start = table.len() as u32;
        for side in [&self.below, &self.above] {
            table.extend((0..far).map(|index| or_zero(side, index)));
        }
        let margin = (far - reach) as i32;
        (table, ImageTable { margin, start })
    }
}

/// For each whole distance, the sum of the kernel's weights for the images at these offsets.
fn summed(kernel: Gaussian, offsets: impl Iterator<Item = f64>, distances: impl Iterator<Item = f64>) -> Vec<f64> {
    let images: Vec<_> = offsets.map(|offset| kernel.shifted(offset)).collect();
    distances.map(|d| images.iter().map(|image| image(d)).sum()).collect()
}
