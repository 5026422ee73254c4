// Brings a coarse level back to full resolution.

#import bevy_gaussian_blur::leave::{Output, leave}
#import bevy_gaussian_blur::spline::spline

@fragment
fn upsample_fragment(@builtin(position) fragment: vec4<f32>) -> Output {
    let texel = vec2<i32>(fragment.xy);
    return leave(spline(texel), texel);
}
