// Compute: both convolutions of a separable Gaussian at once, a tile at a time.
//
// A thread convolves a column of the tile in registers: every texel that it loads is added to all sixteen sums that it
// contributes to. The sums go to workgroup memory, and from there each thread convolves four neighbouring texels of a row
// in the same way. So a texel is loaded three or four times instead of once for every tap.

#import bevy_gaussian_blur::common::{blur, enter, is_edge_free, pack, read_texel, source_position, store, tap_x, tap_y, unpack}
#import bevy_gaussian_blur::common::{source, weight_inside_x, weight_inside_y}

// The tile, in target texels, and the longest reach of a kernel.
const WIDTH: u32 = 64u;
const HEIGHT: u32 = 16u;
const RADIUS: i32 = 16;
const THREADS: u32 = 128u;
// The columns that a tile needs, and a quarter of them.
const COLUMNS: u32 = 96u;
const QUARTER: u32 = 24u;

// The sums of the columns, two half floats to a word. A row is stored as four interleaved quarters, so that threads which
// read every fourth texel read neighbouring words.
var<workgroup> sums: array<vec2<u32>, 1536>;
// The kernels texel by texel, from -RADIUS to RADIUS.
var<workgroup> kernel_x: array<f32, 33>;
var<workgroup> kernel_y: array<f32, 33>;
// What a texel contributes to four neighbouring sums: weights in descending order.
var<workgroup> fan_x: array<vec4<f32>, 36>;
var<workgroup> fan_y: array<vec4<f32>, 192>;

@compute @workgroup_size(128)
fn blur_tile(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) index: u32) {
    spread_kernels(index);
    let first = vec2<i32>(group.xy * vec2<u32>(WIDTH, HEIGHT));
    let centre = source_position(blur.origin + first);
    let last = centre + vec2<i32>(i32(WIDTH), i32(HEIGHT)) - 1;
    let edge_free = is_edge_free(centre - RADIUS, last + RADIUS);
    let reach = blur.reach_max;
    if i32(index) >= RADIUS - reach.x && i32(index) < RADIUS + i32(WIDTH) + reach.x {
        convolve_column(index, centre + vec2<i32>(i32(index) - RADIUS, 0), edge_free);
    }
    workgroupBarrier();
    for (var item = index; item < WIDTH / 4u * HEIGHT; item += THREADS) {
        let row = item / (WIDTH / 4u);
        let quad = item % (WIDTH / 4u);
        convolve_quad(row, quad, first, centre.x);
    }
}

// Takes the kernels apart into texels, and lays them out for four sums at a time.
fn spread_kernels(index: u32) {
    if index < 33u {
        kernel_x[index] = 0.0;
        kernel_y[index] = 0.0;
    }
    workgroupBarrier();
    if index < blur.tap_count.x {
        let tap = tap_x(index);
        let whole = floor(tap.x);
        let slot = i32(whole) + RADIUS;
        kernel_x[slot] = tap.y * (1.0 - (tap.x - whole));
        if tap.x > whole {
            kernel_x[slot + 1] = tap.y * (tap.x - whole);
        }
    }
    if index < blur.tap_count.y {
        let tap = tap_y(index);
        let whole = floor(tap.x);
        let slot = i32(whole) + RADIUS;
        kernel_y[slot] = tap.y * (1.0 - (tap.x - whole));
        if tap.x > whole {
            kernel_y[slot + 1] = tap.y * (tap.x - whole);
        }
    }
    workgroupBarrier();
    if index < 36u {
        let i = i32(index);
        fan_x[index] = vec4<f32>(weight_x(i), weight_x(i - 1), weight_x(i - 2), weight_x(i - 3));
    }
    for (var slot = index; slot < 192u; slot += THREADS) {
        let i = i32(slot / 4u) - 4 * i32(slot % 4u);
        fan_y[slot] = vec4<f32>(weight_y(i), weight_y(i - 1), weight_y(i - 2), weight_y(i - 3));
    }
    workgroupBarrier();
}

fn weight_x(i: i32) -> f32 {
    return select(0.0, kernel_x[clamp(i, 0, 2 * RADIUS)], i >= 0 && i <= 2 * RADIUS);
}

fn weight_y(i: i32) -> f32 {
    return select(0.0, kernel_y[clamp(i, 0, 2 * RADIUS)], i >= 0 && i <= 2 * RADIUS);
}

// Sixteen sums of a column whose first target row is at `top`.
fn convolve_column(column: u32, top: vec2<i32>, edge_free: bool) {
    var a = mat4x4<f32>();
    var b = mat4x4<f32>();
    var c = mat4x4<f32>();
    var d = mat4x4<f32>();
    let lowest = blur.bounds_min;
    let highest = blur.bounds_max - 1;
    for (var i = RADIUS - blur.reach_max.y; i < RADIUS + i32(HEIGHT) + blur.reach_max.y; i++) {
        let texel = top + vec2<i32>(0, i - RADIUS);
        var value: vec4<f32>;
        if edge_free {
            value = enter(textureLoad(source, clamp(texel, lowest, highest), 0));
        } else {
            value = read_texel(texel);
        }
        a += contributions(value, fan_y[4 * i]);
        b += contributions(value, fan_y[4 * i + 1]);
        c += contributions(value, fan_y[4 * i + 2]);
        d += contributions(value, fan_y[4 * i + 3]);
    }
    keep_rows(column, 0u, a, top.y);
    keep_rows(column, 4u, b, top.y);
    keep_rows(column, 8u, c, top.y);
    keep_rows(column, 12u, d, top.y);
}

fn contributions(value: vec4<f32>, weights: vec4<f32>) -> mat4x4<f32> {
    return mat4x4<f32>(value * weights.x, value * weights.y, value * weights.z, value * weights.w);
}

fn keep_rows(column: u32, row: u32, values: mat4x4<f32>, top: i32) {
    for (var i = 0u; i < 4u; i++) {
        let value = values[i] / weight_inside_y(top + i32(row + i));
        sums[slot_of(row + i, column)] = pack(value);
    }
}

fn slot_of(row: u32, column: u32) -> u32 {
    return row * COLUMNS + (column % 4u) * QUARTER + column / 4u;
}

// Four neighbouring texels of a row.
fn convolve_quad(row: u32, quad: u32, first: vec2<i32>, left: i32) {
    var quad_sums = mat4x4<f32>();
    for (var i = u32(RADIUS - blur.reach_max.x); i < u32(RADIUS + 4 + blur.reach_max.x); i++) {
        quad_sums += contributions(unpack(sums[slot_of(row, 4u * quad + i)]), fan_x[i]);
    }
    for (var i = 0u; i < 4u; i++) {
        let x = i32(4u * quad + i);
        store(first + vec2<i32>(x, i32(row)), quad_sums[i] / weight_inside_x(left + x));
    }
}
