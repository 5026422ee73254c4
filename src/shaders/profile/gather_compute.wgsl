// Compute: sums of the sharp picture for the small sigmas of a varying blur, one tile at a time, for the pass that
// blends.
//
// A Gaussian whose sigma changes from texel to texel is not separable. But neighbours have similar sigmas: a tile is
// cut into **strips**, along the axis along which sigma varies less.
//
// In most strips sigma hardly varies at all: such a strip is **slow**. It is convolved along both axes, as in
// `convolve_compute`, but every texel has its own weights, interpolated between the weights for the least and the
// largest sigma of the strip. A row then reads columns with the sigmas of the columns, which are as good as its own.
//
// In other strips sigmas lie between a few fixed ones, the **rungs**. The strip is convolved with each of those, and
// every texel interpolates between two of the results. All strips of a tile work at once, each at its own rung: a
// **round** is one convolution of each strip.
//
// Both interpolate in the logarithm of sigma, as in `plan::sigma_levels`, between sigmas with a ratio of 2^(1/8) or
// less, and of 2^(1/12) below 1: no picture is off by more than 0.5/255 and 0.3/255, by the L1 distance of kernels.

#import bevy_gaussian_blur::common::pass::{EDGE_RENORMALIZE, LARGEST, blur, load_unchecked, pack, read_texel, store, unpack}
#import bevy_gaussian_blur::profile::sigma_levels::{bit_of, may_be_summed, sigma_at, stack}
#import bevy_gaussian_blur::profile::log_sigma::{LOWEST, NO_RUNG, place_between, rung_of, sigma_of}
#import bevy_gaussian_blur::profile::strips::{STRIPS, Tile, is_slow, places_of, sigmas_from, sigmas_of_strip}
#import bevy_gaussian_blur::profile::strips::{sigmas_of_square, span_of, square_of, texel_of, tile_of, turned}
#import bevy_gaussian_blur::profile::direct_sum::{counts, fading}
#import bevy_gaussian_blur::common::tile::{ACROSS, DOWN, HALO, HEIGHT, INTERLEAVED, WIDTH, four_products, keep_column, slot_of, sums}

const THREADS: i32 = #{THREADS};
const QUADS: i32 = WIDTH / ACROSS;

// The rungs that each strip needs, one bit for each, from the lowest on, and the most of any strip.
var<workgroup> used: array<array<atomic<u32>, 2>, STRIPS>;
var<workgroup> most: u32;

// A convolution of a strip.
struct Convolution {
    // The least and the largest sigma, as fractional rungs. They are equal unless the strip is slow.
    ends: vec2<f32>,
    // Its reach along rows and columns.
    reach: vec2<i32>,
}

// The convolutions of all strips, in this round and in the one before or after it. Their weights along both axes, by
// distance: the weight for the least sigma, and what to add to it for the largest. Beyond the end of a kernel both are 0.
const DISTANCES: i32 = #{DISTANCES};
const TABLES: i32 = 2 * DISTANCES;
var<workgroup> convolutions: array<Convolution, 2 * STRIPS>;
var<workgroup> weights: array<vec2<f32>, 2 * STRIPS * TABLES>;

