// A weighted sum of neighbouring texels, as the product of a row and a column of weights. With many along one axis and a
// single one along the other it is half of a separable Gaussian; with six and six it halves the resolution.

#import bevy_gaussian_blur::common::{blur, is_edge_free, is_finite, is_inside, is_present, leave, load_unchecked}
#import bevy_gaussian_blur::common::{read_texel, source, source_position, weight_x, weight_y}

// How many texels there are along each axis: known when this is compiled, because only then do compilers unroll the loops.
const TEXELS_X: i32 = #{TEXELS_X};
const TEXELS_Y: i32 = #{TEXELS_Y};

@fragment
fn texels(@builtin(position) fragment: vec4<f32>) -> @location(0) vec4<f32> {
    let first = source_position(vec2<i32>(fragment.xy)) + blur.reach_min;
    let last = first + vec2<i32>(TEXELS_X, TEXELS_Y) - 1;
    var sum = vec4<f32>(0.0);
    var is_done = false;
    // Two copies of the loops: most texels need no clamping.
    if is_inside(first, last) {
        sum = weighted_sum(first, false);
        is_done = is_finite(sum);
    } else if is_edge_free(first, last) {
        sum = weighted_sum(first, true);
        is_done = is_finite(sum);
    }
    if !is_done {
        sum = careful_sum(first);
    }
    return leave(sum);
}

fn weighted_sum(first: vec2<i32>, clamped: bool) -> vec4<f32> {
    var sum = vec4<f32>(0.0);
    for (var row = 0; row < TEXELS_Y; row++) {
        var line = vec4<f32>(0.0);
        for (var column = 0; column < TEXELS_X; column++) {
            line += weight_x(u32(column)) * load_unchecked(first + vec2<i32>(column, row), clamped);
        }
        sum += weight_y(u32(row)) * line;
    }
    return sum;
}

// The same across an edge, and around values that are not finite. This is rare and must not cost registers elsewhere, so
// the numbers of texels come from the uniform: the loops stay loops.
fn careful_sum(first: vec2<i32>) -> vec4<f32> {
    let extent = blur.reach_max - blur.reach_min;
    var sum = vec4<f32>(0.0);
    var weight_inside = 0.0;
    for (var row = 0; row <= extent.y; row++) {
        for (var column = 0; column <= extent.x; column++) {
            let texel = first + vec2<i32>(column, row);
            let weight = weight_x(u32(column)) * weight_y(u32(row));
            sum += weight * read_texel(texel);
            weight_inside += select(0.0, weight, counts(texel));
        }
    }
    return sum / weight_inside;
}

// Whether the weight of a texel belongs to the whole: only a renormalised edge leaves out what is not there.
fn counts(texel: vec2<i32>) -> bool {
    let low = blur.bounds_min;
    let high = blur.bounds_max;
    return (blur.normalize.x == 0u || is_present(texel.x, low.x, high.x, blur.edge.x))
        && (blur.normalize.y == 0u || is_present(texel.y, low.y, high.y, blur.edge.y));
}

// The same value in another texture, to the bit.
@fragment
fn copy(@builtin(position) fragment: vec4<f32>) -> @location(0) vec4<f32> {
    return leave(textureLoad(source, source_position(vec2<i32>(fragment.xy)), 0));
}
