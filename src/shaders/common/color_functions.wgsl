// Steps of colour, one after the other, each a matrix: `saturate()`, `hue-rotate()` and the other functions of CSS, or any other.

#define_import_path bevy_gaussian_blur::common::color_functions

#import bevy_gaussian_blur::common::pass::finite
#import bevy_gaussian_blur::common::srgb::{decode, encode}

struct ColorSteps {
    // A column gives red, green or blue, from red, green, blue and 1.
    matrices: array<mat3x4<f32>, 8>,
}

@group(1) @binding(1) var<uniform> colors: ColorSteps;

// Values are light, which is encoded as sRGB first.
const LIGHT: u32 = 1u;
// Values end at 1.
const BOUNDED: u32 = 2u;

// Applies so many steps to a value, whose colour is multiplied by alpha before and after.
//
// Colour beyond alpha is light that was added, as a glow adds it. Where values end at 1, this light would be lost if it were divided
// by alpha with the rest. So it is treated as a value of its own, with alpha 0.
fn colored(value: vec4<f32>, steps: u32, flags: u32) -> vec4<f32> {
    if steps == 0u {
        return value;
    }
    let covered = select(value.rgb, min(value.rgb, vec3<f32>(value.a)), (flags & BOUNDED) != 0u);
    var part = vec4<f32>(covered, value.a);
    var added = value.rgb - covered;
    var result = vec4<f32>(0.0);
    // Software rasterisers execute whatever might be called, so the steps stand here once.
    loop {
        result += applied(part, steps, flags);
        if all(added <= vec3<f32>(0.0)) {
            break;
        }
        part = vec4<f32>(added, 0.0);
        added = vec3<f32>(0.0);
    }
    return result;
}

// A value with alpha 0 may still add light: constants are not added to it.
fn applied(value: vec4<f32>, steps: u32, flags: u32) -> vec4<f32> {
    let is_light = (flags & LIGHT) != 0u;
    let covers = select(0.0, 1.0, value.a > 0.0);
    let alpha = select(1.0, value.a, value.a > 0.0);
    var color = value.rgb / alpha;
    if is_light {
        color = encode(color);
    }
    for (var step = 0u; step < steps; step += 1u) {
        color = max(vec4<f32>(color, covers) * colors.matrices[step], vec3<f32>(0.0));
        if (flags & BOUNDED) != 0u {
            color = min(color, vec3<f32>(1.0));
        }
    }
    if is_light {
        color = decode(color);
    }
    return finite(vec4<f32>(color * alpha, value.a));
}
