// A blur with a varying sigma, at one texel: the Gaussian of its sigma, from the sharp picture or from the blurs of the
// whole picture around that sigma. The comments of `plan::profile` and `plan::sigma_levels` have the reasons.

#define_import_path bevy_gaussian_blur::profile::blend

#import bevy_gaussian_blur::common::cubic::{Place, border_slot, cubic, place_at}
#import bevy_gaussian_blur::profile::sigma_levels::{AXIS_VECTORS, MIN_SIGMA, TABLE_VECTORS, sigma_at, sigmas_within, stack}
#import bevy_gaussian_blur::common::pass::{blur, is_finite, is_inside}
#import bevy_gaussian_blur::profile::direct_sum::{Window, gaussian_sum, may_filter, tap, window_of}
#ifdef SUMS_FILTERED
#import bevy_gaussian_blur::common::pass::linear_sampler
#endif

@group(0) @binding(5) var atlas: texture_2d<f32>;
// The sums of the sharp picture, or of its rows, from the first written texel on.
@group(0) @binding(8) var summed: texture_2d<f32>;

// The sigma at a texel of the target; 0 if that is no blur.
fn target_sigma(texel: vec2<i32>) -> f32 {
    let sigma = sigma_at(texel + stack.origin);
    return select(0.0, sigma, sigma >= MIN_SIGMA);
}

// The sources of a blended Gaussian, with their weights: a sigma level and the ones below it, and the sharp picture.
struct Choice {
    above: u32,
    weights: vec3<f32>,
    sharp: f32,
}

// The most sigma levels that are blended for one texel.
const SIGMA_LEVELS_BLENDED: u32 = 3u;

// The sources for the Gaussian of `sigma`, which is at least `MIN_SIGMA`. `range` contains the sigma level above it.
fn choice_of(sigma: f32, range: vec2<u32>) -> Choice {
    if sigma <= stack.gathered {
        return Choice(0u, vec3<f32>(0.0), 1.0);
    }
    let above = sigma_level_above(sigma, range);
    let weights = weights_of(above, stack.levels[above].log_sigma - log(sigma));
    // Below the lowest sigma level, the sharp picture has the rest of the weight.
    return Choice(above, weights, select(0.0, 1.0 - weights.x, above == 0u));
}

// The weights of a sigma level and the ones below it, for a sigma whose logarithm is smaller than the level's by `gap`.
fn weights_of(above: u32, gap: f32) -> vec3<f32> {
    if gap <= 0.0 {
        return vec3<f32>(1.0, 0.0, 0.0);
    }
    let strong = stack.levels[above].log_sigma;
    if above == 0u {
        return vec3<f32>(1.0 - gap / (strong - log(stack.gathered)), 0.0, 0.0);
    }
    let weak = stack.levels[above - 1u].log_sigma;
    let t = gap / (strong - weak);
    let line = vec3<f32>(1.0 - t, t, 0.0);
    if above == 1u || is_line(above) {
        return line;
    }
    // Newton's form of the parabola that also passes through the next weaker level.
    let weaker = stack.levels[above - 2u].log_sigma;
    let bend = gap * (strong - weak - gap) / (strong - weaker);
    let slope = bend / (strong - weak);
    let next_slope = bend / (weak - weaker);
    return line + vec3<f32>(-slope, slope + next_slope, -next_slope);
}

// Whether a line through two sigma levels is exact enough below this one.
fn is_line(above: u32) -> bool {
    let weak = stack.levels[above - 1u].sigma;
    return weak >= stack.lines.x && weak < stack.lines.y;
}

// The Gaussian of the sharp picture itself, for `sigma`, or for `stack.gathered` if that is smaller.
fn sharp_sum(texel: vec2<i32>, sigma: f32) -> vec4<f32> {
#ifdef GATHERED
    return textureLoad(summed, texel - blur.origin, 0);
#else
    let window = window_of(texel, min(sigma, stack.gathered) * stack.aspect, stack.cutoff);
    // Rows with a larger sigma may reach one texel farther.
    let reach = window.reach + 1;
    if is_inside(window.centre - reach, window.centre + reach) && is_slow(window) {
        let sum = column_sum(texel, window);
        if is_finite(sum) {
            return sum;
        }
    }
    return gaussian_sum(window);
#endif
}

#ifndef GATHERED
// Whether sigma hardly varies along the column through a window: by a ratio of 2^(1/16) at most. Rows with their own
// sigmas are then as good as rows with the sigma of the centre.
fn is_slow(window: Window) -> bool {
    let low = vec2<f32>(window.centre - vec2<i32>(0, window.reach.y));
    let high = vec2<f32>(window.centre + vec2<i32>(1, window.reach.y + 1));
    let sigmas = min(sigmas_within(low, high), vec2<f32>(stack.gathered));
    return sigmas.x >= MIN_SIGMA && sigmas.y <= 1.044 * sigmas.x;
}

