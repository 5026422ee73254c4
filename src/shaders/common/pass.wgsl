// What all passes of a blur share: bindings, reads through an edge mode, and how values are read and written.
//
// Glossary
//   texel    an integer position in the source texture
//   target   an integer position in the texture that is written
//   bounds   the valid source texels; outside them, the edge mode of each axis decides what a read returns
//   tap      an offset in texels and a weight; a fractional offset reads between two texels
//   axis     0 for x, 1 for y: the index of a pair and of a table
//
// Shader definitions
//   ANY_KERNEL     this program serves any kernel: its loops end where the uniform says. Programs for single kernels
//                  have loops with constant ends, which compilers unroll; their numbers are definitions too, as
//                  are the sizes of tiles
//   CLAMPED        this pass finds only the outermost texels beyond the bounds
//   IMAGES         the region has images beyond its borders, with separate weights
//   FOLDED         this program supports all edge modes beyond the bounds, by loops of their own
//   TABLE_VECTORS  the length of a table, in vectors
//   BORDER         the border texels whose normalisation a table carries, at either end
//   FILTERED       this pass reads the source, or the atlas, with a linearly filtering sampler
//   SUMS_FILTERED  this render pass, which sums, also reads the picture with it
//   GATHERED       this pass, which blends, reads sums of the picture from a texture, not sums of its rows
//   MAKES_FINITE   this pass reads the picture itself, in a format of floats: values are made finite
//   HALF_FLOAT     intermediate textures hold half floats: values are clamped to their largest
//   PREMULTIPLY    this pass reads straight alpha
//   UNPREMULTIPLY  this pass writes straight alpha
//   CONVERTS_COPIES  also where it copies, because the picture has alpha that colour is multiplied by
//   OPAQUE         this pass writes alpha as 1
//   DITHER_STORED, DITHER_ENCODED   colours are dithered to eight bits: as they are, or as light that is encoded
//   ENDS_AT_LEVELS the target holds eight bits itself: values are clamped to the first and the last level
//   ROUND_TO_HALF  the target holds half floats, and this pass writes other values
//   ROUND_TO_PACKED  the target holds floats of eleven and ten bits
//   MAY_EXCEED     sums may exceed the largest half float: weights are rounded, divided by, or negative
//   FINITE         sums are finite, and never exceed the largest half float
//   ROUND_PACKED   this GPU may truncate when it packs half floats
//   LEAVES_UNCHANGED  this pass writes to the picture that it blurs: unchanged texels need not be written
//   KEEPS_FORMAT   the target has the format of the picture, of which this pass copies some or all
//   CONVERTS       source and target hold colours of two spaces: FROM_SRGB or FROM_OKLAB, TO_SRGB or TO_OKLAB;
//                  without these definitions, light
//   SIGMA_LEVELS         the most sigma levels that a pass blends
//   SIGMAS_APART   sigmas that differ by less than one part in this many count as equal
//   SKIPS          this pass writes only what is read later
//   MERGES         this dispatch executes several passes of one program, as layers of workgroups
//   MERGED         the most passes of a dispatch
//   COMPUTE        this is a compute pass, which stores to a texture of the format STORE_<FORMAT>
//   SOURCE_UINT, SOURCE_SINT, TARGET_UINT, TARGET_SINT   the source or the target holds integers
//   LARGEST_COLOUR, LARGEST_ALPHA   the largest integers of the target's channels
//   INTEGERS       source and target hold integers of one kind

#define_import_path bevy_gaussian_blur::common::pass

#import bevy_gaussian_blur::common::output::{encode_output, nearest_half}

const TABLE_VECTORS: u32 = #{TABLE_VECTORS};

// Which texels of a pass are read later. The comment of `plan::pass::Needed` defines the fields.
struct Needed {
    shares: vec2<f32>,
    scale: vec2<f32>,
    first: vec2<i32>,
    around: vec2<i32>,
}

// One pass of a plan. The comment of `plan::pass::AxisPass` defines the fields.
struct BlurPass {
    step: vec2<i32>,
    shift: vec2<i32>,
    bounds_min: vec2<i32>,
    // Exclusive.
    bounds_max: vec2<i32>,
    // The first and the last texel that is read, from the centre.
    reach_min: vec2<i32>,
    reach_max: vec2<i32>,
    edge: vec2<u32>,
    octaves: vec2<u32>,
    // Whether to divide by the weight inside the region.
    normalize: vec2<u32>,
    // The reach of the images' weights beyond the kernel's own, and their start in the table; 0 if there are none.
    margin: vec2<i32>,
    images: vec2<u32>,
    // The first texel of the target to write, and the number of texels.
    origin: vec2<i32>,
    size: vec2<i32>,
    // One over the size of the source texture.
    texel_size: vec2<f32>,
    needed: Needed,
    // For each axis the weights of neighbouring texels; or taps as (offset, weight, offset, weight); or, for a spline,
    // the weights inside the region. One table after the other, because WebGL 2 has no arrays of arrays.
    tables: array<vec4<f32>, 2u * TABLE_VECTORS>,
    // Padding, to the next pass.
    padding: array<vec4<f32>, 7>,
}

