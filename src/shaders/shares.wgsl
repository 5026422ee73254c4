// How strong a blur whose sigma varies is at a place in the picture: a share of the largest sigma. `plan::layers` has the idea.

#define_import_path bevy_gaussian_blur::shares

#import bevy_gaussian_blur::cubic::BORDER

const LAYERS: u32 = #{LAYERS}u;

// One blur of the whole picture. See `plan::layers::Layer`.
struct Layer {
    // Twice the target texel plus `shift`, divided by 2^(octaves + 1), is the place in the atlas.
    shift: vec2<i32>,
    octaves: vec2<u32>,
    // The tile in the atlas.
    origin: vec2<i32>,
    size: vec2<i32>,
    // Whether to divide by the weight inside the region.
    normalize: vec2<u32>,
    sigma: f32,
    log_sigma: f32,
}

// See `plan::layers::Layers`.
struct Layers {
    // The sigmas along x and y as shares of the larger one.
    aspect: vec2<f32>,
    // One over the size of the atlas.
    texel_size: vec2<f32>,
    // The position of the target's first texel in the picture.
    origin: vec2<i32>,
    // The sigma of the share 1, and the one up to which the sharp picture is summed.
    largest: f32,
    gathered: f32,
    // After how many sigmas that sum ends.
    cutoff: f32,
    count: u32,
    // The least sigma that is a blur.
    least: f32,
    // The sigma from which on a line through two layers is enough.
    dense: f32,
    layers: array<Layer, LAYERS>,
    // For each layer and axis the weights inside the region, as in `cubic`: one table after the other.
    tables: array<vec4<f32>, LAYERS * TABLE_VECTORS>,
}

// The vectors of the two tables of a layer: BORDER numbers for either end of either axis.
const AXIS_VECTORS: u32 = 2u * u32(BORDER) / 4u;
const TABLE_VECTORS: u32 = 2u * AXIS_VECTORS;

// How the share of a texel depends on where it is. See `shares::Shares`.
struct Shares {
    point: vec2<f32>,
    // The rows of a matrix.
    across: vec2<f32>,
    down: vec2<f32>,
    slope: f32,
    offset: f32,
    // The shares at both ends.
    first: f32,
    last: f32,
    measure: u32,
}

const SIGNED: u32 = 0u;
const UNSIGNED: u32 = 1u;
const DISTANCE: u32 = 2u;
const MASK: u32 = 3u;

@group(0) @binding(4) var<uniform> stack: Layers;
@group(0) @binding(6) var<uniform> shares: Shares;
@group(0) @binding(7) var mask: texture_2d<f32>;

// The sigma at a texel of the picture; 0 where that is no blur.
fn sigma_at(texel: vec2<i32>) -> f32 {
    let position = vec2<f32>(texel) + 0.5;
    let sigma = min(share_at(position) * stack.largest, stack.layers[stack.count - 1u].sigma);
    return select(0.0, sigma, sigma >= stack.least);
}

// The share at a position in the picture.
fn share_at(position: vec2<f32>) -> f32 {
    let difference = position - shares.point;
    let place = vec2<f32>(dot(shares.across, difference), dot(shares.down, difference));
    if shares.measure == MASK {
        return mask_at(place);
    }
    var measured = place.x;
    if shares.measure == UNSIGNED {
        measured = abs(measured);
    } else if shares.measure == DISTANCE {
        measured = length(place);
    }
    let t = clamp(measured * shares.slope + shares.offset, 0.0, 1.0);
    return clamp(mix(shares.first, shares.last, t), 0.0, 1.0);
}

// The mask at a place from (0, 0) to (1, 1). Samplers keep eight bits of the place between two texels, which would be seen as
// steps where a small mask is stretched.
fn mask_at(place: vec2<f32>) -> f32 {
    let position = place * vec2<f32>(textureDimensions(mask)) - 0.5;
    let texel = vec2<i32>(floor(position));
    let t = position - floor(position);
    let top = mix(mask_texel(texel), mask_texel(texel + vec2<i32>(1, 0)), t.x);
    let bottom = mix(mask_texel(texel + vec2<i32>(0, 1)), mask_texel(texel + vec2<i32>(1, 1)), t.x);
    return mix(top, bottom, t.y);
}

// The share of one texel. NaN is 0; comparing bits, because compilers may assume that no value is NaN.
fn mask_texel(texel: vec2<i32>) -> f32 {
    let last = vec2<i32>(textureDimensions(mask)) - 1;
    let share = textureLoad(mask, clamp(texel, vec2<i32>(0), last), 0).r;
    let is_nan = (bitcast<u32>(share) & 0x7fffffffu) > 0x7f800000u;
    return select(clamp(share, 0.0, 1.0), 0.0, is_nan);
}
