// The tile that a workgroup convolves: first the sums of its columns, in workgroup memory, then the results of its
// rows.

#define_import_path bevy_gaussian_blur::common::tile

#import bevy_gaussian_blur::common::pass::{are_finite, pack}

// The tile, in texels, and the room for columns on either side of it.
const WIDTH: i32 = #{WIDTH};
const HEIGHT: i32 = #{HEIGHT};
const HALO: i32 = #{HALO};
const COLUMNS: i32 = WIDTH + 2 * HALO;
// How many texels of a column a thread sums, and how many of a row: one or two matrices of four.
const DOWN: i32 = #{DOWN};
const ACROSS: i32 = #{ACROSS};
const_assert DOWN == 8 && ACROSS == 4;

// Two half floats per word. A row is stored as interleaved parts, one for each of the texels that a thread sums, so
// that threads that read every fourth texel read neighbouring words.
const INTERLEAVED: i32 = COLUMNS / ACROSS;
var<workgroup> sums: array<vec2<u32>, COLUMNS * HEIGHT>;

// Columns count from the first one of the halo.
fn slot_of(row: i32, column: i32) -> i32 {
    return row * COLUMNS + column % ACROSS * INTERLEAVED + column / ACROSS;
}

// Stores the sums of a column. Returns whether all summed values were finite.
fn keep_column(row: i32, column: i32, upper: mat4x4<f32>, lower: mat4x4<f32>) -> bool {
    keep_four(slot_of(row, column), COLUMNS, upper);
    keep_four(slot_of(row + 4, column), COLUMNS, lower);
    return are_finite(upper, lower);
}

// What a value adds to four sums with these weights.
fn four_products(weights: vec4<f32>, value: vec4<f32>) -> mat4x4<f32> {
    return mat4x4<f32>(weights.x * value, weights.y * value, weights.z * value, weights.w * value);
}

// Stores four values in slots this far apart.
fn keep_four(slot: i32, apart: i32, values: mat4x4<f32>) {
    sums[slot] = pack(values[0]);
    sums[slot + apart] = pack(values[1]);
    sums[slot + 2 * apart] = pack(values[2]);
    sums[slot + 3 * apart] = pack(values[3]);
}