// The sum of the rows' sums along the column through a window.
fn column_sum(texel: vec2<i32>, window: Window) -> vec4<f32> {
    let filtered = may_filter(window);
    let centre = texel - blur.origin;
    var sum = row_at(centre, 0.0, filtered);
    var total = 1.0;
    for (var y = 1; y <= window.reach.y; y += select(1, 2, filtered)) {
        let down = tap(y, window.scale.y, window.support.y, filtered);
        sum += down.y * (row_at(centre, down.x, filtered) + row_at(centre, -down.x, filtered));
        total += 2.0 * down.y;
    }
    return sum / total;
}

fn row_at(centre: vec2<i32>, offset: f32, filtered: bool) -> vec4<f32> {
#ifdef SUMS_FILTERED
    if filtered {
        // Samplers may round down: a little is added so that they lose nothing.
        let position = vec2<f32>(centre) + (0.5 + 1.0 / 1024.0) + vec2<f32>(0.0, offset);
        return textureSampleLevel(summed, linear_sampler, position / vec2<f32>(textureDimensions(summed)), 0.0);
    }
#endif
    return textureLoad(summed, centre + vec2<i32>(0, i32(offset)), 0);
}
#endif

// All sigma levels, from the first to the last one.
fn all_sigma_levels() -> vec2<u32> {
    return vec2<u32>(0u, stack.count - 1u);
}

// The candidates in a box of the target: the first and the last sigma level that lies above a sigma of the box, and the
// range of sigma levels to blend, whose end is exclusive.
struct Choices {
    above: vec2<u32>,
    blended: vec2<u32>,
}

fn choices_in(first: vec2<i32>, size: vec2<i32>) -> Choices {
    let low = first + stack.origin;
    let sigmas = sigmas_within(vec2<f32>(low), vec2<f32>(low + size));
    if sigmas.y <= stack.gathered {
        return Choices(vec2<u32>(0u), vec2<u32>(0u));
    }
    var above = vec2<u32>(sigma_level_above(sigmas.x, all_sigma_levels()));
    // Usually the box spans few sigma levels.
    while above.y + 1u < stack.count && stack.levels[above.y].sigma < sigmas.y {
        above.y += 1u;
    }
    var lowest = above.x;
    let is_single = above.x == above.y && sigmas.x >= stack.levels[lowest].sigma;
    if lowest > 0u && !is_single {
        lowest -= min(lowest, select(2u, 1u, is_line(lowest)));
    }
    return Choices(above, vec2<u32>(lowest, above.y + 1u));
}

// The first sigma level of a range with at least this sigma, by bisection.
fn sigma_level_above(sigma: f32, range: vec2<u32>) -> u32 {
    var low = range.x;
    var high = range.y;
    while low < high {
        let middle = (low + high) / 2u;
        if stack.levels[middle].sigma < sigma {
            low = middle + 1u;
        } else {
            high = middle;
        }
    }
    return low;
}

// The position of a target texel in a sigma level, in texels of the atlas.
fn place_in(index: u32, texel: vec2<i32>) -> Place {
    return place_at(2 * texel + stack.levels[index].shift, stack.levels[index].octaves);
}

// The value of a sigma level there, divided by the weight inside the region if required.
fn normalized(value: vec4<f32>, index: u32, place: Place) -> vec4<f32> {
    let sigma_level = stack.levels[index];
    if all(sigma_level.normalize == vec2<u32>(0u)) {
        return value;
    }
    let in_tile = place.texel - sigma_level.origin;
    return value / (weight_inside(index, 0u, in_tile.x, place.t.x) * weight_inside(index, 1u, in_tile.y, place.t.y));
}

// The weight of a sigma level inside the region, along an axis, interpolated like the sigma level.
fn weight_inside(index: u32, axis: u32, texel: i32, t: f32) -> f32 {
    if stack.levels[index].normalize[axis] == 0u || stack.levels[index].octaves[axis] == 0u {
        return 1.0;
    }
    let weights = cubic(t);
    var inside = 0.0;
    for (var i = 0; i < 4; i++) {
        inside += weights[i] * stored_weight(index, axis, texel + i - 1);
    }
    return inside;
}

fn stored_weight(index: u32, axis: u32, texel: i32) -> f32 {
    let slot = border_slot(texel, stack.levels[index].size[axis]);
    let place = u32(max(slot, 0));
    let vector = stack.tables[index * TABLE_VECTORS + axis * AXIS_VECTORS + place / 8u];
    return select(1.0, unpack2x16unorm(vector[place / 2u % 4u])[place % 2u], slot >= 0);
}
