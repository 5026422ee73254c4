// Writes alpha as 1; the pipeline writes no colour.

#import bevy_gaussian_blur::common::output::{Output, encode_output}

@fragment
fn opaque_fragment(@builtin(position) fragment: vec4<f32>) -> Output {
    return encode_output(vec4<f32>(0.0), vec2<i32>(fragment.xy));
}
