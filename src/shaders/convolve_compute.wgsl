// Compute: both convolutions of a separable Gaussian at once, a tile at a time.
//
// A thread convolves a column of the tile in registers: every texel that it loads is added to all eight sums that it
// contributes to. The sums go to workgroup memory, and from there each thread convolves four neighbouring texels of a row
// in the same way. The results go back there once more, so that neighbouring threads store neighbouring texels.

#import bevy_gaussian_blur::common::{blur, folds_once, is_finite, is_inside, is_present, load_unchecked}
#import bevy_gaussian_blur::common::{pack, read_texel}
#import bevy_gaussian_blur::common::{source_position, store, unpack, weight, weight_at}
#ifdef IMAGES
#import bevy_gaussian_blur::common::{image_weight, side_of}
#endif

// The largest reach of a kernel that this program serves: it goes from -REACH to REACH.
const REACH: i32 = #{REACH};
// How far images reach, or the kernel if there are none: the columns beyond the tile on either side.
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
#ifdef IMAGES
    lay_out_weights(index);
#endif
    let first = vec2<i32>(group.xy) * vec2<i32>(WIDTH, HEIGHT);
    let centre = source_position(blur.origin + first);
    let last = centre + vec2<i32>(WIDTH, HEIGHT) - 1;
    let is_plain = is_inside(centre - reach(), last + reach());
    let halo = halo(is_plain);
    let columns = WIDTH + 2 * halo;
    if index < columns * (HEIGHT / DOWN) {
        let texel = vec2<i32>(index % columns - halo, index / columns * DOWN);
        sum_columns(centre, texel, is_plain);
    }
    workgroupBarrier();
    sum_row(vec2<i32>(index % (WIDTH / ACROSS) * ACROSS, index / (WIDTH / ACROSS)), centre.x, is_plain);
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

