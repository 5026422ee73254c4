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

// What a value adds to a sum of a row, by the taps around the centre, and by the others. Kernels are symmetrical: fewer weights are
// loaded and converted.
fn add_near(sum: vec4<f32>, value: vec4<f32>, tap: i32) -> vec4<f32> {
    if abs(tap - REACH) <= INNER {
        return sum + weight(X, u32(REACH + abs(tap - REACH))) * value;
    }
    return sum;
}

fn add_far(sum: vec4<f16>, value: vec4<f16>, tap: i32) -> vec4<f16> {
    if tap >= 0 && tap < TAPS && abs(tap - REACH) > INNER {
        return fma(vec4<f16>(f16(weight(X, u32(REACH + abs(tap - REACH))))), value, sum);
    }
    return sum;
}

// Convolves a run of a row, whose first tap is in this slot, and stores it in slots that are no longer read, all from
// separate variables, as columns.
fn sum_row(slot: i32) {
    var a = vec4<f32>(0.0);
    var a_far = vec4<f16>(0.0);
    var b = vec4<f32>(0.0);
    var b_far = vec4<f16>(0.0);
    var c = vec4<f32>(0.0);
    var c_far = vec4<f16>(0.0);
    var d = vec4<f32>(0.0);
    var d_far = vec4<f16>(0.0);
    var e = vec4<f32>(0.0);
    var e_far = vec4<f16>(0.0);
    var f = vec4<f32>(0.0);
    var f_far = vec4<f16>(0.0);
    var g = vec4<f32>(0.0);
    var g_far = vec4<f16>(0.0);
    for (var i = 0; i < ACROSS + TAPS - 1; i++) {
        let half = sums[slot + i];
        let value = vec4<f32>(half);
        a = add_near(a, value, i);
        a_far = add_far(a_far, half, i);
        b = add_near(b, value, i - 1);
        b_far = add_far(b_far, half, i - 1);
        c = add_near(c, value, i - 2);
        c_far = add_far(c_far, half, i - 2);
        d = add_near(d, value, i - 3);
        d_far = add_far(d_far, half, i - 3);
        e = add_near(e, value, i - 4);
        e_far = add_far(e_far, half, i - 4);
        f = add_near(f, value, i - 5);
        f_far = add_far(f_far, half, i - 5);
        g = add_near(g, value, i - 6);
        g_far = add_far(g_far, half, i - 6);
    }
    workgroupBarrier();
    keep_four(slot + REACH, 1, mat4x4<f32>(a + vec4<f32>(a_far), b + vec4<f32>(b_far), c + vec4<f32>(c_far), d + vec4<f32>(d_far)));
    keep(slot + REACH + 4, e + vec4<f32>(e_far));
    keep(slot + REACH + 5, f + vec4<f32>(f_far));
    if ACROSS > 6 {
        keep(slot + REACH + 6, g + vec4<f32>(g_far));
    }
    workgroupBarrier();
}
