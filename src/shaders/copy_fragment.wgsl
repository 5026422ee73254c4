// The same value in another texture, to the bit.

#import bevy_gaussian_blur::common::{leave, source, source_position}

@fragment
fn copy_fragment(@builtin(position) fragment: vec4<f32>) -> @location(0) vec4<f32> {
    return leave(textureLoad(source, source_position(vec2<i32>(fragment.xy)), 0));
}
