//! Gaussian weights and bilinear taps for one axis. Plain numbers: no ECS, no GPU.
//!
//! # Where the numbers come from
//!
//! The weights are the *sampled* Gaussian `exp(-x² / 2σ²)`, normalised to a sum of one, which is what
//! `scipy.ndimage.gaussian_filter` computes. A kernel must end somewhere, and where it ends decides whether an animated
//! strength pops. If the support were a whole number of texels, a tap of visible weight would appear from one frame to
//! the next. So the last tap is *fractional*: every weight is multiplied by `clamp(c·σ + 1 - |x|, 0, 1)`, with the
//! [cutoff](Precision::cutoff) `c`, before normalising, and taps fade in.
//!
//! Kernels are symmetric and are stored as their non-negative half: `half[0]` is the centre and `half[i]` the weight at
//! both `-i` and `+i`.

/// How exact a blur must be.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Precision {
    /// Values in [0, 1]: at most 0.35/255 off for any image.
    #[default]
    Standard,
    /// High dynamic range, where a single texel can outshine thousands: at most 0.1/255 of the peak.
    Hdr,
}

impl Precision {
    /// ρ: the least sigma, in texels of the level a blur runs at.
    ///
    /// Accuracy alone decides it: as soon as half the resolution is exact enough, it is also cheaper.
    pub const fn rho(self) -> f64 {
        match self {
            Self::Standard => 1.5,
            Self::Hdr => 2.0,
        }
    }

    /// The number of sigmas after which a kernel ends.
    pub const fn cutoff(self) -> f64 {
        match self {
            Self::Standard => 3.5,
            Self::Hdr => 4.0,
        }
    }
}

/// The filter that divides a resolution by `2^octaves`: the weights of neighbouring texels from [`decimation_start`] on.
///
/// One octave is the binomial filter `[1 5 10 10 5 1] / 32`, the discrete B-spline of order five: five boxes of two
/// texels convolved. `n` octaves in a row are five boxes of `P = 2ⁿ` texels, however they are grouped, and add the
/// variance `5 (P² - 1) / 12` in source texels squared.
pub fn decimation_weights(octaves: u32) -> Vec<f64> {
    let scale = 1_usize << octaves;
    let mut weights = vec![1.0];
    for _ in 0..5 {
        let mut next = vec![0.0; weights.len() + scale - 1];
        for (i, weight) in weights.iter().enumerate() {
            next[i..i + scale]
                .iter_mut()
                .for_each(|sum| *sum += weight / scale as f64);
        }
        weights = next;
    }
    weights
}

/// The first texel of [`decimation_weights`], counted from the first source texel that the new texel covers:
/// `5 (P - 1) + 1` weights are centred on `P` texels.
pub const fn decimation_start(octaves: u32) -> i32 {
    -2 * ((1 << octaves) - 1)
}

/// The same filter as linearly filtered fetches from left to right: the offset of each from the first covered source texel, and its
/// weight. The fraction of an offset reads between two texels.
///
/// One fetch equals the weight `l` of a texel and the weight `r` of the next one: `(l + r) · lerp(a, b, r / (l + r)) = l·a + r·b`.
pub fn decimation_taps(octaves: u32) -> Vec<[f64; 2]> {
    let weights = decimation_weights(octaves);
    let pairs = (decimation_start(octaves)..).step_by(2).zip(weights.chunks(2));
    let tap = |(index, pair): (i32, &[f64])| {
        let right = pair.get(1).copied().unwrap_or(0.0);
        let weight = pair[0] + right;
        [f64::from(index) + right / weight, weight]
    };
    pairs.map(tap).collect()
}

/// A sampled Gaussian.
#[derive(Clone, Copy, Debug)]
pub struct Gaussian {
    /// The standard deviation in texels, more than 0.
    pub sigma: f64,
    /// The number of sigmas after which it ends.
    pub cutoff: f64,
    /// Its fourth cumulant is raised by `24 · excess` texels⁴.
    ///
    /// A chain of boxes has less kurtosis than a Gaussian. Adding `excess · (g ∗ [1 -4 6 -4 1])`, the fourth central
    /// difference, restores it and does not change the variance.
    pub excess: f64,
}

impl Gaussian {
    /// The distance from which on weights are 0.
    pub fn end(&self) -> f64 {
        self.cutoff * self.sigma + 1.0
    }

    /// The half kernel: the weights of texels on its grid.
    pub fn half(&self) -> Vec<f64> {
        let texels = (0_u32..).map(f64::from).take_while(|x| *x < self.end());
        let mut half: Vec<f64> = texels.map(|x| self.at(x)).collect();
        let sum = half[0] + 2.0 * half[1..].iter().sum::<f64>();
        half.iter_mut().for_each(|weight| *weight /= sum);
        half
    }

