// A weighted sum of neighbouring texels, as the product of a row and a column of weights. With many weights along one
// axis and one along the other it is half of a separable Gaussian; with six and six, two texels apart, it halves the
// resolution.

#import bevy_gaussian_blur::common::output::{Output, encode_output}
#import bevy_gaussian_blur::common::pass::{ABOVE, BELOW, EDGE_MIRROR, INSIDE, blur, folds_once, four_weights, image_weight, is_edge_free}
#import bevy_gaussian_blur::common::pass::{is_empty_outside, is_finite, is_inside, is_present, load_unchecked, read_texel, source_position, weight, weight_at}
#import bevy_gaussian_blur::profile::tile_culling::is_needed

@fragment
fn convolve_fragment(@builtin(position) fragment: vec4<f32>) -> Output {
    let texel = vec2<i32>(fragment.xy);
    if !is_needed(texel, texel) {
        return encode_output(vec4<f32>(0.0), texel);
    }
    return encode_output(sum_around(source_position(texel)), texel);
}

fn sum_around(centre: vec2<i32>) -> vec4<f32> {
    let first = centre + blur.reach_min;
#ifdef FOLDED
    if is_inside(first, first + texels() - 1) {
        let sum = weighted_sum(first);
        if is_finite(sum) {
            return sum;
        }
    } else if all(blur.normalize == vec2<u32>(0u)) && folds_once(max(texels().x, texels().y)) {
        let sum = sum_across_edge(centre);
        if is_finite(sum) {
            return sum;
        }
    }
    return careful_sum(centre);
#else
#ifdef ANY_KERNEL
    if is_edge_free(first, first + texels() - 1) {
        let sum = weighted_sum(first);
        if is_finite(sum) {
            return sum;
        }
    }
    return careful_sum(centre);
#else
    let sum = weighted_sum(first);
    if !is_finite(sum) {
        return careful_sum(centre);
    }
    return sum;
#endif
#endif
}

