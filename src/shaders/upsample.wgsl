// The cubic B-spline through a coarse level, evaluated at full resolution.
//
// Along one axis four coarse texels carry the weights (1-t)³/6, 2/3 - t² + t³/2, the same mirrored, and t³/6, where t is
// the place between the two middle ones. Two neighbours make one linear fetch, so two axes cost four.
// Reference: Sigg and Hadwiger, "Fast Third-Order Texture Filtering", GPU Gems 2, chapter 20.

#import bevy_gaussian_blur::common::{blur, leave, read_between, source_position}
#ifdef FILTERED
#import bevy_gaussian_blur::common::{sample_between}
#endif

// The border texels whose normalisation the uniform carries, at either end: `BORDER` of the plan.
const BORDER: i32 = 24;

// The two fetches along one axis.
struct Fetches {
    offsets: vec2<f32>,
    weights: vec2<f32>,
}

@fragment
fn upsample(@builtin(position) fragment: vec4<f32>) -> @location(0) vec4<f32> {
    let position = source_position(fragment);
    let texel = position >> (blur.octaves + 1u);
    let period = vec2<i32>(2) << blur.octaves;
    let t = vec2<f32>(position & (period - 1)) / vec2<f32>(period);
    let x = fetches(t.x, blur.octaves.x);
    let y = fetches(t.y, blur.octaves.y);

    var value = read_line(texel, x, y.offsets.x) * y.weights.x;
    if blur.octaves.y > 0u {
        value += read_line(texel, x, y.offsets.y) * y.weights.y;
    }
    return leave(value / weight_inside(texel, t));
}

fn fetches(t: f32, octaves: u32) -> Fetches {
    if octaves == 0u {
        return Fetches(vec2<f32>(0.0), vec2<f32>(1.0, 0.0));
    }
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

fn read_line(texel: vec2<i32>, x: Fetches, y: f32) -> vec4<f32> {
    var value = read(texel, vec2<f32>(x.offsets.x, y)) * x.weights.x;
    if blur.octaves.x > 0u {
        value += read(texel, vec2<f32>(x.offsets.y, y)) * x.weights.y;
    }
    return value;
}

fn read(texel: vec2<i32>, offset: vec2<f32>) -> vec4<f32> {
#ifdef FILTERED
    return sample_between(texel, offset);
#else
    return read_between(texel, offset);
#endif
}

// The blurred region itself, interpolated like the picture, or 1 where nothing is to be renormalised.
fn weight_inside(texel: vec2<i32>, t: vec2<f32>) -> f32 {
    var weight = vec2<f32>(1.0);
    if blur.normalize.x != 0u {
        let w = cubic(t.x);
        weight.x = 0.0;
        for (var i = 0; i < 4; i++) {
            weight.x += w[i] * stored_weight_x(texel.x + i - 1);
        }
    }
    if blur.normalize.y != 0u {
        let w = cubic(t.y);
        weight.y = 0.0;
        for (var i = 0; i < 4; i++) {
            weight.y += w[i] * stored_weight_y(texel.y + i - 1);
        }
    }
    return weight.x * weight.y;
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
