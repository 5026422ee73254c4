// A weighted sum of fetches around a source texel, as the product of a row and a column of taps. With many taps along
// one axis and a single one along the other it is half of a separable Gaussian; with three and three and two source
// texels per target texel it halves the resolution.

#import bevy_gaussian_blur::common::{blur, is_edge_free, is_present, leave, read, source, source_position, tap_x, tap_y}

@fragment
fn stencil(@builtin(position) fragment: vec4<f32>) -> @location(0) vec4<f32> {
    let centre = source_position(vec2<i32>(fragment.xy));
    // Two loops: what the condition decides is then decided once.
    if is_edge_free(centre + blur.reach_min, centre + blur.reach_max) {
        return leave(weighted_sum(centre, true));
    }
    return leave(normalized_y(normalized_x(weighted_sum(centre, false), centre.x), centre.y));
}

fn weighted_sum(centre: vec2<i32>, edge_free: bool) -> vec4<f32> {
    var sum = vec4<f32>(0.0);
    for (var row = 0u; row < blur.tap_count.y; row++) {
        let y = tap_y(row);
        for (var column = 0u; column < blur.tap_count.x; column++) {
            let x = tap_x(column);
            sum += x.y * y.y * read(centre, vec2<f32>(x.x, y.x), edge_free);
        }
    }
    return sum;
}

// The same value in another texture, to the bit.
@fragment
fn copy(@builtin(position) fragment: vec4<f32>) -> @location(0) vec4<f32> {
    return leave(textureLoad(source, source_position(vec2<i32>(fragment.xy)), 0));
}

// A sum of the horizontal taps, divided by the part of their weight that lies inside the bounds if that is asked for.
fn normalized_x(value: vec4<f32>, centre: i32) -> vec4<f32> {
    if blur.normalize.x == 0u {
        return value;
    }
    var weight = 0.0;
    for (var column = 0u; column < blur.tap_count.x; column++) {
        let tap = tap_x(column);
        weight += tap.y * share_inside(centre, tap.x, blur.bounds_min.x, blur.bounds_max.x, blur.edge.x);
    }
    return value / weight;
}

// The same for the vertical taps.
fn normalized_y(value: vec4<f32>, centre: i32) -> vec4<f32> {
    if blur.normalize.y == 0u {
        return value;
    }
    var weight = 0.0;
    for (var row = 0u; row < blur.tap_count.y; row++) {
        let tap = tap_y(row);
        weight += tap.y * share_inside(centre, tap.x, blur.bounds_min.y, blur.bounds_max.y, blur.edge.y);
    }
    return value / weight;
}

// How much of a fetch between two texels comes from inside the bounds.
fn share_inside(centre: i32, offset: f32, low: i32, high: i32, edge: u32) -> f32 {
    let whole = floor(offset);
    let texel = centre + i32(whole);
    let left = select(0.0, 1.0, is_present(texel, low, high, edge));
    let right = select(0.0, 1.0, is_present(texel + 1, low, high, edge));
    return mix(left, right, offset - whole);
}
