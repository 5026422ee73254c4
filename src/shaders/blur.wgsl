// Compute: both convolutions of a separable Gaussian at once, a tile at a time.
//
// A thread convolves a column of the tile in registers: every texel that it loads is added to all sixteen sums that it
// contributes to. The sums go to workgroup memory, and from there each thread convolves four neighbouring texels of a row
// in the same way. So a texel is loaded three or four times instead of once for every tap.

#import bevy_gaussian_blur::common::{blur, is_edge_free, load, pack, read_texel, source_position, store, tap_x, tap_y, unpack}
#import bevy_gaussian_blur::common::{normalized_x, normalized_y}

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

// Sixteen sums of a column, four to a matrix.
struct Sums {
    a: mat4x4<f32>,
    b: mat4x4<f32>,
    c: mat4x4<f32>,
    d: mat4x4<f32>,
}

// The sums of a column whose first target row is at `top`.
fn convolve_column(column: u32, top: vec2<i32>, edge_free: bool) {
    var result = Sums();
    let begin = (RADIUS - blur.reach_max.y) & ~3;
    let end = RADIUS + i32(HEIGHT) + blur.reach_max.y;
    let corner = top - vec2<i32>(0, RADIUS);
    if edge_free {
        // Four loads at once, so that their latencies overlap. The few too many at either end have no weight.
        for (var i = begin; i < end; i += 4) {
            let first = load(corner + vec2<i32>(0, i));
            let second = load(corner + vec2<i32>(0, i + 1));
            let third = load(corner + vec2<i32>(0, i + 2));
            let fourth = load(corner + vec2<i32>(0, i + 3));
            result = add(result, first, 4 * i);
            result = add(result, second, 4 * i + 4);
            result = add(result, third, 4 * i + 8);
            result = add(result, fourth, 4 * i + 12);
        }
    } else {
        for (var i = begin; i < end; i++) {
            result = add(result, read_texel(corner + vec2<i32>(0, i)), 4 * i);
        }
    }
    keep_rows(column, 0u, result.a, top.y);
    keep_rows(column, 4u, result.b, top.y);
    keep_rows(column, 8u, result.c, top.y);
    keep_rows(column, 12u, result.d, top.y);
}

// What a texel adds to sixteen sums.
fn add(before: Sums, value: vec4<f32>, fan: i32) -> Sums {
    return Sums(
        before.a + contributions(value, fan_y[fan]),
        before.b + contributions(value, fan_y[fan + 1]),
        before.c + contributions(value, fan_y[fan + 2]),
        before.d + contributions(value, fan_y[fan + 3]),
    );
}

fn contributions(value: vec4<f32>, weights: vec4<f32>) -> mat4x4<f32> {
    return mat4x4<f32>(value * weights.x, value * weights.y, value * weights.z, value * weights.w);
}

fn keep_rows(column: u32, row: u32, values: mat4x4<f32>, top: i32) {
    keep_row(column, row, values[0], top);
    keep_row(column, row + 1u, values[1], top);
    keep_row(column, row + 2u, values[2], top);
    keep_row(column, row + 3u, values[3], top);
}

fn keep_row(column: u32, row: u32, value: vec4<f32>, top: i32) {
    sums[slot_of(row, column)] = pack(normalized_y(value, top + i32(row)));
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
    let texel = first + vec2<i32>(i32(4u * quad), i32(row));
    let x = left + i32(4u * quad);
    store(texel, normalized_x(quad_sums[0], x));
    store(texel + vec2<i32>(1, 0), normalized_x(quad_sums[1], x + 1));
    store(texel + vec2<i32>(2, 0), normalized_x(quad_sums[2], x + 2));
    store(texel + vec2<i32>(3, 0), normalized_x(quad_sums[3], x + 3));
}
