// Converts between the spaces in which Bevy's cameras composite: light, light encoded as sRGB, and Oklab.

#define_import_path bevy_gaussian_blur::common::compositing

#import bevy_gaussian_blur::common::srgb::{decode, encode}

// Colour that is multiplied by alpha is converted as it is, as Bevy converts it for the target, and textures of sRGB store it.
fn converted(value: vec4<f32>) -> vec4<f32> {
    var colour = value.rgb;
#ifdef FROM_SRGB
    colour = decode(colour);
#endif
#ifdef FROM_OKLAB
    colour = light_of_oklab(colour);
#endif
#ifdef TO_SRGB
    colour = encode(colour);
#endif
#ifdef TO_OKLAB
    colour = oklab_of_light(colour);
#endif
    return vec4<f32>(colour, value.a);
}

// Björn Ottosson, "A perceptual color space for image processing", 2020: https://bottosson.github.io/posts/oklab. The
// rows of its matrices, for linear sRGB.
fn light_of_oklab(colour: vec3<f32>) -> vec3<f32> {
    let roots = vec3<f32>(
        dot(vec3<f32>(1.0, 0.3963377774, 0.2158037573), colour),
        dot(vec3<f32>(1.0, -0.1055613458, -0.0638541728), colour),
        dot(vec3<f32>(1.0, -0.0894841775, -1.2914855480), colour),
    );
    let cones = roots * roots * roots;
    return vec3<f32>(
        dot(vec3<f32>(4.0767416621, -3.3077115913, 0.2309699292), cones),
        dot(vec3<f32>(-1.2684380046, 2.6097574011, -0.3413193965), cones),
        dot(vec3<f32>(-0.0041960863, -0.7034186147, 1.7076147010), cones),
    );
}

fn oklab_of_light(light: vec3<f32>) -> vec3<f32> {
    let cones = vec3<f32>(
        dot(vec3<f32>(0.4122214708, 0.5363325363, 0.0514459929), light),
        dot(vec3<f32>(0.2119034982, 0.6806995451, 0.1073969566), light),
        dot(vec3<f32>(0.0883024619, 0.2817188376, 0.6299787005), light),
    );
    let roots = pow(max(cones, vec3<f32>(0.0)), vec3<f32>(1.0 / 3.0));
    return vec3<f32>(
        dot(vec3<f32>(0.2104542553, 0.7936177850, -0.0040720468), roots),
        dot(vec3<f32>(1.9779984951, -2.4285922050, 0.4505937099), roots),
        dot(vec3<f32>(0.0259040371, 0.7827717662, -0.8086757660), roots),
    );
}
