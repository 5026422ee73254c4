// The cubic B-spline through a coarse level, evaluated at full resolution: four linear fetches.

#import bevy_gaussian_blur::common::{blur, leave, read}
#import bevy_gaussian_blur::cubic::{Fetches, fetches, normalized, place_of}

@fragment
fn upsample(@builtin(position) fragment: vec4<f32>) -> @location(0) vec4<f32> {
    let place = place_of(vec2<i32>(fragment.xy));
    let x = fetches(place.t.x, blur.octaves.x);
    let y = fetches(place.t.y, blur.octaves.y);
    var value = read_line(place.texel, x, y.offsets.x) * y.weights.x;
    if blur.octaves.y > 0u {
        value += read_line(place.texel, x, y.offsets.y) * y.weights.y;
    }
    return leave(normalized(value, place));
}

// The apron holds everything that is read, so the sampler is always exact.
fn read_line(texel: vec2<i32>, x: Fetches, y: f32) -> vec4<f32> {
    var value = read(texel, vec2<f32>(x.offsets.x, y), true) * x.weights.x;
    if blur.octaves.x > 0u {
        value += read(texel, vec2<f32>(x.offsets.y, y), true) * x.weights.y;
    }
    return value;
}
