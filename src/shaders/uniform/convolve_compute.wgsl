// Compute: both convolutions of a separable Gaussian at once, one tile at a time.
//
// A thread convolves a column of the tile in registers: it adds every loaded texel to all eight sums to which the texel
// contributes. The sums go to workgroup memory, and from there each thread convolves four neighbouring texels of a row
// in the same way. The results go back to workgroup memory, so that neighbouring threads store neighbouring texels.
//
// On a large picture the products bound the time: cores issue little else, and loads wait behind them. So a program is
// for a single kernel: compilers unroll its loops, and omit all products with zero. A small level has few tiles for each
// core: there the latency of a single tile counts, and fetching unrolled code would be the largest part of it. So the
// program that serves any kernel has short loops, of four taps at a time, and is the faster one there.

#import bevy_gaussian_blur::common::pass::{agreed_on, blur, folds_once, four_weights, image_weight, is_edge_free, is_inside, is_present}
#import bevy_gaussian_blur::common::pass::{load_unchecked, pack, side_of, source_position, store, take_turn, unpack, weight, weight_at}
#import bevy_gaussian_blur::common::tile::{ACROSS, COLUMNS, DOWN, HALO, HEIGHT, INTERLEAVED, WIDTH}
#import bevy_gaussian_blur::common::tile::{four_products, keep_column, keep_four, slot_of, sums}
#import bevy_gaussian_blur::uniform::column::{REACH, TAPS, X, Y, add, careful_sum, eight_sums}
#import bevy_gaussian_blur::profile::tile_culling::is_read

const THREADS: i32 = #{THREADS};

@compute @workgroup_size(#{THREADS})
fn convolve_compute(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) thread: u32) {
    let index = i32(thread);
    let first = vec2<i32>(group.xy) * vec2<i32>(WIDTH, HEIGHT);
    take_turn(group.z);
    let kind = agreed_on(kind_of(first), index);
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
        let texel = vec2<i32>(i % 16 + i / (16 * HEIGHT) * 16, i / 16 % HEIGHT);
        store(first + texel, unpack(sums[slot_of(texel.y, texel.x + HALO)]));
    }
}

// The kind of a tile: not read later, without edges that change what it reads, or neither.
const UNREAD: u32 = 0u;
const PLAIN: u32 = 1u;
const AT_EDGE: u32 = 2u;

fn kind_of(first: vec2<i32>) -> u32 {
    if !is_read(first, vec2<i32>(WIDTH, HEIGHT)) {
        return UNREAD;
    }
    let start = source_position(blur.origin + first) - reach();
    let end = start + vec2<i32>(WIDTH, HEIGHT) + 2 * reach() - 1;
#ifdef ANY_KERNEL
    return select(AT_EDGE, PLAIN, is_edge_free(start, end));
#else
    return select(AT_EDGE, PLAIN, is_inside(start, end));
#endif
}

// The reach of the kernel.
fn reach() -> i32 {
#ifdef ANY_KERNEL
    return blur.reach_max.x;
#else
    return REACH;
#endif
}

