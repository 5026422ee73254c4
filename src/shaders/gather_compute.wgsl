// Compute: the sharp picture under the small sigmas of a blur that varies, a tile at a time, for the pass that blends.
//
// A Gaussian whose sigma changes from texel to texel cannot be separated. But sigmas of neighbours are much alike: those of a
// tile lie between a few fixed ones, the **rungs**. The tile is convolved with each of those along both axes, as in
// `convolve_compute`, and every texel interpolates between two of them, in the logarithm of sigma as in `plan::ladder`. Rungs have
// the ratio 2^(1/12): no picture is off by more than 0.3/255, by the L1 distance of kernels.

#import bevy_gaussian_blur::common::{EDGE_RENORMALIZE, blur, enter, fetch, is_inside, pack}
#import bevy_gaussian_blur::common::{read_texel, source_position, store, unpack}
#import bevy_gaussian_blur::shares::{sigma_at, stack}
#import bevy_gaussian_blur::sums::{counts, fading}

// The tile, in texels, and the farthest that a kernel reaches.
const WIDTH: i32 = #{WIDTH};
const HEIGHT: i32 = #{HEIGHT};
const THREADS: i32 = #{THREADS};
const REACH: i32 = #{REACH};
const COLUMNS: i32 = WIDTH + 2 * REACH;
// The rows of a column that a thread sums, and the texels of a row.
const DOWN: i32 = 8;
const ACROSS: i32 = 4;

// Sigma is 2^(rung / 12). In the lowest one it is 0.19, and a neighbour counts 10^-6: below, a blur is none.
const TO_OCTAVE: f32 = 12.0;
const LOWEST: i32 = -29;
const RUNGS: i32 = #{RUNGS};
// That of a texel for which somebody else cares.
const NO_RUNG: f32 = 1e9;

// The rungs that the tile needs, a bit for each, from the lowest on.
var<workgroup> used: array<atomic<u32>, 2>;
var<workgroup> found: vec2<u32>;

// The weights of a rung along both axes, by distance, and of the next one. From where the kernel ends they are 0.
const DISTANCES: i32 = #{DISTANCES};
var<workgroup> weights: array<f32, 4 * DISTANCES>;

// The sums of columns, and results, as in `convolve_compute`.
const PART: i32 = COLUMNS / ACROSS;
var<workgroup> sums: array<vec2<u32>, COLUMNS * HEIGHT>;

@compute @workgroup_size(#{THREADS})
fn gather_compute(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) thread: u32) {
    let index = i32(thread);
    let first = vec2<i32>(group.xy) * vec2<i32>(WIDTH, HEIGHT);
    // The texels of this thread.
    let quad = vec2<i32>(index % (WIDTH / ACROSS) * ACROSS, index / (WIDTH / ACROSS));
    let rungs = rungs_of(first + quad);
    look_at(index, rungs);
    let needed = workgroupUniformLoad(&found);
    if all(needed == vec2<u32>(0u)) {
        return;
    }
    let corner = source_position(blur.origin + first);
    let is_plain = is_inside(corner - REACH, corner + vec2<i32>(WIDTH, HEIGHT) + REACH - 1);
    let normalizes = !is_plain && any(blur.edge == vec2<u32>(EDGE_RENORMALIZE));
    var blended = mat4x4<f32>();
    var table = 0;
    for (var word = 0; word < 2; word++) {
        for (var bits = needed[word]; bits != 0u; bits &= bits - 1u) {
            let rung = LOWEST + 32 * word + i32(firstTrailingBit(bits));
            let reach = reach_of(rung);
            lay_out_weights(index, table, rung);
            workgroupBarrier();
            sum_columns(index, corner, table + DISTANCES, reach, is_plain);
            workgroupBarrier();
            var shares = max(1.0 - abs(rungs - f32(rung)), vec4<f32>(0.0));
            if normalizes {
                shares /= weights_inside(corner + quad, table, reach);
            }
            let values = sum_row(quad, table, reach.x);
            blended += mat4x4<f32>(
                shares.x * values[0],
                shares.y * values[1],
                shares.z * values[2],
                shares.w * values[3],
            );
            table = 2 * DISTANCES - table;
        }
    }
    workgroupBarrier();
    keep(index, first, quad, blended);
}

