// Compute: both convolutions of a separable Gaussian at once, one tile at a time.
//
// A thread convolves a column of the tile in registers: it adds every loaded texel to all eight sums to which the texel
// contributes. The sums go to workgroup memory, and from there each thread convolves four neighbouring texels of a row
// in the same way. The results go back to workgroup memory, so that neighbouring threads store neighbouring texels.

#import bevy_gaussian_blur::common::pass::{blur, folds_once, is_finite, is_inside, is_present, load_unchecked, pack}
#import bevy_gaussian_blur::common::pass::{read_texel, source_position, store, unpack, weight, weight_at}
#import bevy_gaussian_blur::common::tile::{ACROSS, COLUMNS, DOWN, HALO, HEIGHT, INTERLEAVED, WIDTH, keep_column, slot_of, sums}
#ifdef FOLDED
#import bevy_gaussian_blur::common::pass::{image_weight, side_of}
#endif
#ifdef MERGES
#import bevy_gaussian_blur::common::pass::take_turn
#endif
#ifdef SKIPS
#import bevy_gaussian_blur::profile::tile_culling::is_needed
#endif

// The largest reach that this program serves: kernels go from -REACH to REACH.
const REACH: i32 = #{REACH};

// How much farther images reach. The tile has room for them beside it.
const MARGIN: i32 = HALO - REACH;
const THREADS: i32 = #{THREADS};

// The axes.
const X: u32 = 0u;
const Y: u32 = 1u;

@compute @workgroup_size(#{THREADS})
fn convolve_compute(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) thread: u32) {
    let index = i32(thread);
    let first = vec2<i32>(group.xy) * vec2<i32>(WIDTH, HEIGHT);
#ifdef MERGES
    take_turn(group.z);
#endif
    var kind = kind_of(first);
#ifdef MERGES
    // The uniform load proves to compilers that the result is uniform, as the barriers that follow require.
    if index == 0 {
        agreed = kind;
    }
    kind = workgroupUniformLoad(&agreed);
#endif
    if kind == UNREAD {
        return;
    }
    let is_plain = kind == PLAIN;
    let centre = source_position(blur.origin + first);
#ifdef FOLDED
    if !is_plain {
        lay_out_weights(index);
        workgroupBarrier();
    }
#endif
    if index < COLUMNS * (HEIGHT / DOWN) {
        let column = index % COLUMNS;
        let row = index / COLUMNS * DOWN;
        sum_columns(centre, row, column, is_plain);
    }
    workgroupBarrier();
    sum_row(index / (WIDTH / ACROSS), index % (WIDTH / ACROSS), centre.x, is_plain);
    for (var i = index; i < WIDTH * HEIGHT; i += THREADS) {
        // Sixteen columns at a time, so that whole blocks of memory are stored together.
        let texel = vec2<i32>(i % 16 + i / THREADS * 16, i / 16 % HEIGHT);
        store(first + texel, unpack(sums[slot_of(texel.y, texel.x + HALO)]));
    }
}

// The kind of a tile: not read later, away from all edges, or neither.
const UNREAD: u32 = 0u;
const PLAIN: u32 = 1u;
const AT_EDGE: u32 = 2u;
#ifdef MERGES
var<workgroup> agreed: u32;
#endif

fn kind_of(first: vec2<i32>) -> u32 {
#ifdef MERGES
    // The passes of a dispatch may differ in size.
    if any(first >= blur.size) {
        return UNREAD;
    }
#endif
#ifdef SKIPS
    if !is_needed(blur.origin + first, blur.origin + min(first + vec2<i32>(WIDTH, HEIGHT), blur.size) - 1) {
        return UNREAD;
    }
#endif
    let centre = source_position(blur.origin + first);
    let is_plain = is_inside(centre - reach(), centre + vec2<i32>(WIDTH, HEIGHT) + reach() - 1);
    return select(AT_EDGE, PLAIN, is_plain);
}

// The reach of the kernel.
fn reach() -> i32 {
#ifdef ANY_KERNEL
    return blur.reach_max.x;
#else
    return REACH;
#endif
}

