//! Pictures that begin anywhere, and are transparent around.

use crate::shape::{Clip, Shape};
use crate::storage::Storage;
use crate::{EdgeMode, Picture, SMALLEST_SIGMA, gaussian_blur, moved_blur, varying_blur};

/// A rectangle of pixels: the first column and row, and one past the last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pixels {
    pub min: [i64; 2],
    pub max: [i64; 2],
}

impl Pixels {
    pub const NONE: Self = Self {
        min: [0; 2],
        max: [0; 2],
    };

    /// The pixels whose centres lie in a rectangle, which may be infinite.
    pub fn inside(clip: Clip) -> Self {
        let first = |edge: f64| (edge - 0.5).ceil().clamp(-1e6, 1e6) as i64;
        Self {
            min: clip.min.map(first),
            max: clip.max.map(first),
        }
    }

    /// All pixels that a rectangle touches.
    pub fn touching(bounds: Clip) -> Self {
        Self {
            min: bounds.min.map(|edge| edge.floor() as i64),
            max: bounds.max.map(|edge| edge.ceil() as i64),
        }
    }

    /// The pixels that lie in a rectangle as a whole.
    pub fn whole(bounds: Clip) -> Self {
        const LEAST: f64 = 1e-3;
        Self {
            min: bounds.min.map(|edge| (edge - LEAST).ceil() as i64),
            max: bounds.max.map(|edge| (edge + LEAST).floor() as i64),
        }
    }

    pub fn of_size([width, height]: [usize; 2]) -> Self {
        Self {
            min: [0; 2],
            max: [width as i64, height as i64],
        }
    }

    pub fn is_empty(self) -> bool {
        (0..2).any(|axis| self.min[axis] >= self.max[axis])
    }

    pub fn size(self) -> [usize; 2] {
        [0, 1].map(|axis| (self.max[axis] - self.min[axis]).max(0) as usize)
    }

    pub fn and(self, other: Self) -> Self {
        Self {
            min: [0, 1].map(|axis| self.min[axis].max(other.min[axis])),
            max: [0, 1].map(|axis| self.max[axis].min(other.max[axis])),
        }
    }

    /// The smallest rectangle around both.
    pub fn with(self, other: Self) -> Self {
        if self.is_empty() {
            return other;
        }
        if other.is_empty() {
            return self;
        }
        Self {
            min: [0, 1].map(|axis| self.min[axis].min(other.min[axis])),
            max: [0, 1].map(|axis| self.max[axis].max(other.max[axis])),
        }
    }

    pub fn grown(self, by: [i64; 2]) -> Self {
        if self.is_empty() {
            return self;
        }
        Self {
            min: [0, 1].map(|axis| self.min[axis] - by[axis]),
            max: [0, 1].map(|axis| self.max[axis] + by[axis]),
        }
    }

    pub fn moved(self, by: [i64; 2]) -> Self {
        Self {
            min: [0, 1].map(|axis| self.min[axis] + by[axis]),
            max: [0, 1].map(|axis| self.max[axis] + by[axis]),
        }
    }

    pub fn contains(self, [x, y]: [i64; 2]) -> bool {
        let Self { min, max } = self;
        min[0] <= x && x < max[0] && min[1] <= y && y < max[1]
    }

    pub fn iter(self) -> impl Iterator<Item = [i64; 2]> {
        (self.min[1]..self.max[1]).flat_map(move |y| (self.min[0]..self.max[0]).map(move |x| [x, y]))
    }
}

/// A picture with the place of its top left corner.
#[derive(Clone, Debug)]
pub struct Surface {
    pub rect: Pixels,
    texels: Vec<[f64; 4]>,
}

impl Surface {
    pub fn transparent(rect: Pixels) -> Self {
        let [width, height] = rect.size();
        Self {
            rect,
            texels: vec![[0.0; 4]; width * height],
        }
    }

    pub fn of(picture: &Picture) -> Self {
        Self {
            rect: Pixels::of_size([picture.width, picture.height]),
            texels: picture.texels.clone(),
        }
    }

    pub fn into_picture(self) -> Picture {
        let [width, height] = self.rect.size();
        Picture::new(width, height, self.texels)
    }

    fn index(&self, [x, y]: [i64; 2]) -> Option<usize> {
        let Pixels { min, max } = self.rect;
        self.rect
            .contains([x, y])
            .then(|| ((y - min[1]) * (max[0] - min[0]) + x - min[0]) as usize)
    }

    /// The texel of a pixel, transparent around the picture.
    pub fn at(&self, pixel: [i64; 2]) -> [f64; 4] {
        self.index(pixel).map_or([0.0; 4], |index| self.texels[index])
    }

