// Compute: both convolutions of a separable Gaussian at once, a tile at a time.
//
// A thread convolves a column of the tile in registers: every texel that it loads is added to all eight sums that it
// contributes to. The sums go to workgroup memory, and from there each thread convolves four neighbouring texels of a row
// in the same way. The results go back there once more, so that neighbouring threads store neighbouring texels.

#import bevy_gaussian_blur::common::{blur, is_edge_free, is_finite, is_inside, is_present, load_unchecked, pack}
#import bevy_gaussian_blur::common::{read_texel, source_position, store, unpack, weight}

// The largest reach of a kernel that this program serves: it goes from -REACH to REACH.
const REACH: i32 = #{REACH};

// The tile, in target texels, and the columns that it needs.
const WIDTH: i32 = #{WIDTH};
const HEIGHT: i32 = #{HEIGHT};
const THREADS: i32 = #{THREADS};
const COLUMNS: i32 = WIDTH + 2 * REACH;
// The rows that a thread sums: as many as `sum_column` has letters.
const DOWN: i32 = 8;
// The texels of a row that it sums: as many as `sum_row` has letters.
const ACROSS: i32 = 4;

// The axes.
const X: u32 = 0u;
const Y: u32 = 1u;

// The sums of the columns, two half floats to a word. A row is stored as interleaved parts, one for each of the texels
// that a thread sums, so that threads which read every fourth texel read neighbouring words.
const PART: i32 = COLUMNS / ACROSS;
var<workgroup> sums: array<vec2<u32>, COLUMNS * HEIGHT>;

@compute @workgroup_size(#{THREADS})
fn convolve_compute(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) thread: u32) {
    let index = i32(thread);
    let first = vec2<i32>(group.xy) * vec2<i32>(WIDTH, HEIGHT);
    let centre = source_position(blur.origin + first);
    let columns = WIDTH + 2 * reach();
    if index < columns * (HEIGHT / DOWN) {
        let column = index % columns;
        let row = index / columns * DOWN;
        sum_columns(centre, row, column);
    }
    workgroupBarrier();
    sum_row(index / (WIDTH / ACROSS), index % (WIDTH / ACROSS), centre.x);
    for (var i = index; i < WIDTH * HEIGHT; i += THREADS) {
        // Sixteen columns at a time: whole blocks of memory are stored together.
        let texel = vec2<i32>(i % 16 + i / THREADS * 16, i / 16 % HEIGHT);
        store(first + texel, unpack(sums[slot_of(texel.y, texel.x)]));
    }
}

// How far the kernel reaches.
fn reach() -> i32 {
#ifdef ANY_KERNEL
    return blur.reach_max.x;
#else
    return REACH;
#endif
}

fn slot_of(row: i32, column: i32) -> i32 {
    return row * COLUMNS + column % ACROSS * PART + column / ACROSS;
}

fn keep(row: i32, column: i32, sum: vec4<f32>) {
    sums[slot_of(row, column)] = pack(sum);
}

// The sums of a column, across an edge or not, whatever the values are. The number of taps comes from the uniform: the
// loop stays a loop. Where programs are for single kernels this is rare, and must not cost registers elsewhere.
fn sum_column_carefully(top: vec2<i32>, row: i32, column: i32) {
    for (var i = 0; i < DOWN; i++) {
        var sum = vec4<f32>(0.0);
        for (var tap = 0; tap <= 2 * blur.reach_max.y; tap++) {
            sum += weight(Y, u32(tap)) * read_texel(top + vec2<i32>(0, i + tap));
        }
        keep(row + i, column, normalized(sum, top.y + reach() + i, Y));
    }
}

// A sum along an axis, divided by the part of the weights that lies inside the bounds if that is asked for.
fn normalized(sum: vec4<f32>, centre: i32, axis: u32) -> vec4<f32> {
    if blur.normalize[axis] == 0u {
        return sum;
    }
    var inside = 0.0;
    for (var tap = 0; tap <= 2 * blur.reach_max[axis]; tap++) {
        let texel = centre + tap - reach();
        let is_inside = is_present(texel, blur.bounds_min[axis], blur.bounds_max[axis], blur.edge[axis]);
        inside += select(0.0, weight(axis, u32(tap)), is_inside);
    }
    return sum / inside;
}

#ifdef ANY_KERNEL

