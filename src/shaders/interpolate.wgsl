// Compute: the cubic B-spline through a coarse level at full resolution, a tile at a time. The coarse rows that a tile
// needs are interpolated horizontally into workgroup memory, and vertically out of it.

#import bevy_gaussian_blur::common::{blur, load, store}
#import bevy_gaussian_blur::cubic::{cubic, normalized, place_of}

// The tile, in target texels: high and narrow, because that is how textures lie in memory.
const WIDTH: i32 = 16;
const HEIGHT: i32 = 64;
const THREADS_Y: i32 = 16;

// The coarse rows that a tile needs at most. Workgroup memory is what decides how many tiles are under way at once.
const ROWS: i32 = #{ROWS};
var<workgroup> rows: array<vec4<f32>, ROWS * WIDTH>;

@compute @workgroup_size(16, 16)
fn interpolate(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_id) invocation: vec3<u32>) {
    let local = vec2<i32>(invocation.xy);
    let first = vec2<i32>(group.xy) * vec2<i32>(WIDTH, HEIGHT);
    let corner = blur.origin + first;
    let top = place_of(corner).texel.y - reach();
    let bottom = place_of(corner + vec2<i32>(0, HEIGHT - 1)).texel.y + 2 * reach();
    let column = place_of(corner + vec2<i32>(local.x, 0));
    let weights = cubic(column.t.x);
    for (var row = local.y; row <= bottom - top; row += THREADS_Y) {
        let texel = vec2<i32>(column.texel.x, top + row);
        var value = load(texel);
        if blur.octaves.x > 0u {
            value = weights.x * load(texel - vec2<i32>(1, 0)) + weights.y * value
                + weights.z * load(texel + vec2<i32>(1, 0)) + weights.w * load(texel + vec2<i32>(2, 0));
        }
        rows[row * WIDTH + local.x] = value;
    }
    workgroupBarrier();

    for (var y = local.y; y < HEIGHT; y += THREADS_Y) {
        let position = vec2<i32>(local.x, y);
        let place = place_of(corner + position);
        let slot = (place.texel.y - reach() - top) * WIDTH + local.x;
        var value = rows[slot];
        if blur.octaves.y > 0u {
            let weights = cubic(place.t.y);
            value = weights.x * value + weights.y * rows[slot + WIDTH]
                + weights.z * rows[slot + 2 * WIDTH] + weights.w * rows[slot + 3 * WIDTH];
        }
        store(first + position, normalized(value, place));
    }
}

// How many rows above the one that a texel lies in the spline reaches; below it are twice as many.
fn reach() -> i32 {
    return select(0, 1, blur.octaves.y > 0u);
}