// Four neighbouring texels as rungs, fractions and all.
fn rungs_of(texel: vec2<i32>) -> vec4<f32> {
    var rungs = vec4<f32>(NO_RUNG);
    for (var i = 0; i < ACROSS; i++) {
        let position = texel + vec2<i32>(i, 0);
        let sigma = sigma_at(source_position(blur.origin + position));
        if sigma > 0.0 && sigma <= stack.layers[0].sigma && all(position < blur.size) {
            let rung = clamp(TO_OCTAVE * log2(min(sigma, stack.gathered)), f32(LOWEST), f32(LOWEST + RUNGS - 1));
            // What is as good as a rung is one.
            rungs[i] = select(rung, round(rung), abs(rung - round(rung)) < 0.01);
        }
    }
    return rungs;
}

// Finds out which rungs the tile needs. Workgroup memory starts with anything.
fn look_at(index: i32, rungs: vec4<f32>) {
    if index == 0 {
        atomicStore(&used[0], 0u);
        atomicStore(&used[1], 0u);
    }
    workgroupBarrier();
    var bits = vec2<u32>(0u);
    for (var i = 0; i < ACROSS; i++) {
        if rungs[i] < NO_RUNG {
            let place = u32(i32(floor(rungs[i])) - LOWEST);
            let next = u32(i32(ceil(rungs[i])) - LOWEST);
            bits[place / 32u] |= 1u << (place % 32u);
            bits[next / 32u] |= 1u << (next % 32u);
        }
    }
    if any(bits != vec2<u32>(0u)) {
        atomicOr(&used[0], bits.x);
        atomicOr(&used[1], bits.y);
    }
    workgroupBarrier();
    if index == 0 {
        found = vec2<u32>(atomicLoad(&used[0]), atomicLoad(&used[1]));
    }
}

fn sigmas_of(rung: i32) -> vec2<f32> {
    return exp2(f32(rung) / TO_OCTAVE) * stack.aspect;
}

// How far the sums of a rung reach: as many texels as are read at once.
fn reach_of(rung: i32) -> vec2<i32> {
    let reach = vec2<i32>(ceil(stack.cutoff * sigmas_of(rung)));
    return (reach + AT_ONCE - 1) / AT_ONCE * AT_ONCE;
}
const AT_ONCE: vec2<i32> = vec2<i32>(2, 4);

// The weights of a rung along both axes; those of an axis add up to 1.
fn lay_out_weights(index: i32, table: i32, rung: i32) {
    if index >= 2 * DISTANCES {
        return;
    }
    let sigma = sigmas_of(rung)[index / DISTANCES];
    let scale = -0.5 / max(sigma * sigma, 1e-4);
    var total = 1.0;
    for (var distance = 1; distance <= REACH; distance++) {
        total += 2.0 * fading(f32(distance), scale, stack.cutoff * sigma);
    }
    weights[table + index] = fading(f32(index % DISTANCES), scale, stack.cutoff * sigma) / total;
}

fn slot_of(row: i32, column: i32) -> i32 {
    return row * COLUMNS + column % ACROSS * PART + column / ACROSS;
}

// Sums along y, of all columns that the rows need: eight of a column for each thread.
fn sum_columns(index: i32, corner: vec2<i32>, table: i32, reach: vec2<i32>, is_plain: bool) {
    let columns = WIDTH + 2 * reach.x;
    if index >= columns * (HEIGHT / DOWN) {
        return;
    }
    let column = index % columns - reach.x;
    let row = index / columns * DOWN;
    let centre = corner + vec2<i32>(column, row);
    let slot = slot_of(row, REACH + column);
    // Copies of the loop: looking for edges in all tiles takes time.
    if is_plain {
        sum_column(centre, slot, table, reach.y, true);
    } else {
        sum_column(centre, slot, table, reach.y, false);
    }
}

