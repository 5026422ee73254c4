// Compute: both convolutions of a small level, and the cubic B-spline through the result at full resolution, one tile at
// a time.
//
// A tile needs few texels of the level, and not many more around them: to convolve those in every tile again takes less
// time than a pass of its own. The texels are staged in workgroup memory. From there the steps are those of
// `convolve_compute` and `upsample_compute`, with loops that compilers need not unroll. Tiles begin at a cell along both
// axes.
//
// It serves levels with as many octaves along x as along y, which are not normalised.

#import bevy_gaussian_blur::common::pass::{blur, weight, pack, source, store, unpack}
#import bevy_gaussian_blur::common::cubic::cubic
#import bevy_gaussian_blur::uniform::spline::place_of

// The tile, in target texels.
const WIDTH: i32 = #{WIDTH};
const HEIGHT: i32 = #{HEIGHT};
const THREADS: i32 = #{THREADS};
// The target texels of a cell along an axis, or of as much of it as a thread walks; the fewest, if this program serves
// any level.
const CELL: i32 = #{CELL};
// The reach of the kernel, or the largest one. Weights beyond a kernel are 0.
const REACH: i32 = #{REACH};
// The rows that a thread walks, as in `upsample_compute`.
const WALK: i32 = 2 * HEIGHT * WIDTH / THREADS;
const_assert WALK % CELL == 0 && HEIGHT <= THREADS;

// The texels of the blurred level that a tile needs. They are summed by fours.
const ACROSS: i32 = (WIDTH / CELL + 3 + 3) / 4 * 4;
const DOWN: i32 = (HEIGHT / CELL + 3 + 3) / 4 * 4;
// The texels of the level that these need.
const STAGED_X: i32 = ACROSS + 2 * REACH;
const STAGED_Y: i32 = DOWN + 2 * REACH;
// Interpolated rows. The texels of four neighbouring ones that a thread interpolates are this far apart.
const APART: i32 = WIDTH / 4 + 4;
const PITCH: i32 = 4 * APART;
// First the texels of the level. Then the blurred ones, behind the room for the interpolated rows.
const BLURRED: i32 = DOWN * PITCH;
var<workgroup> rows: array<vec2<u32>, max(STAGED_X * STAGED_Y, BLURRED + DOWN * ACROSS)>;
var<workgroup> sums: array<vec2<u32>, DOWN * STAGED_X>;
// The weights of the four coarse rows around each row of the tile.
var<workgroup> weights: array<vec4<f32>, HEIGHT>;

// The axes.
const X: u32 = 0u;
const Y: u32 = 1u;

@compute @workgroup_size(#{THREADS})
fn blur_upsample_compute(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) thread: u32) {
    let index = i32(thread);
    let before = (blur.origin - (1 - blur.shift) / 2) & vec2<i32>(cell() - 1);
    let first = vec2<i32>(group.xy) * vec2<i32>(WIDTH, HEIGHT) - before;
    if any(first >= blur.size) {
        return;
    }
    let corner = blur.origin + first;
    let level = place_of(corner).texel - 1;
    if index < HEIGHT {
        weights[index] = cubic(place_of(corner + vec2<i32>(0, index)).t.y);
    }
    stage(level, index);
    workgroupBarrier();
    sum_columns(index);
    workgroupBarrier();
    sum_rows(index);
    workgroupBarrier();
    interpolate_rows(corner, level.x, index);
    workgroupBarrier();
    // A subgroup stores pairs of rows, as they lie in the memory of textures.
    let local = vec2<i32>(index % 16 + index / 32 % (WIDTH / 16) * 16, index / 16 % 2 + index / (2 * WIDTH) * 2);
    walk(first + vec2<i32>(local.x, 0), level.y, local);
}

// Loads the level's texels around a tile, in a constant number of turns, so that all loads are in flight together.
fn stage(level: vec2<i32>, index: i32) {
    for (var i = 0; i < (STAGED_X * STAGED_Y + THREADS - 1) / THREADS; i++) {
        let slot = index + i * THREADS;
        let texel = level - blur.reach_max + vec2<i32>(slot % STAGED_X, slot / STAGED_X);
        let value = pack(textureLoad(source, clamp(texel, blur.bounds_min, blur.bounds_max - 1), 0));
        if slot < STAGED_X * STAGED_Y {
            rows[slot] = value;
        }
    }
}

