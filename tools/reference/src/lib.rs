//! The float64 reference that GPU results are compared with.
//!
//! A direct, separable, *sampled* Gaussian: the weight of a texel at the
//! whole-number distance `x` is proportional to `exp(-x² / 2σ²)`. The kernel
//! reaches six sigma, beyond which less than 2e-9 of the weight lies, and is
//! normalised to one. It shares none of the GPU's methods: no pyramid, no
//! bilinear taps, no truncation at three sigma.
//!
//! Each axis is one matrix. Row `o` of the matrix holds what every input texel
//! contributes to the output texel `o`, with the weights that fall outside the
//! picture already folded back in as the [`EdgeMode`] demands: `Clamp`
//! is `nearest` in scipy, `Mirror` is `reflect`, `Wrap` is `wrap`, `Transparent`
//! is `constant` with `cval=0`, and scipy has no `Renormalize`. The horizontal
//! matrix is applied first, then the vertical one.

//!
//! [`Tree`](tree::Tree) composes such blurs: a compositor of user interfaces with glass and filters.

mod color;
mod difference;
pub mod formats;
mod lens;
mod panel;
mod shape;
mod storage;
mod strong;
pub mod tree;

pub use bevy_gaussian_blur::EdgeMode;
pub use color::{Functions, Step, decode_srgb, encode_srgb};
pub use difference::{Difference, minus, worst_difference};
pub use lens::Lens;
pub use panel::{Panel, Ramp};
pub use shape::{Clip, Shape, pixels};
pub use storage::Storage;
pub use strong::strong_blur;

use std::ops::Range;
use std::thread;

/// A blur of less than this many texels leaves its axis alone.
const SMALLEST_SIGMA: f64 = 0.03;

/// How far the kernel reaches, in sigmas.
const REACH: f64 = 6.0;

/// Threads that share the work for one axis.
const THREADS: usize = 2;

/// The number of texels from which on threads are faster than one.
const WORTH_A_THREAD: usize = 20_000;

/// How many numbers of a row are processed together: few enough that this part of all input rows stays in the
/// second-level cache.
const BLOCK: usize = 128;

/// A picture of `width` x `height` RGBA texels, stored row after row from the
/// top. Values are linear and unbounded; nothing here clamps them.
#[derive(Clone, Debug, PartialEq)]
pub struct Picture {
    /// Texels per row.
    pub width: usize,
    /// Rows.
    pub height: usize,
    /// `width * height` texels; `(x, y)` is at `y * width + x`.
    pub texels: Vec<[f64; 4]>,
}

impl Picture {
    /// Wraps `width * height` texels given row after row.
    ///
    /// # Panics
    /// If there are fewer or more texels than that.
    pub fn new(width: usize, height: usize, texels: Vec<[f64; 4]>) -> Self {
        assert_eq!(texels.len(), width * height, "{width}x{height} texels wanted");
        Self { width, height, texels }
    }

    /// Calls `texel` for every `(x, y)`, row after row.
    pub fn from_fn(width: usize, height: usize, mut texel: impl FnMut(usize, usize) -> [f64; 4]) -> Self {
        let mut texels = Vec::with_capacity(width * height);
        for y in 0..height {
            texels.extend((0..width).map(|x| texel(x, y)));
        }
        Self { width, height, texels }
    }

    /// The texel in column `x` of row `y`.
    ///
    /// # Panics
    /// If `(x, y)` is outside the picture.
    pub fn at(&self, x: usize, y: usize) -> [f64; 4] {
        assert!(
            x < self.width && y < self.height,
            "({x}, {y}) is outside {}x{}",
            self.width,
            self.height
        );
        self.texels[y * self.width + x]
    }

    /// The part of `size` texels, across and down, that starts at `origin`.
    pub fn crop(&self, origin: [usize; 2], size: [usize; 2]) -> Self {
        Self::from_fn(size[0], size[1], |x, y| self.at(x + origin[0], y + origin[1]))
    }

    /// The part that is at least `border` texels away from the border.
    pub fn without_border(&self, border: usize) -> Self {
        let size = [self.width, self.height].map(|side| side - 2 * border);
        self.crop([border; 2], size)
    }

    /// The picture mirrored about its main diagonal: columns become rows.
    fn transposed(&self) -> Self {
        Self::from_fn(self.height, self.width, |x, y| self.texels[x * self.width + y])
    }
}

/// Blurs all four channels alike.
///
/// `sigma` is `[horizontal, vertical]`, in texels. An axis whose sigma is below
/// 0.03, negative or not a number stays as it is, bit for bit.
pub fn gaussian_blur(picture: &Picture, sigma: [f64; 2], edge: EdgeMode) -> Picture {
    let mut result = picture.clone();
    if picture.texels.is_empty() {
        return result;
    }
    if sigma[0] >= SMALLEST_SIGMA {
        let across = edge_folded_matrix(picture.width, sigma[0], edge);
        // Because columns become rows, one routine serves both axes: it mixes whole rows, and its inner loop runs along
        // them.
        result = mix_rows(&result.transposed(), &across).transposed();
    }
    if sigma[1] >= SMALLEST_SIGMA {
        let down = edge_folded_matrix(picture.height, sigma[1], edge);
        result = mix_rows(&result, &down);
    }
    result
}

