// The tiles of the pass that sums, and the strips that they are cut into.

#define_import_path bevy_gaussian_blur::strips

#import bevy_gaussian_blur::common::is_inside
#import bevy_gaussian_blur::layers::sigmas_within
#import bevy_gaussian_blur::rungs::rung_of

// The side of the tile, in texels, and the farthest that a kernel reaches.
const SIDE: i32 = #{WIDTH};
const REACH: i32 = #{REACH};
// The rows of a strip.
const DOWN: i32 = 8;
const STRIPS: i32 = SIDE / DOWN;

// Places in a tile count along the rows of it and then down its columns. Columns are summed first, so they are those along which
// sigma varies more: where a tile is turned, they lie along x.
struct Tile {
    // Its first texel, in the picture.
    corner: vec2<i32>,
    is_turned: bool,
    // Whether it is away from all edges.
    is_plain: bool,
}

fn tile_at(corner: vec2<i32>) -> Tile {
    let is_plain = is_inside(corner - REACH, corner + SIDE + REACH - 1);
    // Strips in the middle, of both ways to lie.
    let low = vec2<f32>(corner + (SIDE - DOWN) / 2);
    let high = low + f32(DOWN);
    let far = vec2<f32>(corner + SIDE);
    let lying = sigmas_within(vec2<f32>(f32(corner.x), low.y), vec2<f32>(far.x, high.y));
    let standing = sigmas_within(vec2<f32>(low.x, f32(corner.y)), vec2<f32>(high.x, far.y));
    return Tile(corner, standing.y - standing.x < lying.y - lying.x, is_plain);
}

// A pair of the tile as one of the picture, or the other way round.
fn turned(tile: Tile, pair: vec2<i32>) -> vec2<i32> {
    return select(pair, pair.yx, tile.is_turned);
}

fn texel_of(tile: Tile, place: vec2<i32>) -> vec2<i32> {
    return tile.corner + turned(tile, place);
}

// The least and the largest sigma of a strip, as rungs.
fn span_of(tile: Tile, strip: i32) -> vec2<f32> {
    let low = texel_of(tile, vec2<i32>(0, strip * DOWN));
    let high = low + turned(tile, vec2<i32>(SIDE, DOWN));
    let sigmas = sigmas_within(vec2<f32>(low), vec2<f32>(high));
    return vec2<f32>(rung_of(sigmas.x), rung_of(sigmas.y));
}

fn is_slow(tile: Tile, span: vec2<f32>) -> bool {
    return tile.is_plain && span.y - span.x <= 1.0;
}

fn all_slow(tile: Tile) -> bool {
    var result = true;
    for (var strip = 0; strip < STRIPS; strip++) {
        result = result && is_slow(tile, span_of(tile, strip));
    }
    return result;
}
