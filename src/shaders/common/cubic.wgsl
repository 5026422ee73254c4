// The cubic B-spline through a coarse level, from any texture.
//
// Along an axis four coarse texels have the weights (1-t)³/6, 2/3 - t² + t³/2, the same mirrored, and t³/6, where t is
// the position between the two middle ones. Two neighbours make one linear fetch. Along an axis without octaves the
// spline is the level itself.
// Reference: Sigg and Hadwiger, "Fast Third-Order Texture Filtering", GPU Gems 2, chapter 20.
//
// The apron of a level holds everything that is read, so no read needs an edge mode.

#define_import_path bevy_gaussian_blur::common::cubic

#import bevy_gaussian_blur::common::pass::finite

// See `common::pass`.
const BORDER: i32 = #{BORDER};

// The position of a target texel in the coarse level: a texel, and the position between that texel and the next.
struct Place {
    texel: vec2<i32>,
    t: vec2<f32>,
}

// `position` divided by 2^(octaves + 1).
fn place_at(position: vec2<i32>, octaves: vec2<u32>) -> Place {
    let period = vec2<i32>(2) << octaves;
    let t = vec2<f32>(position & (period - 1)) / vec2<f32>(period);
    return Place(position >> (octaves + 1u), t);
}

// The place at a distance in texels of the target.
fn moved(place: Place, distance: vec2<f32>, octaves: vec2<u32>) -> Place {
    let t = place.t + distance / vec2<f32>(vec2<i32>(1) << octaves);
    return Place(place.texel + vec2<i32>(floor(t)), t - floor(t));
}

// The weights of the texel before a position, of the two around it, and of the one after those.
fn cubic(t: f32) -> vec4<f32> {
    let s = 1.0 - t;
    return vec4<f32>(
        s * s * s / 6.0,
        2.0 / 3.0 - t * t * (1.0 - 0.5 * t),
        2.0 / 3.0 - s * s * (1.0 - 0.5 * s),
        t * t * t / 6.0,
    );
}

// The spline at a place, from single texel loads.
fn interpolated(level: texture_2d<f32>, place: Place, octaves: vec2<u32>) -> vec4<f32> {
    let x = cubic(place.t.x);
    let y = cubic(place.t.y);
    let centre = row(level, place.texel, x, octaves.x);
    if octaves.y == 0u {
        return centre;
    }
    return y.x * row(level, place.texel - vec2<i32>(0, 1), x, octaves.x) + y.y * centre
        + y.z * row(level, place.texel + vec2<i32>(0, 1), x, octaves.x)
        + y.w * row(level, place.texel + vec2<i32>(0, 2), x, octaves.x);
}

// A coarse row, interpolated horizontally with these weights.
fn row(level: texture_2d<f32>, texel: vec2<i32>, weights: vec4<f32>, octaves: u32) -> vec4<f32> {
    let centre = textureLoad(level, texel, 0);
    if octaves == 0u {
        return centre;
    }
    return weights.x * textureLoad(level, texel - vec2<i32>(1, 0), 0) + weights.y * centre
        + weights.z * textureLoad(level, texel + vec2<i32>(1, 0), 0)
        + weights.w * textureLoad(level, texel + vec2<i32>(2, 0), 0);
}

// The same at places between the texels of axes without octaves, where `interpolated` returns the texel. A level without octaves is
// the picture itself, whose texels may be infinite. Reads stay between the first and the last of `texels`.
fn interpolated_between(level: texture_2d<f32>, place: Place, octaves: vec2<u32>, texels: vec4<i32>) -> vec4<f32> {
    return along(
        mat4x4<f32>(
            row_between(level, place.texel - vec2<i32>(0, 1), place.t.x, octaves.x, texels),
            row_between(level, place.texel, place.t.x, octaves.x, texels),
            row_between(level, place.texel + vec2<i32>(0, 1), place.t.x, octaves.x, texels),
            row_between(level, place.texel + vec2<i32>(0, 2), place.t.x, octaves.x, texels),
        ),
        place.t.y,
        octaves.y,
    );
}

fn row_between(level: texture_2d<f32>, texel: vec2<i32>, t: f32, octaves: u32, texels: vec4<i32>) -> vec4<f32> {
    return along(
        mat4x4<f32>(
            loaded(level, texel - vec2<i32>(1, 0), texels),
            loaded(level, texel, texels),
            loaded(level, texel + vec2<i32>(1, 0), texels),
            loaded(level, texel + vec2<i32>(2, 0), texels),
        ),
        t,
        octaves,
    );
}

fn loaded(level: texture_2d<f32>, texel: vec2<i32>, texels: vec4<i32>) -> vec4<f32> {
    return finite(textureLoad(level, clamp(texel, texels.xy, texels.zw), 0));
}

// Four neighbours at a position between the middle two. Without octaves, a cubic through the texels, which becomes the texel itself
// where there is one: R. Keys, "Cubic Convolution Interpolation for Digital Image Processing", 1981. It stays between the middle two,
// so that no dark ring surrounds a light.
fn along(values: mat4x4<f32>, t: f32, octaves: u32) -> vec4<f32> {
    if octaves > 0u {
        return values * cubic(t);
    }
    let s = 1.0 - t;
    let weights = vec4<f32>(
        -0.5 * t * s * s,
        1.0 + t * t * (1.5 * t - 2.5),
        1.0 + s * s * (1.5 * s - 2.5),
        -0.5 * s * t * t,
    );
    return clamp(values * weights, min(values[1], values[2]), max(values[1], values[2]));
}

// The two fetches along one axis.
struct Fetches {
    offsets: vec2<f32>,
    weights: vec2<f32>,
}

fn fetches(t: f32) -> Fetches {
    let weights = cubic(t);
    let pairs = weights.xz + weights.yw;
    return Fetches(vec2<f32>(-1.0, 1.0) + weights.yw / pairs, pairs);
}

// The spline at a place, from linearly filtered fetches. Both axes must have octaves: on an axis without octaves, a fetch
// would pick up a little of its neighbours. `texel_size` is one over the size of the texture.
fn filtered(level: texture_2d<f32>, linear: sampler, texel_size: vec2<f32>, place: Place) -> vec4<f32> {
    let x = fetches(place.t.x);
    let y = fetches(place.t.y);
    let centre = vec2<f32>(place.texel) + 0.5;
    let first = (centre + vec2<f32>(x.offsets.x, y.offsets.x)) * texel_size;
    let last = (centre + vec2<f32>(x.offsets.y, y.offsets.y)) * texel_size;
    let upper = x.weights.x * textureSampleLevel(level, linear, first, 0.0)
        + x.weights.y * textureSampleLevel(level, linear, vec2<f32>(last.x, first.y), 0.0);
    let lower = x.weights.x * textureSampleLevel(level, linear, vec2<f32>(first.x, last.y), 0.0)
        + x.weights.y * textureSampleLevel(level, linear, last, 0.0);
    return y.weights.x * upper + y.weights.y * lower;
}

// The index of a level's texel in the table of an axis, or -1 between the borders.
fn border_slot(texel: i32, length: i32) -> i32 {
    let from_end = select(-1, texel + 2 * BORDER - length, texel + BORDER >= length);
    return select(from_end, texel, texel < BORDER);
}
