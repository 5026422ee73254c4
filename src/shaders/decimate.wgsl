// Compute: goes from one level to a coarser one, a tile at a time. The rows that a tile needs are filtered horizontally
// into workgroup memory, where all texels above and below share them, and then vertically out of it.

#import bevy_gaussian_blur::common::{blur, is_filtering_exact, pack, read, source_position, store, tap_x, tap_y, unpack}

// The tile, in target texels. At four source texels per target texel and sixteen taps it needs 15 * 4 + 16 source rows.
const TILE: u32 = 16u;
const MOST_ROWS: u32 = 76u;

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
        rows[slot] = pack(horizontal(texel, filtered));
    }
    workgroupBarrier();

    var sum = vec4<f32>(0.0);
    let row = i32(local.y) * blur.step.y - blur.reach_min.y;
    for (var i = 0u; i < blur.tap_count.y; i++) {
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

fn horizontal(texel: vec2<i32>, filtered: bool) -> vec4<f32> {
    var sum = vec4<f32>(0.0);
    for (var i = 0u; i < blur.tap_count.x; i++) {
        let tap = tap_x(i);
        sum += tap.y * read(texel, vec2<f32>(tap.x, 0.0), filtered);
    }
    return sum;
}