fn add(axis: u32, sum: vec4<f32>, value: vec4<f32>, tap: i32) -> vec4<f32> {
    if tap >= 0 && tap <= 2 * REACH {
        return sum + weight(axis, u32(tap)) * value;
    }
    return sum;
}

fn sum_columns(index: i32) {
    for (var task = index; task < STAGED_X * DOWN / 4; task += THREADS) {
        let slot = task / STAGED_X * 4 * STAGED_X + task % STAGED_X;
        var a = vec4<f32>(0.0);
        var b = vec4<f32>(0.0);
        var c = vec4<f32>(0.0);
        var d = vec4<f32>(0.0);
        for (var i = 0; i < 2 * REACH + 4; i++) {
            let value = unpack(rows[slot + i * STAGED_X]);
            a = add(Y, a, value, i);
            b = add(Y, b, value, i - 1);
            c = add(Y, c, value, i - 2);
            d = add(Y, d, value, i - 3);
        }
        sums[slot] = pack(a);
        sums[slot + STAGED_X] = pack(b);
        sums[slot + 2 * STAGED_X] = pack(c);
        sums[slot + 3 * STAGED_X] = pack(d);
    }
}

fn sum_rows(index: i32) {
    for (var task = index; task < ACROSS / 4 * DOWN; task += THREADS) {
        let first = task / (ACROSS / 4) * STAGED_X + task % (ACROSS / 4) * 4;
        var a = vec4<f32>(0.0);
        var b = vec4<f32>(0.0);
        var c = vec4<f32>(0.0);
        var d = vec4<f32>(0.0);
        for (var i = 0; i < 2 * REACH + 4; i++) {
            let value = unpack(sums[first + i]);
            a = add(X, a, value, i);
            b = add(X, b, value, i - 1);
            c = add(X, c, value, i - 2);
            d = add(X, d, value, i - 3);
        }
        let slot = BLURRED + 4 * task;
        rows[slot] = pack(a);
        rows[slot + 1] = pack(b);
        rows[slot + 2] = pack(c);
        rows[slot + 3] = pack(d);
    }
}

// Interpolates the blurred rows, four texels at a time. They lie in one cell, so they share reads.
fn interpolate_rows(corner: vec2<i32>, left: i32, index: i32) {
    let step = 1.0 / f32(1 << blur.octaves.x);
    for (var task = index; task < WIDTH / 4 * DOWN; task += THREADS) {
        let row = task / (WIDTH / 4);
        let four = task % (WIDTH / 4);
        let place = place_of(corner + vec2<i32>(4 * four, 0));
        let slot = BLURRED + row * ACROSS + place.texel.x - 1 - left;
        let around = mat4x4<f32>(unpack(rows[slot]), unpack(rows[slot + 1]), unpack(rows[slot + 2]), unpack(rows[slot + 3]));
        let to = row * PITCH + four;
        rows[to] = pack(around * cubic(place.t.x));
        rows[to + APART] = pack(around * cubic(place.t.x + step));
        rows[to + 2 * APART] = pack(around * cubic(place.t.x + 2.0 * step));
        rows[to + 3 * APART] = pack(around * cubic(place.t.x + 3.0 * step));
    }
}

// The target rows of a cell, as far as a thread walks.
fn cell() -> i32 {
#ifdef ANY_KERNEL
    return min(1 << blur.octaves.y, WALK);
#else
    return CELL;
#endif
}

// Stores every second texel of a part of a column.
fn walk(column: vec2<i32>, top: i32, local: vec2<i32>) {
    let begin = local.y / 2 * WALK + local.y % 2;
    let row = place_of(blur.origin + column + vec2<i32>(0, begin)).texel.y - 1 - top;
    var slot = row * PITCH + local.x % 4 * APART + local.x / 4;
    var around = mat4x4<f32>(unpack(rows[slot]), unpack(rows[slot + PITCH]), unpack(rows[slot + 2 * PITCH]),
        unpack(rows[slot + 3 * PITCH]));
    for (var y = 0; y < WALK; y += 2) {
        if y > 0 && y % cell() == 0 {
            slot += PITCH;
            around = mat4x4<f32>(around[1], around[2], around[3], unpack(rows[slot + 3 * PITCH]));
        }
        store(column + vec2<i32>(0, begin + y), around * weights[begin + y]);
    }
}
