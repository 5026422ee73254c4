// The cubic B-spline through the source of a pass, a coarse level, at a texel of the picture or between texels.

#define_import_path bevy_gaussian_blur::uniform::spline

#import bevy_gaussian_blur::common::pass::{blur, source, weight}
#import bevy_gaussian_blur::common::cubic::{Place, border_slot, cubic, filtered, interpolated, interpolated_between, moved, place_at}
#ifdef FILTERED
#import bevy_gaussian_blur::common::pass::linear_sampler
#endif

fn spline(texel: vec2<i32>) -> vec4<f32> {
    let place = place_of(texel);
#ifdef FILTERED
    return normalized(filtered(source, linear_sampler, blur.texel_size, place), place);
#else
    return normalized(interpolated(source, place, blur.octaves), place);
#endif
}

// The same at a distance from the centre of a texel. An axis without octaves is interpolated between its texels.
fn spline_beside(texel: vec2<i32>, distance: vec2<f32>) -> vec4<f32> {
    let place = moved(place_of(texel), distance, blur.octaves);
#ifdef FILTERED
    return normalized(filtered(source, linear_sampler, blur.texel_size, place), place);
#else
    let texels = vec4<i32>(blur.bounds_min, blur.bounds_max - 1);
    return normalized(interpolated_between(source, place, blur.octaves, texels), place);
#endif
}

fn place_of(texel: vec2<i32>) -> Place {
    return place_at(texel * blur.step + blur.shift, blur.octaves);
}

// An interpolated value, divided by the interpolated blur of the region itself, if required.
fn normalized(value: vec4<f32>, place: Place) -> vec4<f32> {
    if all(blur.normalize == vec2<u32>(0u)) {
        return value;
    }
    return value / (weight_inside(0u, place) * weight_inside(1u, place));
}

fn weight_inside(axis: u32, place: Place) -> f32 {
    if blur.normalize[axis] == 0u {
        return 1.0;
    }
    let weights = cubic(place.t[axis]);
    var inside = 0.0;
    for (var i = 0; i < 4; i++) {
        inside += weights[i] * stored_weight(axis, place.texel[axis] + i - 1);
    }
    return inside;
}

// The table's number for a texel of the level, 1 between the borders. One look-up without branches, because software
// rasterisers execute both sides.
fn stored_weight(axis: u32, texel: i32) -> f32 {
    let slot = border_slot(texel - blur.bounds_min[axis], blur.bounds_max[axis] - blur.bounds_min[axis]);
    return select(1.0, weight(axis, u32(max(slot, 0))), slot >= 0);
}