    /// The weights of texels at whole distances from one that lies `offset` texels from the centre. The weights at all
    /// whole distances add up to one.
    pub fn shifted(self, offset: f64) -> impl Fn(f64) -> f64 {
        let phase = offset - offset.round();
        let far = self.end().ceil() as i32 + 1;
        let sum: f64 = (-far..=far).map(|x| self.at(phase + f64::from(x))).sum();
        move |distance| self.at(offset + distance) / sum
    }

    /// The weight before it is normalised.
    fn at(&self, x: f64) -> f64 {
        let share = (self.end() - x.abs()).clamp(0.0, 1.0);
        if share == 0.0 {
            return 0.0;
        }
        let g = |shift: f64| (-0.5 * ((x + shift) / self.sigma).powi(2)).exp();
        let fourth_difference = g(-2.0) - 4.0 * g(-1.0) + 6.0 * g(0.0) - 4.0 * g(1.0) + g(2.0);
        (g(0.0) + self.excess * fourth_difference) * share
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gaussian(sigma: f64, cutoff: f64) -> Vec<f64> {
        let excess = 0.0;
        Gaussian { sigma, cutoff, excess }.half()
    }

    fn sigmas() -> impl Iterator<Item = f64> {
        (0..400).map(|i| 0.05 * 1.0125_f64.powi(i))
    }

    #[test]
    fn weights_sum_to_one_and_decrease() {
        for sigma in sigmas() {
            let half = gaussian(sigma, 3.5);
            let sum = half[0] + 2.0 * half[1..].iter().sum::<f64>();
            assert!((sum - 1.0).abs() < 1e-12, "sigma {sigma}: sum {sum}");
            assert!(half.windows(2).all(|w| w[0] > w[1]), "sigma {sigma}: {half:?}");
        }
    }

    #[test]
    fn kernels_end_at_the_cutoff() {
        for (sigma, cutoff) in sigmas().flat_map(|sigma| [(sigma, 3.5), (sigma, 4.0)]) {
            // The last weight belongs to the largest whole number below `cutoff · sigma + 1`.
            let reach = (cutoff * sigma).ceil() as usize;
            assert_eq!(gaussian(sigma, cutoff).len(), reach + 1, "sigma {sigma}");
        }
        // Where the support is a whole number of texels, the texel behind it has no weight.
        assert_eq!(gaussian(4.0, 4.0).len(), 17);
    }

    #[test]
    fn a_growing_sigma_never_pops() {
        // Half the L1 distance between neighbours in a fine sweep bounds the change of any image in [0, 1].
        let kernel = |sigma: f64| gaussian(sigma, 3.5);
        for i in 0..4000 {
            let sigma = 0.3 + f64::from(i) * 0.001;
            let (a, b) = (kernel(sigma), kernel(sigma + 0.001));
            let at = |k: &[f64], x: usize| k.get(x).copied().unwrap_or(0.0);
            let distance: f64 = (0..a.len().max(b.len()))
                .map(|x| (at(&a, x) - at(&b, x)).abs() * if x == 0 { 0.5 } else { 1.0 })
                .sum();
            // The blur itself changes by about dσ / (σ · sqrt(2πe)); nothing may come on top.
            assert!(distance < 1.5 * 0.001 / sigma, "sigma {sigma}: {}", distance * 255.0);
        }
    }

    #[test]
    fn decimation_is_the_binomial_filter() {
        let mut dense = [0.0; 6];
        for [offset, weight] in decimation_taps(1) {
            let left = offset.floor();
            dense[(left + 2.0) as usize] += weight * (1.0 - (offset - left));
            dense[(left + 3.0) as usize] += weight * (offset - left);
        }
        for (got, expected) in dense.iter().zip([1.0, 5.0, 10.0, 10.0, 5.0, 1.0]) {
            assert!((got * 32.0 - expected).abs() < 1e-12, "{dense:?}");
        }
    }

    #[test]
    fn decimation_is_centred_and_has_its_variance() {
        for octaves in 1..=3 {
            let scale = f64::from(1 << octaves);
            let taps = decimation_taps(octaves);
            // A fetch between two texels is two weights: their spread adds to the variance of the positions.
            let moment = |power: i32| -> f64 {
                let both = taps.iter().flat_map(|[offset, weight]| {
                    let left = offset.floor();
                    let fraction = offset - left;
                    [(left, weight * (1.0 - fraction)), (left + 1.0, weight * fraction)]
                });
                both.map(|(x, weight)| weight * (x - (scale - 1.0) / 2.0).powi(power))
                    .sum()
            };
            assert!((moment(0) - 1.0).abs() < 1e-12 && moment(1).abs() < 1e-12, "{taps:?}");
            assert!(
                (moment(2) - 5.0 * (scale * scale - 1.0) / 12.0).abs() < 1e-9,
                "{taps:?}"
            );
        }
    }
}