fn sum_columns(centre: vec2<i32>, row: i32, column: i32) {
    sum_column_carefully(centre - reach() + vec2<i32>(column, row), row, column);
}

// Neighbouring texels of a row, back into the places that are read no more.
fn sum_row(row: i32, quad: i32, left: i32) {
    var results: array<vec4<f32>, ACROSS>;
    for (var i = 0; i < ACROSS; i++) {
        var sum = vec4<f32>(0.0);
        for (var tap = 0; tap <= 2 * blur.reach_max.x; tap++) {
            sum += weight(X, u32(tap)) * unpack(sums[slot_of(row, quad * ACROSS + i + tap)]);
        }
        results[i] = normalized(sum, left + quad * ACROSS + i, X);
    }
    workgroupBarrier();
    for (var i = 0; i < ACROSS; i++) {
        keep(row, quad * ACROSS + i, results[i]);
    }
    workgroupBarrier();
}

#else

const TAPS: i32 = 2 * REACH + 1;

fn sum_columns(centre: vec2<i32>, row: i32, column: i32) {
    let corner = centre - REACH;
    let last = centre + vec2<i32>(WIDTH, HEIGHT) + REACH - 1;
    let top = corner + vec2<i32>(column, row);
    var is_done = false;
    // Two copies of the loop: clamping in all tiles takes time.
    if is_inside(corner, last) {
        is_done = sum_column(top, row, column, false);
    } else if is_edge_free(corner, last) {
        is_done = sum_column(top, row, column, true);
    }
    if !is_done {
        sum_column_carefully(top, row, column);
    }
}

// The sums of a column whose first tap is at `top`. Returns whether everything in them was finite.
//
// Letters, because GPUs were seen to be slower with an array here, and to run out of registers with one in `sum_row`.
fn sum_column(top: vec2<i32>, row: i32, column: i32, clamped: bool) -> bool {
    var a = vec4<f32>(0.0);
    var b = vec4<f32>(0.0);
    var c = vec4<f32>(0.0);
    var d = vec4<f32>(0.0);
    var e = vec4<f32>(0.0);
    var f = vec4<f32>(0.0);
    var g = vec4<f32>(0.0);
    var h = vec4<f32>(0.0);
    for (var i = 0; i < DOWN + TAPS - 1; i++) {
        let value = load_unchecked(top + vec2<i32>(0, i), clamped);
        a = add(Y, a, value, i);
        b = add(Y, b, value, i - 1);
        c = add(Y, c, value, i - 2);
        d = add(Y, d, value, i - 3);
        e = add(Y, e, value, i - 4);
        f = add(Y, f, value, i - 5);
        g = add(Y, g, value, i - 6);
        h = add(Y, h, value, i - 7);
    }
    keep(row, column, a);
    keep(row + 1, column, b);
    keep(row + 2, column, c);
    keep(row + 3, column, d);
    keep(row + 4, column, e);
    keep(row + 5, column, f);
    keep(row + 6, column, g);
    keep(row + 7, column, h);
    return is_finite(a + b + c + d + e + f + g + h);
}

fn add(axis: u32, sum: vec4<f32>, value: vec4<f32>, tap: i32) -> vec4<f32> {
    if tap >= 0 && tap < TAPS {
        return sum + weight(axis, u32(tap)) * value;
    }
    return sum;
}

// Four neighbouring texels of a row, back into the places that are read no more. `left` is the source texel of the
// tile's first column.
fn sum_row(row: i32, quad: i32, left: i32) {
    let slot = slot_of(row, quad * ACROSS);
    var a = vec4<f32>(0.0);
    var b = vec4<f32>(0.0);
    var c = vec4<f32>(0.0);
    var d = vec4<f32>(0.0);
    for (var i = 0; i < ACROSS + TAPS - 1; i++) {
        let value = unpack(sums[slot + i % ACROSS * PART + i / ACROSS]);
        a = add(X, a, value, i);
        b = add(X, b, value, i - 1);
        c = add(X, c, value, i - 2);
        d = add(X, d, value, i - 3);
    }
    workgroupBarrier();
    let x = left + quad * ACROSS;
    sums[slot] = pack(normalized(a, x, X));
    sums[slot + PART] = pack(normalized(b, x + 1, X));
    sums[slot + 2 * PART] = pack(normalized(c, x + 2, X));
    sums[slot + 3 * PART] = pack(normalized(d, x + 3, X));
    workgroupBarrier();
}

#endif
