// Compute: the cubic B-spline through a coarse level at full resolution, one tile at a time. The coarse rows that a
// tile needs are interpolated horizontally into workgroup memory, and vertically from there.

#import bevy_gaussian_blur::common::pass::{blur, source, store}
#import bevy_gaussian_blur::common::cubic::{cubic, row}
#import bevy_gaussian_blur::uniform::spline::{normalized, place_of, spline}

// The tile, in target texels. The threads of a row take one column each.
const WIDTH: i32 = #{WIDTH};
const HEIGHT: i32 = #{HEIGHT};
const THREADS_Y: i32 = #{THREADS_Y};

#ifndef ANY_KERNEL
// The most coarse rows that a tile needs. Workgroup memory limits how many tiles run at once.
const ROWS: i32 = #{ROWS};
var<workgroup> rows: array<vec4<f32>, ROWS * WIDTH>;
#endif

@compute @workgroup_size(#{WIDTH}, #{THREADS_Y})
fn upsample_compute(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_id) invocation: vec3<u32>) {
    let local = vec2<i32>(invocation.xy);
    let first = vec2<i32>(group.xy) * vec2<i32>(WIDTH, HEIGHT);
    let corner = blur.origin + first;
    upsample_tile(first, corner, local);
}

#ifdef ANY_KERNEL
// Every texel on its own: nothing is shared, so this serves any number of octaves.
fn upsample_tile(first: vec2<i32>, corner: vec2<i32>, local: vec2<i32>) {
    for (var y = local.y; y < HEIGHT; y += THREADS_Y) {
        let position = vec2<i32>(local.x, y);
        store(first + position, spline(corner + position));
    }
}
#else
fn upsample_tile(first: vec2<i32>, corner: vec2<i32>, local: vec2<i32>) {
    let top = place_of(corner).texel.y - 1;
    let bottom = place_of(corner + vec2<i32>(0, HEIGHT - 1)).texel.y + 2;
    let column = place_of(corner + vec2<i32>(local.x, 0));
    let x = cubic(column.t.x);
    for (var y = local.y; y <= bottom - top; y += THREADS_Y) {
        rows[y * WIDTH + local.x] = row(source, vec2<i32>(column.texel.x, top + y), x, blur.octaves.x);
    }
    workgroupBarrier();

    for (var y = local.y; y < HEIGHT; y += THREADS_Y) {
        let position = vec2<i32>(local.x, y);
        let place = place_of(corner + position);
        let slot = (place.texel.y - 1 - top) * WIDTH + local.x;
        let weights = cubic(place.t.y);
        let value = weights.x * rows[slot] + weights.y * rows[slot + WIDTH]
            + weights.z * rows[slot + 2 * WIDTH] + weights.w * rows[slot + 3 * WIDTH];
        store(first + position, normalized(value, place));
    }
}
#endif
