// The cubic B-spline through a coarse level, at a texel of the picture: four filtered fetches, or sixteen texels. Along an
// axis without octaves it is the level itself.
//
// The apron of the level holds everything that is read, so no read needs an edge mode.

#define_import_path bevy_gaussian_blur::spline

#import bevy_gaussian_blur::common::{blur, load_unchecked, source}
#import bevy_gaussian_blur::cubic::{Fetches, cubic, fetches, normalized, place_of}
#ifdef FILTERED
#import bevy_gaussian_blur::common::linear_sampler
#endif

fn spline(texel: vec2<i32>) -> vec4<f32> {
    let place = place_of(texel);
    return normalized(interpolated(place.texel, place.t), place);
}

#ifdef FILTERED
fn interpolated(texel: vec2<i32>, t: vec2<f32>) -> vec4<f32> {
    let x = fetches(t.x);
    let y = fetches(t.y);
    return y.weights.x * line(texel, x, y.offsets.x) + y.weights.y * line(texel, x, y.offsets.y);
}

fn line(texel: vec2<i32>, x: Fetches, y: f32) -> vec4<f32> {
    return x.weights.x * filtered(texel, vec2<f32>(x.offsets.x, y))
        + x.weights.y * filtered(texel, vec2<f32>(x.offsets.y, y));
}

fn filtered(texel: vec2<i32>, offset: vec2<f32>) -> vec4<f32> {
    let position = vec2<f32>(texel) + 0.5 + offset;
    return textureSampleLevel(source, linear_sampler, position * blur.texel_size, 0.0);
}
#else
fn interpolated(texel: vec2<i32>, t: vec2<f32>) -> vec4<f32> {
    let x = cubic(t.x);
    let y = cubic(t.y);
    if blur.octaves.y == 0u {
        return line(texel, x);
    }
    return y.x * line(texel - vec2<i32>(0, 1), x) + y.y * line(texel, x)
        + y.z * line(texel + vec2<i32>(0, 1), x) + y.w * line(texel + vec2<i32>(0, 2), x);
}

fn line(texel: vec2<i32>, x: vec4<f32>) -> vec4<f32> {
    let centre = load_unchecked(texel, false);
    if blur.octaves.x == 0u {
        return centre;
    }
    return x.x * load_unchecked(texel - vec2<i32>(1, 0), false) + x.y * centre
        + x.z * load_unchecked(texel + vec2<i32>(1, 0), false) + x.w * load_unchecked(texel + vec2<i32>(2, 0), false);
}
#endif
