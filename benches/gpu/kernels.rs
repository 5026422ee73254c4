//! The parameters of the classical methods. Weights are computed in float64 and rounded once.

/// The radius of the classical Gaussian, in texels: three sigma, with 99.7 % of the weight inside.
pub fn radius(sigma: f64) -> i32 {
    // Rounding errors of a product such as 3 * 0.1 must not increase the radius.
    (3.0 * sigma - 1e-9).ceil() as i32
}

/// The normalised weights at the distances 0 ..= radius.
fn gaussian(sigma: f64) -> Vec<f64> {
    let mut weights: Vec<f64> = (0..=radius(sigma))
        .map(|x| (-0.5 * (f64::from(x) / sigma).powi(2)).exp())
        .collect();
    let total = weights[0] + 2.0 * weights[1..].iter().sum::<f64>();
    weights.iter_mut().for_each(|weight| *weight /= total);
    weights
}

/// One quadrant of the two-dimensional Gaussian, row after row.
pub fn quadrant(sigma: f64) -> Vec<f32> {
    let weights = gaussian(sigma);
    let row = |y: &f64| weights.iter().map(|x| (x * y) as f32).collect::<Vec<f32>>();
    weights.iter().flat_map(row).collect()
}

/// Distance and weight of the centre and of the pairs of texels on one side, each pair as one bilinear fetch.
pub fn bilinear_taps(sigma: f64) -> Vec<f32> {
    let weights = gaussian(sigma);
    let pair = |(index, pair): (usize, &[f64])| {
        let first = (2 * index + 1) as f64;
        let weight: f64 = pair.iter().sum();
        let second = pair.get(1).copied().unwrap_or(0.0);
        [(first + second / weight) as f32, weight as f32]
    };
    let pairs = weights[1..].chunks(2).enumerate().flat_map(pair);
    [0.0, weights[0] as f32].into_iter().chain(pairs).collect()
}

/// The box with the variance of a Gaussian: equal weights up to `radius`, and the weight `outermost` one texel farther out.
pub struct BoxKernel {
    pub radius: i32,
    pub outermost: f32,
}

impl BoxKernel {
    /// Derived in `box.wgsl`.
    pub fn new(sigma: f64) -> Self {
        let variance = sigma * sigma;
        // The largest r with r (r + 1) / 3 <= variance.
        let r = (((1.0 + 12.0 * variance).sqrt() - 1.0) / 2.0).floor();
        let width = 2.0 * r + 1.0;
        let moment = r * (r + 1.0) * width / 3.0;
        let outermost = (variance * width - moment) / (2.0 * ((r + 1.0).powi(2) - variance));
        Self {
            radius: r as i32,
            outermost: outermost as f32,
        }
    }
}
