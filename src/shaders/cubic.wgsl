// The cubic B-spline through a coarse level, one axis at a time.
//
// Four coarse texels carry the weights (1-t)³/6, 2/3 - t² + t³/2, the same mirrored, and t³/6, where t is the place
// between the two middle ones. Two neighbours make one linear fetch.
// Reference: Sigg and Hadwiger, "Fast Third-Order Texture Filtering", GPU Gems 2, chapter 20.

#define_import_path bevy_gaussian_blur::cubic

#import bevy_gaussian_blur::common::{blur, weight}

// See `common`.
const BORDER: i32 = #{BORDER};

// The two fetches along one axis.
struct Fetches {
    offsets: vec2<f32>,
    weights: vec2<f32>,
}

// Where a target texel lies in the coarse level: a texel, and the place between that texel and the next.
struct Place {
    texel: vec2<i32>,
    t: vec2<f32>,
}

fn place_of(texel: vec2<i32>) -> Place {
    let position = texel * blur.step + blur.shift;
    let period = vec2<i32>(2) << blur.octaves;
    let t = vec2<f32>(position & (period - 1)) / vec2<f32>(period);
    return Place(position >> (blur.octaves + 1u), t);
}

fn fetches(t: f32) -> Fetches {
    let weights = cubic(t);
    let pairs = weights.xz + weights.yw;
    return Fetches(vec2<f32>(-1.0, 1.0) + weights.yw / pairs, pairs);
}

fn cubic(t: f32) -> vec4<f32> {
    let s = 1.0 - t;
    return vec4<f32>(
        s * s * s / 6.0,
        2.0 / 3.0 - t * t * (1.0 - 0.5 * t),
        2.0 / 3.0 - s * s * (1.0 - 0.5 * s),
        t * t * t / 6.0,
    );
}

// An interpolated value, divided by the blurred region itself, interpolated alike, if that is asked for.
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

// What the table has for a texel of the level, 1 between the borders. One look-up without branches: software rasterisers
// pay for what is on all of them.
fn stored_weight(axis: u32, texel: i32) -> f32 {
    let length = blur.bounds_max[axis] - blur.bounds_min[axis];
    let index = texel - blur.bounds_min[axis];
    let from_end = select(-1, index + 2 * BORDER - length, index + BORDER >= length);
    let slot = select(from_end, index, index < BORDER);
    return select(1.0, weight(axis, u32(max(slot, 0))), slot >= 0);
}
