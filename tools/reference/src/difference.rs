//! The difference of two pictures.

use crate::Picture;

/// The place where two pictures differ most.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Difference {
    /// `|got - expected|`, in the pictures' own unit (multiply by 255 for grey
    /// levels); infinite where either is NaN.
    pub value: f64,
    /// Column, from the left.
    pub x: usize,
    /// Row, from the top.
    pub y: usize,
    /// 0 to 3: red, green, blue, alpha.
    pub channel: usize,
    /// The value of the result.
    pub got: f64,
    /// The expected value.
    pub expected: f64,
}

/// The greatest difference over all texels and channels, and where it is: the
/// first such place in reading order.
///
/// # Panics
/// When the sizes differ or the pictures are empty.
pub fn worst_difference(got: &Picture, expected: &Picture) -> Difference {
    assert_eq!(
        [got.width, got.height],
        [expected.width, expected.height],
        "only pictures of one size can be compared"
    );
    let mut worst: Option<Difference> = None;
    for y in 0..got.height {
        for x in 0..got.width {
            let [here, wanted] = [got.at(x, y), expected.at(x, y)];
            for channel in 0..4 {
                let value = distance(here[channel], wanted[channel]);
                if worst.is_none_or(|worst| value > worst.value) {
                    worst = Some(Difference {
                        value,
                        x,
                        y,
                        channel,
                        got: here[channel],
                        expected: wanted[channel],
                    });
                }
            }
        }
    }
    worst.expect("a picture with at least one texel")
}

/// `a - b`, texel by texel.
pub fn minus(a: &Picture, b: &Picture) -> Picture {
    Picture::from_fn(a.width, a.height, |x, y| {
        let (a, b) = (a.at(x, y), b.at(x, y));
        std::array::from_fn(|channel| a[channel] - b[channel])
    })
}

/// `|got - expected|`, infinite where that is NaN.
fn distance(got: f64, expected: f64) -> f64 {
    let distance = (got - expected).abs();
    if distance.is_nan() { f64::INFINITY } else { distance }
}
