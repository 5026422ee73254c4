// A weighted sum of neighbouring texels, as the product of a row and a column of weights. With many weights along one
// axis and one along the other it is half of a separable Gaussian; with six and six, two texels apart, it halves the
// resolution.

#import bevy_gaussian_blur::common::output::{Output, encode_output}
#import bevy_gaussian_blur::common::pass::{blur, is_finite, is_present, load_unchecked}
#import bevy_gaussian_blur::common::pass::{read_texel, source_position, weight, weight_at}
#ifdef FOLDED
#import bevy_gaussian_blur::common::pass::{folds_once, image_weight, is_inside, side_of}
#endif
#ifdef ANY_KERNEL
#import bevy_gaussian_blur::common::pass::is_edge_free
#endif
#ifdef SKIPS
#import bevy_gaussian_blur::profile::tile_culling::is_needed
#endif

@fragment
fn convolve_fragment(@builtin(position) fragment: vec4<f32>) -> Output {
    let texel = vec2<i32>(fragment.xy);
#ifdef SKIPS
    if !is_needed(texel, texel) {
        return encode_output(vec4<f32>(0.0), texel);
    }
#endif
    return encode_output(sum_around(source_position(texel)), texel);
}

fn sum_around(centre: vec2<i32>) -> vec4<f32> {
    let first = centre + blur.reach_min;
#ifdef FOLDED
    if is_inside(first, first + texels() - 1) {
        let sum = weighted_sum(first, false);
        if is_finite(sum) {
            return sum;
        }
    } else if all(blur.normalize == vec2<u32>(0u)) && folds_once(max(texels().x, texels().y)) {
        let sum = sum_across_edge(centre);
        if is_finite(sum) {
            return sum;
        }
    }
#else
#ifdef ANY_KERNEL
    if is_edge_free(first, first + texels() - 1) {
        let sum = weighted_sum(first, true);
        if is_finite(sum) {
            return sum;
        }
    }
#else
    // Clamping costs nothing beside the loads.
    let sum = weighted_sum(first, true);
    if is_finite(sum) {
        return sum;
    }
#endif
#endif
    return careful_sum(centre);
}

// The number of texels along each axis.
fn texels() -> vec2<i32> {
#ifdef ANY_KERNEL
    return blur.reach_max - blur.reach_min + 1;
#else
    return vec2<i32>(#{TEXELS_X}, #{TEXELS_Y});
#endif
}

fn weighted_sum(first: vec2<i32>, clamped: bool) -> vec4<f32> {
    let count = texels();
    var sum = vec4<f32>(0.0);
    for (var row = 0; row < count.y; row++) {
        var line = vec4<f32>(0.0);
        for (var column = 0; column < count.x; column++) {
            line += weight(0u, u32(column)) * load_unchecked(first + vec2<i32>(column, row), clamped);
        }
        sum += weight(1u, u32(row)) * line;
    }
    return sum;
}

#ifdef FOLDED
// How many texels are read at once, along x and y.
const AT_ONCE: vec2<i32> = vec2<i32>(#{AT_ONCE_X}, #{AT_ONCE_Y});

// The same across an edge: reads are folded, and images have weights of their own. Several loads are in flight, so that
// few texels do not keep a GPU waiting. The loops come from the uniform, so they are not unrolled: software rasterisers
// execute both sides of a branch, and leave such a loop after its first turn.
fn sum_across_edge(centre: vec2<i32>) -> vec4<f32> {
    let first = centre + blur.reach_min - blur.margin;
    let last = centre + blur.reach_max + blur.margin;
    var sum = vec4<f32>(0.0);
    for (var y = first.y; y <= last.y; y += AT_ONCE.y) {
        for (var x = first.x; x <= last.x; x += AT_ONCE.x) {
            for (var i = 0; i < AT_ONCE.x * AT_ONCE.y; i++) {
                let texel = vec2<i32>(x + i % AT_ONCE.x, y + i / AT_ONCE.x);
                let both = weight_across_edge(0u, centre.x, texel.x) * weight_across_edge(1u, centre.y, texel.y);
                sum += both * load_unchecked(texel, true);
            }
        }
    }
    return sum;
}

// The weight of a read of `texel`, 0 beyond the kernel.
fn weight_across_edge(axis: u32, centre: i32, texel: i32) -> f32 {
    if blur.images[axis] != 0u {
        return image_weight(axis, side_of(axis, texel), abs(texel - centre));
    }
    let index = texel - centre - blur.reach_min[axis];
    let last = blur.reach_max[axis] - blur.reach_min[axis];
    return select(weight(axis, u32(min(index, last))), 0.0, index > last);
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
