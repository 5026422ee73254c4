// A blur with a varying sigma: the last pass.

#import bevy_gaussian_blur::common::output::{Output, as_it_is, encode_output}
#import bevy_gaussian_blur::common::pass::{fetch, source, source_position}
#import bevy_gaussian_blur::profile::blend::{SIGMA_LEVELS_BLENDED, all_sigma_levels, atlas, choice_of, normalized, place_in, sharp_sum, target_sigma}
#import bevy_gaussian_blur::common::cubic::{Place, filtered, interpolated}
#import bevy_gaussian_blur::profile::sigma_levels::stack
#ifdef FILTERED
#import bevy_gaussian_blur::common::pass::linear_sampler
#endif
#ifdef INTEGERS
#import bevy_gaussian_blur::common::output::kept
#endif

@fragment
fn blend_fragment(@builtin(position) fragment: vec4<f32>) -> Output {
    let texel = vec2<i32>(fragment.xy);
    let sigma = target_sigma(texel);
    if sigma == 0.0 {
        return sharp(texel);
    }
    return encode_output(blended(texel, sigma), texel);
}

fn blended(texel: vec2<i32>, sigma: f32) -> vec4<f32> {
    let choice = choice_of(sigma, all_sigma_levels());
    var sum = vec4<f32>(0.0);
    // A loop, so that its body is compiled once.
    for (var i = 0u; i < SIGMA_LEVELS_BLENDED; i++) {
        if choice.weights[i] != 0.0 {
            let sigma_level = choice.above - i;
            let place = place_in(sigma_level, texel);
            sum += choice.weights[i] * normalized(spline(sigma_level, place), sigma_level, place);
        }
    }
    if choice.sharp > 0.0 {
        sum += choice.sharp * sharp_sum(texel, sigma);
    }
    return sum;
}

fn spline(sigma_level: u32, place: Place) -> vec4<f32> {
    let octaves = stack.levels[sigma_level].octaves;
#ifdef FILTERED
    if all(octaves > vec2<u32>(0u)) {
        return filtered(atlas, linear_sampler, stack.texel_size, place);
    }
#endif
    return interpolated(atlas, place, octaves);
}

// Copies a texel that is not blurred, to the bit.
fn sharp(texel: vec2<i32>) -> Output {
#ifdef LEAVES_UNCHANGED
    // The texel is there already.
    discard;
    return Output();
#else
    let position = source_position(texel);
#ifdef INTEGERS
    // Floats do not hold all integers.
    return Output(kept(textureLoad(source, position, 0)));
#else
    return as_it_is(fetch(position));
#endif
#endif
}
