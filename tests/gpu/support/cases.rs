//! The blurs of images that are compared with the Gaussian, as plain numbers. The unit tests of plans include this file: together the
//! blurs run every program.

/// Standard deviations from hardly any blur to a very wide one, some of them close to a change of the plan.
pub const SIGMAS: [f64; 10] = [0.3, 0.8, 1.5, 2.9, 3.1, 5.9, 6.1, 13.0, 47.0, 200.0];

/// The sizes of images, each with its own test.
pub const SIZES: [[usize; 2]; 5] = [[1, 1], [3, 2], [61, 47], [640, 360], [1023, 511]];

/// From this width on, the reference takes seconds for each case.
const LARGE: usize = 500;

/// The edge modes, by their number.
const EDGES: usize = 5;

/// The blurs of images of a width: which of the two inputs, its sigma and its edge mode. The edge modes take turns. At large sizes the
/// inputs take turns, too, unless everything is asked for: which program runs does not depend on the input.
pub fn blurs(width: usize, is_full: bool) -> impl Iterator<Item = (usize, f64, usize)> {
    let all = (0..2).flat_map(|input| (0..SIGMAS.len()).map(move |sigma| (input, sigma)));
    let all = all.filter(move |(input, sigma)| width < LARGE || is_full || sigma % 2 == *input);
    all.flat_map(move |(input, sigma)| {
        // The next input starts two modes further, so that a sigma meets other edge modes there.
        let edges = (0..EDGES).filter(move |edge| is_full || (2 * input + sigma) % EDGES == *edge);
        edges.map(move |edge| (input, SIGMAS[sigma], edge))
    })
}

/// The size of the image whose axes are blurred in different ways.
pub const SIZE_OF_AXES: [usize; 2] = [160, 111];

/// Blurs of that image: sigmas along x and y, and the edge mode. Exact along both axes, decimated along one, decimated by different
/// scales, and one axis left alone.
pub fn blurs_of_axes(is_full: bool) -> impl Iterator<Item = (f32, [f32; 2], usize)> {
    const ASPECTS: [[f32; 2]; 6] = [
        [1.0, 0.0],
        [0.0, 1.0],
        [1.0, 0.1],
        [0.1, 1.0],
        [0.25, 1.0],
        [1.0, 0.0005],
    ];
    const STRENGTHS: [f32; 3] = [2.0, 14.0, 33.0];
    let all = (0..ASPECTS.len()).flat_map(|aspect| (0..STRENGTHS.len()).map(move |strength| (aspect, strength)));
    all.flat_map(move |(aspect, strength)| {
        let edges = (0..EDGES).filter(move |edge| is_full || (aspect + strength) % EDGES == *edge);
        edges.map(move |edge| (STRENGTHS[strength], ASPECTS[aspect], edge))
    })
}
