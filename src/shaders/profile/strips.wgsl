// The tiles of the summing pass, their orientation, and their strips.

#define_import_path bevy_gaussian_blur::profile::strips

#import bevy_gaussian_blur::common::pass::{blur, is_edge_free, is_inside, source_position}
#import bevy_gaussian_blur::profile::sigma_levels::{sigma_at, sigmas_within}
#import bevy_gaussian_blur::profile::log_sigma::{place_between, rung_of}
#import bevy_gaussian_blur::profile::sigma_field::slope_at
#import bevy_gaussian_blur::common::tile::{DOWN, HALO, HEIGHT, WIDTH}

// A strip has as many rows as a thread sums.
const STRIPS: i32 = HEIGHT / DOWN;
// This many tiles form a square. All tiles of a square are turned, or none is.
const IN_SQUARE: i32 = WIDTH / HEIGHT;

// Positions in a tile count along its rows and then down its columns. Columns are summed first, so they run along the
// axis along which sigma varies more: in a turned tile, along x.
struct Tile {
    // Its first texel, counted from the first written texel, and in the picture.
    first: vec2<i32>,
    corner: vec2<i32>,
    is_turned: bool,
    // Whether it is away from all edges, or only at edges that clamp.
    lies_inside: bool,
    is_plain: bool,
}

// The first texel of a tile's square, counted from the first written texel.
fn square_of(group: vec2<i32>) -> vec2<i32> {
    return vec2<i32>(group.x, group.y / IN_SQUARE) * WIDTH;
}

fn sigmas_of_square(square: vec2<i32>) -> vec2<f32> {
    let corner = vec2<f32>(source_position(blur.origin + square));
    return sigmas_within(corner, corner + f32(WIDTH));
}

// A tile, in a square with these sigmas.
fn tile_of(group: vec2<i32>, sigmas: vec2<f32>) -> Tile {
    let square = square_of(group);
    // At the lower border there may be too few tiles to turn.
    let is_whole = square.y + WIDTH - HEIGHT < blur.size.y;
    let is_turned = is_whole && varies_across(source_position(blur.origin + square), sigmas);
    let offset = vec2<i32>(0, group.y % IN_SQUARE * HEIGHT);
    let first = square + select(offset, offset.yx, is_turned);
    let corner = source_position(blur.origin + first);
    let size = vec2<i32>(WIDTH, HEIGHT);
    let low = corner - HALO;
    let high = corner + select(size, size.yx, is_turned) + HALO - 1;
    return Tile(first, corner, is_turned, is_inside(low, high), is_edge_free(low, high));
}

// Whether sigma varies more along x than along y in a square with these sigmas, judged in its middle. If it hardly
// varies at all, the orientation does not matter.
fn varies_across(corner: vec2<i32>, sigmas: vec2<f32>) -> bool {
    let slope = abs(slope_at(vec2<f32>(corner + WIDTH / 2)));
    let span = span_of(sigmas);
    return slope.x > slope.y && span.y - span.x > 1.0;
}

// Converts a pair between the tile and the picture.
fn turned(tile: Tile, pair: vec2<i32>) -> vec2<i32> {
    return select(pair, pair.yx, tile.is_turned);
}

fn texel_of(tile: Tile, place: vec2<i32>) -> vec2<i32> {
    return tile.corner + turned(tile, place);
}

// The least and the largest sigma in a box of the tile.
fn sigmas_from(tile: Tile, place: vec2<i32>, size: vec2<i32>) -> vec2<f32> {
    let low = texel_of(tile, place);
    return sigmas_within(vec2<f32>(low), vec2<f32>(low + turned(tile, size)));
}

// The least and the largest sigma of a strip.
fn sigmas_of_strip(tile: Tile, strip: i32) -> vec2<f32> {
    return sigmas_from(tile, vec2<i32>(0, strip * DOWN), vec2<i32>(WIDTH, DOWN));
}

// Two sigmas as rungs.
fn span_of(sigmas: vec2<f32>) -> vec2<f32> {
    return vec2<f32>(rung_of(sigmas.x), rung_of(sigmas.y));
}

// Whether sigma varies by at most one rung, in a tile where clamping is enough.
fn is_slow(tile: Tile, span: vec2<f32>) -> bool {
    return tile.is_plain && span.y - span.x <= 1.0;
}

// The positions of the eight sigmas in a column of a strip, between the rungs `ends`.
fn places_of(centre: vec2<i32>, step: vec2<i32>, ends: vec2<f32>) -> mat2x4<f32> {
    if ends.x == ends.y {
        return mat2x4<f32>();
    }
    let place = place_between(vec4<f32>(rung_at(centre), rung_at(centre + 4 * step), rung_at(centre + 7 * step), 0.0), ends);
    var near = mix(vec4<f32>(place.x), vec4<f32>(place.z), vec4<f32>(0.0, 1.0, 2.0, 3.0) / 7.0);
    var far = mix(vec4<f32>(place.x), vec4<f32>(place.z), vec4<f32>(4.0, 5.0, 6.0, 7.0) / 7.0);
    // Where a profile bends, the texels between the first and the last one are not evenly spaced between them.
    if abs(place.y - far.x) * (ends.y - ends.x) > 0.02 {
        near = place_between(four_rungs(centre, step), ends);
        far = place_between(four_rungs(centre + 4 * step, step), ends);
    }
    return mat2x4<f32>(near, far);
}

fn four_rungs(first: vec2<i32>, step: vec2<i32>) -> vec4<f32> {
    return vec4<f32>(rung_at(first), rung_at(first + step), rung_at(first + 2 * step), rung_at(first + 3 * step));
}

fn rung_at(texel: vec2<i32>) -> f32 {
    return rung_of(sigma_at(texel));
}
