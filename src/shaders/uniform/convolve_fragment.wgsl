// A weighted sum of neighbouring texels, as the product of a row and a column of weights. With many weights along one
// axis and one along the other it is half of a separable Gaussian; with six and six, two texels apart, it halves the
// resolution.

#import bevy_gaussian_blur::common::output::{Output, encode_output}
#import bevy_gaussian_blur::common::pass::{blur, is_edge_free, is_finite, is_present, load_unchecked}
#import bevy_gaussian_blur::common::pass::{read_texel, source_position, weight, weight_at}
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
    let centre = source_position(texel);
    let first = centre + blur.reach_min;
    let last = first + texels() - 1;
    // One loop, clamped everywhere. A second loop for texels away from edges saves GPUs next to nothing, and software
    // rasterisers, which execute both sides of a branch, pay for both.
    if is_edge_free(first, last) {
        let sum = weighted_sum(first);
        if is_finite(sum) {
            return encode_output(sum, texel);
        }
    }
    return encode_output(careful_sum(centre), texel);
}

// The number of texels along each axis.
fn texels() -> vec2<i32> {
#ifdef ANY_KERNEL
    return blur.reach_max - blur.reach_min + 1;
#else
    return vec2<i32>(#{TEXELS_X}, #{TEXELS_Y});
#endif
}

fn weighted_sum(first: vec2<i32>) -> vec4<f32> {
    let count = texels();
    var sum = vec4<f32>(0.0);
    for (var row = 0; row < count.y; row++) {
        var line = vec4<f32>(0.0);
        for (var column = 0; column < count.x; column++) {
            line += weight(0u, u32(column)) * load_unchecked(first + vec2<i32>(column, row), true);
        }
        sum += weight(1u, u32(row)) * line;
    }
    return sum;
}

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
