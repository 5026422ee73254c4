// Every texel once in and once out: the cost of a fragment pass that does nothing. No blur can be cheaper.

@fragment
fn main(@builtin(position) position: vec4<f32>) -> @location(0) vec4<f32> {
    return textureLoad(source, vec2<i32>(position.xy), 0);
}