/// Blurs all four channels alike, around which everything is transparent, and moves the result towards larger coordinates by `shift`, a
/// part of a texel along x and y.
pub fn moved_blur(picture: &Picture, sigma: [f64; 2], shift: [f64; 2]) -> Picture {
    let mut result = picture.clone();
    if picture.texels.is_empty() {
        return result;
    }
    for axis in [0, 1] {
        // Twice transposed, the picture is what it was.
        if sigma[1 - axis] >= SMALLEST_SIGMA || shift[1 - axis] != 0.0 {
            result = mix_rows(&result, &moved_matrix(result.height, sigma[1 - axis], shift[1 - axis]));
        }
        result = result.transposed();
    }
    result
}

/// The matrix of a Gaussian whose centre lies `shift` texels before each texel.
fn moved_matrix(length: usize, sigma: f64, shift: f64) -> Vec<Band> {
    let reach = (REACH * sigma).ceil() as isize + 1;
    let weight = |distance: isize| (-0.5 * ((distance as f64 + shift) / sigma).powi(2)).exp();
    let total: f64 = (-reach..=reach).map(weight).sum();
    let row = |centre: isize| {
        let first = (centre - reach).max(0);
        let used = first..(centre + reach + 1).min(length as isize);
        Band {
            first: first as usize,
            weights: used.map(|texel| weight(texel - centre) / total).collect(),
        }
    };
    (0..length as isize).map(row).collect()
}

/// Blurs every texel with its own sigma, `sigma(x, y)`, horizontally and vertically: each texel is the original picture, blurred
/// with that sigma. A sigma below 0.03 leaves its axis alone.
pub fn varying_blur(picture: &Picture, edge: EdgeMode, sigma: impl Fn(usize, usize) -> [f64; 2] + Sync) -> Picture {
    blur_by(picture, edge, &sigma)
}

/// Not generic, so that it is compiled (and optimised) with this package, not with its callers.
fn blur_by(picture: &Picture, edge: EdgeMode, sigma: &(dyn Fn(usize, usize) -> [f64; 2] + Sync)) -> Picture {
    let (width, height) = (picture.width, picture.height);
    let band = |length: usize, centre: usize, sigma: f64| {
        if sigma >= SMALLEST_SIGMA {
            return edge_folded_row(length, centre, &half_kernel(sigma), edge);
        }
        Band {
            first: centre,
            weights: vec![1.0],
        }
    };
    let texel = |x: usize, y: usize| {
        let [across, down] = sigma(x, y);
        let (across, down) = (band(width, x, across), band(height, y, down));
        let mut sum = [0.0; 4];
        for (row, weight_y) in (down.first..).zip(&down.weights) {
            let start = row * width + across.first;
            let texels = &picture.texels[start..start + across.weights.len()];
            for (texel, weight_x) in texels.iter().zip(&across.weights) {
                let weight = weight_x * weight_y;
                (0..4).for_each(|channel| sum[channel] += weight * texel[channel]);
            }
        }
        sum
    };
    let rows: Vec<usize> = (0..height).collect();
    let texels = thread::scope(|scope| {
        let parts: Vec<_> = rows
            .chunks(height.div_ceil(THREADS).max(1))
            .map(|rows| {
                let texel = &texel;
                scope.spawn(move || -> Vec<[f64; 4]> {
                    rows.iter()
                        .flat_map(|&y| (0..width).map(move |x| texel(x, y)))
                        .collect()
                })
            })
            .collect();
        parts
            .into_iter()
            .flat_map(|part| part.join().expect("the reference does not panic"))
            .collect()
    });
    Picture::new(width, height, texels)
}

/// One row of an axis' matrix: the weights of the input texels `first .. first + weights.len()`; all others are 0.
struct Band {
    first: usize,
    weights: Vec<f64>,
}

/// The weights at distance 0, 1, 2, ... `ceil(6 sigma)` texels. The whole two-sided kernel adds up to one.
fn half_kernel(sigma: f64) -> Vec<f64> {
    let reach = (REACH * sigma).ceil() as usize;
    let mut weights: Vec<f64> = (0..=reach)
        .map(|distance| {
            let sigmas = distance as f64 / sigma;
            (-0.5 * sigmas * sigmas).exp()
        })
        .collect();
    // From the smallest up, so that rounding errors stay far below the tail.
    let tail: f64 = weights.iter().skip(1).rev().sum();
    let total = weights[0] + 2.0 * tail;
    weights.iter_mut().for_each(|weight| *weight /= total);
    weights
}

/// The matrix that blurs a line of `length` texels: one [`Band`] per output.
fn edge_folded_matrix(length: usize, sigma: f64, edge: EdgeMode) -> Vec<Band> {
    let kernel = half_kernel(sigma);
    (0..length)
        .map(|centre| edge_folded_row(length, centre, &kernel, edge))
        .collect()
}