#ifdef MERGES
@group(0) @binding(0) var<uniform> passes: array<BlurPass, #{MERGED}>;
// The pass of this workgroup, without its tables, and its index.
var<private> blur: BlurPass;
var<private> turn: u32;
#else
@group(0) @binding(0) var<uniform> blur: BlurPass;
#endif
#ifdef SOURCE_UINT
@group(0) @binding(1) var source: texture_2d<u32>;
#else
#ifdef SOURCE_SINT
@group(0) @binding(1) var source: texture_2d<i32>;
#else
@group(0) @binding(1) var source: texture_2d<f32>;
#endif
#endif
#ifdef FILTERED
@group(0) @binding(2) var linear_sampler: sampler;
#endif

#ifdef COMPUTE
#ifdef STORE_RGBA16FLOAT
@group(0) @binding(3) var stored: texture_storage_2d<rgba16float, write>;
#endif
#ifdef STORE_RGBA32FLOAT
@group(0) @binding(3) var stored: texture_storage_2d<rgba32float, write>;
#endif
#ifdef STORE_RGBA8UNORM
@group(0) @binding(3) var stored: texture_storage_2d<rgba8unorm, write>;
#endif

// Writes one texel of the target, unless it lies outside the texels to write. `position` counts from `blur.origin`.
fn store(position: vec2<i32>, value: vec4<f32>) {
    // As an unsigned integer, a negative position is larger than any size.
    if all(vec2<u32>(position) < vec2<u32>(blur.size)) {
        let texel = blur.origin + position;
        textureStore(stored, texel, encode_output(value, texel).value);
    }
}
#endif

const EDGE_CLAMP: u32 = 0u;
const EDGE_MIRROR: u32 = 1u;
const EDGE_WRAP: u32 = 2u;
const EDGE_TRANSPARENT: u32 = 3u;
const EDGE_RENORMALIZE: u32 = 4u;

#ifdef HALF_FLOAT
const LARGEST: f32 = 65504.0;
#else
const LARGEST: f32 = 1e38;
#endif

// A texel of the source as a number.
fn fetch(texel: vec2<i32>) -> vec4<f32> {
    return vec4<f32>(textureLoad(source, texel, 0));
}

// The source texel of a target texel.
fn source_position(texel: vec2<i32>) -> vec2<i32> {
    return texel * blur.step + blur.shift;
}

// A number from an axis' table, such as the weight of a texel.
fn weight(axis: u32, index: u32) -> f32 {
#ifdef MERGES
    return passes[turn].tables[axis * TABLE_VECTORS + index / 4u][index % 4u];
#else
    return blur.tables[axis * TABLE_VECTORS + index / 4u][index % 4u];
#endif
}

// Four of these numbers, from 4 * index on.
fn four_weights(axis: u32, index: u32) -> vec4<f32> {
#ifdef MERGES
    return passes[turn].tables[axis * TABLE_VECTORS + index];
#else
    return blur.tables[axis * TABLE_VECTORS + index];
#endif
}

#ifdef MERGES
// Selects the pass of this workgroup.
fn take_turn(index: u32) {
    turn = index;
    blur.step = passes[index].step;
    blur.shift = passes[index].shift;
    blur.bounds_min = passes[index].bounds_min;
    blur.bounds_max = passes[index].bounds_max;
    blur.reach_min = passes[index].reach_min;
    blur.reach_max = passes[index].reach_max;
    blur.edge = passes[index].edge;
    blur.octaves = passes[index].octaves;
    blur.normalize = passes[index].normalize;
    blur.margin = passes[index].margin;
    blur.images = passes[index].images;
    blur.origin = passes[index].origin;
    blur.size = passes[index].size;
    blur.texel_size = passes[index].texel_size;
    blur.needed = passes[index].needed;
}

var<workgroup> agreed: u32;

// What the first thread of a workgroup has found. The uniform load proves to compilers that it is uniform, as the
// barriers that follow require.
fn agreed_on(number: u32, thread: i32) -> u32 {
    if thread == 0 {
        agreed = number;
    }
    return workgroupUniformLoad(&agreed);
}
#else
// There is only one pass, whose numbers are uniform.
fn take_turn(index: u32) {}

