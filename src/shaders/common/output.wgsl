// The last steps for a blurred value: alpha, rounding, and the type of the target. `common::pass` lists the shader
// definitions.

#define_import_path bevy_gaussian_blur::common::output

#import bevy_gaussian_blur::common::dither::{dither_encoded, dither_stored}

// The output of a pass.
#ifdef TARGET_UINT
struct Output {
    @location(0) value: vec4<u32>,
}
const LARGEST_STORED: vec4<u32> = vec4<u32>(vec3<u32>(#{LARGEST_COLOUR}u), #{LARGEST_ALPHA}u);
#else
#ifdef TARGET_SINT
struct Output {
    @location(0) value: vec4<i32>,
}
const LARGEST_STORED: vec4<i32> = vec4<i32>(vec3<i32>(#{LARGEST_COLOUR}i), #{LARGEST_ALPHA}i);
#else
struct Output {
    @location(0) value: vec4<f32>,
}
#endif
#endif

// Converts a blurred value to a texel of the target.
fn encode_output(value: vec4<f32>, texel: vec2<i32>) -> Output {
    var result = value;
#ifdef UNPREMULTIPLY
    result = unpremultiplied(result);
#endif
#ifdef DITHER_STORED
    result = vec4<f32>(dither_stored(result.rgb, texel), result.a);
#endif
#ifdef DITHER_ENCODED
    result = vec4<f32>(dither_encoded(result.rgb, texel), result.a);
#endif
    return unconverted(result);
}

// Divides colour by alpha. Without alpha there is no colour either.
fn unpremultiplied(value: vec4<f32>) -> vec4<f32> {
    return vec4<f32>(select(vec3<f32>(0.0), value.rgb / value.a, value.a > 0.0), value.a);
}

// Converts a copied value. A format can hold all of its own values, including infinities.
fn as_it_is(value: vec4<f32>) -> Output {
#ifdef CONVERTS_COPIES
    return unconverted(unpremultiplied(value));
#else
#ifdef KEEPS_FORMAT
#ifdef OPAQUE
    return Output(vec4<f32>(value.rgb, 1.0));
#else
    return Output(value);
#endif
#else
    return unconverted(value);
#endif
#endif
}

// Converts a value whose alpha is final.
fn unconverted(value: vec4<f32>) -> Output {
    var result = value;
#ifdef TARGET_UINT
    return Output(nearest_integer(result));
#else
#ifdef TARGET_SINT
    return Output(nearest_integer(result));
#else
#ifdef OPAQUE
    result.a = 1.0;
#endif
#ifdef ROUND_TO_HALF
    result = nearest_half(result);
#endif
#ifdef ROUND_TO_PACKED
    result = nearest_packed(result);
#endif
    return Output(result);
#endif
#endif
}

#ifdef TARGET_UINT
fn nearest_integer(value: vec4<f32>) -> vec4<u32> {
    let rounded = round(value);
    // Near the largest integers, floats hold every 256th at best: values beyond become the largest integer itself.
    let whole = vec4<u32>(clamp(rounded, vec4<f32>(0.0), vec4<f32>(4294967040.0)));
    return kept(select(whole, LARGEST_STORED, rounded >= vec4<f32>(LARGEST_STORED)));
}

// The nearest integer that the target can hold.
fn kept(value: vec4<u32>) -> vec4<u32> {
    var result = min(value, LARGEST_STORED);
#ifdef OPAQUE
    result.a = LARGEST_STORED.a;
#endif
    return result;
}
#endif

#ifdef TARGET_SINT
fn nearest_integer(value: vec4<f32>) -> vec4<i32> {
    let rounded = round(value);
    let whole = vec4<i32>(clamp(rounded, vec4<f32>(-2147483648.0), vec4<f32>(2147483520.0)));
    return kept(select(whole, LARGEST_STORED, rounded >= vec4<f32>(LARGEST_STORED)));
}

fn kept(value: vec4<i32>) -> vec4<i32> {
    var result = clamp(value, -LARGEST_STORED - 1i, LARGEST_STORED);
#ifdef OPAQUE
    result.a = LARGEST_STORED.a;
#endif
    return result;
}
#endif

// The nearest value that a half float can hold, ties away from zero. Without this, some GPUs truncate, and the picture
// loses up to 1/2048 of its light in every pass.
fn nearest_half(value: vec4<f32>) -> vec4<f32> {
#ifdef MAY_EXCEED
    let limited = clamp(value, vec4<f32>(-65504.0), vec4<f32>(65504.0));
    return bitcast<vec4<f32>>((bitcast<vec4<u32>>(limited) + vec4<u32>(0x1000u)) & vec4<u32>(0xffffe000u));
#else
    let bits = bitcast<vec4<u32>>(value);
#ifdef FINITE
    return bitcast<vec4<f32>>((bits + vec4<u32>(0x1000u)) & vec4<u32>(0xffffe000u));
#else
    // Of a NaN, only the sign would be left.
    let magnitude = min(bits & vec4<u32>(0x7fffffffu), vec4<u32>(0x7f800000u));
    let rounded = (magnitude + vec4<u32>(0x1000u)) & vec4<u32>(0xffffe000u);
    return bitcast<vec4<f32>>(rounded | (bits & vec4<u32>(0x80000000u)));
#endif
#endif
}

// The same for positive floats with 6, 6 and 5 bits of mantissa.
fn nearest_packed(value: vec4<f32>) -> vec4<f32> {
    let limited = clamp(value, vec4<f32>(0.0), vec4<f32>(65024.0, 65024.0, 64512.0, 1.0));
    let half = vec4<u32>(0x10000u, 0x10000u, 0x20000u, 0u);
    let kept = vec4<u32>(0xfffe0000u, 0xfffe0000u, 0xfffc0000u, 0xffffffffu);
    return bitcast<vec4<f32>>((bitcast<vec4<u32>>(limited) + half) & kept);
}