@compute @workgroup_size(#{THREADS})
fn gather_compute(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) thread: u32) {
    let index = i32(thread);
    // In squares with strong blurs only, there is nothing to sum.
    let around = sigmas_of_square(square_of(vec2<i32>(group.xy)));
    if !may_be_summed(around) {
        return;
    }
    let tile = tile_of(vec2<i32>(group.xy), around);
    let sigmas = sigmas_from(tile, vec2<i32>(0), vec2<i32>(WIDTH, HEIGHT));
    if !may_be_summed(sigmas) {
        return;
    }
    // The texels of this thread.
    let quad = vec2<i32>(index % QUADS * ACROSS, index / QUADS);
    let rungs = rungs_of(tile, quad);
    // The strip whose weights this thread computes, and its remaining rungs.
    let own = min(index / TABLES, STRIPS - 1);
    var left = vec2<u32>(1u, 0u);
    var rounds = 1u;
    // Usually the whole tile is slow.
    var span = span_of(sigmas);
    var slow = is_slow(tile, span);
    if !slow {
        span = span_of(sigmas_of_strip(tile, own));
        slow = is_slow(tile, span_of(sigmas_of_strip(tile, quad.y / DOWN)));
        look_at(index, rungs, slow);
        rounds = workgroupUniformLoad(&most);
        left = rungs_used(own);
    }
    var blended = mat4x4<f32>();
    for (var round = 0u; round < rounds; round++) {
        let turn = i32(round % 2u) * STRIPS;
        if index < STRIPS * TABLES {
            lay_out(index, turn + own, tile, next_of(left, tile, span));
            left = without_next(left);
        }
        workgroupBarrier();
        sum_columns(index, tile, turn);
        workgroupBarrier();
        let strip = turn + quad.y / DOWN;
        if is_at_work(strip) {
            let shares = select(shares_of(tile, quad, rungs, strip), vec4<f32>(1.0), slow);
            let values = sum_row(quad, place_between(rungs, convolutions[strip].ends), strip);
            blended += mat4x4<f32>(shares.x * values[0], shares.y * values[1], shares.z * values[2], shares.w * values[3]);
        }
    }
    workgroupBarrier();
    keep(index, tile, quad, blended);
}

// Four neighbouring texels of a row as rungs.
fn rungs_of(tile: Tile, quad: vec2<i32>) -> vec4<f32> {
    return vec4<f32>(rung_in(tile, quad), rung_in(tile, quad + vec2<i32>(1, 0)),
        rung_in(tile, quad + vec2<i32>(2, 0)), rung_in(tile, quad + vec2<i32>(3, 0)));
}

fn rung_in(tile: Tile, texel: vec2<i32>) -> f32 {
    let in_tile = turned(tile, texel);
    let sigma = sigma_at(tile.corner + in_tile);
    if may_be_summed(vec2<f32>(sigma)) && all(tile.first + in_tile < blur.size) {
        return rung_of(sigma);
    }
    return NO_RUNG;
}

// Finds the rungs that the strips need. Workgroup memory is not initialised.
fn look_at(index: i32, rungs: vec4<f32>, slow: bool) {
    if index < STRIPS {
        atomicStore(&used[index][0], 0u);
        atomicStore(&used[index][1], 0u);
    }
    workgroupBarrier();
    var bits = vec2<u32>(0u);
    for (var i = 0; i < ACROSS; i++) {
        if rungs[i] < NO_RUNG {
            let place = u32(i32(floor(rungs[i])) - LOWEST);
            let next = u32(i32(ceil(rungs[i])) - LOWEST);
            bits |= bit_of(place) | bit_of(next);
        }
    }
    // A slow strip has one convolution, whichever bit is set.
    bits = select(bits, vec2<u32>(1u, 0u), slow);
    if any(bits != vec2<u32>(0u)) {
        let strip = index / QUADS / DOWN;
        atomicOr(&used[strip][0], bits.x);
        atomicOr(&used[strip][1], bits.y);
    }
    workgroupBarrier();
    if index == 0 {
        most = 0u;
        for (var strip = 0; strip < STRIPS; strip++) {
            let bits_of_strip = countOneBits(rungs_used(strip));
            most = max(most, bits_of_strip.x + bits_of_strip.y);
        }
    }
}

fn rungs_used(strip: i32) -> vec2<u32> {
    return vec2<u32>(atomicLoad(&used[strip][0]), atomicLoad(&used[strip][1]));
}

// The next convolution of a strip that spans this many rungs.
fn next_of(left: vec2<u32>, tile: Tile, span: vec2<f32>) -> vec2<f32> {
    if all(left == vec2<u32>(0u)) {
        return vec2<f32>(NO_RUNG);
    }
    if is_slow(tile, span) {
        return span;
    }
    return vec2<f32>(f32(LOWEST) + select(f32(firstTrailingBit(left.x)), f32(32u + firstTrailingBit(left.y)), left.x == 0u));
}

fn without_next(left: vec2<u32>) -> vec2<u32> {
    if left.x == 0u {
        return vec2<u32>(0u, left.y & (left.y - 1u));
    }
    return vec2<u32>(left.x & (left.x - 1u), left.y);
}

