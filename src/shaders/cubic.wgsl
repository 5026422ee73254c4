// The cubic B-spline through a coarse level, one axis at a time.
//
// Four coarse texels carry the weights (1-t)³/6, 2/3 - t² + t³/2, the same mirrored, and t³/6, where t is the place
// between the two middle ones. Two neighbours make one linear fetch.
// Reference: Sigg and Hadwiger, "Fast Third-Order Texture Filtering", GPU Gems 2, chapter 20.

#define_import_path bevy_gaussian_blur::cubic

#import bevy_gaussian_blur::common::{blur}

// The border texels whose normalisation the uniform carries, at either end: `BORDER` of the plan.
const BORDER: i32 = 24;

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
    var weight = vec2<f32>(1.0);
    if blur.normalize.x != 0u {
        let w = cubic(place.t.x);
        weight.x = 0.0;
        for (var i = 0; i < 4; i++) {
            weight.x += w[i] * stored_weight_x(place.texel.x + i - 1);
        }
    }
    if blur.normalize.y != 0u {
        let w = cubic(place.t.y);
        weight.y = 0.0;
        for (var i = 0; i < 4; i++) {
            weight.y += w[i] * stored_weight_y(place.texel.y + i - 1);
        }
    }
    return value / (weight.x * weight.y);
}

fn stored_weight_x(texel: i32) -> f32 {
    let slot = weight_slot(texel, blur.bounds_max.x);
    let stored = blur.x[max(slot, 0) / 4][max(slot, 0) % 4];
    return select(1.0, stored, slot >= 0);
}

fn stored_weight_y(texel: i32) -> f32 {
    let slot = weight_slot(texel, blur.bounds_max.y);
    let stored = blur.y[max(slot, 0) / 4][max(slot, 0) % 4];
    return select(1.0, stored, slot >= 0);
}

// Where the weight of a texel is stored, -1 between the borders.
fn weight_slot(texel: i32, length: i32) -> i32 {
    if texel < BORDER {
        return texel;
    }
    if texel + BORDER >= length {
        return texel + 2 * BORDER - length;
    }
    return -1;
}
