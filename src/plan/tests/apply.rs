//! What an axis pass *means*: the same computation on a row of numbers, in double precision. It proves whole plans.

use super::super::pass::{AxisPass, BORDER, Weighting};
use crate::settings::EdgeMode;
use core::ops::Range;

/// The mean of a row between `target` and `target + 1` of `length` equal parts of it.
fn mean(row: &[f64], target: i32, length: i32) -> f64 {
    let texels = row.len() as i32;
    // In units of which a texel has `length`.
    let (start, end) = (target * texels, (target + 1) * texels);
    let covered = |i: i32| f64::from(((i + 1) * length).min(end) - (i * length).max(start));
    let share = |i: i32| covered(i) / f64::from(texels);
    (start / length..=(end - 1) / length)
        .map(|i| share(i) * row[i as usize])
        .sum()
}

impl AxisPass {
    /// Computes the target texels `targets` from the valid texels of the source. `row[i]` is the source texel
    /// `bounds.0 + i`, or the texel `i` with [`Images`](super::super::pass::Images).
    pub fn apply(&self, row: &[f64], targets: Range<i32>) -> Vec<f64> {
        let bounds = self.bounds.0 as usize..self.bounds.1 as usize;
        let row = if self.images.is_some() { &row[bounds] } else { row };
        assert_eq!(row.len() as i32, self.bounds.1 - self.bounds.0);
        let taps = self.taps();
        let convolved: Vec<f64> = match self.filter {
            Weighting::Spline if self.reach != (0, 0) => (self.bounds.0..self.bounds.1)
                .map(|texel| self.weighted_sum(row, texel, &taps))
                .collect(),
            _ => row.to_vec(),
        };
        let value = |target: i32| {
            let position = target * self.step + self.shift;
            match self.filter {
                Weighting::Weights if self.images.is_some() => self.sum_with_images(row, position),
                Weighting::Taps | Weighting::Weights => self.weighted_sum(row, position, &taps),
                Weighting::Spline => self.spline(&convolved, position),
                Weighting::Mean(length) => mean(row, target, length as i32),
            }
        };
        targets.map(value).collect()
    }

    /// The table as taps: offsets and weights.
    fn taps(&self) -> Vec<[f64; 2]> {
        let weight = |(i, &weight): (usize, &f64)| [f64::from(self.reach.0) + i as f64, weight];
        match self.filter {
            Weighting::Taps => self.table.as_chunks().0.to_vec(),
            Weighting::Weights | Weighting::Spline => self.table.iter().enumerate().map(weight).collect(),
            Weighting::Mean(_) => Vec::new(),
        }
    }

    fn weighted_sum(&self, row: &[f64], centre: i32, taps: &[[f64; 2]]) -> f64 {
        let (mut sum, mut weight_inside) = (0.0, 0.0);
        for [offset, weight] in taps {
            let left = offset.floor();
            let fraction = offset - left;
            for (side, share) in [(0, 1.0 - fraction), (1, fraction)] {
                if let Some(index) = self.resolve(centre + left as i32 + side) {
                    sum += weight * share * row[index];
                    weight_inside += weight * share;
                }
            }
        }
        if self.normalize { sum / weight_inside } else { sum }
    }

    fn sum_with_images(&self, row: &[f64], centre: i32) -> f64 {
        let margin = self.images.map_or(0, |images| images.margin);
        let texels = centre + self.reach.0 - margin..=centre + self.reach.1 + margin;
        let value = |texel: i32| self.resolve(texel).map_or(0.0, |index| row[index]);
        texels.map(|texel| self.weight_at(centre, texel) * value(texel)).sum()
    }

    /// The weight of a read of `texel`.
    fn weight_at(&self, centre: i32, texel: i32) -> f64 {
        let Some(images) = self.images else {
            return self.table[(texel - centre - self.reach.0) as usize];
        };
        let (low, high) = self.bounds;
        let distance = (texel - centre).abs();
        let reach = self.reach.1 + images.margin;
        let start = images.start as i32;
        let index = if texel < 2 * low - high || texel >= 2 * high - low {
            return 0.0;
        } else if texel < low {
            start - 1 + distance
        } else if texel >= high {
            start - 1 + reach + distance
        } else {
            self.reach.1 + distance
        };
        self.table[index as usize]
    }

    fn spline(&self, row: &[f64], position: i32) -> f64 {
        let left = position >> (self.octaves + 1);
        let period = 2 << self.octaves;
        let t = f64::from(position & (period - 1)) / f64::from(period);
        if self.octaves == 0 {
            return row[(left - self.bounds.0) as usize];
        }
        let weights = [
            (1.0 - t).powi(3) / 6.0,
            2.0 / 3.0 - t.powi(2) + t.powi(3) / 2.0,
            2.0 / 3.0 - (1.0 - t).powi(2) + (1.0 - t).powi(3) / 2.0,
            t.powi(3) / 6.0,
        ];
        let (mut sum, mut weight_inside) = (0.0, 0.0);
        for (offset, weight) in (-1..).zip(weights) {
            let index = (left + offset - self.bounds.0) as usize;
            sum += weight * row[index];
            weight_inside += weight * self.border_weight(index, row.len());
        }
        sum / weight_inside
    }

    /// The weight inside the region at a texel of the source of a [`Weighting::Spline`].
    fn border_weight(&self, index: usize, length: usize) -> f64 {
        if !self.normalize {
            1.0
        } else if index < BORDER {
            self.table[index]
        } else if index + BORDER >= length {
            self.table[index + 2 * BORDER - length]
        } else {
            1.0
        }
    }

    /// The index into a row that a read of a source texel resolves to, `None` if it reads nothing.
    fn resolve(&self, texel: i32) -> Option<usize> {
        let length = self.bounds.1 - self.bounds.0;
        let index = texel - self.bounds.0;
        let index = match self.edge {
            EdgeMode::Clamp => index.clamp(0, length - 1),
            EdgeMode::Mirror => {
                let folded = index.rem_euclid(2 * length);
                folded.min(2 * length - 1 - folded)
            }
            EdgeMode::Wrap => index.rem_euclid(length),
            EdgeMode::Transparent | EdgeMode::Renormalize if !(0..length).contains(&index) => {
                return None;
            }
            EdgeMode::Transparent | EdgeMode::Renormalize => index,
        };
        Some(index as usize)
    }
}
