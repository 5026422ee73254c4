// The difference between a white and a picture. Without imports, which look different in Bevy 0.20.

struct Invert {
    white: f32,
}

@group(0) @binding(0) var picture: texture_2d<f32>;
@group(0) @binding(1) var picture_sampler: sampler;
@group(0) @binding(2) var<uniform> settings: Invert;

@fragment
fn fragment(@location(0) uv: vec2<f32>) -> @location(0) vec4<f32> {
    let color = textureSampleLevel(picture, picture_sampler, uv, 0.0);
    return vec4(settings.white - color.rgb, color.a);
}
