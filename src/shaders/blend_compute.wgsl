// Compute: a blur whose sigma varies over the picture: the last pass, a tile at a time.
//
// Sigmas of neighbours are much alike, so the texels of a tile blend the same few layers. One of these after the other is
// interpolated as in `upsample_compute`: the coarse rows that the tile needs horizontally, into workgroup memory, and vertically
// out of it.

#import bevy_gaussian_blur::blend::{Choice, LAYERS_BLENDED, choice_of, choices_in, line, normalized, place_in}
#import bevy_gaussian_blur::blend::{sharp_sum, target_sigma}
#import bevy_gaussian_blur::common::{blur, store}
#import bevy_gaussian_blur::cubic::cubic
#import bevy_gaussian_blur::layers::stack
#import bevy_gaussian_blur::shares::is_masked
#ifndef IN_PLACE
#import bevy_gaussian_blur::leave::as_it_is
#import bevy_gaussian_blur::common::{fetch, source_position, stored}
#endif

const WIDTH: i32 = #{WIDTH};
const HEIGHT: i32 = #{HEIGHT};

// The layers that a tile under a mask needs, a bit for each.
var<workgroup> used: array<atomic<u32>, 2>;
var<workgroup> found: vec2<u32>;

// The coarse rows of two layers: while one is read the next one is written.
const ROWS: i32 = #{ROWS};
var<workgroup> rows: array<vec4<f32>, 2 * ROWS * WIDTH>;

@compute @workgroup_size(#{WIDTH}, #{HEIGHT})
fn blend_compute(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_id) invocation: vec3<u32>) {
    let local = vec2<i32>(invocation.xy);
    let first = vec2<i32>(group.xy) * vec2<i32>(WIDTH, HEIGHT);
    let corner = blur.origin + first;
    let texel = corner + local;
    let is_written = all(first + local < blur.size);
    var choice = Choice(0u, vec3<f32>(0.0), 0.0);
    var sum = vec4<f32>(0.0);
    let sigma = target_sigma(texel);
    let choices = choices_in(corner, vec2<i32>(WIDTH, HEIGHT));
    if is_written && sigma > 0.0 {
        choice = choice_of(sigma, choices.above);
        if choice.sharp > 0.0 {
            sum = choice.sharp * sharp_sum(texel, sigma);
        }
    }
    var needed = bits_of(choices.blended);
    if is_masked() {
        look_at(local, choice);
        needed = workgroupUniformLoad(&found);
    }
    var side = 0;
    for (var word = 0u; word < 2u; word++) {
        for (var bits = needed[word]; bits != 0u; bits &= bits - 1u) {
            let layer = 32u * word + firstTrailingBit(bits);
            let value = layer_at(layer, corner, local, side);
            // How far below the highest one of this texel. Those above that wrap around, to very large numbers.
            let below = choice.above - layer;
            // What this texel does not need of a layer may be anything.
            if below < LAYERS_BLENDED && choice.weights[below] != 0.0 {
                sum += choice.weights[below] * value;
            }
            side = 1 - side;
        }
    }
    if sigma > 0.0 {
        store(first + local, sum);
        return;
    }
#ifndef IN_PLACE
    // A texel that is not blurred, to the bit. In place it is there already.
    if is_written {
        textureStore(stored, texel, as_it_is(fetch(source_position(texel))).value);
    }
#endif
}

// The bits of the layers from one to another, which is excluded.
fn bits_of(layers: vec2<u32>) -> vec2<u32> {
    var bits = vec2<u32>(0u);
    for (var layer = layers.x; layer < layers.y; layer++) {
        bits[layer / 32u] |= 1u << (layer % 32u);
    }
    return bits;
}

// Finds out which layers the tile needs, where neighbours may have any sigma. Workgroup memory starts with anything.
fn look_at(local: vec2<i32>, choice: Choice) {
    if all(local == vec2<i32>(0)) {
        atomicStore(&used[0], 0u);
        atomicStore(&used[1], 0u);
    }
    workgroupBarrier();
    for (var i = 0u; i < LAYERS_BLENDED; i++) {
        if choice.weights[i] != 0.0 {
            let layer = choice.above - i;
            atomicOr(&used[layer / 32u], 1u << (layer % 32u));
        }
    }
    workgroupBarrier();
    if all(local == vec2<i32>(0)) {
        found = vec2<u32>(atomicLoad(&used[0]), atomicLoad(&used[1]));
    }
}

// A layer at a texel of the tile. All threads come here together.
fn layer_at(layer: u32, corner: vec2<i32>, local: vec2<i32>, side: i32) -> vec4<f32> {
    let octaves = stack.layers[layer].octaves;
    let place = place_in(layer, corner + local);
    let x = cubic(place.t.x);
    let top = place_in(layer, corner).texel.y - 1;
    let bottom = place_in(layer, corner + vec2<i32>(0, HEIGHT - 1)).texel.y + 2;
    let start = side * ROWS * WIDTH + local.x;
    let shares_rows = octaves.y > 0u;
    if shares_rows && local.y <= bottom - top {
        rows[start + local.y * WIDTH] = line(vec2<i32>(place.texel.x, top + local.y), x, octaves.x);
    }
    workgroupBarrier();
    if !shares_rows {
        return normalized(line(place.texel, x, octaves.x), layer, place);
    }
    let slot = start + (place.texel.y - 1 - top) * WIDTH;
    let y = cubic(place.t.y);
    let value = y.x * rows[slot] + y.y * rows[slot + WIDTH] + y.z * rows[slot + 2 * WIDTH] + y.w * rows[slot + 3 * WIDTH];
    return normalized(value, layer, place);
}
