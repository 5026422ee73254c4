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
// diagonals, beyond the centres of the corners' arcs. There, a lens would have a seam. And its curvature jumps where an arc joins a side:
// what lies behind would bend at once. The distance here has the same value along the sides, and the curvature grows from 0 wherever the
// box has room for it. Let k be the side of a square in the corner: WIDER times the radius, as far as half the box allows, and at least
// the radius and the width of the rim. x and y, from 0 to 1, say how far a point is in the square, from its inner corner. Then
//
//     distance = k (1 - c),    cᵖ = xᵖ + yᵖ - s xᵖ yᵖ
//
// c = 1 follows the rounded corner: p and s are such that both meet on the diagonal. A square that is as large as the radius, as that of
// a capsule, has p = 2 and s = 0: lines of the same c are circles, and this is the exact distance. Up to a square WIDER times as large,
// p grows to 4, which are the lines of a squircle; from there on s grows. At a radius of 0 it is 1, and c = 1 is the square itself,
// since 1 - cᵖ = (1 - xᵖ)(1 - yᵖ), and smaller c are ever rounder squares. (After M. Fernandez-Guasti, "Analytic Geometry of Some
// Rectilinear Figures", 1992.) Where y is 0, c is x, and with p above 2 both its slope and its curvature along y are 0: the corner joins the sides
// without a seam or a bend. In a sharp corner the gradient ends at 0, as that of every smooth height must which is 0 along two sides.

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

// From the radius of a corner to the side of the square whose squircle meets its arc on the diagonal: CUT / (1 - ⁴√½).
const WIDER: f32 = 1.8409;

// The slope of the rim at a point of a box, over the slope at the border; it points outwards. `radius` is that of the point's corner.
fn slope_at(point: vec2<f32>, size: vec2<f32>, radius: f32, bevel: f32) -> vec2<f32> {
    let side = max(max(min(WIDER * radius, 0.5 * min(size.x, size.y)), radius), bevel);
    let corner = max(abs(point) - 0.5 * size + side, vec2<f32>(0.0)) / side;
    // c = 1 meets the arc on the diagonal, at this x and y.
    let diagonal = 1.0 - CUT * radius / side;
    let p = 1.0 / max(-log2(diagonal), 0.25);
    let met = pow(diagonal, p);
    let s = max(2.0 * met - 1.0, 0.0) / (met * met);
    let powers = pow(corner, vec2<f32>(p));
    let sum = max(powers.x + powers.y - s * powers.x * powers.y, 1e-12);
    let c = pow(sum, 1.0 / p);
    let u = saturate(1.0 - side * (1.0 - c) / bevel);
    let gradient = sign(point) * powers / max(corner, vec2<f32>(1e-6)) * (1.0 - s * powers.yx) * c / sum;
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
