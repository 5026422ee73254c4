// Compute: goes from one level to a coarser one, a tile at a time. The rows that a tile needs are filtered horizontally
// into workgroup memory, where all texels above and below share them, and then vertically out of it.

#import bevy_gaussian_blur::common::{blur, enter, is_filtering_exact, pack, read_texel, sample_raw, source_position}
#import bevy_gaussian_blur::common::{store, tap_x, tap_y, unpack}

// The tile, in target texels. At four source texels per target texel and sixteen taps it needs 15 * 4 + 16 source rows.
const TILE: u32 = 16u;
const MOST_ROWS: u32 = 76u;

// How many taps there are along each axis: fixed numbers, so that their fetches overlap.
const TAPS_X: u32 = #{TAPS_X}u;
const TAPS_Y: u32 = #{TAPS_Y}u;

// Two half floats to a word.
var<workgroup> rows: array<vec2<u32>, 1216>;

@compute @workgroup_size(16, 16)
fn decimate(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(local_invocation_id) local: vec3<u32>,
    @builtin(local_invocation_index) index: u32,
) {
    let first = vec2<i32>(group.xy * TILE);
    let centre = source_position(blur.origin + first);
    let last = centre + vec2<i32>(i32(TILE) - 1) * blur.step;
    let filtered = is_filtering_exact(centre + blur.reach_min, last + blur.reach_max);
    let row_count = u32(last.y - centre.y + blur.reach_max.y - blur.reach_min.y) + 1u;
    for (var slot = index; slot < row_count * TILE; slot += TILE * TILE) {
        let column = i32(slot % TILE);
        let row = i32(slot / TILE);
        let texel = vec2<i32>(centre.x + column * blur.step.x, centre.y + blur.reach_min.y + row);
        if filtered {
            rows[slot] = pack(sampled_row(texel));
        } else {
            rows[slot] = pack(loaded_row(texel));
        }
    }
    workgroupBarrier();

    var sum = vec4<f32>(0.0);
    let row = i32(local.y) * blur.step.y - blur.reach_min.y;
    for (var i = 0u; i < TAPS_Y; i++) {
        let tap = tap_y(i);
        let whole = floor(tap.x);
        let slot = u32(row + i32(whole)) * TILE + local.x;
        var value = unpack(rows[slot]);
        if tap.x > whole {
            value = mix(value, unpack(rows[slot + TILE]), tap.x - whole);
        }
        sum += tap.y * value;
    }
    store(first + vec2<i32>(local.xy), sum);
}

// The horizontal sum through the sampler. Making it finite at the end costs less than making every fetch so.
fn sampled_row(texel: vec2<i32>) -> vec4<f32> {
    var sum = vec4<f32>(0.0);
    for (var i = 0u; i < TAPS_X; i++) {
        let tap = tap_x(i);
        sum += tap.y * sample_raw(texel, vec2<f32>(tap.x, 0.0));
    }
    return enter(sum);
}

// The horizontal sum texel by texel. One loop with one read in it: this is rare, and must not cost registers elsewhere.
fn loaded_row(texel: vec2<i32>) -> vec4<f32> {
    var sum = vec4<f32>(0.0);
    for (var i = 0u; i < 2u * blur.tap_count.x; i++) {
        let tap = tap_x(i / 2u);
        let whole = floor(tap.x);
        let side = i32(i % 2u);
        let share = select(1.0 - (tap.x - whole), tap.x - whole, side == 1);
        sum += tap.y * share * read_texel(texel + vec2<i32>(i32(whole) + side, 0));
    }
    return sum;
}