    /// Paints a texel, whose colour is multiplied by alpha, over a pixel of the picture.
    pub fn over(&mut self, pixel: [i64; 2], above: [f64; 4], storage: Storage) {
        let above = above.map(|value| value * storage.coverage());
        self.change(pixel, storage, |below| {
            core::array::from_fn(|channel| above[channel] + below[channel] * (1.0 - above[3]))
        });
    }

    /// Changes a pixel of the picture.
    pub fn change(&mut self, pixel: [i64; 2], storage: Storage, change: impl FnOnce([f64; 4]) -> [f64; 4]) {
        if let Some(index) = self.index(pixel) {
            self.texels[index] = storage.stored(change(self.texels[index]));
        }
    }

    /// Mixes a texel into a pixel of the picture: in two draws, unless nothing is left of what was there. The picture is stored after each.
    pub fn mix(&mut self, pixel: [i64; 2], above: [f64; 4], share: f64, storage: Storage) {
        let left = 1.0 - share;
        self.change(pixel, storage, |below| below.map(|value| value * left));
        self.change(pixel, storage, |below| {
            core::array::from_fn(|channel| below[channel] + above[channel] * share)
        });
    }

    /// A part of it as a picture.
    fn part(&self, rect: Pixels) -> Picture {
        let [width, height] = rect.size();
        Picture::new(width, height, rect.iter().map(|pixel| self.at(pixel)).collect())
    }

    /// The surface, blurred and moved by a part of a pixel, where something of it is seen.
    pub fn blurred(&self, sigma: [f64; 2], shift: [f64; 2], seen: Pixels) -> Self {
        let reach = reach(sigma).map(|length| length + 1);
        let rect = self.rect.grown(reach).and(seen);
        if rect.is_empty() {
            return Self::transparent(Pixels::NONE);
        }
        let all = rect.with(self.rect.and(rect.grown(reach)));
        let blurred = match shift {
            [0.0, 0.0] => gaussian_blur(&self.part(all), sigma, EdgeMode::Transparent),
            _ => moved_blur(&self.part(all), sigma, shift),
        };
        let whole = Self {
            rect: all,
            texels: blurred.texels,
        };
        Self {
            rect,
            texels: rect.iter().map(|pixel| whole.at(pixel)).collect(),
        }
    }

    /// The part of the surface inside a border, blurred, with an edge at the border.
    pub fn blurred_inside(&self, border: Pixels, sigma: [f64; 2], edge: EdgeMode) -> Self {
        Self {
            rect: border,
            texels: gaussian_blur(&self.part(border), sigma, edge).texels,
        }
    }

    /// These pixels of the surface, blurred by standard deviations that vary.
    pub fn varied(&self, rect: Pixels, edge: EdgeMode, sigma: impl Fn([i64; 2]) -> [f64; 2] + Sync) -> Self {
        if rect.is_empty() {
            return Self::transparent(Pixels::NONE);
        }
        // Without an edge, it reads everything.
        let all = if edge == EdgeMode::Transparent {
            rect.with(self.rect)
        } else {
            rect
        };
        let blurred = varying_blur(&self.part(all), edge, |x, y| {
            let pixel = [all.min[0] + x as i64, all.min[1] + y as i64];
            if rect.contains(pixel) { sigma(pixel) } else { [0.0; 2] }
        });
        let whole = Self {
            rect: all,
            texels: blurred.texels,
        };
        Self {
            rect,
            texels: rect.iter().map(|pixel| whole.at(pixel)).collect(),
        }
    }

    /// The surface as the picture of an upright box, of which it holds the whole pixels: others show the nearest one, as far as they lie
    /// in the box.
    pub fn in_box(&self, bounds: Clip) -> Self {
        let Pixels { min, max } = self.rect;
        let rect = Pixels::touching(bounds);
        let shape = Shape {
            centre: [0, 1].map(|axis| 0.5 * (bounds.min[axis] + bounds.max[axis])),
            size: [0, 1].map(|axis| bounds.max[axis] - bounds.min[axis]),
            axes: [[1.0, 0.0], [0.0, 1.0]],
            radii: [0.0; 4],
        };
        let texels = rect.iter().map(|pixel| {
            let nearest = [0, 1].map(|axis| pixel[axis].clamp(min[axis], max[axis] - 1));
            let share = shape.outlined(pixel.map(|place| place as f64));
            self.at(nearest).map(|value| value * share)
        });
        Self {
            rect,
            texels: texels.collect(),
        }
    }

