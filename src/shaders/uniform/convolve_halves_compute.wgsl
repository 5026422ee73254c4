// Compute: both convolutions, like `convolve_compute`, on a GPU that computes with half floats.
//
// A tile is short and has few threads, so few of them wait at a barrier, and others compute meanwhile. A thread sums the
// eight rows of a column, then a run of neighbouring texels of a row. The sums of columns are half floats. In a row, only
// the products around the centre, which are the largest, are summed as floats: the others take half the time, and no
// conversion.
//
// It serves single kernels that find only the outermost texels beyond the bounds.
enable f16;

#import bevy_gaussian_blur::common::pass::{agreed_on, are_finite, blur, packable, source_position, store, take_turn, weight}
#import bevy_gaussian_blur::uniform::column::{REACH, TAPS, X, careful_sum, eight_sums}
#import bevy_gaussian_blur::profile::tile_culling::is_read

// Taps up to this distance from the centre are summed as floats.
const INNER: i32 = REACH * 3 / 10;
const THREADS: i32 = #{THREADS};

// The tile, in texels, and the room for columns on either side of it.
const WIDTH: i32 = #{WIDTH};
const HEIGHT: i32 = #{HEIGHT};
const COLUMNS: i32 = WIDTH + 2 * REACH;
// The texels of a row that a thread sums, and the threads of a row.
const ACROSS: i32 = WIDTH * HEIGHT / THREADS;
const RUNS: i32 = WIDTH / ACROSS;
const_assert HEIGHT == 8 && ACROSS >= 6 && ACROSS <= 7 && COLUMNS <= THREADS;

// Rows are so far apart that threads of neighbouring rows read different banks.
const PITCH: i32 = COLUMNS + select(1, 8, ACROSS % 2 == 1);
var<workgroup> sums: array<vec4<f16>, PITCH * HEIGHT>;

@compute @workgroup_size(#{THREADS})
fn convolve_halves_compute(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) thread: u32) {
    let index = i32(thread);
    let first = vec2<i32>(group.xy) * vec2<i32>(WIDTH, HEIGHT);
    take_turn(group.z);
    if agreed_on(u32(is_read(first, vec2<i32>(WIDTH, HEIGHT))), index) == 0u {
        return;
    }
    let position = source_position(blur.origin + first) + vec2<i32>(index - REACH, 0);
    if index < COLUMNS && !sum_column(position - vec2<i32>(0, REACH), index) {
        sum_column_carefully(position, index);
    }
    workgroupBarrier();
    sum_row(index / RUNS * PITCH + index % RUNS * ACROSS);
    for (var i = index; i < WIDTH * HEIGHT; i += THREADS) {
        // Eight columns at a time, so that whole blocks of memory are stored together.
        let texel = vec2<i32>(i % 8 + i / (8 * HEIGHT) * 8, i / 8 % HEIGHT);
        store(first + texel, vec4<f32>(limited(sums[texel.y * PITCH + texel.x + REACH])));
    }
}

// Halves round in every addition, so sums of the largest values may exceed them a little. While results are stored, this takes no
// time; where they are summed, it does.
fn limited(value: vec4<f16>) -> vec4<f16> {
    return clamp(value, vec4<f16>(-65504.0h), vec4<f16>(65504.0h));
}

fn keep(slot: i32, sum: vec4<f32>) {
    sums[slot] = vec4<f16>(packable(sum));
}

fn keep_four(slot: i32, apart: i32, values: mat4x4<f32>) {
    keep(slot, values[0]);
    keep(slot + apart, values[1]);
    keep(slot + 2 * apart, values[2]);
    keep(slot + 3 * apart, values[3]);
}

// The sums of a column around `centre`, for any values.
fn sum_column_carefully(centre: vec2<i32>, column: i32) {
    for (var i = 0; i < HEIGHT; i++) {
        keep(column + i * PITCH, careful_sum(centre + vec2<i32>(0, i)));
    }
}

// The sums of a column whose first tap is at `top`, for finite values.
fn sum_column(top: vec2<i32>, column: i32) -> bool {
    let eight = eight_sums(top, true);
    keep_four(column, PITCH, eight.upper);
    keep_four(column + 4 * PITCH, PITCH, eight.lower);
    return are_finite(eight.upper, eight.lower);
}

// A sum of a row: what the taps around the centre add, and the others.
struct Sum {
    near: vec4<f32>,
    far: vec4<f16>,
}

// Adds a value to a sum, as a float and as a half. Kernels are symmetrical: fewer weights are loaded and converted.
fn plus(sum: Sum, value: vec4<f32>, half: vec4<f16>, tap: i32) -> Sum {
    if tap < 0 || tap >= TAPS {
        return sum;
    }
    let by = weight(X, u32(REACH + abs(tap - REACH)));
    if abs(tap - REACH) <= INNER {
        return Sum(sum.near + by * value, sum.far);
    }
    return Sum(sum.near, fma(vec4<f16>(f16(by)), half, sum.far));
}

fn whole(sum: Sum) -> vec4<f32> {
    return sum.near + vec4<f32>(sum.far);
}

// Convolves a run of a row, whose first tap is in this slot, and stores it in slots that are no longer read, all from
// separate variables, as columns.
fn sum_row(slot: i32) {
    var a = Sum();
    var b = Sum();
    var c = Sum();
    var d = Sum();
    var e = Sum();
    var f = Sum();
    var g = Sum();
    for (var i = 0; i < ACROSS + TAPS - 1; i++) {
        let half = sums[slot + i];
        let value = vec4<f32>(half);
        a = plus(a, value, half, i);
        b = plus(b, value, half, i - 1);
        c = plus(c, value, half, i - 2);
        d = plus(d, value, half, i - 3);
        e = plus(e, value, half, i - 4);
        f = plus(f, value, half, i - 5);
        g = plus(g, value, half, i - 6);
    }
    workgroupBarrier();
    keep_four(slot + REACH, 1, mat4x4<f32>(whole(a), whole(b), whole(c), whole(d)));
    keep(slot + REACH + 4, whole(e));
    keep(slot + REACH + 5, whole(f));
    if ACROSS > 6 {
        keep(slot + REACH + 6, whole(g));
    }
    workgroupBarrier();
}