fn agreed_on(number: u32, thread: i32) -> u32 {
    return number;
}
#endif

// The weight of a read of `texel` by a sum around `centre`, along an axis. Beyond the bounds the texel may be an image.
fn weight_at(axis: u32, centre: i32, texel: i32) -> f32 {
#ifndef CLAMPED
    if blur.images[axis] != 0u {
        return image_weight(axis, side_of(axis, texel), abs(texel - centre));
    }
#endif
    return weight(axis, u32(texel - centre - blur.reach_min[axis]));
}

// The sides of the bounds on which a read can lie.
const INSIDE: u32 = 0u;
const BELOW: u32 = 1u;
const ABOVE: u32 = 2u;
// Beyond the first image, whose weights include the weights of all further images.
const NOWHERE: u32 = 3u;

fn side_of(axis: u32, texel: i32) -> u32 {
    let low = blur.bounds_min[axis];
    let high = blur.bounds_max[axis];
    let near = select(select(INSIDE, ABOVE, texel >= high), BELOW, texel < low);
    return select(near, NOWHERE, texel < 2 * low - high || texel >= 2 * high - low);
}

// The weight of a read on one side, at a distance in texels. `plan::pass::Images` has the layout of the table.
fn image_weight(axis: u32, side: u32, distance: i32) -> f32 {
    let far = blur.reach_max[axis] + blur.margin[axis];
    if side == NOWHERE || distance > far {
        return 0.0;
    }
    let images = i32(blur.images[axis]) - 1;
    let start = select(select(blur.reach_max[axis], images, side == BELOW), images + far, side == ABOVE);
    return weight(axis, u32(start + distance));
}

// NaN becomes 0, and infinity the largest value of an intermediate texture: a single one would spread over a whole
// kernel. Compares bits, because compilers may assume that no value is NaN; as integers, magnitudes sort like numbers.
fn finite(value: vec4<f32>) -> vec4<f32> {
    let magnitude = bitcast<vec4<u32>>(value) & vec4<u32>(0x7fffffffu);
    let largest = max(max(magnitude.x, magnitude.y), max(magnitude.z, magnitude.w));
    if largest <= bitcast<u32>(LARGEST) {
        return value;
    }
    let without_nan = select(value, vec4<f32>(0.0), magnitude > vec4<u32>(0x7f800000u));
    return clamp(without_nan, vec4<f32>(-LARGEST), vec4<f32>(LARGEST));
}

// Whether all summed values were finite. Only the picture itself can hold infinities and NaN.
fn is_finite(sum: vec4<f32>) -> bool {
#ifdef MAKES_FINITE
    let magnitude = bitcast<vec4<u32>>(sum) & vec4<u32>(0x7fffffffu);
    return all(magnitude < vec4<u32>(0x7f800000u));
#else
    return true;
#endif
}

// The same for eight sums.
fn are_finite(upper: mat4x4<f32>, lower: mat4x4<f32>) -> bool {
    return is_finite(upper[0] + upper[1] + upper[2] + upper[3] + lower[0] + lower[1] + lower[2] + lower[3]);
}

// Values that half floats can hold, rounded to them where the GPU may not.
fn packable(value: vec4<f32>) -> vec4<f32> {
#ifdef ROUND_PACKED
    return nearest_half(value);
#else
#ifdef MAY_EXCEED
    return clamp(value, vec4<f32>(-LARGEST), vec4<f32>(LARGEST));
#else
    return value;
#endif
#endif
}

// Four values in two words of workgroup memory.
fn pack(value: vec4<f32>) -> vec2<u32> {
    let rounded = packable(value);
    return vec2<u32>(pack2x16float(rounded.xy), pack2x16float(rounded.zw));
}

fn unpack(words: vec2<u32>) -> vec4<f32> {
    return vec4<f32>(unpack2x16float(words.x), unpack2x16float(words.y));
}

// Converts a value from the source for the blur.
fn decode_input(value: vec4<f32>) -> vec4<f32> {
    var result = value;
#ifdef MAKES_FINITE
    result = finite(result);
#endif
#ifdef PREMULTIPLY
    result = vec4<f32>(result.rgb * result.a, result.a);
#ifdef MAKES_FINITE
    result = clamp(result, vec4<f32>(-LARGEST), vec4<f32>(LARGEST));
#endif
#endif
    return result;
}

// Whether reads beyond the border return 0.
fn is_empty_outside(edge: u32) -> bool {
    return edge == EDGE_TRANSPARENT || edge == EDGE_RENORMALIZE;
}

