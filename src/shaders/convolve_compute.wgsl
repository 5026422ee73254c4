// Compute: both convolutions of a separable Gaussian at once, a tile at a time.
//
// A thread convolves a column of the tile in registers: every texel that it loads is added to all eight sums that it
// contributes to. The sums go to workgroup memory, and from there each thread convolves four neighbouring texels of a row
// in the same way. The results go back there once more, so that neighbouring threads store neighbouring texels.

#import bevy_gaussian_blur::common::{blur, is_edge_free, is_finite, is_inside, is_present, load_unchecked, pack}
#import bevy_gaussian_blur::common::{read_texel, source_position, store, unpack, weight, weight_at}

// The largest reach of a kernel that this program serves: it goes from -REACH to REACH. And the columns beyond the tile
// that it has room for, on either side.
const REACH: i32 = #{REACH};
const HALO: i32 = #{HALO};

// The tile, in target texels, and the columns that it needs.
const WIDTH: i32 = #{WIDTH};
const HEIGHT: i32 = #{HEIGHT};
const THREADS: i32 = #{THREADS};
const COLUMNS: i32 = WIDTH + 2 * HALO;
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
    let last = centre + vec2<i32>(WIDTH, HEIGHT) - 1;
    let is_plain = is_inside(centre - reach(), last + reach());
    // Images are read farther away.
    let halo = reach() + select(blur.margin.x, 0, is_plain);
    let columns = WIDTH + 2 * halo;
    if index < columns * (HEIGHT / DOWN) {
        let texel = vec2<i32>(index % columns - halo, index / columns * DOWN);
        sum_columns(centre, texel, is_plain);
    }
    workgroupBarrier();
    sum_row(index / (WIDTH / ACROSS), index % (WIDTH / ACROSS), centre.x, is_plain);
    for (var i = index; i < WIDTH * HEIGHT; i += THREADS) {
        // Sixteen columns at a time: whole blocks of memory are stored together.
        let texel = vec2<i32>(i % 16 + i / THREADS * 16, i / 16 % HEIGHT);
        store(first + texel, unpack(sums[slot_of(texel)]));
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

// Where the sum of a column lies. Positions count from the tile's first texel.
fn slot_of(texel: vec2<i32>) -> i32 {
    let column = texel.x + HALO;
    return texel.y * COLUMNS + column % ACROSS * PART + column / ACROSS;
}

fn keep(texel: vec2<i32>, sum: vec4<f32>) {
    sums[slot_of(texel)] = pack(sum);
}

// The sums of a column, across an edge or not, whatever the values are. The number of taps comes from the uniform: the
// loop stays a loop. Where programs are for single kernels this is rare, and must not cost registers elsewhere.
fn sum_column_carefully(centre: vec2<i32>, texel: vec2<i32>) {
    let far = blur.reach_max.y + blur.margin.y;
    for (var i = 0; i < DOWN; i++) {
        let position = centre + texel + vec2<i32>(0, i);
        var sum = vec4<f32>(0.0);
        for (var tap = -far; tap <= far; tap++) {
            let y = position.y + tap;
            sum += weight_at(Y, position.y, y) * read_texel(vec2<i32>(position.x, y));
        }
        keep(texel + vec2<i32>(0, i), normalized(sum, position.y, Y));
    }
}

// A sum of a row, whatever lies in it. `left` is the source texel of the tile's first column.
fn careful_row(texel: vec2<i32>, left: i32) -> vec4<f32> {
    let far = blur.reach_max.x + blur.margin.x;
    let centre = left + texel.x;
    var sum = vec4<f32>(0.0);
    for (var tap = -far; tap <= far; tap++) {
        sum += weight_at(X, centre, centre + tap) * unpack(sums[slot_of(texel + vec2<i32>(tap, 0))]);
    }
    return normalized(sum, centre, X);
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

fn sum_columns(centre: vec2<i32>, texel: vec2<i32>, is_plain: bool) {
    sum_column_carefully(centre, texel);
}

// Neighbouring texels of a row, back into the places that are read no more.
fn sum_row(row: i32, quad: i32, left: i32, is_plain: bool) {
    let texel = vec2<i32>(quad * ACROSS, row);
    var results: array<vec4<f32>, ACROSS>;
    for (var i = 0; i < ACROSS; i++) {
        results[i] = careful_row(texel + vec2<i32>(i, 0), left);
    }
    workgroupBarrier();
    for (var i = 0; i < ACROSS; i++) {
        keep(texel + vec2<i32>(i, 0), results[i]);
    }
    workgroupBarrier();
}

#else

const TAPS: i32 = 2 * REACH + 1;

fn sum_columns(centre: vec2<i32>, texel: vec2<i32>, is_plain: bool) {
    let last = centre + vec2<i32>(WIDTH, HEIGHT) - 1;
    var is_done = false;
    // Two copies of the loop: clamping in all tiles takes time.
    if is_plain {
        is_done = sum_column(centre, texel, false);
    } else if is_edge_free(centre - REACH, last + REACH) {
        is_done = sum_column(centre, texel, true);
    }
    if !is_done {
        sum_column_carefully(centre, texel);
    }
}

// The sums of a column. Returns whether everything in them was finite.
//
// Letters, because GPUs were seen to be slower with an array here, and to run out of registers with one in `sum_row`.
fn sum_column(centre: vec2<i32>, texel: vec2<i32>, clamped: bool) -> bool {
    let top = centre + texel - vec2<i32>(0, REACH);
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
    let slot = slot_of(texel);
    sums[slot] = pack(a);
    sums[slot + COLUMNS] = pack(b);
    sums[slot + 2 * COLUMNS] = pack(c);
    sums[slot + 3 * COLUMNS] = pack(d);
    sums[slot + 4 * COLUMNS] = pack(e);
    sums[slot + 5 * COLUMNS] = pack(f);
    sums[slot + 6 * COLUMNS] = pack(g);
    sums[slot + 7 * COLUMNS] = pack(h);
    return is_finite(a + b + c + d + e + f + g + h);
}

fn add(axis: u32, sum: vec4<f32>, value: vec4<f32>, tap: i32) -> vec4<f32> {
    if tap >= 0 && tap < TAPS {
        return sum + weight(axis, u32(tap)) * value;
    }
    return sum;
}

// Four neighbouring texels of a row, back into the places that are read no more.
fn sum_row(row: i32, quad: i32, left: i32, is_plain: bool) {
    let texel = vec2<i32>(quad * ACROSS, row);
    let slot = slot_of(texel);
    // Every fourth column is in a part of its own, and the reach is a multiple of four.
    let first = slot - REACH / ACROSS;
    var a = vec4<f32>(0.0);
    var b = vec4<f32>(0.0);
    var c = vec4<f32>(0.0);
    var d = vec4<f32>(0.0);
    if blur.images.x == 0u || is_plain {
        for (var i = 0; i < ACROSS + TAPS - 1; i++) {
            let value = unpack(sums[first + i % ACROSS * PART + i / ACROSS]);
            a = add(X, a, value, i);
            b = add(X, b, value, i - 1);
            c = add(X, c, value, i - 2);
            d = add(X, d, value, i - 3);
        }
        let x = left + texel.x;
        a = normalized(a, x, X);
        b = normalized(b, x + 1, X);
        c = normalized(c, x + 2, X);
        d = normalized(d, x + 3, X);
    } else {
        a = careful_row(texel, left);
        b = careful_row(texel + vec2<i32>(1, 0), left);
        c = careful_row(texel + vec2<i32>(2, 0), left);
        d = careful_row(texel + vec2<i32>(3, 0), left);
    }
    workgroupBarrier();
    sums[slot] = pack(a);
    sums[slot + PART] = pack(b);
    sums[slot + 2 * PART] = pack(c);
    sums[slot + 3 * PART] = pack(d);
    workgroupBarrier();
}

#endif