    /// Of every pixel near the surface, the share that its alpha covers when it is widened by a width in pixels.
    ///
    /// An edge that covers a part of a pixel stays in that pixel: with the width and its own part of that pixel, what it covers ends
    /// that far from the pixel's near side. What is nearly transparent widens no more than ten times its alpha.
    pub fn widened(&self, width: f64) -> impl Fn([i64; 2]) -> f64 {
        let most = width.ceil() as i64;
        let within = Pixels {
            min: [-most; 2],
            max: [most + 1; 2],
        };
        move |[x, y]| {
            let others = within.iter().map(|[dx, dy]| {
                let alpha = self.at([x + dx, y + dy])[3].clamp(0.0, 1.0);
                let distance = (dx as f64).hypot(dy as f64);
                (10.0 * alpha).min(alpha + width - distance)
            });
            others.fold(0.0, f64::max).min(1.0)
        }
    }

    /// The surface with every texel changed.
    pub fn map(&self, change: impl Fn([i64; 2], [f64; 4]) -> [f64; 4]) -> Self {
        let texels = self.rect.iter().zip(&self.texels);
        Self {
            rect: self.rect,
            texels: texels.map(|(pixel, texel)| change(pixel, *texel)).collect(),
        }
    }
}

/// How far a blur reaches, along x and y. Beyond lies less than a 30,000th of the weight.
pub fn reach(sigma: [f64; 2]) -> [i64; 2] {
    const REACH: f64 = 4.0;
    sigma.map(|sigma| {
        if sigma >= SMALLEST_SIGMA {
            (REACH * sigma).ceil() as i64
        } else {
            0
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const SIDE: usize = 64;

    /// The alpha of a half plane whose edge lies at this distance from the centre, in this direction: 16 times 16 samples for each pixel.
    fn half_plane(degrees: f64, edge: f64) -> Surface {
        let (sin, cos) = degrees.to_radians().sin_cos();
        let sample = |pixel: usize, index: usize| pixel as f64 + (index as f64 + 0.5) / 16.0 - 0.5 * SIDE as f64;
        let is_inside = |x: f64, y: f64| x * cos + y * sin < edge;
        let covered = |x: usize, y: usize| {
            let samples = (0..256).filter(|index| is_inside(sample(x, index % 16), sample(y, index / 16)));
            samples.count() as f64 / 256.0
        };
        Surface::of(&Picture::from_fn(SIDE, SIDE, |x, y| [0.0, 0.0, 0.0, covered(x, y)]))
    }

    /// Against the exact widening of a half plane, the line ends within a tenth of a pixel, and within a fifth if it is oblique.
    #[test]
    fn straight_lines_have_their_width() {
        for (degrees, limit) in [(0.0, 0.1), (7.0, 0.1), (20.0, 0.1), (30.0, 0.1), (45.0, 0.2)] {
            for edge in [0.0, 0.1, 0.2, 0.5, 0.85] {
                for width in [0.3, 1.0, 2.5, 5.0] {
                    let (drawn, exact) = (half_plane(degrees, edge), half_plane(degrees, edge + width));
                    let widened = drawn.widened(width);
                    // Along the edge, away from the borders of the picture.
                    let rows = 24..40_i64;
                    let pixels = rows.flat_map(|y| (4..60).map(move |x| [x, y]));
                    let more: f64 = pixels.map(|pixel| widened(pixel) - exact.at(pixel)[3]).sum();
                    let length = 16.0 / degrees.to_radians().cos();
                    let off = more / length;
                    assert!(
                        off.abs() <= limit,
                        "off by {off} at {degrees} degrees, {edge}, width {width}"
                    );
                }
            }
        }
    }

    /// A width that grows from 0 grows nothing at once.
    #[test]
    fn lines_grow_from_nothing() {
        let edge = half_plane(20.0, 0.3);
        let pixels: Vec<[i64; 2]> = (20..44).flat_map(|y| (20..44).map(move |x| [x, y])).collect();
        let mut before: Vec<f64> = pixels.iter().map(|pixel| edge.at(*pixel)[3]).collect();
        for step in 0..64 {
            let widened = edge.widened(f64::from(step) / 16.0);
            let now: Vec<f64> = pixels.iter().map(|pixel| widened(*pixel)).collect();
            let most = before
                .iter()
                .zip(&now)
                .map(|(before, now)| now - before)
                .fold(0.0, f64::max);
            let limit = if step == 0 { 0.0 } else { 1.0 / 16.0 };
            assert!(most <= limit + 1e-9, "{most} at step {step}");
            before = now;
        }
    }
}
