// Paints a layer of a group of the user interface: its picture or its shadow, sharp or as the last step of a blur. The layer is
// blended by (One, OneMinusSrcAlpha), which adds a glow: colour with alpha 0.
//
// SHARP is defined if the picture is read without a blur, beside the definitions of `common::pass`.

#import bevy_gaussian_blur::common::pass::finite
#import bevy_gaussian_blur::common::color_functions::{ColorFunctions, colored}
#import bevy_gaussian_blur::common::dither::{dither_encoded, dither_stored}
#import bevy_gaussian_blur::common::output::{Output, encode_output}
#ifndef SHARP
#import bevy_gaussian_blur::uniform::spline::spline
#endif

// In pixels of the viewport, and possibly outside of it.
struct Layer {
    // The painted pixels: the first, and one past the last.
    rect: vec4<f32>,
    // The pixels of the target: the first, and their number.
    target_origin: vec2<f32>,
    target_size: vec2<f32>,
    // From a texel of the target to a texel of the source.
    to_source: vec2<i32>,
    // From a texel of the target to a texel of the camera's picture, to which the noise is fixed.
    to_screen: vec2<i32>,
    // The colour of a shadow where the picture's alpha is 1: the light that it adds, and its alpha.
    color: vec4<f32>,
    // Saturation, brightness, contrast, invert; the cosine and the sine of the hue; and the rest of `ColorFunctions`.
    scales: vec4<f32>,
    hue: vec2<f32>,
    functions: u32,
    function_flags: u32,
    opacity: f32,
    flags: u32,
}

@group(1) @binding(0) var<uniform> layer: Layer;

#ifdef SHARP
@group(0) @binding(0) var picture: texture_2d<f32>;
#endif

// The layer is a shadow: the picture's alpha in one colour.
const SHADOW: u32 = 1u;
// Colours are dithered to eight bits: the values themselves, or light that is encoded as sRGB.
const DITHER_STORED: u32 = 2u;
const DITHER_ENCODED: u32 = 4u;

@vertex
fn filter_vertex(@builtin(vertex_index) vertex: u32) -> @builtin(position) vec4<f32> {
    // Two triangles, by the corners of a quad.
    var corners = array<u32, 6>(0u, 2u, 3u, 0u, 1u, 2u);
    let corner = corners[vertex % 6u];
    let pixel = vec2<f32>(
        select(layer.rect.x, layer.rect.z, corner == 1u || corner == 2u),
        select(layer.rect.y, layer.rect.w, corner >= 2u),
    );
    let place = (pixel - layer.target_origin) / layer.target_size;
    return vec4<f32>(place * vec2<f32>(2.0, -2.0) + vec2<f32>(-1.0, 1.0), 0.0, 1.0);
}

@fragment
fn filter_fragment(@builtin(position) position: vec4<f32>) -> Output {
    let texel = vec2<i32>(position.xy);
    let value = shown(finite(read(texel + layer.to_source))) * layer.opacity;
    return encode_output(dithered(value, texel + layer.to_screen), texel);
}

fn read(texel: vec2<i32>) -> vec4<f32> {
#ifdef SHARP
    return textureLoad(picture, texel, 0);
#else
    return spline(texel);
#endif
}

fn shown(value: vec4<f32>) -> vec4<f32> {
    if (layer.flags & SHADOW) != 0u {
        return layer.color * saturate(value.a);
    }
    let functions = ColorFunctions(
        layer.scales.x,
        layer.scales.y,
        layer.scales.z,
        layer.scales.w,
        layer.hue,
        layer.functions,
        layer.function_flags,
    );
    return colored(value, functions);
}

fn dithered(value: vec4<f32>, texel: vec2<i32>) -> vec4<f32> {
    if (layer.flags & DITHER_STORED) != 0u {
        return vec4<f32>(dither_stored(value.rgb, texel), value.a);
    }
    if (layer.flags & DITHER_ENCODED) != 0u {
        return vec4<f32>(dither_encoded(value.rgb, texel), value.a);
    }
    return value;
}
