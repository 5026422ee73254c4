// Compute: the cubic B-spline through a coarse level at full resolution, a tile at a time. The coarse rows that a tile
// needs are interpolated horizontally into workgroup memory, and vertically out of it.

#import bevy_gaussian_blur::common::{blur, read, store}
#import bevy_gaussian_blur::cubic::{cubic, fetches, normalized, place_of}

// The tile, in target texels. One octave up it needs the most coarse rows: 8 + 1 + 3.
const WIDTH: u32 = 64u;
const HEIGHT: u32 = 16u;
const THREADS: u32 = 256u;

var<workgroup> rows: array<vec4<f32>, 1024>;

@compute @workgroup_size(64, 4)
fn interpolate(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(local_invocation_id) local: vec3<u32>,
) {
    let first = vec2<i32>(group.xy * vec2<u32>(WIDTH, HEIGHT));
    let corner = blur.origin + first;
    let top = place_of(corner).texel.y - reach();
    let bottom = place_of(corner + vec2<i32>(0, i32(HEIGHT) - 1)).texel.y + 2 * reach();
    let column = place_of(corner + vec2<i32>(i32(local.x), 0));
    let x = fetches(column.t.x, blur.octaves.x);
    for (var row = i32(local.y); row <= bottom - top; row += 4) {
        let texel = vec2<i32>(column.texel.x, top + row);
        var value = read(texel, vec2<f32>(x.offsets.x, 0.0), true) * x.weights.x;
        if blur.octaves.x > 0u {
            value += read(texel, vec2<f32>(x.offsets.y, 0.0), true) * x.weights.y;
        }
        rows[u32(row) * WIDTH + local.x] = value;
    }
    workgroupBarrier();

    for (var y = local.y; y < HEIGHT; y += 4u) {
        let position = vec2<i32>(i32(local.x), i32(y));
        let place = place_of(corner + position);
        let slot = u32(place.texel.y - reach() - top) * WIDTH + local.x;
        var value = rows[slot];
        if blur.octaves.y > 0u {
            let weights = cubic(place.t.y);
            value = weights.x * value + weights.y * rows[slot + WIDTH]
                + weights.z * rows[slot + 2u * WIDTH] + weights.w * rows[slot + 3u * WIDTH];
        }
        store(first + position, normalized(value, place));
    }
}

// How many rows above the one that a texel lies in the spline reaches; below it are twice as many.
fn reach() -> i32 {
    return select(0, 1, blur.octaves.y > 0u);
}
