// The colour functions of CSS, one after the other: `saturate()`, `brightness()`, `contrast()`, `invert()`, `hue-rotate()`.
// "Filter Effects Module Level 1", https://www.w3.org/TR/filter-effects-1/, sections 7 to 9, has the formulas.

#define_import_path bevy_gaussian_blur::common::color_functions

#import bevy_gaussian_blur::common::pass::finite
#import bevy_gaussian_blur::common::srgb::{decode, encode}

struct ColorFunctions {
    saturation: f32,
    brightness: f32,
    contrast: f32,
    invert: f32,
    // The cosine and the sine of the angle by which hues are rotated.
    hue: vec2<f32>,
    // 1 if any of these changes anything.
    is_active: u32,
    // 1 for values of light, which are encoded as sRGB first, 2 for values that end at 1, 3 for both.
    flags: u32,
}

const LIGHT: u32 = 1u;
const BOUNDED: u32 = 2u;

// The weights of red, green and blue in a colour without saturation.
const GREY: vec3<f32> = vec3<f32>(0.213, 0.715, 0.072);

// Applies the functions to a value, whose colour is multiplied by alpha before and after.
//
// Colour beyond alpha is light that was added, as a glow adds it. Where values end at 1, this light would be lost if it were divided
// by alpha with the rest. So it is treated as a value of its own, with alpha 0.
fn colored(value: vec4<f32>, functions: ColorFunctions) -> vec4<f32> {
    if functions.is_active == 0u {
        return value;
    }
    if (functions.flags & BOUNDED) == 0u {
        return applied(value, functions);
    }
    let covered = vec4<f32>(min(value.rgb, vec3<f32>(value.a)), value.a);
    let added = value.rgb - covered.rgb;
    let result = applied(covered, functions);
    if all(added <= vec3<f32>(0.0)) {
        return result;
    }
    return result + applied(vec4<f32>(added, 0.0), functions);
}

// The functions, one after the other. A value with alpha 0 may still add light: `contrast()` and `invert()`, which add a constant, do
// not add it there.
fn applied(value: vec4<f32>, functions: ColorFunctions) -> vec4<f32> {
    let is_light = (functions.flags & LIGHT) != 0u;
    let covers = select(0.0, 1.0, value.a > 0.0);
    let alpha = select(1.0, value.a, value.a > 0.0);
    var color = value.rgb / alpha;
    if is_light {
        color = encode(color);
    }
    color = in_range(mix(vec3<f32>(dot(color, GREY)), color, functions.saturation), functions.flags);
    color = in_range(color * functions.brightness, functions.flags);
    color = in_range((color - 0.5 * covers) * functions.contrast + 0.5 * covers, functions.flags);
    color = in_range(mix(color, covers - color, functions.invert), functions.flags);
    color = in_range(rotated(color, functions.hue), functions.flags);
    if is_light {
        color = decode(color);
    }
    return finite(vec4<f32>(color * alpha, value.a));
}

fn in_range(color: vec3<f32>, flags: u32) -> vec3<f32> {
    let positive = max(color, vec3<f32>(0.0));
    return select(positive, min(positive, vec3<f32>(1.0)), (flags & BOUNDED) != 0u);
}

fn rotated(color: vec3<f32>, hue: vec2<f32>) -> vec3<f32> {
    let grey = vec3<f32>(dot(color, GREY));
    let across = vec3<f32>(
        dot(color, vec3<f32>(-0.213, -0.715, 0.928)),
        dot(color, vec3<f32>(0.143, 0.140, -0.283)),
        dot(color, vec3<f32>(-0.787, 0.715, 0.072)),
    );
    return select(grey + hue.x * (color - grey) + hue.y * across, color, hue.y == 0.0 && hue.x == 1.0);
}
