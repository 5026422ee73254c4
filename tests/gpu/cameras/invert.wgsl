// The difference between a white and a picture.

#import bevy_core_pipeline::fullscreen_vertex_shader::FullscreenVertexOutput

struct Invert {
    white: f32,
}

@group(0) @binding(0) var picture: texture_2d<f32>;
@group(0) @binding(1) var picture_sampler: sampler;
@group(0) @binding(2) var<uniform> settings: Invert;

@fragment
fn fragment(in: FullscreenVertexOutput) -> @location(0) vec4<f32> {
    let color = textureSampleLevel(picture, picture_sampler, in.uv, 0.0);
    return vec4(settings.white - color.rgb, color.a);
}
