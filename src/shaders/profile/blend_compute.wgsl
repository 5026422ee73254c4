// Compute: a blur with a varying sigma: the last pass, one tile at a time.
//
// Neighbours have similar sigmas, so the texels of a tile blend the same few sigma levels. One sigma level after the
// other is interpolated as in `upsample_compute`: horizontally into workgroup memory, for the coarse rows that the tile
// needs, and vertically from there.

#import bevy_gaussian_blur::profile::blend::{Choice, Choices, SIGMA_LEVELS_BLENDED, atlas, choice_of, choices_in, normalized, place_in}
#import bevy_gaussian_blur::profile::blend::{sharp_sum, target_sigma}
#import bevy_gaussian_blur::common::output::as_it_is
#import bevy_gaussian_blur::common::pass::{blur, fetch, source_position, store, stored}
#import bevy_gaussian_blur::common::cubic::{cubic, row}
#import bevy_gaussian_blur::profile::sigma_levels::{bit_of, stack}
#import bevy_gaussian_blur::profile::sigma_field::is_masked

const WIDTH: i32 = #{WIDTH};
const HEIGHT: i32 = #{HEIGHT};
// A thread has two texels of a column, this far apart.
const THREADS_Y: i32 = #{THREADS_Y};

// The sigma levels that a tile under a mask needs, one bit for each.
var<workgroup> used: array<atomic<u32>, 2>;
var<workgroup> found: vec2<u32>;

// The coarse rows of two sigma levels: while one is read, the next is written.
const ROWS: i32 = #{ROWS};
var<workgroup> rows: array<vec4<f32>, 2 * ROWS * WIDTH>;

// A texel, and its blend so far.
struct Blended {
    position: vec2<i32>,
    sigma: f32,
    choice: Choice,
    sum: vec4<f32>,
}

@compute @workgroup_size(#{WIDTH}, #{THREADS_Y})
fn blend_compute(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_id) invocation: vec3<u32>) {
    let local = vec2<i32>(invocation.xy);
    let first = vec2<i32>(group.xy) * vec2<i32>(WIDTH, HEIGHT);
    let corner = blur.origin + first;
    let choices = choices_in(corner, vec2<i32>(WIDTH, HEIGHT));
    var upper = begin(first + local, choices);
    var lower = begin(first + local + vec2<i32>(0, THREADS_Y), choices);
    if choices.above.x == 0u {
        // Starts both reads at once, whether they are needed or not.
        let sums = array<vec4<f32>, 2>(sharp_sum_at(upper), sharp_sum_at(lower));
        upper.sum = select(vec4<f32>(0.0), upper.choice.sharp * sums[0], upper.choice.sharp > 0.0);
        lower.sum = select(vec4<f32>(0.0), lower.choice.sharp * sums[1], lower.choice.sharp > 0.0);
    }
    // The whole range, unless a mask needs just a few.
    var needed = vec2<u32>(0xffffffffu);
    if is_masked() {
        look_at(local, upper.choice, lower.choice);
        needed = workgroupUniformLoad(&found);
    }
    var start = 0;
    for (var sigma_level = choices.blended.x; sigma_level < choices.blended.y; sigma_level++) {
        if all((needed & bit_of(sigma_level)) == vec2<u32>(0u)) {
            continue;
        }
        let top = place_in(sigma_level, corner).texel.y - 1;
        lay_out_rows(sigma_level, corner, local, top, start);
        workgroupBarrier();
        upper.sum += share_of(upper, sigma_level, top, start + local.x);
        lower.sum += share_of(lower, sigma_level, top, start + local.x);
        start = ROWS * WIDTH - start;
    }
    end(upper);
    end(lower);
}

// A texel before any blending.
fn begin(position: vec2<i32>, choices: Choices) -> Blended {
    let texel = blur.origin + position;
    var blended = Blended(position, target_sigma(texel), Choice(0u, vec3<f32>(0.0), 0.0), vec4<f32>(0.0));
    if all(position < blur.size) && blended.sigma > 0.0 {
        blended.choice = choice_of(blended.sigma, choices.above);
    }
    return blended;
}

