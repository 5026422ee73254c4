// The strength of a varying blur at a position in the picture: a share of the largest sigma.

#define_import_path bevy_gaussian_blur::profile::sigma_field

// How the share of a texel depends on its position. See `sigma_field::Shares`.
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

@group(0) @binding(6) var<uniform> shares: Shares;
@group(0) @binding(7) var mask: texture_2d<f32>;

// Whether a mask holds the shares: neighbours may then differ by any amount.
fn is_masked() -> bool {
    return shares.measure == MASK;
}

// The share at a position in the picture.
fn share_at(position: vec2<f32>) -> f32 {
    let difference = position - shares.point;
    let place = vec2<f32>(dot(shares.across, difference), dot(shares.down, difference));
    if is_masked() {
        return mask_at(place);
    }
    var measured = place.x;
    if shares.measure == UNSIGNED {
        measured = abs(measured);
    } else if shares.measure == DISTANCE {
        measured = length(place);
    }
    return interpolated(vec2<f32>(measured)).x;
}

// The direction in which the distance grows at a position, of any length. A mask has none.
fn slope_at(position: vec2<f32>) -> vec2<f32> {
    if is_masked() {
        return vec2<f32>(0.0);
    }
    if shares.measure != DISTANCE {
        return shares.across;
    }
    let difference = position - shares.point;
    return shares.across * dot(shares.across, difference) + shares.down * dot(shares.down, difference);
}

// The shares at two distances.
fn interpolated(measured: vec2<f32>) -> vec2<f32> {
    let t = clamp(measured * shares.slope + shares.offset, vec2<f32>(0.0), vec2<f32>(1.0));
    return clamp(mix(vec2<f32>(shares.first), vec2<f32>(shares.last), t), vec2<f32>(0.0), vec2<f32>(1.0));
}

// Bounds for all shares in a box of the picture, from bounds for the distances. A mask may hold any share.
fn shares_within(low: vec2<f32>, high: vec2<f32>) -> vec2<f32> {
    if is_masked() {
        return vec2<f32>(0.0, 1.0);
    }
    let middle = 0.5 * (low + high) - shares.point;
    let half = 0.5 * (high - low);
    let place = vec2<f32>(dot(shares.across, middle), dot(shares.down, middle));
    let spread = vec2<f32>(dot(abs(shares.across), half), dot(abs(shares.down), half));
    var measured = vec2<f32>(place.x - spread.x, place.x + spread.x);
    if shares.measure != SIGNED {
        // An unsigned distance depends on the first row alone: the second one is 0.
        let near = max(abs(place) - spread, vec2<f32>(0.0));
        measured = vec2<f32>(length(near), length(abs(place) + spread));
    }
    let ends = interpolated(measured);
    return vec2<f32>(min(ends.x, ends.y), max(ends.x, ends.y));
}

// The mask at a position from (0, 0) to (1, 1). Samplers keep eight bits of the position between two texels, which
// would show as steps if a small mask is stretched.
fn mask_at(place: vec2<f32>) -> f32 {
    let position = place * vec2<f32>(textureDimensions(mask)) - 0.5;
    let texel = vec2<i32>(floor(position));
    let t = position - floor(position);
    let top = mix(mask_texel(texel), mask_texel(texel + vec2<i32>(1, 0)), t.x);
    let bottom = mix(mask_texel(texel + vec2<i32>(0, 1)), mask_texel(texel + vec2<i32>(1, 1)), t.x);
    return mix(top, bottom, t.y);
}

// The share of one texel. NaN is 0; compares bits, because compilers may assume that no value is NaN.
fn mask_texel(texel: vec2<i32>) -> f32 {
    let last = vec2<i32>(textureDimensions(mask)) - 1;
    let share = textureLoad(mask, clamp(texel, vec2<i32>(0), last), 0).r;
    let is_nan = (bitcast<u32>(share) & 0x7fffffffu) > 0x7f800000u;
    return select(clamp(share, 0.0, 1.0), 0.0, is_nan);
}
