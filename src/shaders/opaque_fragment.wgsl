// Alpha as 1, and nothing else: the pipeline writes no colour.

#import bevy_gaussian_blur::leave::{Output, leave}

@fragment
fn opaque_fragment(@builtin(position) fragment: vec4<f32>) -> Output {
    return leave(vec4<f32>(0.0), vec2<i32>(fragment.xy));
}