// The number of texels along each axis.
fn texels() -> vec2<i32> {
#ifdef ANY_KERNEL
    return blur.reach_max - blur.reach_min + 1;
#else
    return vec2<i32>(#{TEXELS_X}, #{TEXELS_Y});
#endif
}

// The sum over all texels, if clamping is enough for reads beyond the bounds.
fn weighted_sum(first: vec2<i32>) -> vec4<f32> {
    let count = texels();
    if count.x == 1 {
        return weight(0u, 0u) * line_sum(1u, count.y, first);
    }
    if count.y == 1 {
        return weight(1u, 0u) * line_sum(0u, count.x, first);
    }
    var sum = vec4<f32>(0.0);
    for (var row = 0; row < count.y; row++) {
        sum += weight(1u, u32(row)) * line_sum(0u, count.x, first + vec2<i32>(0, row));
    }
    return sum;
}

// How many groups of four texels are summed without a loop, if the number of texels is known at compile time. Software
// rasterisers do not unroll loops, and a loop costs them as much as several texels. Every compiler removes the groups
// that a kernel does not have.
#ifdef ANY_KERNEL
const UNROLLED: i32 = 0;
#else
const UNROLLED: i32 = 6;
#endif

// The sum of `count` texels along one axis.
fn line_sum(axis: u32, count: i32, first: vec2<i32>) -> vec4<f32> {
    let step = select(vec2<i32>(1, 0), vec2<i32>(0, 1), axis == 1u);
    let low = blur.bounds_min;
    let high = blur.bounds_max;
    let fours = count / 4;
    var sum = vec4<f32>(0.0);
#ifndef ANY_KERNEL
    if fours > 0 {
        sum = with_four(sum, axis, 0, first, step, low, high);
    }
    if fours > 1 {
        sum = with_four(sum, axis, 1, first, step, low, high);
    }
    if fours > 2 {
        sum = with_four(sum, axis, 2, first, step, low, high);
    }
    if fours > 3 {
        sum = with_four(sum, axis, 3, first, step, low, high);
    }
    if fours > 4 {
        sum = with_four(sum, axis, 4, first, step, low, high);
    }
    if fours > 5 {
        sum = with_four(sum, axis, 5, first, step, low, high);
    }
#endif
    if fours > UNROLLED {
        for (var four = UNROLLED; four < fours; four++) {
            sum = with_four(sum, axis, four, first, step, low, high);
        }
    }
    let rest = count % 4;
    if rest > 0 {
        let weights = four_weights(axis, u32(fours));
        let texel = first + 4 * fours * step;
        sum += weights.x * load_within(texel, low, high);
        if rest > 1 {
            sum += weights.y * load_within(texel + step, low, high);
        }
        if rest > 2 {
            sum += weights.z * load_within(texel + 2 * step, low, high);
        }
    }
    return sum;
}

// Adds the texels of one vector of weights to a sum, one after the other: a separate sum for each vector is slower on
// GPUs. The caller reads the bounds once: compilers that do not unroll loops would read them again for each texel, which
// costs software rasterisers as much as the texel itself.
fn with_four(
    before: vec4<f32>,
    axis: u32,
    four: i32,
    first: vec2<i32>,
    step: vec2<i32>,
    low: vec2<i32>,
    high: vec2<i32>,
) -> vec4<f32> {
    let weights = four_weights(axis, u32(four));
    let texel = first + 4 * four * step;
    var sum = before + weights.x * load_within(texel, low, high);
    sum += weights.y * load_within(texel + step, low, high);
    sum += weights.z * load_within(texel + 2 * step, low, high);
    sum += weights.w * load_within(texel + 3 * step, low, high);
    return sum;
}

fn load_within(texel: vec2<i32>, low: vec2<i32>, high: vec2<i32>) -> vec4<f32> {
#ifdef FOLDED
    return load_unchecked(texel, false);
#else
    // Clamping costs nothing beside the loads.
    return load_unchecked(clamp(texel, low, high - 1), false);
#endif
}

#ifdef FOLDED
// How many texels are read at once. Few texels lie at edges: more loads in flight keep a GPU busy. The outer loops take
// their ends from the uniform, so they are not unrolled: software rasterisers, which execute both sides of a branch,
// leave such a loop after its first turn.
const AT_ONCE: i32 = #{AT_ONCE};

// The sum across an edge. A kernel crosses edges only along its own axis. There, each side of the bounds has its own
// weights and places.
fn sum_across_edge(centre: vec2<i32>) -> vec4<f32> {
    if texels().x > 1 && texels().y > 1 {
        return plane_across_edge(centre);
    }
    let axis = select(0u, 1u, texels().x == 1);
    let low = blur.bounds_min[axis];
    let high = blur.bounds_max[axis];
    let length = high - low;
    let first = centre[axis] + blur.reach_min[axis] - blur.margin[axis];
    let last = centre[axis] + blur.reach_max[axis] + blur.margin[axis];
    var sum = sum_of_side(axis, centre, INSIDE, vec2<i32>(max(first, low), min(last, high - 1)), vec2<i32>(1, 0));
    if !is_empty_outside(blur.edge[axis]) {
        // Beyond the bounds, the texel to read is slope * texel + offset.
        let mirrors = blur.edge[axis] == EDGE_MIRROR;
        let below = select(vec2<i32>(1, length), vec2<i32>(-1, 2 * low - 1), mirrors);
        let above = select(vec2<i32>(1, -length), vec2<i32>(-1, 2 * high - 1), mirrors);
        sum += sum_of_side(axis, centre, BELOW, vec2<i32>(max(first, low - length), min(last, low - 1)), below);
        sum += sum_of_side(axis, centre, ABOVE, vec2<i32>(max(first, high), min(last, high + length - 1)), above);
    }
    return sum;
}

// The part of a sum along an axis that lies on one side of the bounds: its first and its last texel, and the slope and
// the offset of the texels to read.
fn sum_of_side(axis: u32, centre: vec2<i32>, side: u32, ends: vec2<i32>, place: vec2<i32>) -> vec4<f32> {
    var sum = vec4<f32>(0.0);
    for (var start = ends.x; start <= ends.y; start += AT_ONCE) {
        for (var i = 0; i < AT_ONCE; i++) {
            let texel = min(start + i, ends.y);
            let along = place.x * texel + place.y;
            let position = select(vec2<i32>(along, centre.y), vec2<i32>(centre.x, along), axis == 1u);
            let weight = weight_on_side(axis, side, texel - centre[axis]);
            sum += select(weight, 0.0, start + i > ends.y) * load_unchecked(position, false);
        }
    }
    return sum;
}

fn weight_on_side(axis: u32, side: u32, offset: i32) -> f32 {
    if blur.images[axis] != 0u {
        return image_weight(axis, side, abs(offset));
    }
    return weight(axis, u32(offset - blur.reach_min[axis]));
}

// The same for kernels along both axes, which halve the resolution: their reads are clamped or transparent.
fn plane_across_edge(centre: vec2<i32>) -> vec4<f32> {
    let low = blur.bounds_min;
    let high = blur.bounds_max;
    let first = centre + blur.reach_min;
    var sum = vec4<f32>(0.0);
    for (var row = 0; row <= blur.reach_max.y - blur.reach_min.y; row++) {
        let y = first.y + row;
        if !is_present(y, low.y, high.y, blur.edge.y) {
            continue;
        }
        var line = vec4<f32>(0.0);
        for (var column = 0; column < texels().x; column++) {
            let x = first.x + column;
            let there = is_present(x, low.x, high.x, blur.edge.x);
            let value = load_unchecked(clamp(vec2<i32>(x, y), low, high - 1), false);
            line += select(0.0, weight(0u, u32(column)), there) * value;
        }
        sum += weight(1u, u32(row)) * line;
    }
    return sum;
}
#endif

// The same across any edge, and around values that are not finite. This is rare and must not cost registers elsewhere,
// so the numbers of texels come from the uniform: the loops are not unrolled.
fn careful_sum(centre: vec2<i32>) -> vec4<f32> {
    let first = centre + blur.reach_min - blur.margin;
    let last = centre + blur.reach_max + blur.margin;
    var sum = vec4<f32>(0.0);
    var weight_inside = 0.0;
    for (var y = first.y; y <= last.y; y++) {
        for (var x = first.x; x <= last.x; x++) {
            let texel = vec2<i32>(x, y);
            let both = weight_at(0u, centre.x, x) * weight_at(1u, centre.y, y);
            sum += both * read_texel(texel);
            weight_inside += select(0.0, both, counts(texel));
        }
    }
    if any(blur.normalize != vec2<u32>(0u)) {
        sum /= weight_inside;
    }
    return sum;
}

// Whether the weight of a texel counts in the total: only a renormalised edge leaves out missing texels.
fn counts(texel: vec2<i32>) -> bool {
    let low = blur.bounds_min;
    let high = blur.bounds_max;
    return (blur.normalize.x == 0u || is_present(texel.x, low.x, high.x, blur.edge.x))
        && (blur.normalize.y == 0u || is_present(texel.y, low.y, high.y, blur.edge.y));
}
