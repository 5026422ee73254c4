// Compute: the sharp picture under the small sigmas of a blur that varies, a tile at a time, for the pass that blends.
//
// A Gaussian whose sigma changes from texel to texel cannot be separated. But sigmas of neighbours are much alike.
//
// In most tiles sigma hardly varies at all: such a tile is **slow**. It is convolved along both axes, as in `convolve_compute`,
// but every texel has weights of its own, interpolated between those of the least and the largest sigma of the tile. A row
// then reads columns whose sigmas are those of the columns, which are as good as its own.
//
// In other tiles sigmas lie between a few fixed ones, the **rungs**. The tile is convolved with each of those, and every texel
// interpolates between two of the results.
//
// Either way the interpolation is in the logarithm of sigma, as in `plan::ladder`, between sigmas with a ratio of 2^(1/8) or less,
// and of 2^(1/12) below 1: no picture is off by more than 0.5/255 and 0.3/255, by the L1 distance of kernels.

#import bevy_gaussian_blur::common::{EDGE_RENORMALIZE, blur, is_finite, is_inside, load_unchecked, pack}
#import bevy_gaussian_blur::common::{read_texel, source_position, store, unpack}
#import bevy_gaussian_blur::layers::{may_be_summed, sigma_at, sigmas_within, stack}
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

// Sigma is 2^(rung / 8), or below 1 2^(rung / 12). In the lowest one it is 0.19, and a neighbour counts 10^-6: below, a blur is
// none.
const TO_OCTAVE: f32 = 8.0;
const TO_OCTAVE_BELOW: f32 = 12.0;
const LOWEST: i32 = -29;
const RUNGS: i32 = #{RUNGS};

// The rungs that the tile needs, a bit for each, from the lowest on.
var<workgroup> used: array<atomic<u32>, 2>;
var<workgroup> found: vec2<u32>;

// The weights along both axes, by distance, and those for the next convolution: of the least sigma, and by how much those of the
// largest are more. From where a kernel ends they are 0.
const DISTANCES: i32 = #{DISTANCES};
const TABLES: i32 = 2 * DISTANCES;
var<workgroup> weights: array<vec2<f32>, 2 * TABLES>;

// The sums of columns, and results, as in `convolve_compute`.
const PART: i32 = COLUMNS / ACROSS;
var<workgroup> sums: array<vec2<u32>, COLUMNS * HEIGHT>;

// A convolution of the tile.
struct Convolution {
    // The least and the largest sigma, as rungs, fractions and all. They are one, unless the tile is slow.
    ends: vec2<f32>,
    // Where its weights are.
    table: i32,
    // How far it reaches along x and y.
    reach: vec2<i32>,
    // Whether it is away from all edges.
    is_plain: bool,
}

@compute @workgroup_size(#{THREADS})
fn gather_compute(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) thread: u32) {
    let index = i32(thread);
    let first = vec2<i32>(group.xy) * vec2<i32>(WIDTH, HEIGHT);
    let corner = source_position(blur.origin + first);
    let sigmas = sigmas_within(vec2<f32>(corner), vec2<f32>(corner + vec2<i32>(WIDTH, HEIGHT)));
    if !may_be_summed(sigmas) {
        return;
    }
    // The texels of this thread.
    let quad = vec2<i32>(index % (WIDTH / ACROSS) * ACROSS, index / (WIDTH / ACROSS));
    let rungs = rungs_of(first, quad);
    let is_plain = is_inside(corner - REACH, corner + vec2<i32>(WIDTH, HEIGHT) + REACH - 1);
    let ends = vec2<f32>(rung_of(sigmas.x), rung_of(sigmas.y));
    let is_slow = is_plain && ends.y - ends.x <= 1.0;
    var needed = vec2<u32>(1u, 0u);
    if !is_slow {
        look_at(index, rungs);
        needed = workgroupUniformLoad(&found);
    }
    var blended = mat4x4<f32>();
    var table = 0;
    for (var word = 0; word < 2; word++) {
        for (var bits = needed[word]; bits != 0u; bits &= bits - 1u) {
            let rung = f32(LOWEST + 32 * word + i32(firstTrailingBit(bits)));
            let between = select(vec2<f32>(rung), ends, is_slow);
            let convolution = Convolution(between, table, reach_of(between.y), is_plain);
            lay_out_weights(index, convolution);
            workgroupBarrier();
            sum_columns(index, corner, convolution);
            workgroupBarrier();
            let shares = select(shares_of(corner + quad, rungs, convolution), vec4<f32>(1.0), is_slow);
            let values = sum_row(quad, place(rungs, between), convolution);
            blended += mat4x4<f32>(
                shares.x * values[0],
                shares.y * values[1],
                shares.z * values[2],
                shares.w * values[3],
            );
            table = TABLES - table;
        }
    }
    workgroupBarrier();
    keep(index, first, quad, blended);
}

