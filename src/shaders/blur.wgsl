// Compute: both convolutions of a separable Gaussian at once, a tile at a time.
//
// A thread convolves a column of the tile in registers: every texel that it loads is added to all eight sums that it
// contributes to. The sums go to workgroup memory, and from there each thread convolves four neighbouring texels of a row
// in the same way. The results go back there once more, so that neighbouring threads store neighbouring texels.
//
// The reach of the kernels is known when this is compiled: only then do compilers unroll the loops and leave out what is
// beyond it.

#import bevy_gaussian_blur::common::{blur, is_edge_free, is_finite, is_inside, is_present, load_unchecked, pack}
#import bevy_gaussian_blur::common::{read_texel, source_position, store, unpack, weight_x, weight_y}

// Kernels go from -REACH to REACH.
const REACH: i32 = #{REACH};
const TAPS: i32 = 2 * REACH + 1;

// The tile, in target texels, and the columns that it needs.
const WIDTH: i32 = 64;
const HEIGHT: i32 = 16;
const COLUMNS: i32 = WIDTH + 2 * REACH;
const THREADS: i32 = 256;
// The rows that a thread sums, and the texels of a row.
const DOWN: i32 = 8;
const ACROSS: i32 = 4;

// The axes.
const X: u32 = 0u;
const Y: u32 = 1u;

// The sums of the columns, two half floats to a word. A row is stored as four interleaved quarters, so that threads which
// read every fourth texel read neighbouring words.
const QUARTER: i32 = COLUMNS / ACROSS;
var<workgroup> sums: array<vec2<u32>, COLUMNS * HEIGHT>;

@compute @workgroup_size(256)
fn blur_tile(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) thread: u32) {
    let index = i32(thread);
    let first = vec2<i32>(group.xy) * vec2<i32>(WIDTH, HEIGHT);
    let centre = source_position(blur.origin + first);
    let corner = centre - REACH;
    let last = centre + vec2<i32>(WIDTH, HEIGHT) + REACH - 1;
    if index < COLUMNS * (HEIGHT / DOWN) {
        let column = index % COLUMNS;
        let row = index / COLUMNS * DOWN;
        let top = corner + vec2<i32>(column, row);
        var is_done = false;
        // Two copies of the loop: clamping in all tiles takes a tenth of the time.
        if is_inside(corner, last) {
            is_done = sum_column(top, row, column, false);
        } else if is_edge_free(corner, last) {
            is_done = sum_column(top, row, column, true);
        }
        if !is_done {
            sum_column_carefully(top, row, column);
        }
    }
    workgroupBarrier();
    sum_row(index / (WIDTH / ACROSS), index % (WIDTH / ACROSS), centre.x);
    for (var i = index; i < WIDTH * HEIGHT; i += THREADS) {
        // Sixteen columns at a time: whole blocks of memory are stored together.
        let texel = vec2<i32>(i % 16 + i / THREADS * 16, i / 16 % HEIGHT);
        store(first + texel, unpack(sums[slot_of(texel.y, texel.x)]));
    }
}

fn slot_of(row: i32, column: i32) -> i32 {
    return row * COLUMNS + column % ACROSS * QUARTER + column / ACROSS;
}

// Eight sums of a column whose first tap is at `top`. Returns whether everything in them was finite.
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
        a = add_y(a, value, i);
        b = add_y(b, value, i - 1);
        c = add_y(c, value, i - 2);
        d = add_y(d, value, i - 3);
        e = add_y(e, value, i - 4);
        f = add_y(f, value, i - 5);
        g = add_y(g, value, i - 6);
        h = add_y(h, value, i - 7);
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

fn add_y(sum: vec4<f32>, value: vec4<f32>, tap: i32) -> vec4<f32> {
    if tap >= 0 && tap < TAPS {
        return sum + weight_y(u32(tap)) * value;
    }
    return sum;
}

// The same across an edge, and around values that are not finite. This is rare and must not cost registers elsewhere, so
// the number of taps comes from the uniform: the loop stays a loop.
fn sum_column_carefully(top: vec2<i32>, row: i32, column: i32) {
    for (var i = 0; i < DOWN; i++) {
        var sum = vec4<f32>(0.0);
        for (var tap = 0; tap <= 2 * blur.reach_max.y; tap++) {
            sum += weight_y(u32(tap)) * read_texel(top + vec2<i32>(0, i + tap));
        }
        keep(row + i, column, normalized(sum, top.y + REACH + i, Y));
    }
}

fn keep(row: i32, column: i32, sum: vec4<f32>) {
    sums[slot_of(row, column)] = pack(sum);
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
        let value = unpack(sums[slot + i % ACROSS * QUARTER + i / ACROSS]);
        a = add_x(a, value, i);
        b = add_x(b, value, i - 1);
        c = add_x(c, value, i - 2);
        d = add_x(d, value, i - 3);
    }
    workgroupBarrier();
    let x = left + quad * ACROSS;
    sums[slot] = pack(normalized(a, x, X));
    sums[slot + QUARTER] = pack(normalized(b, x + 1, X));
    sums[slot + 2 * QUARTER] = pack(normalized(c, x + 2, X));
    sums[slot + 3 * QUARTER] = pack(normalized(d, x + 3, X));
    workgroupBarrier();
}

fn add_x(sum: vec4<f32>, value: vec4<f32>, tap: i32) -> vec4<f32> {
    if tap >= 0 && tap < TAPS {
        return sum + weight_x(u32(tap)) * value;
    }
    return sum;
}

// A sum along an axis, divided by the part of the weights that lies inside the bounds if that is asked for.
fn normalized(sum: vec4<f32>, centre: i32, axis: u32) -> vec4<f32> {
    if blur.normalize[axis] == 0u {
        return sum;
    }
    var inside = 0.0;
    for (var tap = 0; tap <= 2 * blur.reach_max[axis]; tap++) {
        let weight = select(weight_x(u32(tap)), weight_y(u32(tap)), axis == Y);
        let texel = centre + tap - REACH;
        inside += select(0.0, weight, is_present(texel, blur.bounds_min[axis], blur.bounds_max[axis], blur.edge[axis]));
    }
    return sum / inside;
}
