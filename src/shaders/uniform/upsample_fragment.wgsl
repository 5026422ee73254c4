// Brings a coarse level back to full resolution.

#import bevy_gaussian_blur::common::output::{Output, encode_output}
#import bevy_gaussian_blur::uniform::spline::spline

@fragment
fn upsample_fragment(@builtin(position) fragment: vec4<f32>) -> Output {
    let texel = vec2<i32>(fragment.xy);
    return encode_output(spline(texel), texel);
}