/// The matrix row of the output texel `centre` in a line of `length` texels.
fn edge_folded_row(length: usize, centre: usize, kernel: &[f64], edge: EdgeMode) -> Band {
    let mut row = vec![0.0; length];
    let reach = kernel.len() as isize - 1;
    for offset in -reach..=reach {
        let position = centre as isize + offset;
        if let Some(index) = texel_shown_at(position, length, edge) {
            row[index] += kernel[offset.unsigned_abs()];
        }
    }
    if edge == EdgeMode::Renormalize {
        let inside: f64 = row.iter().sum();
        row.iter_mut().for_each(|weight| *weight /= inside);
    }
    let used = nonzero_range(&row);
    Band {
        first: used.start,
        weights: row[used].to_vec(),
    }
}

/// Which of `length` texels is seen at `position`, however far outside that is;
/// `None` where there is none.
fn texel_shown_at(position: isize, length: usize, edge: EdgeMode) -> Option<usize> {
    let end = length as isize;
    let index = match edge {
        EdgeMode::Clamp => position.clamp(0, end - 1),
        EdgeMode::Wrap => position.rem_euclid(end),
        EdgeMode::Mirror => {
            let within_period = position.rem_euclid(2 * end);
            within_period.min(2 * end - 1 - within_period)
        }
        EdgeMode::Transparent | EdgeMode::Renormalize if (0..end).contains(&position) => position,
        EdgeMode::Transparent | EdgeMode::Renormalize => return None,
    };
    Some(index as usize)
}

/// The range from the first to the last weight that is not zero. Every row has one: the centre of its kernel.
fn nonzero_range(row: &[f64]) -> Range<usize> {
    let first = row.iter().position(|weight| *weight != 0.0).unwrap_or(0);
    let last = row.iter().rposition(|weight| *weight != 0.0).unwrap_or(0);
    first..last + 1
}

/// A picture of the same size whose row `o` is the sum of all rows of
/// `picture`, weighted by `matrix[o]`.
fn mix_rows(picture: &Picture, matrix: &[Band]) -> Picture {
    let mut mixed = vec![[0.0; 4]; picture.texels.len()];
    if picture.texels.len() < WORTH_A_THREAD {
        mix_share(picture, matrix, mixed.as_flattened_mut());
        return Picture::new(picture.width, picture.height, mixed);
    }
    let rows_each = picture.height.div_ceil(THREADS);
    thread::scope(|scope| {
        let shares = mixed.chunks_mut(rows_each * picture.width);
        for (share, bands) in shares.zip(matrix.chunks(rows_each)) {
            scope.spawn(move || mix_share(picture, bands, share.as_flattened_mut()));
        }
    });
    Picture::new(picture.width, picture.height, mixed)
}

/// Writes the rows that `bands` describe into `output`, which holds just these rows as plain numbers and starts at
/// zero.
fn mix_share(picture: &Picture, bands: &[Band], output: &mut [f64]) {
    let input = picture.texels.as_flattened();
    let row_length = picture.width * 4;
    for left in (0..row_length).step_by(BLOCK) {
        let columns = left..row_length.min(left + BLOCK);
        for (band, row) in bands.iter().zip(output.chunks_exact_mut(row_length)) {
            accumulate(input, row_length, columns.clone(), band, row);
        }
    }
}

/// Adds to `sums[columns]` the contributions of these columns of all input rows to `band`, four rows at a time so that
/// the sums are loaded and stored less often.
fn accumulate(input: &[f64], row_length: usize, columns: Range<usize>, band: &Band, sums: &mut [f64]) {
    let sums = &mut sums[columns.clone()];
    let input_row = |index: usize| {
        let start = index * row_length;
        &input[start + columns.start..start + columns.end]
    };
    let (fours, rest) = band.weights.as_chunks::<4>();
    for (index, weights) in fours.iter().enumerate() {
        if *weights == [0.0; 4] {
            continue; // the gap between the two ends that `Wrap` joins
        }
        let row = band.first + 4 * index;
        let rows = [row, row + 1, row + 2, row + 3].map(input_row);
        add_four(sums, rows, *weights);
    }
    let row = band.first + 4 * fours.len();
    for (index, weight) in rest.iter().enumerate() {
        for (sum, value) in sums.iter_mut().zip(input_row(row + index)) {
            *sum += weight * value;
        }
    }
}

/// `sums += weights[0] * rows[0] + .. + weights[3] * rows[3]`; all of one length.
fn add_four(sums: &mut [f64], rows: [&[f64]; 4], weights: [f64; 4]) {
    // Cut to a common length, which lets the compiler drop the bounds checks
    // and use vector instructions.
    let rows = rows.map(|row| &row[..sums.len()]);
    for (index, sum) in sums.iter_mut().enumerate() {
        *sum += (weights[0] * rows[0][index] + weights[1] * rows[1][index])
            + (weights[2] * rows[2][index] + weights[3] * rows[3][index]);
    }
}