fn sum_column(centre: vec2<i32>, slot: i32, table: i32, reach: i32, is_plain: bool) {
    var a = vec4<f32>(0.0);
    var b = vec4<f32>(0.0);
    var c = vec4<f32>(0.0);
    var d = vec4<f32>(0.0);
    var e = vec4<f32>(0.0);
    var f = vec4<f32>(0.0);
    var g = vec4<f32>(0.0);
    var h = vec4<f32>(0.0);
    // The weights of the last eight reads, handed from one sum to the next.
    var near = vec4<f32>(0.0);
    var far = vec4<f32>(0.0);
    for (var i = -reach; i < DOWN + reach; i += AT_ONCE.y) {
        // Several loads under way at once.
        for (var j = i; j < i + AT_ONCE.y; j++) {
            far = vec4<f32>(near.w, far.xyz);
            near = vec4<f32>(weights[table + abs(j)], near.xyz);
            let value = read(centre + vec2<i32>(0, j), is_plain);
            a += near.x * value;
            b += near.y * value;
            c += near.z * value;
            d += near.w * value;
            e += far.x * value;
            f += far.y * value;
            g += far.z * value;
            h += far.w * value;
        }
    }
    sums[slot] = pack(a);
    sums[slot + COLUMNS] = pack(b);
    sums[slot + 2 * COLUMNS] = pack(c);
    sums[slot + 3 * COLUMNS] = pack(d);
    sums[slot + 4 * COLUMNS] = pack(e);
    sums[slot + 5 * COLUMNS] = pack(f);
    sums[slot + 6 * COLUMNS] = pack(g);
    sums[slot + 7 * COLUMNS] = pack(h);
}

fn read(texel: vec2<i32>, is_plain: bool) -> vec4<f32> {
    if is_plain {
        return enter(fetch(texel));
    }
    return read_texel(texel);
}

// Sums along x, of four neighbouring texels.
fn sum_row(quad: vec2<i32>, table: i32, reach: i32) -> mat4x4<f32> {
    var a = vec4<f32>(0.0);
    var b = vec4<f32>(0.0);
    var c = vec4<f32>(0.0);
    var d = vec4<f32>(0.0);
    var near = vec4<f32>(0.0);
    for (var i = -reach; i < ACROSS + reach; i += AT_ONCE.x) {
        for (var j = i; j < i + AT_ONCE.x; j++) {
            near = vec4<f32>(weights[table + abs(j)], near.xyz);
            let value = unpack(sums[slot_of(quad.y, REACH + quad.x + j)]);
            a += near.x * value;
            b += near.y * value;
            c += near.z * value;
            d += near.w * value;
        }
    }
    return mat4x4<f32>(a, b, c, d);
}

// The parts of the weights that count, of four neighbouring texels.
fn weights_inside(first: vec2<i32>, table: i32, reach: vec2<i32>) -> vec4<f32> {
    var across = vec4<f32>(0.0);
    var near = vec4<f32>(0.0);
    for (var i = -reach.x; i < ACROSS + reach.x; i++) {
        near = vec4<f32>(weights[table + abs(i)], near.xyz);
        across += select(vec4<f32>(0.0), near, counts(first.x + i, 0u));
    }
    var down = 0.0;
    for (var i = -reach.y; i <= reach.y; i++) {
        down += select(0.0, weights[table + DISTANCES + abs(i)], counts(first.y + i, 1u));
    }
    return down * across;
}

// Stores all of the tile, neighbouring texels by neighbouring threads.
fn keep(index: i32, first: vec2<i32>, quad: vec2<i32>, values: mat4x4<f32>) {
    let slot = slot_of(quad.y, quad.x);
    sums[slot] = pack(values[0]);
    sums[slot + PART] = pack(values[1]);
    sums[slot + 2 * PART] = pack(values[2]);
    sums[slot + 3 * PART] = pack(values[3]);
    workgroupBarrier();
    for (var i = index; i < WIDTH * HEIGHT; i += THREADS) {
        let texel = vec2<i32>(i % WIDTH, i / WIDTH);
        store(first + texel, unpack(sums[slot_of(texel.y, texel.x)]));
    }
}
