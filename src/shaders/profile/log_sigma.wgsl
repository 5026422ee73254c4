// Sigmas on a scale of **rungs**, evenly far apart by their logarithms: those between which sums of the sharp picture are
// interpolated.

#define_import_path bevy_gaussian_blur::profile::log_sigma

#import bevy_gaussian_blur::profile::sigma_levels::stack

// Sigma is 2^(rung / 8), or below 1 2^(rung / 12). In the lowest one it is 0.19, and a neighbour counts 10^-6: below, a blur is
// none.
const TO_OCTAVE: f32 = 8.0;
const TO_OCTAVE_BELOW: f32 = 12.0;
const LOWEST: i32 = -#{RUNGS_BELOW};
const RUNGS: i32 = #{RUNGS};

// That of a texel for which somebody else cares.
const NO_RUNG: f32 = 1e9;

// A sigma as a rung, with its fraction.
fn rung_of(sigma: f32) -> f32 {
    let octave = log2(clamp(sigma, 1e-3, stack.gathered));
    let rung = octave * select(TO_OCTAVE, TO_OCTAVE_BELOW, octave < 0.0);
    let limited = clamp(rung, f32(LOWEST), f32(LOWEST + RUNGS - 1));
    // What is as good as a rung is one.
    return select(limited, round(limited), abs(limited - round(limited)) < 0.005);
}

// Where rungs lie between two.
fn place_between(rungs: vec4<f32>, ends: vec2<f32>) -> vec4<f32> {
    return clamp((rungs - ends.x) / max(ends.y - ends.x, 1e-6), vec4<f32>(0.0), vec4<f32>(1.0));
}

fn sigma_of(rung: f32) -> f32 {
    return exp2(rung / select(TO_OCTAVE, TO_OCTAVE_BELOW, rung < 0.0));
}
