// Compute: the cubic B-spline through a coarse level at full resolution, one tile at a time.
//
// Above one octave, storing the result takes about as long as everything else, so a stored texel should cost little more
// than its four products. The coarse rows of a tile are interpolated horizontally into workgroup memory, in a constant
// number of turns without branches, so that all their loads are in flight together. From there a thread walks down a
// column with four coarse rows in registers: it reads a new one where the next cell of the level begins. Tiles begin at
// a cell, so that all threads do this in the same turns, which compilers know. With few octaves, the texels of a row in
// one cell also share their loads: there are several loads for each of the few texels that a thread interpolates.

#import bevy_gaussian_blur::common::pass::{LARGEST, blur, pack, source, store, unpack}
#import bevy_gaussian_blur::common::cubic::cubic
#import bevy_gaussian_blur::uniform::spline::{place_of, spline, weight_inside}

// The tile, in target texels. The threads of a row take one column each.
const WIDTH: i32 = #{WIDTH};
const HEIGHT: i32 = #{HEIGHT};
const THREADS_Y: i32 = #{THREADS} / WIDTH;

#ifdef ANY_KERNEL

// Every texel on its own: nothing is shared, so this serves any number of octaves.
@compute @workgroup_size(#{THREADS})
fn upsample_compute(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) thread: u32) {
    let first = vec2<i32>(group.xy) * vec2<i32>(WIDTH, HEIGHT);
    for (var y = i32(thread) / WIDTH; y < HEIGHT; y += THREADS_Y) {
        let position = first + vec2<i32>(i32(thread) % WIDTH, y);
        store(position, spline(blur.origin + position));
    }
}

#else

// The target rows of a cell, a coarse row, or of as much of it as a thread walks.
const CELL: i32 = #{CELL};
// The target columns of a cell, if they share loads, or else 1.
const SHARING: i32 = #{SHARING};
// The rows that a thread walks: every second one, since the thread beside it takes the others. So a pair of rows is
// stored together, as it lies in the memory of textures.
const WALK: i32 = 2 * HEIGHT / THREADS_Y;
const_assert WALK % CELL == 0 && HEIGHT <= WIDTH * THREADS_Y && WIDTH % SHARING == 0;

// The most coarse rows that a tile needs, interpolated horizontally.
const ROWS: i32 = HEIGHT / CELL + 4;
// Texels of a row that are interpolated at once are neighbours: a shift from row to row keeps their writes apart.
const PITCH: i32 = WIDTH + select(0, 1, SHARING > 1);
var<workgroup> rows: array<vec2<u32>, ROWS * PITCH>;
// The weights of the four coarse rows around each row of the tile.
var<workgroup> weights: array<vec4<f32>, HEIGHT>;

@compute @workgroup_size(#{THREADS})
fn upsample_compute(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) thread: u32) {
    let local = vec2<i32>(i32(thread) % WIDTH, i32(thread) / WIDTH);
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
    if i32(thread) < HEIGHT {
        let place = place_of(corner + vec2<i32>(0, i32(thread)));
        weights[thread] = cubic(place.t.y) / weight_inside(1u, place);
    }
    // Two copies of the rest, because asking for every texel whether to divide takes time.
    if all(blur.normalize == vec2<u32>(0u)) {
        interpolate_rows(corner, top, i32(thread), false);
        workgroupBarrier();
        walk(first + vec2<i32>(local.x, 0), top, local, false);
    } else {
        interpolate_rows(corner, top, i32(thread), true);
        workgroupBarrier();
        walk(first + vec2<i32>(local.x, 0), top, local, true);
    }
}

// Interpolates the coarse rows from `top` on. Without octaves they are columns of the level itself.
fn interpolate_rows(corner: vec2<i32>, top: i32, thread: i32, normalizes: bool) {
    const GROUPS: i32 = WIDTH / SHARING;
    const AT_ONCE: i32 = #{THREADS} / GROUPS;
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

// Stores every second texel of a part of a column.
fn walk(column: vec2<i32>, top: i32, local: vec2<i32>, normalizes: bool) {
    let begin = local.y / 2 * WALK + local.y % 2;
    var slot = (place_of(blur.origin + column + vec2<i32>(0, begin)).texel.y - 1 - top) * PITCH + local.x;
    var around = mat4x4<f32>(unpack(rows[slot]), unpack(rows[slot + PITCH]), unpack(rows[slot + 2 * PITCH]),
        unpack(rows[slot + 3 * PITCH]));
    for (var y = 0; y < WALK; y += 2) {
        if y > 0 && y % CELL == 0 {
            slot += PITCH;
            around = mat4x4<f32>(around[1], around[2], around[3], unpack(rows[slot + 3 * PITCH]));
        }
        store(column + vec2<i32>(0, begin + y), limited(around * weights[begin + y], normalizes));
    }
}

// What is divided by the weight inside the region may exceed all values of the picture a little, because levels are
// rounded.
fn limited(value: vec4<f32>, normalizes: bool) -> vec4<f32> {
    if normalizes {
        return clamp(value, vec4<f32>(-LARGEST), vec4<f32>(LARGEST));
    }
    return value;
}
#endif