// How many columns a tile needs on either side.
fn halo(is_plain: bool) -> i32 {
#ifdef ANY_KERNEL
    return blur.reach_max.x + blur.margin.x;
#else
    return select(HALO, REACH, is_plain);
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

// The sums of a column, whatever its values are. The number of taps comes from the uniform: the loop stays a loop. Where
// programs are for single kernels this is rare, and must not cost registers elsewhere.
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

// Neighbouring texels of a row, back into the places that are read no more. `left` is the source texel of the tile's first
// column.
fn sum_row(texel: vec2<i32>, left: i32, is_plain: bool) {
    let far = halo(is_plain);
    var results: array<vec4<f32>, ACROSS>;
    for (var i = 0; i < ACROSS; i++) {
        let centre = left + texel.x + i;
        var sum = vec4<f32>(0.0);
        for (var tap = -far; tap <= far; tap++) {
            sum += weight_at(X, centre, centre + tap) * unpack(sums[slot_of(texel + vec2<i32>(i + tap, 0))]);
        }
        results[i] = normalized(sum, centre, X);
    }
    workgroupBarrier();
    for (var i = 0; i < ACROSS; i++) {
        keep(texel + vec2<i32>(i, 0), results[i]);
    }
    workgroupBarrier();
}

#else

const TAPS: i32 = 2 * REACH + 1;

// Eight sums. Letters, because GPUs were seen to be slower with an array here, and to run out of registers with one in
// `sum_row`.
struct Column {
    a: vec4<f32>,
    b: vec4<f32>,
    c: vec4<f32>,
    d: vec4<f32>,
    e: vec4<f32>,
    f: vec4<f32>,
    g: vec4<f32>,
    h: vec4<f32>,
}

fn sum_columns(centre: vec2<i32>, texel: vec2<i32>, is_plain: bool) {
    var is_done = false;
    // Copies of the loop: looking for edges in all tiles takes time.
    if is_plain {
        is_done = sum_column(centre + texel, texel, false);
    } else {
        // Small pictures may have to be folded several times.
        if folds_once(TAPS) {
#ifdef IMAGES
            is_done = sum_column_of_images(centre + texel, texel);
#else
            is_done = sum_column(centre + texel, texel, true);
#endif
        }
    }
    if !is_done {
        sum_column_carefully(centre, texel);
    }
}

// The sums of a column from `position` on. Returns whether everything in them was finite.
fn sum_column(position: vec2<i32>, texel: vec2<i32>, anywhere: bool) -> bool {
    let top = position - vec2<i32>(0, REACH);
    var a = vec4<f32>(0.0);
    var b = vec4<f32>(0.0);
    var c = vec4<f32>(0.0);
    var d = vec4<f32>(0.0);
    var e = vec4<f32>(0.0);
    var f = vec4<f32>(0.0);
    var g = vec4<f32>(0.0);
    var h = vec4<f32>(0.0);
    for (var i = 0; i < DOWN + TAPS - 1; i++) {
        let value = load_unchecked(top + vec2<i32>(0, i), anywhere);
        a = add(Y, a, value, i);
        b = add(Y, b, value, i - 1);
        c = add(Y, c, value, i - 2);
        d = add(Y, d, value, i - 3);
        e = add(Y, e, value, i - 4);
        f = add(Y, f, value, i - 5);
        g = add(Y, g, value, i - 6);
        h = add(Y, h, value, i - 7);
    }
    return keep_column(Column(a, b, c, d, e, f, g, h), position.y, texel, anywhere);
}

fn keep_column(sums: Column, y: i32, texel: vec2<i32>, anywhere: bool) -> bool {
    if anywhere {
        keep(texel, normalized(sums.a, y, Y));
        keep(texel + vec2<i32>(0, 1), normalized(sums.b, y + 1, Y));
        keep(texel + vec2<i32>(0, 2), normalized(sums.c, y + 2, Y));
        keep(texel + vec2<i32>(0, 3), normalized(sums.d, y + 3, Y));
        keep(texel + vec2<i32>(0, 4), normalized(sums.e, y + 4, Y));
        keep(texel + vec2<i32>(0, 5), normalized(sums.f, y + 5, Y));
        keep(texel + vec2<i32>(0, 6), normalized(sums.g, y + 6, Y));
        keep(texel + vec2<i32>(0, 7), normalized(sums.h, y + 7, Y));
    } else {
        keep(texel, sums.a);
        keep(texel + vec2<i32>(0, 1), sums.b);
        keep(texel + vec2<i32>(0, 2), sums.c);
        keep(texel + vec2<i32>(0, 3), sums.d);
        keep(texel + vec2<i32>(0, 4), sums.e);
        keep(texel + vec2<i32>(0, 5), sums.f);
        keep(texel + vec2<i32>(0, 6), sums.g);
        keep(texel + vec2<i32>(0, 7), sums.h);
    }
    return is_finite(sums.a + sums.b + sums.c + sums.d + sums.e + sums.f + sums.g + sums.h);
}

fn add(axis: u32, sum: vec4<f32>, value: vec4<f32>, tap: i32) -> vec4<f32> {
    if tap >= 0 && tap < TAPS {
        return sum + weight(axis, u32(tap)) * value;
    }
    return sum;
}

// Four neighbouring texels of a row, back into the places that are read no more. `left` is the source texel of the
// tile's first column.
fn sum_row(texel: vec2<i32>, left: i32, is_plain: bool) {
    let slot = slot_of(texel);
    // Every fourth column is in a part of its own, and the reach is a multiple of four.
    let first = slot - REACH / ACROSS;
    let x = left + texel.x;
    var a = vec4<f32>(0.0);
    var b = vec4<f32>(0.0);
    var c = vec4<f32>(0.0);
    var d = vec4<f32>(0.0);
#ifdef IMAGES
    if !is_plain {
        for (var i = 0; i < ACROSS + 2 * HALO; i++) {
            let value = unpack(sums[slot - HALO / ACROSS + i % ACROSS * PART + i / ACROSS]);
            let table = table_of(X, x - HALO + i);
            a += laid_out[table + abs(i - HALO)] * value;
            b += laid_out[table + abs(i - HALO - 1)] * value;
            c += laid_out[table + abs(i - HALO - 2)] * value;
            d += laid_out[table + abs(i - HALO - 3)] * value;
        }
    } else {
#endif
    for (var i = 0; i < ACROSS + TAPS - 1; i++) {
        let value = unpack(sums[first + i % ACROSS * PART + i / ACROSS]);
        a = add(X, a, value, i);
        b = add(X, b, value, i - 1);
        c = add(X, c, value, i - 2);
        d = add(X, d, value, i - 3);
    }
#ifdef IMAGES
    }
#endif
    workgroupBarrier();
    sums[slot] = pack(normalized(a, x, X));
    sums[slot + PART] = pack(normalized(b, x + 1, X));
    sums[slot + 2 * PART] = pack(normalized(c, x + 2, X));
    sums[slot + 3 * PART] = pack(normalized(d, x + 3, X));
    workgroupBarrier();
}

#ifdef IMAGES
// The weights of both axes and all sides, by the distance in texels. In workgroup memory any of them is quickly found.
const DISTANCES: i32 = THREADS / 8;
var<workgroup> laid_out: array<f32, THREADS>;

fn lay_out_weights(index: i32) {
    let table = u32(index / DISTANCES);
    let axis = table / 4u;
    let distance = index % DISTANCES;
    var weight = 0.0;
    if blur.images[axis] != 0u {
        weight = image_weight(axis, table % 4u, distance);
    } else if distance <= blur.reach_max[axis] {
        // Reads are folded: on all sides the weights are the kernel's own.
        weight = weight_at(axis, 0, distance);
    }
    laid_out[index] = weight;
    workgroupBarrier();
}

// Where the weights of reads of a texel start.
fn table_of(axis: u32, texel: i32) -> i32 {
    return i32(4u * axis + side_of(axis, texel)) * DISTANCES;
}

// The sums of a column that images count in.
fn sum_column_of_images(position: vec2<i32>, texel: vec2<i32>) -> bool {
    var a = vec4<f32>(0.0);
    var b = vec4<f32>(0.0);
    var c = vec4<f32>(0.0);
    var d = vec4<f32>(0.0);
    var e = vec4<f32>(0.0);
    var f = vec4<f32>(0.0);
    var g = vec4<f32>(0.0);
    var h = vec4<f32>(0.0);
    for (var i = 0; i < DOWN + 2 * HALO; i++) {
        let distance = i - HALO;
        let row = position.y + distance;
        let value = load_unchecked(vec2<i32>(position.x, row), true);
        let table = table_of(Y, row);
        a += laid_out[table + abs(distance)] * value;
        b += laid_out[table + abs(distance - 1)] * value;
        c += laid_out[table + abs(distance - 2)] * value;
        d += laid_out[table + abs(distance - 3)] * value;
        e += laid_out[table + abs(distance - 4)] * value;
        f += laid_out[table + abs(distance - 5)] * value;
        g += laid_out[table + abs(distance - 6)] * value;
        h += laid_out[table + abs(distance - 7)] * value;
    }
    return keep_column(Column(a, b, c, d, e, f, g, h), position.y, texel, false);
}
#endif
#endif