// Whether a strip takes part in a round. `strip` is its index in `convolutions`, which holds two rounds.
fn is_at_work(strip: i32) -> bool {
    return convolutions[strip].ends.x < NO_RUNG;
}

// The weights of four neighbouring texels for a convolution with a single rung.
fn shares_of(tile: Tile, quad: vec2<i32>, rungs: vec4<f32>, strip: i32) -> vec4<f32> {
    let shares = max(1.0 - abs(rungs - convolutions[strip].ends.x), vec4<f32>(0.0));
    if tile.is_plain || all(blur.edge != vec2<u32>(EDGE_RENORMALIZE)) {
        return shares;
    }
    return shares / weights_inside(tile, quad, strip);
}

// Along rows and columns.
fn sigmas_of(tile: Tile, rung: f32) -> vec2<f32> {
    let aspect = select(stack.aspect, stack.aspect.yx, tile.is_turned);
    return sigma_of(rung) * aspect;
}

// The reach of the sums of a rung, rounded up to the texels that are read at once.
fn reach_of(tile: Tile, rung: f32) -> vec2<i32> {
    let reach = vec2<i32>(ceil(stack.cutoff * sigmas_of(tile, rung)));
    return (reach + AT_ONCE - 1) / AT_ONCE * AT_ONCE;
}
const AT_ONCE: vec2<i32> = vec2<i32>(2, 4);

// Stores the convolution of a strip and its weights, one per thread. The weights of an axis add up to 1.
fn lay_out(index: i32, strip: i32, tile: Tile, between: vec2<f32>) {
    let place = index % TABLES;
    let is_idle = between.x == NO_RUNG;
    if place == 0 {
        convolutions[strip] = Convolution(between, select(reach_of(tile, between.y), vec2<i32>(0), is_idle));
    }
    if is_idle {
        return;
    }
    let least = weight_at(tile, place, between.x);
    var more = 0.0;
    if between.y > between.x {
        more = weight_at(tile, place, between.y) - least;
    }
    weights[strip * TABLES + place] = vec2<f32>(least, more);
}

fn weight_at(tile: Tile, place: i32, rung: f32) -> f32 {
    let sigma = sigmas_of(tile, rung)[place / DISTANCES];
    let support = stack.cutoff * sigma;
    let scale = -0.5 / max(sigma * sigma, 1e-4);
    var total = 1.0;
    for (var distance = 1; distance <= i32(ceil(support)); distance++) {
        total += 2.0 * fading(f32(distance), scale, support);
    }
    return fading(f32(place % DISTANCES), scale, support) / total;
}

fn weight_of(strip: i32, axis: i32, distance: i32) -> vec2<f32> {
    return weights[strip * TABLES + axis * DISTANCES + distance];
}
const ALONG_ROWS: i32 = 0;
const ALONG_COLUMNS: i32 = 1;

// Sums of all columns that the rows need: eight texels of a column for each thread. `turn` is the first strip of the round.
fn sum_columns(index: i32, tile: Tile, turn: i32) {
    var widest = 0;
    for (var strip = turn; strip < turn + STRIPS; strip++) {
        widest = max(widest, convolutions[strip].reach.x);
    }
    let columns = WIDTH + 2 * widest;
    let strip = turn + index / columns;
    if index >= columns * STRIPS || !is_at_work(strip) {
        return;
    }
    let first = vec2<i32>(index % columns - widest, index / columns * DOWN);
    // Copies of the loop: checking for edges in all tiles takes time.
    var is_done = false;
    if tile.lies_inside {
        is_done = sum_column(tile, first, strip, INSIDE);
    } else if tile.is_plain {
        is_done = sum_column(tile, first, strip, CLAMPED);
    }
    if !is_done {
        sum_column(tile, first, strip, ANYWHERE);
    }
}

// How texels are read: away from all edges; where clamping is enough; and anywhere, with any values.
const INSIDE: u32 = 0u;
const CLAMPED: u32 = 1u;
const ANYWHERE: u32 = 2u;