fn keep(row: i32, column: i32, sum: vec4<f32>) {
    sums[slot_of(row, column)] = pack(sum);
}

// The sums of a column around `centre`, for any values. The number of taps comes from the uniform, so the loop is not
// unrolled. Programs for single kernels rarely run this, and it must not cost registers elsewhere.
fn sum_column_carefully(centre: vec2<i32>, row: i32, column: i32) {
    let far = blur.reach_max.y + blur.margin.y;
    for (var i = 0; i < DOWN; i++) {
        var sum = vec4<f32>(0.0);
        for (var tap = -far; tap <= far; tap++) {
            let y = centre.y + i + tap;
            sum += weight_at(Y, centre.y + i, y) * read_texel(vec2<i32>(centre.x, y));
        }
        keep(row + i, column, normalized(sum, centre.y + i, Y));
    }
}

// A sum along an axis, divided by the part of its weights inside the bounds if required.
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

fn sum_columns(centre: vec2<i32>, row: i32, column: i32, is_plain: bool) {
    let position = centre + vec2<i32>(column - HALO, row);
    let beyond = max(centre.x - position.x, position.x - centre.x - WIDTH + 1);
    if beyond <= blur.reach_max.x + blur.margin.x {
        sum_column_carefully(position, row, column);
    }
}

// Convolves neighbouring texels of a row, and stores them in slots that are no longer read. `left` is the source texel
// of the tile's first column.
fn sum_row(row: i32, quad: i32, left: i32, is_plain: bool) {
    let far = blur.reach_max.x + blur.margin.x;
    var results: array<vec4<f32>, ACROSS>;
    for (var i = 0; i < ACROSS; i++) {
        let column = quad * ACROSS + i;
        let centre = left + column;
        var sum = vec4<f32>(0.0);
        for (var tap = -far; tap <= far; tap++) {
            sum += weight_at(X, centre, centre + tap) * unpack(sums[slot_of(row, HALO + column + tap)]);
        }
        results[i] = normalized(sum, centre, X);
    }
    workgroupBarrier();
    for (var i = 0; i < ACROSS; i++) {
        keep(row, HALO + quad * ACROSS + i, results[i]);
    }
    workgroupBarrier();
}

#else

const TAPS: i32 = 2 * REACH + 1;

fn sum_columns(centre: vec2<i32>, row: i32, column: i32, is_plain: bool) {
    let position = centre + vec2<i32>(column - HALO, row);
    let top = position - vec2<i32>(0, REACH);
    var is_done = false;
#ifdef FOLDED
    // Two loops, because folding in all tiles takes time.
    if is_plain {
#ifdef IMAGES
        if column < MARGIN || column >= COLUMNS - MARGIN {
            return;
        }
#endif
        is_done = sum_column(top, row, column, false);
    } else if folds_once(TAPS) {
        // Small pictures may need several folds.
        is_done = sum_column_across_edge(position, row, column);
    }
#else
    // Clamping costs nothing beside the loads.
    is_done = sum_column(top, row, column, true);
#endif
    if !is_done {
        sum_column_carefully(position, row, column);
    }
}

// The sums of a column whose first tap is at `top`. Returns whether all values were finite.
//
// Separate variables, because some GPUs are slower with an array here, and run out of registers with one in `sum_row`.
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
    keep_column(row, column, a, b, c, d, e, f, g, h);
    return is_finite(a + b + c + d + e + f + g + h);
}

fn add(axis: u32, sum: vec4<f32>, value: vec4<f32>, tap: i32) -> vec4<f32> {
    if tap >= 0 && tap < TAPS {
        return sum + weight(axis, u32(tap)) * value;
    }
    return sum;
}