// The sharp picture, blurred with the sigma of a texel. If that sigma is too large, the value is not used.
fn sharp_sum_at(blended: Blended) -> vec4<f32> {
    return sharp_sum(blur.origin + blended.position, blended.sigma);
}

fn end(blended: Blended) {
    if blended.sigma > 0.0 {
        store(blended.position, blended.sum);
        return;
    }
#ifndef LEAVES_UNCHANGED
    // Copies a texel that is not blurred, to the bit. In place it is there already.
    if all(blended.position < blur.size) {
        let texel = blur.origin + blended.position;
        textureStore(stored, texel, as_it_is(fetch(source_position(texel))).value);
    }
#endif
}

// Finds the sigma levels that the tile needs, if neighbours may have any sigma. Workgroup memory is not initialised.
fn look_at(local: vec2<i32>, upper: Choice, lower: Choice) {
    if all(local == vec2<i32>(0)) {
        atomicStore(&used[0], 0u);
        atomicStore(&used[1], 0u);
    }
    workgroupBarrier();
    let needed = bits_of_choice(upper) | bits_of_choice(lower);
    atomicOr(&used[0], needed.x);
    atomicOr(&used[1], needed.y);
    workgroupBarrier();
    if all(local == vec2<i32>(0)) {
        found = vec2<u32>(atomicLoad(&used[0]), atomicLoad(&used[1]));
    }
}

fn bits_of_choice(choice: Choice) -> vec2<u32> {
    var bits = vec2<u32>(0u);
    for (var i = 0u; i < SIGMA_LEVELS_BLENDED; i++) {
        if choice.weights[i] != 0.0 {
            bits |= bit_of(choice.above - i);
        }
    }
    return bits;
}

// Interpolates horizontally the coarse rows of a sigma level that the tile needs, from `top` on.
fn lay_out_rows(sigma_level: u32, corner: vec2<i32>, local: vec2<i32>, top: i32, start: i32) {
    let octaves = stack.levels[sigma_level].octaves;
    if octaves.y == 0u {
        return;
    }
    let place = place_in(sigma_level, corner + vec2<i32>(local.x, 0));
    let x = cubic(place.t.x);
    let bottom = place_in(sigma_level, corner + vec2<i32>(0, HEIGHT - 1)).texel.y + 2;
    for (var y = local.y; y <= bottom - top; y += THREADS_Y) {
        rows[start + y * WIDTH + local.x] = row(atlas, vec2<i32>(place.texel.x, top + y), x, octaves.x);
    }
}

// The weighted value of a sigma level at a texel, 0 if the level has no weight there. `column` is where the texel's column
// of `rows` starts.
fn share_of(blended: Blended, sigma_level: u32, top: i32, column: i32) -> vec4<f32> {
    // How far the level is below this texel's highest. Levels above wrap around to very large numbers.
    let below = blended.choice.above - sigma_level;
    if below >= SIGMA_LEVELS_BLENDED || blended.choice.weights[below] == 0.0 {
        return vec4<f32>(0.0);
    }
    let place = place_in(sigma_level, blur.origin + blended.position);
    var value: vec4<f32>;
    if stack.levels[sigma_level].octaves.y == 0u {
        value = row(atlas, place.texel, cubic(place.t.x), stack.levels[sigma_level].octaves.x);
    } else {
        let slot = column + (place.texel.y - 1 - top) * WIDTH;
        let y = cubic(place.t.y);
        value = y.x * rows[slot] + y.y * rows[slot + WIDTH] + y.z * rows[slot + 2 * WIDTH] + y.w * rows[slot + 3 * WIDTH];
    }
    return blended.choice.weights[below] * normalized(value, sigma_level, place);
}
