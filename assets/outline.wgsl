// A glowing line around what a mask covers: where the blurred mask is, and the mask is not.

#import bevy_ui::ui_vertex_output::UiVertexOutput

@group(1) @binding(0) var<uniform> colour: vec4<f32>;
@group(1) @binding(1) var mask: texture_2d<f32>;
@group(1) @binding(2) var mask_sampler: sampler;
@group(1) @binding(3) var glow: texture_2d<f32>;
@group(1) @binding(4) var glow_sampler: sampler;

@fragment
fn fragment(in: UiVertexOutput) -> @location(0) vec4<f32> {
    let outside = 1.0 - textureSample(mask, mask_sampler, in.uv).a;
    // On a straight edge the blurred mask is a half: the line is solid there, and fades away from it.
    let line = min(2.0 * textureSample(glow, glow_sampler, in.uv).a, 1.0);
    return vec4<f32>(colour.rgb, colour.a * line * outside);
}
