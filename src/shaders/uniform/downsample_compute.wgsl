// Compute: goes from one level to a coarser one, one tile at a time.
//
// A thread walks down a column of source texels, and adds every loaded texel to all target rows to which it
// contributes. A complete row goes to workgroup memory, and is filtered horizontally from there. So neighbouring
// threads load neighbouring texels, and each thread has a whole step of loads in flight.
//
// Reading bounds the time. Tiles overlap by the taps of the filter, so the picture is read one and a half times, and a
// program that did nothing else would hardly be faster. Higher tiles overlap less, but their unrolled code is longer, and
// fewer of them run at once.

#import bevy_gaussian_blur::common::pass::{agreed_on, blur, folds_once, is_finite, is_inside, load_unchecked, pack, read_texel}
#import bevy_gaussian_blur::common::pass::{source_position, store, take_turn, unpack, weight}

// The tile, in target texels.
const WIDTH: i32 = #{WIDTH};
const HEIGHT: i32 = #{HEIGHT};
const THREADS: i32 = #{THREADS};

// A texel from its whole footprint, across an edge or not, for any values.
fn careful_sum(texel: vec2<i32>) -> vec4<f32> {
    let first = source_position(blur.origin + texel) + blur.reach_min;
    let extent = blur.reach_max - blur.reach_min;
    var sum = vec4<f32>(0.0);
    for (var row = 0; row <= extent.y; row++) {
        var line = vec4<f32>(0.0);
        for (var column = 0; column <= extent.x; column++) {
            line += weight(0u, u32(column)) * read_texel(first + vec2<i32>(column, row));
        }
        sum += weight(1u, u32(row)) * line;
    }
    return sum;
}

#ifdef ANY_KERNEL

// Every thread computes one texel.
@compute @workgroup_size(#{THREADS})
fn downsample_compute(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) thread: u32) {
    take_turn(group.z);
    let texel = vec2<i32>(group.xy) * vec2<i32>(WIDTH, HEIGHT) + vec2<i32>(i32(thread) % WIDTH, i32(thread) / WIDTH);
    if any(texel >= blur.size) {
        return;
    }
    store(texel, careful_sum(texel));
}

#else

// Source texels per target texel.
const STEP_X: i32 = #{STEP_X};
const STEP_Y: i32 = #{STEP_Y};
// Five convolved boxes of a step.
const TAPS_X: i32 = 5 * (STEP_X - 1) + 1;
const TAPS_Y: i32 = 5 * (STEP_Y - 1) + 1;

// The number of target rows to which a source texel contributes.
const OPEN: i32 = (TAPS_Y + STEP_Y - 1) / STEP_Y;

// The sums of the columns, two half floats per word. A row is stored as interleaved parts, one for each column within a
// step, so that threads that read a step apart read neighbouring words. Gaps keep the parts in different banks.
const INTERLEAVED: i32 = (THREADS + 16) / STEP_X;
const PITCH: i32 = THREADS + 16;
var<workgroup> rows: array<vec2<u32>, PITCH * HEIGHT>;

@compute @workgroup_size(#{THREADS})
fn downsample_compute(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) thread: u32) {
    let index = i32(thread);
    let first = vec2<i32>(group.xy) * vec2<i32>(WIDTH, HEIGHT);
    take_turn(group.z);
#ifdef MERGES
    // The passes of a dispatch may differ in size.
    if agreed_on(u32(all(first < blur.size)), index) == 0u {
        return;
    }
#endif
    let corner = source_position(blur.origin + first) + blur.reach_min;
    let last = corner + vec2<i32>(THREADS, STEP_Y * (HEIGHT - 1) + TAPS_Y) - 1;
    let top = corner + vec2<i32>(index, 0);
    let slot = place_in_row(index);
    // Two copies of the loop, because checking for edges in all tiles takes time.
    if is_inside(corner, last) {
        sum_column(top, slot, false);
    } else {
        sum_column(top, slot, true);
    }
    workgroupBarrier();
    // Small pictures may need several folds.
    var is_clean = folds_once(TAPS_X + TAPS_Y);
    for (var i = index; i < WIDTH * HEIGHT; i += THREADS) {
        let texel = vec2<i32>(i % WIDTH, i / WIDTH);
        let slot = texel.y * PITCH + texel.x;
        var sum = vec4<f32>(0.0);
        for (var tap = 0; tap < TAPS_X; tap++) {
            sum += weight(0u, u32(tap)) * unpack(rows[slot + place_in_row(tap)]);
        }
        is_clean = is_clean && is_finite(sum);
        store(first + texel, sum);
    }
    // Checking the results costs less than checking every texel, and repeating a few is rare.
    if !is_clean {
        for (var i = index; i < WIDTH * HEIGHT; i += THREADS) {
            let texel = first + vec2<i32>(i % WIDTH, i / WIDTH);
            store(texel, careful_sum(texel));
        }
    }
}

// The slot of a column's sum in its row.
fn place_in_row(column: i32) -> i32 {
    return column % STEP_X * INTERLEAVED + column / STEP_X;
}

// Filters a column vertically.
fn sum_column(top: vec2<i32>, slot: i32, anywhere: bool) {
    // The open rows, the oldest first. Separate variables, to be sure of registers: they are shifted for every row.
    var a = vec4<f32>(0.0);
    var b = vec4<f32>(0.0);
    var c = vec4<f32>(0.0);
    var d = vec4<f32>(0.0);
    var e = vec4<f32>(0.0);
    var blocks = HEIGHT + OPEN - 1;
#ifdef FOLDED
    if anywhere {
        // The same number, but from the uniform: this loop is not unrolled, and costs no registers elsewhere.
        blocks = HEIGHT + (blur.reach_max.y - blur.reach_min.y) / STEP_Y;
    }
#endif
    for (var block = 0; block < blocks; block++) {
        for (var i = 0; i < STEP_Y; i++) {
            let value = load_unchecked(top + vec2<i32>(0, block * STEP_Y + i), anywhere);
            let tap = (OPEN - 1) * STEP_Y + i;
            a = add(a, value, tap);
            b = add(b, value, tap - STEP_Y);
            c = add(c, value, tap - 2 * STEP_Y);
            d = add(d, value, tap - 3 * STEP_Y);
            e = add(e, value, tap - 4 * STEP_Y);
        }
        if block >= OPEN - 1 {
            rows[(block - OPEN + 1) * PITCH + slot] = pack(a);
        }
        a = b;
        b = c;
        c = d;
        d = e;
        e = vec4<f32>(0.0);
    }
}

fn add(sum: vec4<f32>, value: vec4<f32>, tap: i32) -> vec4<f32> {
    if tap >= 0 && tap < TAPS_Y {
        return sum + weight(1u, u32(tap)) * value;
    }
    return sum;
}
#endif
