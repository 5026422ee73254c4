// The tile that a workgroup convolves: first the sums of its columns, in workgroup memory, then the results of its
// rows.

#define_import_path bevy_gaussian_blur::common::tile

#import bevy_gaussian_blur::common::pass::pack

// The tile, in texels, and the room for columns on either side of it.
const WIDTH: i32 = #{WIDTH};
const HEIGHT: i32 = #{HEIGHT};
const HALO: i32 = #{HALO};
const COLUMNS: i32 = WIDTH + 2 * HALO;
// How many texels of a column a thread sums, and how many of a row: the summing functions have one variable for each.
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

// Stores the sums of a column.
fn keep_column(
    row: i32,
    column: i32,
    a: vec4<f32>,
    b: vec4<f32>,
    c: vec4<f32>,
    d: vec4<f32>,
    e: vec4<f32>,
    f: vec4<f32>,
    g: vec4<f32>,
    h: vec4<f32>,
) {
    let slot = slot_of(row, column);
    sums[slot] = pack(a);
    sums[slot + COLUMNS] = pack(b);
    sums[slot + 2 * COLUMNS] = pack(c);
    sums[slot + 3 * COLUMNS] = pack(d);
    sums[slot + 4 * COLUMNS] = pack(e);
    sums[slot + 5 * COLUMNS] = pack(f);
    sums[slot + 6 * COLUMNS] = pack(g);
    sums[slot + 7 * COLUMNS] = pack(h);
}