// That of a texel for which somebody else cares.
const NO_RUNG: f32 = 1e9;

// Four neighbouring texels as rungs.
fn rungs_of(first: vec2<i32>, quad: vec2<i32>) -> vec4<f32> {
    var rungs = vec4<f32>(NO_RUNG);
    for (var i = 0; i < ACROSS; i++) {
        let position = first + quad + vec2<i32>(i, 0);
        let sigma = sigma_at(source_position(blur.origin + position));
        if sigma > 0.0 && sigma <= stack.layers[0].sigma && all(position < blur.size) {
            rungs[i] = rung_of(sigma);
        }
    }
    return rungs;
}

// A sigma as a rung, with its fraction.
fn rung_of(sigma: f32) -> f32 {
    let octave = log2(clamp(sigma, 1e-3, stack.gathered));
    let rung = octave * select(TO_OCTAVE, TO_OCTAVE_BELOW, octave < 0.0);
    let limited = clamp(rung, f32(LOWEST), f32(LOWEST + RUNGS - 1));
    // What is as good as a rung is one.
    return select(limited, round(limited), abs(limited - round(limited)) < 0.005);
}

// Where rungs lie between two.
fn place(rungs: vec4<f32>, ends: vec2<f32>) -> vec4<f32> {
    return clamp((rungs - ends.x) / max(ends.y - ends.x, 1e-6), vec4<f32>(0.0), vec4<f32>(1.0));
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

// The shares that four neighbouring texels have of a convolution with a single rung.
fn shares_of(first: vec2<i32>, rungs: vec4<f32>, convolution: Convolution) -> vec4<f32> {
    let shares = max(1.0 - abs(rungs - convolution.ends.x), vec4<f32>(0.0));
    if convolution.is_plain || all(blur.edge != vec2<u32>(EDGE_RENORMALIZE)) {
        return shares;
    }
    return shares / weights_inside(first, convolution);
}

fn sigmas_of(rung: f32) -> vec2<f32> {
    return exp2(rung / select(TO_OCTAVE, TO_OCTAVE_BELOW, rung < 0.0)) * stack.aspect;
}

// How far the sums of a rung reach: as many texels as are read at once.
fn reach_of(rung: f32) -> vec2<i32> {
    let reach = vec2<i32>(ceil(stack.cutoff * sigmas_of(rung)));
    return (reach + AT_ONCE - 1) / AT_ONCE * AT_ONCE;
}
const AT_ONCE: vec2<i32> = vec2<i32>(2, 4);

// The weights along both axes; those of an axis add up to 1.
fn lay_out_weights(index: i32, convolution: Convolution) {
    if index >= TABLES {
        return;
    }
    let least = weight_at(index, convolution.ends.x);
    var more = 0.0;
    if convolution.ends.y > convolution.ends.x {
        more = weight_at(index, convolution.ends.y) - least;
    }
    weights[convolution.table + index] = vec2<f32>(least, more);
}

fn weight_at(index: i32, rung: f32) -> f32 {
    let sigma = sigmas_of(rung)[index / DISTANCES];
    let scale = -0.5 / max(sigma * sigma, 1e-4);
    var total = 1.0;
    for (var distance = 1; distance <= REACH; distance++) {
        total += 2.0 * fading(f32(distance), scale, stack.cutoff * sigma);
    }
    return fading(f32(index % DISTANCES), scale, stack.cutoff * sigma) / total;
}

fn weight_of(convolution: Convolution, axis: i32, distance: i32) -> vec2<f32> {
    return weights[convolution.table + axis * DISTANCES + distance];
}
const X: i32 = 0;
const Y: i32 = 1;

fn slot_of(row: i32, column: i32) -> i32 {
    return row * COLUMNS + column % ACROSS * PART + column / ACROSS;
}

// Sums along y, of all columns that the rows need: eight of a column for each thread.
fn sum_columns(index: i32, corner: vec2<i32>, convolution: Convolution) {
    let columns = WIDTH + 2 * convolution.reach.x;
    if index >= columns * (HEIGHT / DOWN) {
        return;
    }
    let column = index % columns - convolution.reach.x;
    let row = index / columns * DOWN;
    let centre = corner + vec2<i32>(column, row);
    let slot = slot_of(row, REACH + column);
    // Copies of the loop: looking for edges in all tiles takes time.
    if !(convolution.is_plain && sum_column(centre, slot, convolution, true)) {
        sum_column(centre, slot, convolution, false);
    }
}

// The sums of a column. Returns whether everything in them was finite.
fn sum_column(centre: vec2<i32>, slot: i32, convolution: Convolution, is_plain: bool) -> bool {
    var a = vec4<f32>(0.0);
    var b = vec4<f32>(0.0);
    var c = vec4<f32>(0.0);
    var d = vec4<f32>(0.0);
    var e = vec4<f32>(0.0);
    var f = vec4<f32>(0.0);
    var g = vec4<f32>(0.0);
    var h = vec4<f32>(0.0);
    // Where the sigmas of the first and of the last texel lie between the ends. Those between them change evenly enough.
    var places = vec2<f32>(0.0);
    if convolution.ends.y > convolution.ends.x {
        let rungs = vec4<f32>(rung_of(sigma_at(centre)), rung_of(sigma_at(centre + vec2<i32>(0, DOWN - 1))), 0.0, 0.0);
        places = place(rungs, convolution.ends).xy;
    }
    let place_near = mix(vec4<f32>(places.x), vec4<f32>(places.y), vec4<f32>(0.0, 1.0, 2.0, 3.0) / f32(DOWN - 1));
    let place_far = mix(vec4<f32>(places.x), vec4<f32>(places.y), vec4<f32>(4.0, 5.0, 6.0, 7.0) / f32(DOWN - 1));
    // The weights of the last eight reads, handed from one sum to the next, and by how much they are more for the largest sigma.
    var near = vec4<f32>(0.0);
    var far = vec4<f32>(0.0);
    var near_more = vec4<f32>(0.0);
    var far_more = vec4<f32>(0.0);
    let reach = convolution.reach.y;
    for (var i = -reach; i < DOWN + reach; i += AT_ONCE.y) {
        // Several loads under way at once.
        for (var j = i; j < i + AT_ONCE.y; j++) {
            let weight = weight_of(convolution, Y, abs(j));
            far = vec4<f32>(near.w, far.xyz);
            near = vec4<f32>(weight.x, near.xyz);
            far_more = vec4<f32>(near_more.w, far_more.xyz);
            near_more = vec4<f32>(weight.y, near_more.xyz);
            let value = read(centre + vec2<i32>(0, j), is_plain);
            let first = near + place_near * near_more;
            let last = far + place_far * far_more;
            a += first.x * value;
            b += first.y * value;
            c += first.z * value;
            d += first.w * value;
            e += last.x * value;
            f += last.y * value;
            g += last.z * value;
            h += last.w * value;
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
    return is_finite(a + b + c + d + e + f + g + h);
}

fn read(texel: vec2<i32>, is_plain: bool) -> vec4<f32> {
    if is_plain {
        return load_unchecked(texel, false);
    }
    return read_texel(texel);
}

// Sums along x, of four neighbouring texels whose sigmas lie there between two.
fn sum_row(quad: vec2<i32>, places: vec4<f32>, convolution: Convolution) -> mat4x4<f32> {
    var a = vec4<f32>(0.0);
    var b = vec4<f32>(0.0);
    var c = vec4<f32>(0.0);
    var d = vec4<f32>(0.0);
    var near = vec4<f32>(0.0);
    var more = vec4<f32>(0.0);
    let reach = convolution.reach.x;
    for (var i = -reach; i < ACROSS + reach; i += AT_ONCE.x) {
        for (var j = i; j < i + AT_ONCE.x; j++) {
            let weight = weight_of(convolution, X, abs(j));
            near = vec4<f32>(weight.x, near.xyz);
            more = vec4<f32>(weight.y, more.xyz);
            let value = unpack(sums[slot_of(quad.y, REACH + quad.x + j)]);
            let own = near + places * more;
            a += own.x * value;
            b += own.y * value;
            c += own.z * value;
            d += own.w * value;
        }
    }
    return mat4x4<f32>(a, b, c, d);
}

// The parts of the weights that count, of four neighbouring texels.
fn weights_inside(first: vec2<i32>, convolution: Convolution) -> vec4<f32> {
    let reach = convolution.reach;
    var across = vec4<f32>(0.0);
    var near = vec4<f32>(0.0);
    for (var i = -reach.x; i < ACROSS + reach.x; i++) {
        near = vec4<f32>(weight_of(convolution, X, abs(i)).x, near.xyz);
        across += select(vec4<f32>(0.0), near, counts(first.x + i, 0u));
    }
    var down = 0.0;
    for (var i = -reach.y; i <= reach.y; i++) {
        down += select(0.0, weight_of(convolution, Y, abs(i)).x, counts(first.y + i, 1u));
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