// The sums of a column from a position on. Returns whether all values were finite.
fn sum_column(tile: Tile, first: vec2<i32>, strip: i32, way: u32) -> bool {
    let centre = texel_of(tile, first);
    let step = turned(tile, vec2<i32>(0, 1));
    let convolution = convolutions[strip];
    var upper = mat4x4<f32>();
    var lower = mat4x4<f32>();
    let places = places_of(centre, step, convolution.ends);
    // The weights of the last eight reads, handed from one sum to the next, and what to add to them for the largest
    // sigma.
    var near = vec4<f32>(0.0);
    var far = vec4<f32>(0.0);
    var near_more = vec4<f32>(0.0);
    var far_more = vec4<f32>(0.0);
    let reach = convolution.reach.y;
    for (var i = -reach; i < DOWN + reach; i += AT_ONCE.y) {
        // Several loads in flight.
        for (var j = i; j < i + AT_ONCE.y; j++) {
            let weight = weight_of(strip, ALONG_COLUMNS, abs(j));
            far = vec4<f32>(near.w, far.xyz);
            near = vec4<f32>(weight.x, near.xyz);
            far_more = vec4<f32>(near_more.w, far_more.xyz);
            near_more = vec4<f32>(weight.y, near_more.xyz);
            let value = read(centre + j * step, way);
            upper += four_products(near + places[0] * near_more, value);
            lower += four_products(far + places[1] * far_more, value);
        }
    }
    return keep_column(first.y, HALO + first.x, upper, lower);
}

fn read(texel: vec2<i32>, way: u32) -> vec4<f32> {
    if way == ANYWHERE {
        return read_texel(texel);
    }
    return load_unchecked(texel, way == CLAMPED);
}

// Sums along rows, for four neighbouring texels with interpolated sigmas.
fn sum_row(quad: vec2<i32>, places: vec4<f32>, strip: i32) -> mat4x4<f32> {
    var four = mat4x4<f32>();
    var near = vec4<f32>(0.0);
    var more = vec4<f32>(0.0);
    let reach = convolutions[strip].reach.x;
    for (var i = -reach; i < ACROSS + reach; i += AT_ONCE.x) {
        for (var j = i; j < i + AT_ONCE.x; j++) {
            let weight = weight_of(strip, ALONG_ROWS, abs(j));
            near = vec4<f32>(weight.x, near.xyz);
            more = vec4<f32>(weight.y, more.xyz);
            let value = unpack(sums[slot_of(quad.y, HALO + quad.x + j)]);
            four += four_products(near + places * more, value);
        }
    }
    return four;
}

// The sums of the weights that count in the total, for four neighbouring texels of a row.
fn weights_inside(tile: Tile, quad: vec2<i32>, strip: i32) -> vec4<f32> {
    let reach = convolutions[strip].reach;
    let first = turned(tile, texel_of(tile, quad));
    let axes = select(vec2<u32>(0u, 1u), vec2<u32>(1u, 0u), tile.is_turned);
    var across = vec4<f32>(0.0);
    var near = vec4<f32>(0.0);
    for (var i = -reach.x; i < ACROSS + reach.x; i++) {
        near = vec4<f32>(weight_of(strip, ALONG_ROWS, abs(i)).x, near.xyz);
        across += select(vec4<f32>(0.0), near, counts(first.x + i, axes.x));
    }
    var down = 0.0;
    for (var i = -reach.y; i <= reach.y; i++) {
        down += select(0.0, weight_of(strip, ALONG_COLUMNS, abs(i)).x, counts(first.y + i, axes.y));
    }
    return down * across;
}

// Stores the whole tile: neighbouring threads store neighbouring texels.
fn keep(index: i32, tile: Tile, quad: vec2<i32>, values: mat4x4<f32>) {
    let slot = slot_of(quad.y, quad.x);
    for (var i = 0; i < ACROSS; i++) {
        // Rounded sums, divided by the weight inside, can exceed the range.
        sums[slot + i * INTERLEAVED] = pack(clamp(values[i], vec4<f32>(-LARGEST), vec4<f32>(LARGEST)));
    }
    workgroupBarrier();
    let across = turned(tile, vec2<i32>(WIDTH, HEIGHT)).x;
    for (var i = index; i < WIDTH * HEIGHT; i += THREADS) {
        let texel = vec2<i32>(i % across, i / across);
        let place = turned(tile, texel);
        store(tile.first + texel, unpack(sums[slot_of(place.y, place.x)]));
    }
}
