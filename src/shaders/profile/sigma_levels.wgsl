// The sigma levels from which a varying blur is blended. `plan::profile` has the idea.

#define_import_path bevy_gaussian_blur::profile::sigma_levels

#import bevy_gaussian_blur::common::cubic::BORDER
#import bevy_gaussian_blur::profile::sigma_field::{share_at, shares_within}

const SIGMA_LEVELS: u32 = #{SIGMA_LEVELS}u;

// The least sigma that counts as a blur.
const MIN_SIGMA: f32 = 0.03;

// One blur of the whole picture. See `plan::pass::SigmaLevel`.
struct SigmaLevel {
    // Twice the target texel plus `shift`, divided by 2^(octaves + 1), is the position in the atlas.
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

// See `plan::pass::SigmaLevels`.
struct SigmaLevels {
    // The sigmas along x and y as shares of the larger one.
    aspect: vec2<f32>,
    // One over the size of the atlas.
    texel_size: vec2<f32>,
    // The position of the target's first texel in the picture.
    origin: vec2<i32>,
    // The sigma of the share 1, and the largest sigma for which the sharp picture is summed.
    largest: f32,
    gathered: f32,
    // The cutoff of that sum, in sigmas.
    cutoff: f32,
    count: u32,
    // For sigma levels in this range of sigmas, a line through two of them is exact enough.
    lines: vec2<f32>,
    levels: array<SigmaLevel, SIGMA_LEVELS>,
    // For each sigma level and axis the weights inside the region, as in `uniform::spline`, two per word: one table
    // after the other.
    tables: array<vec4<u32>, SIGMA_LEVELS * TABLE_VECTORS>,
}

// The vectors of the two tables of a sigma level: BORDER numbers for either end of either axis.
const AXIS_VECTORS: u32 = 2u * u32(BORDER) / 8u;
const TABLE_VECTORS: u32 = 2u * AXIS_VECTORS;

@group(0) @binding(4) var<uniform> stack: SigmaLevels;

// One of 64 bits, for a sigma level or a rung.
fn bit_of(place: u32) -> vec2<u32> {
    let bit = 1u << (place % 32u);
    return select(vec2<u32>(0u, bit), vec2<u32>(bit, 0u), place < 32u);
}

// The sigma at a texel of the picture, even if it is no blur.
fn sigma_at(texel: vec2<i32>) -> f32 {
    let position = vec2<f32>(texel) + 0.5;
    return share_at(position) * stack.largest;
}

// Bounds for all sigmas in a box of the picture, except for rounding.
fn sigmas_within(low: vec2<f32>, high: vec2<f32>) -> vec2<f32> {
    return shares_within(low, high) * stack.largest;
}

// The relative difference up to which sigmas count as equal, since passes may round differently.
const ROUNDING: f32 = 1.0 / f32(#{SIGMAS_APART});

// Whether a texel with a sigma between these two may need a sum. The blending pass decides what is a blur; this pass may
// round differently, and so sums a little more.
fn may_be_summed(sigmas: vec2<f32>) -> bool {
    return sigmas.y >= (1.0 - ROUNDING) * MIN_SIGMA && sigmas.x <= (1.0 + ROUNDING) * stack.levels[0].sigma;
}
