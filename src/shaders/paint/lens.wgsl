// Glass that refracts: a flat pane whose rim is rounded.
//
// A ray through a surface of slope g is bent by (1 - 1/n) g, n being the refractive index, as long as g is small. It meets the picture
// at a depth t below, moved by t (1 - 1/n) g. So the picture is moved along the slope of the surface, by as much as the slope is.
// `displacement` stands for the constants: it is how far the picture is moved at the border.
//
// Height. Across the rim, let u be 0 where the rim begins, and 1 at the border. The height of the pane is 1 - u³, its slope 3u²: zero
// where the rim begins, as is the change of the slope, so that no line is seen there, and finite at the border. (A circle's slope is
// infinite there.) Only the ratio u² to the slope at the border matters.
//
// Distance. u falls with the distance from the border. The exact distance inside a rounded box has a gradient that jumps: at the
// diagonals, beyond the centres of the corners' arcs. There, a lens would have a seam. The distance here has the same value along the
// sides, and a continuous gradient everywhere. Let k be the larger of the corner's radius and the width of the rim; x and y, from 0
// to 1, say how far a point is in the square of this side in the corner, from its inner corner. Then
//
//     distance = k (1 - c),    c² = x² + y² - s² x² y²
//
// With s = 0, which a radius of k has, the lines of the same c are circles: this is the exact distance. With s = 1, which a radius of 0
// has, c = 1 is the square itself, since 1 - c² = (1 - x²)(1 - y²), and smaller c are ever rounder squares. (M. Fernandez-Guasti,
// "Analytic Geometry of Some Rectilinear Figures", 1992.) In between, c = 1 follows the rounded corner; s is such that both meet on the
// diagonal. Where y is 0, c is x, and its slope along y is 0: the corner joins the sides without a seam. In a sharp corner the gradient
// ends at 0, as that of every smooth height must which is 0 along two sides.

#define_import_path bevy_gaussian_blur::paint::lens

// All 0 without a lens.
struct Lens {
    // The texels of the camera's picture that it may show: the first, and one past the last. The lower half of a number is x.
    bounds: vec2<u32>,
    // From where light comes, in the box. Its length is 1.
    light: vec2<f32>,
    // The width of the rim, in pixels of the box, as is the displacement at the border.
    bevel: f32,
    displacement: f32,
    // How much farther blue is moved than red.
    dispersion: f32,
    rim_light: f32,
}

// The distance from the middle of an arc to the corner of its square, as a share of the radius along x or y: 1 - √½.
const CUT: f32 = 0.29289323;

// The slope of the rim at a point of a box, over the slope at the border; it points outwards. `radius` is that of the point's corner.
fn slope_at(point: vec2<f32>, size: vec2<f32>, radius: f32, bevel: f32) -> vec2<f32> {
    let side = max(radius, bevel);
    let corner = max(abs(point) - 0.5 * size + side, vec2<f32>(0.0)) / side;
    // c = 1 meets the arc on the diagonal, at this x and y.
    let diagonal = 1.0 - CUT * radius / side;
    let squared = diagonal * diagonal;
    let s = max(2.0 * squared - 1.0, 0.0) / (squared * squared);
    let square = corner * corner;
    let c = sqrt(max(square.x + square.y - s * square.x * square.y, 0.0));
    let u = saturate(1.0 - side * (1.0 - c) / bevel);
    let gradient = sign(point) * corner * (1.0 - s * square.yx) / max(c, 1e-6);
    return u * u * gradient;
}

// A place in a picture, mirrored at these bounds as often as needed, and no farther out than the centre of a texel.
fn mirrored(place: vec2<f32>, bounds: vec2<u32>) -> vec2<f32> {
    let low = unpacked(bounds.x);
    let length = unpacked(bounds.y) - low;
    var folded = place - low;
    if any(folded < vec2<f32>(0.0)) || any(folded > length) {
        folded -= 2.0 * length * floor(folded / (2.0 * length));
        folded = min(folded, 2.0 * length - folded);
    }
    return low + clamp(folded, vec2<f32>(0.5), length - 0.5);
}

fn unpacked(texel: u32) -> vec2<f32> {
    return vec2<f32>(f32(texel & 0xffffu), f32(texel >> 16u));
}

// How bright the rim is: the light falls along the slope. Its square gathers it at the border.
fn rim_light(lens: Lens, slope: vec2<f32>) -> f32 {
    let facing = max(dot(slope, lens.light), 0.0);
    return lens.rim_light * facing * facing;
}
