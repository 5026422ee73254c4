// The sums of a column of a tile, for the passes that convolve along both axes at once.

#define_import_path bevy_gaussian_blur::uniform::column

#import bevy_gaussian_blur::common::pass::{blur, read_texel, weight, weight_at}

// The largest reach that the program serves: kernels go from -REACH to REACH.
const REACH: i32 = #{REACH};
const TAPS: i32 = 2 * REACH + 1;

// The axes.
const X: u32 = 0u;
const Y: u32 = 1u;

fn add(axis: u32, sum: vec4<f32>, value: vec4<f32>, tap: i32) -> vec4<f32> {
    if tap >= 0 && tap < TAPS {
        return sum + weight(axis, u32(tap)) * value;
    }
    return sum;
}

// The sum of the column around a texel, for any values. The number of taps comes from the uniform, so the loop is not
// unrolled. Programs for single kernels rarely run this, and it must not cost registers elsewhere.
fn careful_sum(centre: vec2<i32>) -> vec4<f32> {
    let far = blur.reach_max.y + blur.margin.y;
    var sum = vec4<f32>(0.0);
    for (var y = centre.y - far; y <= centre.y + far; y++) {
        sum += weight_at(Y, centre.y, y) * read_texel(vec2<i32>(centre.x, y));
    }
    return sum;
}
