// The sums of a column of a tile, for the passes that convolve along both axes at once.

#define_import_path bevy_gaussian_blur::uniform::column

#import bevy_gaussian_blur::common::pass::{blur, load_unchecked, read_texel, weight, weight_at}

// The largest reach that the program serves: kernels go from -REACH to REACH.
const REACH: i32 = #{REACH};
const TAPS: i32 = 2 * REACH + 1;

// The axes.
const X: u32 = 0u;
const Y: u32 = 1u;

// Eight neighbouring sums.
struct Eight {
    upper: mat4x4<f32>,
    lower: mat4x4<f32>,
}

// The sums of a column whose first tap is at `top`, for finite values and a single kernel.
//
// Separate variables, to the end. As an array with one loop, they take 14 to 17 % longer at 3840x2160 with sigmas of 4 and 6, where
// this pass takes most of the time (an H200, rgba16float): arrays and matrices do not stay in registers everywhere.
fn eight_sums(top: vec2<i32>, clamped: bool) -> Eight {
    var a = vec4<f32>(0.0);
    var b = vec4<f32>(0.0);
    var c = vec4<f32>(0.0);
    var d = vec4<f32>(0.0);
    var e = vec4<f32>(0.0);
    var f = vec4<f32>(0.0);
    var g = vec4<f32>(0.0);
    var h = vec4<f32>(0.0);
    for (var i = 0; i < 8 + TAPS - 1; i++) {
        let value = load_unchecked(top + vec2<i32>(0, i), clamped);
        a = add(Y, a, value, i);
        b = add(Y, b, value, i - 1);
        c = add(Y, c, value, i - 2);
        d = add(Y, d, value, i - 3);
        e = add(Y, e, value, i - 4);
        f = add(Y, f, value, i - 5);
        g = add(Y, g, value, i - 6);
        h = add(Y, h, value, i - 7);
    }
    return Eight(mat4x4<f32>(a, b, c, d), mat4x4<f32>(e, f, g, h));
}

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