// Whether a texel of an axis exists.
fn is_present(texel: i32, low: i32, high: i32, edge: u32) -> bool {
    return !is_empty_outside(edge) || (texel >= low && texel < high);
}

// The texel within the bounds that a read of `texel` returns.
fn inside(texel: i32, low: i32, high: i32, edge: u32) -> i32 {
    let length = high - low;
    if edge == EDGE_MIRROR {
        let folded = modulo(texel - low, 2 * length);
        return low + min(folded, 2 * length - 1 - folded);
    }
    if edge == EDGE_WRAP {
        return low + modulo(texel - low, length);
    }
    return clamp(texel, low, high - 1);
}

// The non-negative remainder. It uses floats, because GPUs divide integers slowly, and Vulkan leaves the remainder of a
// negative number undefined. Half a texel keeps quotients away from whole numbers: they are right for magnitudes up to
// a million.
fn modulo(value: i32, length: i32) -> i32 {
    let quotient = floor((f32(value) + 0.5) / f32(length));
    return value - i32(quotient) * length;
}

// The value of one texel, inside the bounds or not.
fn read_texel(texel: vec2<i32>) -> vec4<f32> {
    let low = blur.bounds_min;
    let high = blur.bounds_max;
    if !(is_present(texel.x, low.x, high.x, blur.edge.x) && is_present(texel.y, low.y, high.y, blur.edge.y)) {
        return vec4<f32>(0.0);
    }
    let found = vec2<i32>(
        inside(texel.x, low.x, high.x, blur.edge.x),
        inside(texel.y, low.y, high.y, blur.edge.y),
    );
    return decode_input(fetch(found));
}

// One texel that may be infinite or NaN. It must lie inside the bounds unless `anywhere` is true; then it is clamped,
// or folded if this program supports that.
fn load_unchecked(texel: vec2<i32>, anywhere: bool) -> vec4<f32> {
    if !anywhere {
        return premultiplied(fetch(texel));
    }
#ifdef FOLDED
    let value = premultiplied(fetch(vec2<i32>(folded(texel.x, 0u), folded(texel.y, 1u))));
    let low = blur.bounds_min;
    let high = blur.bounds_max;
    let is_there = is_present(texel.x, low.x, high.x, blur.edge.x) && is_present(texel.y, low.y, high.y, blur.edge.y);
    return select(vec4<f32>(0.0), value, is_there);
#else
    return premultiplied(fetch(clamp(texel, blur.bounds_min, blur.bounds_max - 1)));
#endif
}

// The texel that a read slightly beyond the bounds returns: one fold is enough.
fn folded(texel: i32, axis: u32) -> i32 {
    let low = blur.bounds_min[axis];
    let high = blur.bounds_max[axis];
    let edge = blur.edge[axis];
    // Beyond the bounds, the texel to read is slope * texel + offset.
    let slope = select(select(0, 1, edge == EDGE_WRAP), -1, edge == EDGE_MIRROR);
    let below = select(select(low, high - low, edge == EDGE_WRAP), 2 * low - 1, edge == EDGE_MIRROR);
    let above = select(select(high - 1, low - high, edge == EDGE_WRAP), 2 * high - 1, edge == EDGE_MIRROR);
    let beyond = slope * texel + select(above, below, texel < low);
    return clamp(select(beyond, texel, texel >= low && texel < high), low, high - 1);
}

// Whether one fold is enough for reads this far beyond the bounds. Images never need more.
fn folds_once(distance: i32) -> bool {
    let folds = ((blur.edge == vec2<u32>(EDGE_MIRROR)) | (blur.edge == vec2<u32>(EDGE_WRAP))) & (blur.images == vec2<u32>(0u));
    return all(!folds | (blur.bounds_max - blur.bounds_min >= vec2<i32>(distance)));
}

// Straight alpha is made finite too: that costs little beside the multiplication.
fn premultiplied(value: vec4<f32>) -> vec4<f32> {
#ifdef PREMULTIPLY
    return decode_input(value);
#else
    return value;
#endif
}

// Whether reads from `first` to `last` stay inside the bounds and away from all images.
fn is_inside(first: vec2<i32>, last: vec2<i32>) -> bool {
    return all((first - blur.margin >= blur.bounds_min) & (last + blur.margin < blur.bounds_max));
}

// Whether clamping is enough for reads from `first` to `last`: no read lies outside the bounds, or the edge mode
// clamps.
fn is_edge_free(first: vec2<i32>, last: vec2<i32>) -> bool {
    let within = (first - blur.margin >= blur.bounds_min) & (last + blur.margin < blur.bounds_max);
    return all(within | (blur.edge == vec2<u32>(EDGE_CLAMP)));
}
