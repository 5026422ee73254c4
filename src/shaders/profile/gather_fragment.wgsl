// Render: sums of rows of the sharp picture for the small sigmas of a varying blur, for the pass that blends.

#import bevy_gaussian_blur::common::pass::source_position
#import bevy_gaussian_blur::profile::sigma_levels::{MIN_SIGMA, may_be_summed, sigma_at, sigmas_within, stack}
#import bevy_gaussian_blur::common::output::{Output, encode_output}
#import bevy_gaussian_blur::profile::direct_sum::{row_sum, window_of}

@fragment
fn gather_fragment(@builtin(position) fragment: vec4<f32>) -> Output {
    let texel = vec2<i32>(fragment.xy);
    let centre = source_position(texel);
    // Texels as far away as the largest sum reaches may read this.
    let farthest = stack.cutoff * stack.levels[0].sigma * stack.aspect.y;
    let middle = vec2<f32>(centre) + 0.5;
    let sigmas = sigmas_within(middle - vec2<f32>(0.0, farthest), middle + vec2<f32>(0.0, farthest));
    if !may_be_summed(sigmas) {
        return encode_output(vec4<f32>(0.0), texel);
    }
    let sigma = clamp(sigma_at(centre), MIN_SIGMA, stack.gathered);
    return encode_output(row_sum(window_of(texel, sigma * stack.aspect, stack.cutoff)), texel);
}