// The sums of a column around `centre`, for any values.
fn sum_column_carefully(centre: vec2<i32>, row: i32, column: i32) {
    for (var i = 0; i < DOWN; i++) {
        let sum = careful_sum(centre + vec2<i32>(0, i));
        sums[slot_of(row + i, column)] = pack(normalized(sum, centre.y + i, Y));
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

// The same for four neighbouring sums.
fn four_normalized(four: mat4x4<f32>, centre: i32, axis: u32) -> mat4x4<f32> {
    return mat4x4<f32>(normalized(four[0], centre, axis), normalized(four[1], centre + 1, axis),
        normalized(four[2], centre + 2, axis), normalized(four[3], centre + 3, axis));
}

fn sum_columns(centre: vec2<i32>, row: i32, column: i32, is_plain: bool) {
    let position = centre + vec2<i32>(column - HALO, row);
    var is_done = false;
#ifdef FOLDED
#ifdef IMAGES
    // The tile has room for the farthest reads.
    let margin = HALO - select(far(X), reach(), is_plain);
    if column < margin || column >= COLUMNS - margin {
        return;
    }
#endif
    // Two loops, because folding in all tiles takes time.
    if is_plain {
        is_done = sum_column(position - vec2<i32>(0, reach()), row, column, false);
    } else if folds_once(2 * reach() + 1) {
        // Small pictures may need several folds.
        is_done = sum_column_across_edge(position, row, column);
    }
#else
    // Clamping costs nothing beside the loads.
    is_done = sum_column(position - vec2<i32>(0, reach()), row, column, true);
#endif
    if !is_done {
        sum_column_carefully(position, row, column);
    }
}

#ifdef ANY_KERNEL

// The sums of a column whose first tap is at `top`, for finite values.
fn sum_column(top: vec2<i32>, row: i32, column: i32, clamped: bool) -> bool {
    var upper = mat4x4<f32>();
    var lower = mat4x4<f32>();
    // The weights of these four taps, and of the eight before.
    var earlier = vec4<f32>(0.0);
    var last = vec4<f32>(0.0);
    for (var i = 0; i < reach() / 2 + DOWN / 4; i++) {
        let next = kernel_weights(Y, i);
        let values = four_clamped(top + vec2<i32>(0, 4 * i));
        upper += four_sums(values, next, last);
        lower += four_sums(values, last, earlier);
        earlier = last;
        last = next;
    }
    return keep_column(row, column, upper, lower);
}

// Four texels of a column.
fn four_clamped(top: vec2<i32>) -> mat4x4<f32> {
    let x = clamp(top.x, blur.bounds_min.x, blur.bounds_max.x - 1);
    let y = clamp(top.y + vec4<i32>(0, 1, 2, 3), vec4<i32>(blur.bounds_min.y), vec4<i32>(blur.bounds_max.y - 1));
    return mat4x4<f32>(load_unchecked(vec2<i32>(x, y.x), false), load_unchecked(vec2<i32>(x, y.y), false),
        load_unchecked(vec2<i32>(x, y.z), false), load_unchecked(vec2<i32>(x, y.w), false));
}

// The weights of the taps from 4 * index on. Beyond its kernel, the table has others.
fn kernel_weights(axis: u32, index: i32) -> vec4<f32> {
    let taps = 4 * index + vec4<i32>(0, 1, 2, 3);
    return select(vec4<f32>(0.0), four_weights(axis, u32(index)), taps <= vec4<i32>(2 * reach()));
}

// What four values add to four neighbouring sums. For the first sum these are the `next` four taps, and for each further
// one they are one tap earlier.
fn four_sums(values: mat4x4<f32>, next: vec4<f32>, last: vec4<f32>) -> mat4x4<f32> {
    return mat4x4<f32>(values * next, values * vec4<f32>(last.w, next.xyz), values * vec4<f32>(last.zw, next.xy),
        values * vec4<f32>(last.yzw, next.x));
}

#else

fn sum_column(top: vec2<i32>, row: i32, column: i32, clamped: bool) -> bool {
    let eight = eight_sums(top, clamped);
    return keep_column(row, column, eight.upper, eight.lower);
}
#endif

// Convolves four neighbouring texels of a row, and stores them in slots that are no longer read. `left` is the source
// texel of the tile's first column.
fn sum_row(row: i32, quad: i32, left: i32, is_plain: bool) {
    let slot = slot_of(row, HALO - reach() + quad * ACROSS);
    var four = mat4x4<f32>();
    var is_summed = false;
#ifdef IMAGES
    if !is_plain {
        let far = far(X);
        for (var i = 0; i < ACROSS + 2 * far; i++) {
            let column = quad * ACROSS - far + i;
            four += four_across_edge(X, left + column, i - far, unpack(sums[slot_of(row, HALO + column)]));
        }
        is_summed = true;
    }
#endif
    if !is_summed {
#ifdef ANY_KERNEL
        var last = vec4<f32>(0.0);
        for (var i = 0; i < reach() / 2 + ACROSS / 4; i++) {
            let next = kernel_weights(X, i);
            let values = mat4x4<f32>(unpack(sums[slot + i]), unpack(sums[slot + INTERLEAVED + i]),
                unpack(sums[slot + 2 * INTERLEAVED + i]), unpack(sums[slot + 3 * INTERLEAVED + i]));
            four += four_sums(values, next, last);
            last = next;
        }
#else
        var a = vec4<f32>(0.0);
        var b = vec4<f32>(0.0);
        var c = vec4<f32>(0.0);
        var d = vec4<f32>(0.0);
        for (var i = 0; i < ACROSS + TAPS - 1; i++) {
            let value = unpack(sums[slot + i % ACROSS * INTERLEAVED + i / ACROSS]);
            a = add(X, a, value, i);
            b = add(X, b, value, i - 1);
            c = add(X, c, value, i - 2);
            d = add(X, d, value, i - 3);
        }
        four = mat4x4<f32>(a, b, c, d);
#endif
    }
    workgroupBarrier();
    keep_four(slot_of(row, HALO + quad * ACROSS), INTERLEAVED, four_normalized(four, left + quad * ACROSS, X));
    workgroupBarrier();
}

#ifdef FOLDED
// The weights of both axes and all sides, by the distance in texels. Workgroup memory allows fast random access.
const DISTANCES: i32 = #{DISTANCES};
var<workgroup> laid_out: array<f32, 8 * DISTANCES>;

fn lay_out_weights(index: i32) {
    for (var i = index; i < 8 * DISTANCES; i += THREADS) {
        let table = u32(i / DISTANCES);
        let axis = table / 4u;
        let distance = i % DISTANCES;
        if blur.images[axis] != 0u {
            laid_out[i] = image_weight(axis, table % 4u, distance);
        } else {
            // Reads are folded: on all sides the weights are the kernel's own, and 0 beyond its end.
            laid_out[i] = weight_at(axis, 0, distance);
        }
    }
}

// The reach of reads, rounded up to a multiple of four. It comes from the uniform, so loops are not unrolled, and cost
// no registers where there is no edge.
fn far(axis: u32) -> i32 {
    return (blur.reach_max[axis] + blur.margin[axis] + 3) / 4 * 4;
}

// The sums of a column across an edge.
fn sum_column_across_edge(position: vec2<i32>, row: i32, column: i32) -> bool {
    var upper = mat4x4<f32>();
    var lower = mat4x4<f32>();
    let far = far(Y);
    for (var i = 0; i < DOWN + 2 * far; i += 4) {
        // Four loads in flight.
        for (var j = i; j < i + 4; j++) {
            let y = position.y + j - far;
            let value = load_unchecked(vec2<i32>(position.x, y), true);
            upper += four_across_edge(Y, y, j - far, value);
            lower += four_across_edge(Y, y, j - far - 4, value);
        }
    }
    return keep_column(row, column, four_normalized(upper, position.y, Y), four_normalized(lower, position.y + 4, Y));
}

// What the value of a texel adds to four neighbouring sums, the first of which has its centre at this distance.
fn four_across_edge(axis: u32, texel: i32, distance: i32, value: vec4<f32>) -> mat4x4<f32> {
    let table = i32(4u * axis + side_of(axis, texel)) * DISTANCES;
    let weights = vec4<f32>(laid_out[table + abs(distance)], laid_out[table + abs(distance - 1)],
        laid_out[table + abs(distance - 2)], laid_out[table + abs(distance - 3)]);
    return four_products(weights, value);
}
#endif
