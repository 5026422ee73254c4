// Sigmas on a scale of **rungs**, evenly spaced by their logarithms. Sums of the sharp picture are interpolated between
// them.

#define_import_path bevy_gaussian_blur::profile::log_sigma

#import bevy_gaussian_blur::profile::sigma_levels::stack

// Sigma is 2^(rung / 8), or 2^(rung / 12) below 1. At the lowest rung it is 0.19, where a neighbour has the weight
// 10^-6: a smaller sigma is no blur.
const TO_OCTAVE: f32 = 8.0;
const TO_OCTAVE_BELOW: f32 = 12.0;
const LOWEST: i32 = -#{RUNGS_BELOW};
const RUNGS: i32 = #{RUNGS};

// Sentinel: not summed here.
const NO_RUNG: f32 = 1e9;

// A sigma as a fractional rung.
fn rung_of(sigma: f32) -> f32 {
    let octave = log2(clamp(sigma, 1e-3, stack.gathered));
    let rung = octave * select(TO_OCTAVE, TO_OCTAVE_BELOW, octave < 0.0);
    let limited = clamp(rung, f32(LOWEST), f32(LOWEST + RUNGS - 1));
    // Values close enough to a rung are that rung.
    return select(limited, round(limited), abs(limited - round(limited)) < 0.005);
}

// The position of rungs between two others.
fn place_between(rungs: vec4<f32>, ends: vec2<f32>) -> vec4<f32> {
    return clamp((rungs - ends.x) / max(ends.y - ends.x, 1e-6), vec4<f32>(0.0), vec4<f32>(1.0));
}

fn sigma_of(rung: f32) -> f32 {
    return exp2(rung / select(TO_OCTAVE, TO_OCTAVE_BELOW, rung < 0.0));
}
