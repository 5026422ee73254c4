// The last step of compute passes that enlarge a level, one tile at a time: from coarse rows in workgroup memory, which are
// interpolated horizontally, to the target.
//
// Storing the result takes about as long as everything else, so a stored texel should cost little more than its four
// products. A thread walks down a column with four coarse rows in registers: it reads a new one where the next cell of the
// level begins. Tiles begin at a cell, so that all threads do this in the same turns, which compilers know.

#define_import_path bevy_gaussian_blur::uniform::walk

#import bevy_gaussian_blur::common::pass::{LARGEST, blur, store, unpack}
#import bevy_gaussian_blur::common::cubic::cubic
#import bevy_gaussian_blur::uniform::spline::{place_of, weight_inside}

// The tile, in target texels.
const WIDTH: i32 = #{WIDTH};
const HEIGHT: i32 = #{HEIGHT};
const THREADS: i32 = #{THREADS};
// The target rows of a cell, a coarse row, or of as much of it as a thread walks; the fewest, if the program serves any level.
const CELL: i32 = #{CELL};
// The target columns of a cell that share reads, or 1.
const SHARING: i32 = #{SHARING};
// The rows that a thread walks: every second one, since another thread takes the others.
const WALK: i32 = 2 * HEIGHT * WIDTH / THREADS;
const_assert WALK % CELL == 0 && HEIGHT <= THREADS && WIDTH % SHARING == 0;

// Texels of a row that are interpolated at once are neighbours: a shift from row to row keeps their writes apart.
const PITCH: i32 = WIDTH + select(0, 1, SHARING > 1);
var<workgroup> rows: array<vec2<u32>, #{ROOM}>;
// The weights of the four coarse rows around each row of the tile.
var<workgroup> weights: array<vec4<f32>, HEIGHT>;

fn lay_out_weights(corner: vec2<i32>, thread: i32) {
    if thread < HEIGHT {
        let place = place_of(corner + vec2<i32>(0, thread));
        weights[thread] = cubic(place.t.y) / weight_inside(1u, place);
    }
}

// Stores every second texel of a part of a column, for cells of so many rows as far as a thread walks. `top` is the first coarse row
// of the tile, and `local` the place of the thread among the pairs of rows that are stored together, as they lie in the memory of
// textures.
fn walk(column: vec2<i32>, top: i32, local: vec2<i32>, cell: i32, normalizes: bool) {
    let begin = local.y / 2 * WALK + local.y % 2;
    var slot = (place_of(blur.origin + column + vec2<i32>(0, begin)).texel.y - 1 - top) * PITCH + local.x;
    var around = mat4x4<f32>(unpack(rows[slot]), unpack(rows[slot + PITCH]), unpack(rows[slot + 2 * PITCH]),
        unpack(rows[slot + 3 * PITCH]));
    for (var y = 0; y < WALK; y += 2) {
        if y > 0 && y % cell == 0 {
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
