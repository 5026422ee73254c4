// Compute: both convolutions of a small level, and the cubic B-spline through the result at full resolution, one tile at
// a time.
//
// A tile needs few texels of the level, and not many more around them: to convolve those in every tile again takes less
// time than a pass of its own. The texels are staged in workgroup memory. A tile stores nothing before they are convolved,
// so what counts is how soon that is done: each thread computes single sums, of which there are more than threads. Tiles
// begin at a cell along both axes.
//
// It serves levels with as many octaves along x as along y, which are not normalised.

#import bevy_gaussian_blur::common::pass::{blur, weight, pack, source, unpack}
#import bevy_gaussian_blur::common::cubic::cubic
#import bevy_gaussian_blur::uniform::spline::place_of
#import bevy_gaussian_blur::uniform::walk::{CELL, HEIGHT, PITCH, SHARING, THREADS, WALK, WIDTH, lay_out_weights, rows, walk}

// The reach of the kernel, or the largest one. Weights beyond a kernel are 0.
const REACH: i32 = #{REACH};

// The texels of the blurred level that a tile needs.
const ACROSS: i32 = WIDTH / CELL + 3;
const DOWN: i32 = HEIGHT / CELL + 3;
// The texels of the level that these need, which `rows` holds first.
const STAGED_X: i32 = ACROSS + 2 * REACH;
const STAGED_Y: i32 = DOWN + 2 * REACH;
var<workgroup> sums: array<vec2<u32>, DOWN * STAGED_X>;
// Then it holds the blurred ones, behind the room for the interpolated rows.
const BLURRED: i32 = DOWN * PITCH;

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
    lay_out_weights(corner, index);
    stage(level, index);
    workgroupBarrier();
    sum_columns(index);
    workgroupBarrier();
    sum_rows(index);
    workgroupBarrier();
    interpolate_rows(corner, level.x, index);
    workgroupBarrier();
    // A subgroup stores pairs of rows.
    let local = vec2<i32>(index % 16 + index / 32 % (WIDTH / 16) * 16, index / 16 % 2 + index / (2 * WIDTH) * 2);
    walk(first + vec2<i32>(local.x, 0), level.y, local, cell(), false);
}

// The target rows of a cell, as far as a thread walks.
fn cell() -> i32 {
#ifdef ANY_KERNEL
    return min(1 << blur.octaves.y, WALK);
#else
    return CELL;
#endif
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

fn sum_columns(index: i32) {
    for (var task = index; task < STAGED_X * DOWN; task += THREADS) {
        var sum = vec4<f32>(0.0);
        for (var tap = 0; tap <= 2 * REACH; tap++) {
            sum += weight(1u, u32(tap)) * unpack(rows[task + tap * STAGED_X]);
        }
        sums[task] = pack(sum);
    }
}

fn sum_rows(index: i32) {
    for (var task = index; task < ACROSS * DOWN; task += THREADS) {
        let first = task / ACROSS * STAGED_X + task % ACROSS;
        var sum = vec4<f32>(0.0);
        for (var tap = 0; tap <= 2 * REACH; tap++) {
            sum += weight(0u, u32(tap)) * unpack(sums[first + tap]);
        }
        rows[BLURRED + task] = pack(sum);
    }
}

// Interpolates the blurred rows, some texels at a time. They lie in one cell, so they share reads.
fn interpolate_rows(corner: vec2<i32>, left: i32, index: i32) {
    const GROUPS: i32 = WIDTH / SHARING;
    let step = 1.0 / f32(1 << blur.octaves.x);
    for (var task = index; task < GROUPS * DOWN; task += THREADS) {
        let row = task / GROUPS;
        let column = task % GROUPS * SHARING;
        let place = place_of(corner + vec2<i32>(column, 0));
        let slot = BLURRED + row * ACROSS + place.texel.x - 1 - left;
        let around = mat4x4<f32>(unpack(rows[slot]), unpack(rows[slot + 1]), unpack(rows[slot + 2]), unpack(rows[slot + 3]));
        for (var x = 0; x < SHARING; x++) {
            rows[row * PITCH + column + x] = pack(around * cubic(place.t.x + f32(x) * step));
        }
    }
}