// Convolves four neighbouring texels of a row, and stores them in slots that are no longer read. `left` is the source
// texel of the tile's first column.
fn sum_row(row: i32, quad: i32, left: i32, is_plain: bool) {
    let slot = slot_of(row, MARGIN + quad * ACROSS);
    var a = vec4<f32>(0.0);
    var b = vec4<f32>(0.0);
    var c = vec4<f32>(0.0);
    var d = vec4<f32>(0.0);
    var is_summed = false;
#ifdef IMAGES
    if !is_plain {
        let far = far(X);
        for (var i = 0; i < ACROSS + 2 * far; i++) {
            let column = quad * ACROSS - far + i;
            let value = unpack(sums[slot_of(row, HALO + column)]);
            let table = table_of(X, left + column);
            a += laid_out[table + abs(i - far)] * value;
            b += laid_out[table + abs(i - far - 1)] * value;
            c += laid_out[table + abs(i - far - 2)] * value;
            d += laid_out[table + abs(i - far - 3)] * value;
        }
        is_summed = true;
    }
#endif
    if !is_summed {
        for (var i = 0; i < ACROSS + TAPS - 1; i++) {
            let value = unpack(sums[slot + i % ACROSS * INTERLEAVED + i / ACROSS]);
            a = add(X, a, value, i);
            b = add(X, b, value, i - 1);
            c = add(X, c, value, i - 2);
            d = add(X, d, value, i - 3);
        }
    }
    workgroupBarrier();
    let x = left + quad * ACROSS;
    let result = slot_of(row, HALO + quad * ACROSS);
    sums[result] = pack(normalized(a, x, X));
    sums[result + INTERLEAVED] = pack(normalized(b, x + 1, X));
    sums[result + 2 * INTERLEAVED] = pack(normalized(c, x + 2, X));
    sums[result + 3 * INTERLEAVED] = pack(normalized(d, x + 3, X));
    workgroupBarrier();
}

#ifdef FOLDED
// The weights of both axes and all sides, by the distance in texels. Workgroup memory allows fast random access.
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
}

// The start of the weights for the reads of a texel.
fn table_of(axis: u32, texel: i32) -> i32 {
    return i32(4u * axis + side_of(axis, texel)) * DISTANCES;
}

// The reach of reads, rounded up to a multiple of four. It comes from the uniform, so loops are not unrolled, and cost
// no registers where there is no edge.
fn far(axis: u32) -> i32 {
    return (blur.reach_max[axis] + blur.margin[axis] + 3) / 4 * 4;
}

// The sums of a column across an edge.
fn sum_column_across_edge(position: vec2<i32>, row: i32, column: i32) -> bool {
    var a = vec4<f32>(0.0);
    var b = vec4<f32>(0.0);
    var c = vec4<f32>(0.0);
    var d = vec4<f32>(0.0);
    var e = vec4<f32>(0.0);
    var f = vec4<f32>(0.0);
    var g = vec4<f32>(0.0);
    var h = vec4<f32>(0.0);
    let far = far(Y);
    for (var i = 0; i < DOWN + 2 * far; i += AT_ONCE) {
        // Several loads in flight.
        for (var j = i; j < i + AT_ONCE; j++) {
            let distance = j - far;
            let y = position.y + distance;
            let value = load_unchecked(vec2<i32>(position.x, y), true);
            let table = table_of(Y, y);
            a += laid_out[table + abs(distance)] * value;
            b += laid_out[table + abs(distance - 1)] * value;
            c += laid_out[table + abs(distance - 2)] * value;
            d += laid_out[table + abs(distance - 3)] * value;
            e += laid_out[table + abs(distance - 4)] * value;
            f += laid_out[table + abs(distance - 5)] * value;
            g += laid_out[table + abs(distance - 6)] * value;
            h += laid_out[table + abs(distance - 7)] * value;
        }
    }
    keep_column(
        row,
        column,
        normalized(a, position.y, Y),
        normalized(b, position.y + 1, Y),
        normalized(c, position.y + 2, Y),
        normalized(d, position.y + 3, Y),
        normalized(e, position.y + 4, Y),
        normalized(f, position.y + 5, Y),
        normalized(g, position.y + 6, Y),
        normalized(h, position.y + 7, Y),
    );
    return is_finite(a + b + c + d + e + f + g + h);
}

const AT_ONCE: i32 = 4;
#endif
#endif
