// Halves the resolution with the binomial filter: three by three filtered fetches.

#import bevy_gaussian_blur::common::output::{Output, encode_output}
#import bevy_gaussian_blur::common::pass::{blur, decode_input, fetch, four_weights, is_edge_free, is_finite, is_inside}
#import bevy_gaussian_blur::common::pass::{is_present, linear_sampler, source, source_position, weight}

// The fetches along each axis.
const TAPS: u32 = 3u;

@fragment
fn downsample_fragment(@builtin(position) fragment: vec4<f32>) -> Output {
    let texel = vec2<i32>(fragment.xy);
    let centre = source_position(texel);
    let first = centre + blur.reach_min;
    let last = centre + blur.reach_max;
    if is_inside(first, last) || (is_edge_free(first, last) && is_whole()) {
        let sum = filtered_sum(centre);
        if is_finite(sum) {
            return encode_output(sum, texel);
        }
    }
    return encode_output(careful_sum(centre), texel);
}

// Whether all reads lie inside the bounds. A filtered fetch at the centre of an outermost texel can pick up a little of
// the outside.
fn is_whole() -> bool {
    return all(blur.bounds_min == vec2<i32>(0)) && all(blur.bounds_max == vec2<i32>(textureDimensions(source)));
}

fn filtered_sum(centre: vec2<i32>) -> vec4<f32> {
    // The taps of a row, looked up once: two in each vector.
    let first = four_weights(0u, 0u);
    let last = four_weights(0u, 1u).xy;
    var sum = vec4<f32>(0.0);
    for (var row = 0u; row < TAPS; row++) {
        let y = tap(1u, row);
        let line = first.y * filtered(centre, vec2<f32>(first.x, y.x))
            + first.w * filtered(centre, vec2<f32>(first.z, y.x))
            + last.y * filtered(centre, vec2<f32>(last.x, y.x));
        sum += y.y * line;
    }
    return sum;
}

// The same across an edge, and around values that are not finite: texel by texel. No edge is folded here: lower levels
// hold the region alone. Only a row at a time is unrolled, because devices that execute both sides of a branch pay for
// it everywhere; the number of rows comes from the uniform.
fn careful_sum(centre: vec2<i32>) -> vec4<f32> {
    let rows = u32(blur.reach_max.y - blur.reach_min.y + 1);
    let low = blur.bounds_min;
    let high = blur.bounds_max;
    var sum = vec4<f32>(0.0);
    for (var row = 0u; row < rows; row++) {
        let y = texel_of(tap(1u, row / 2u), row % 2u);
        if !is_present(centre.y + i32(y.x), low.y, high.y, blur.edge.y) {
            continue;
        }
        var line = vec4<f32>(0.0);
        for (var column = 0u; column < 2u * TAPS; column++) {
            let x = texel_of(tap(0u, column / 2u), column % 2u);
            let texel = centre + vec2<i32>(i32(x.x), i32(y.x));
            let there = is_present(texel.x, low.x, high.x, blur.edge.x);
            line += select(0.0, x.y, there) * decode_input(fetch(clamp(texel, low, high - 1)));
        }
        sum += y.y * line;
    }
    return sum;
}

// One of the two texels between which a tap lies, as its offset and its weight.
fn texel_of(pair: vec2<f32>, side: u32) -> vec2<f32> {
    let whole = floor(pair.x);
    let right = pair.x - whole;
    return vec2<f32>(whole + f32(side), pair.y * select(1.0 - right, right, side == 1u));
}

// (offset, weight) of a tap.
fn tap(axis: u32, index: u32) -> vec2<f32> {
    return vec2<f32>(weight(axis, 2u * index), weight(axis, 2u * index + 1u));
}

// A fetch through the sampler. Beyond the texture it reads the outermost texels.
fn filtered(centre: vec2<i32>, offset: vec2<f32>) -> vec4<f32> {
    let position = vec2<f32>(centre) + 0.5 + offset;
    return textureSampleLevel(source, linear_sampler, position * blur.texel_size, 0.0);
}
