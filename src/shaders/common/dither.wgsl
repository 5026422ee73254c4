// Dithers colours to eight bits: rounds not to the nearest level, but to one of the two around a value, so that the
// average stays the same. `formats::dither` in Rust has the derivation.
//
// Glossary
// level   a value that eight bits can hold, from 0 to LEVELS

#define_import_path bevy_gaussian_blur::common::dither

#import bevy_gaussian_blur::common::srgb::encode

const LEVELS: f32 = 255.0;

// The period of the noise of red, green and blue, in steps.
const PERIODS: vec3<f32> = vec3<f32>(103.0, 71.0, 97.0);

// The noise of a texel, uniform between 0 and 1. Bevy computes with the centres of texels, which adds half of 171 + 231.
// Floats hold these integers exactly in any texture, and the half step keeps rounded values away from 0 and 1.
fn noise(texel: vec2<i32>) -> vec3<f32> {
    let place = f32(171 * texel.x + 231 * texel.y + 201);
    return fract(place * (1.0 / PERIODS) + 0.5 / PERIODS);
}

// `error` bounds how far rounding may have moved the value: a value this close to a level counts as that level.
fn to_level(value: vec3<f32>, error: vec3<f32>, texel: vec2<i32>) -> vec3<f32> {
    var levels = LEVELS * value;
#ifdef HALF_FLOAT
    let nearest = round(levels);
    levels = select(levels, nearest, abs(levels - nearest) <= LEVELS * error);
#endif
    return floor(levels + noise(texel)) / LEVELS;
}

// Slightly more than half the distance between half floats at a value: their mantissas have ten bits.
fn rounding(value: vec3<f32>) -> vec3<f32> {
    let power = bitcast<vec3<f32>>(bitcast<vec3<u32>>(value) & vec3<u32>(0x7f800000u));
    return power * (1.02 / 2048.0);
}

// Values beyond all levels stay as they are, unless the target holds only levels.
fn is_dithered(colour: vec3<f32>) -> vec3<bool> {
#ifdef ENDS_AT_LEVELS
    return vec3<bool>(true);
#else
    return (colour > vec3<f32>(0.0)) & (colour < vec3<f32>(1.0));
#endif
}

// Dithers values that are stored as they are.
fn dither_stored(colour: vec3<f32>, texel: vec2<i32>) -> vec3<f32> {
    return select(colour, to_level(colour, rounding(colour), texel), is_dithered(colour));
}

// Dithers light that is encoded as sRGB when it is stored.
fn dither_encoded(light: vec3<f32>, texel: vec2<i32>) -> vec3<f32> {
    let encoded = encode(light);
    // The curve is (e + 0.055)^2.4 times a factor, which makes the error of the light smaller.
    let error = rounding(light) * (encoded + 0.055) / (2.4 * max(light, vec3<f32>(1e-6)));
    return select(light, decode_near(to_level(encoded, error, texel), light, encoded), is_dithered(light));
}

// Decodes a level that is at most one away from an encoded value with known light. Instead of another `pow`, it uses the
// first two derivatives of the curve, (e + 0.055)^2.4 times a factor. Exact to three thousandths of a level.
fn decode_near(level: vec3<f32>, light: vec3<f32>, encoded: vec3<f32>) -> vec3<f32> {
    let step = (level - encoded) / (encoded + 0.055);
    let curve = light * (1.0 + 2.4 * step * (1.0 + 0.7 * step));
    return select(curve, level / 12.92, level <= vec3<f32>(0.04045));
}
