// Compute: the cubic B-spline through a coarse level at full resolution, one tile at a time.
//
// The coarse rows of a tile are interpolated horizontally into workgroup memory, in a constant number of turns without
// branches, so that all their loads are in flight together. `uniform::walk` does the rest. With few octaves, the texels of a
// row in one cell also share their loads: there are several loads for each of the few texels that a thread interpolates.

#import bevy_gaussian_blur::common::pass::{blur, pack, source, store}
#import bevy_gaussian_blur::common::cubic::cubic
#import bevy_gaussian_blur::uniform::spline::{place_of, spline, weight_inside}
#ifndef ANY_KERNEL
#import bevy_gaussian_blur::uniform::walk::{CELL, HEIGHT, PITCH, SHARING, THREADS, WIDTH, lay_out_weights, limited, rows, walk}
#endif

#ifdef ANY_KERNEL

const WIDTH: i32 = #{WIDTH};

// Every texel on its own: nothing is shared, so this serves any number of octaves.
@compute @workgroup_size(#{THREADS})
fn upsample_compute(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) thread: u32) {
    let first = vec2<i32>(group.xy) * vec2<i32>(WIDTH, #{HEIGHT});
    for (var y = i32(thread) / WIDTH; y < #{HEIGHT}; y += #{THREADS} / WIDTH) {
        let position = first + vec2<i32>(i32(thread) % WIDTH, y);
        store(position, spline(blur.origin + position));
    }
}

#else

// The most coarse rows that a tile needs.
const ROWS: i32 = HEIGHT / CELL + 4;

@compute @workgroup_size(#{THREADS})
fn upsample_compute(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) thread: u32) {
    let index = i32(thread);
    let local = vec2<i32>(index % WIDTH, index / WIDTH);
    // The rows from the last beginning of a cell to the first row of the target. In cells of two rows, a thread finds the
    // same coarse rows wherever it begins.
    let into_cell = (blur.origin - select(vec2<i32>(0), (1 - blur.shift) / 2, vec2<bool>(SHARING > 1, CELL > 2)))
        & vec2<i32>(SHARING - 1, CELL - 1);
    let first = vec2<i32>(group.xy) * vec2<i32>(WIDTH, HEIGHT) - into_cell;
    if any(first >= blur.size) {
        return;
    }
    let corner = blur.origin + first;
    let top = place_of(corner).texel.y - 1;
    lay_out_weights(corner, index);
    // Two copies of the rest, because asking for every texel whether to divide takes time.
    if all(blur.normalize == vec2<u32>(0u)) {
        interpolate_rows(corner, top, index, false);
        workgroupBarrier();
        walk(first + vec2<i32>(local.x, 0), top, local, CELL, false);
    } else {
        interpolate_rows(corner, top, index, true);
        workgroupBarrier();
        walk(first + vec2<i32>(local.x, 0), top, local, CELL, true);
    }
}

// Interpolates the coarse rows from `top` on. Without octaves they are columns of the level itself.
fn interpolate_rows(corner: vec2<i32>, top: i32, thread: i32, normalizes: bool) {
    const GROUPS: i32 = WIDTH / SHARING;
    const AT_ONCE: i32 = THREADS / GROUPS;
    let column = thread % GROUPS * SHARING;
    let place = place_of(corner + vec2<i32>(column, 0));
    let beside = vec2<i32>(min(1, i32(blur.octaves.x)), 0);
    for (var i = 0; i < (ROWS + AT_ONCE - 1) / AT_ONCE; i++) {
        let y = thread / GROUPS + i * AT_ONCE;
        let coarse = vec2<i32>(place.texel.x, top + y);
        let around = mat4x4<f32>(textureLoad(source, coarse - beside, 0), textureLoad(source, coarse, 0),
            textureLoad(source, coarse + beside, 0), textureLoad(source, coarse + 2 * beside, 0));
        if y < ROWS {
            for (var x = 0; x < SHARING; x++) {
                let value = around * column_weights(corner.x + column, x, place.t.x, normalizes);
                rows[y * PITCH + column + x] = pack(limited(value, normalizes));
            }
        }
    }
}

// The weights of the coarse texels around a column, so many columns after another one at `t`. Where a cell shares its loads, `t` is
// known: the cell's columns are spread evenly over it.
fn column_weights(first: i32, after: i32, t: f32, normalizes: bool) -> vec4<f32> {
    var weights = select(vec4<f32>(0.0, 1.0, 0.0, 0.0), cubic(t), blur.octaves.x > 0u);
    if SHARING > 1 {
        weights = cubic((f32(after) + 0.5) / f32(SHARING));
    }
    if normalizes {
        weights /= weight_inside(0u, place_of(vec2<i32>(first + after, blur.origin.y)));
    }
    return weights;
}
#endif
