// Copies values to another texture: to the bit if both have one format, else converted like a blurred value.

#import bevy_gaussian_blur::common::output::{Output, as_it_is, encode_output}
#import bevy_gaussian_blur::common::pass::{fetch, source, source_position}
#ifdef INTEGERS
#import bevy_gaussian_blur::common::output::kept
#endif

@fragment
fn copy_fragment(@builtin(position) fragment: vec4<f32>) -> Output {
    let texel = vec2<i32>(fragment.xy);
    let position = source_position(texel);
#ifdef INTEGERS
    // Floats do not hold all integers.
    return Output(kept(textureLoad(source, position, 0)));
#else
#ifdef KEEPS_FORMAT
    return as_it_is(fetch(position));
#else
    return encode_output(fetch(position), texel);
#endif
#endif
}
