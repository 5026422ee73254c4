// A weighted sum of fetches around a source texel, as the product of a row and a column of taps. With many taps along
// one axis and a single one along the other it is half of a separable Gaussian; with three and three and two source
// texels per target texel it halves the resolution.

#import bevy_gaussian_blur::common::{blur, is_edge_free, leave, read, source_position, tap_x, tap_y}
#import bevy_gaussian_blur::common::{normalized_x, normalized_y, source}

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
