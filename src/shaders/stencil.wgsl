// A weighted sum of fetches around a source texel, as the product of a row and a column of taps. With many taps along
// one axis and a single one along the other it is half of a separable Gaussian; with three and three and two source
// texels per target texel it halves the resolution.

#import bevy_gaussian_blur::common::{blur, leave, read_between, source_position, tap_x, tap_y}
#import bevy_gaussian_blur::common::{is_present}
#ifdef FILTERED
#import bevy_gaussian_blur::common::{is_filtering_exact, sample_between}
#endif

@fragment
fn stencil(@builtin(position) fragment: vec4<f32>) -> @location(0) vec4<f32> {
    let centre = source_position(fragment);
#ifdef FILTERED
    if is_filtering_exact(centre) {
        return leave(sampled_sum(centre));
    }
#endif
    return leave(loaded_sum(centre) / weight_inside(centre));
}

#ifdef FILTERED
fn sampled_sum(centre: vec2<i32>) -> vec4<f32> {
    var sum = vec4<f32>(0.0);
    for (var row = 0u; row < blur.tap_count.y; row++) {
        let y = tap_y(row);
        for (var column = 0u; column < blur.tap_count.x; column++) {
            let x = tap_x(column);
            sum += x.y * y.y * sample_between(centre, vec2<f32>(x.x, y.x));
        }
    }
    return sum;
}
#endif

fn loaded_sum(centre: vec2<i32>) -> vec4<f32> {
    var sum = vec4<f32>(0.0);
    for (var row = 0u; row < blur.tap_count.y; row++) {
        let y = tap_y(row);
        for (var column = 0u; column < blur.tap_count.x; column++) {
            let x = tap_x(column);
            sum += x.y * y.y * read_between(centre, vec2<f32>(x.x, y.x));
        }
    }
    return sum;
}

// The part of the kernel's weight that lies inside the bounds, or 1 where nothing is to be renormalised.
fn weight_inside(centre: vec2<i32>) -> f32 {
    var weight = vec2<f32>(1.0);
    if blur.normalize.x != 0u {
        weight.x = 0.0;
        for (var column = 0u; column < blur.tap_count.x; column++) {
            let tap = tap_x(column);
            weight.x += tap.y * share_inside(centre.x, tap.x, blur.bounds_min.x, blur.bounds_max.x, blur.edge.x);
        }
    }
    if blur.normalize.y != 0u {
        weight.y = 0.0;
        for (var row = 0u; row < blur.tap_count.y; row++) {
            let tap = tap_y(row);
            weight.y += tap.y * share_inside(centre.y, tap.x, blur.bounds_min.y, blur.bounds_max.y, blur.edge.y);
        }
    }
    return weight.x * weight.y;
}

// How much of a fetch between two texels comes from inside the bounds.
fn share_inside(centre: i32, offset: f32, low: i32, high: i32, edge: u32) -> f32 {
    let whole = floor(offset);
    let texel = centre + i32(whole);
    let left = select(0.0, 1.0, is_present(texel, low, high, edge));
    let right = select(0.0, 1.0, is_present(texel + 1, low, high, edge));
    return mix(left, right, offset - whole);
}
