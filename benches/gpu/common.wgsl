// The shared code of the classical methods: the parameters, a read with clamped borders, the Gaussian, and the triangle
// that covers the target of a fragment pass.
//
// Notation: σ is the standard deviation in texels, r = ceil(3 σ) the radius at which the classical filter ends, and
// g(x) = exp(-x² / 2σ²) the Gaussian before it is normalised.

struct Parameters {
    // The axis of a one-dimensional pass: (1, 0) or (0, 1).
    axis: vec2<i32>,
    // r, or the radius of the box.
    radius: i32,
    // σ.
    sigma: f32,
    // The weight of the two outermost texels of a box. WebGL 2 requires multiples of 16 bytes.
    @size(16) outermost: f32,
}

@group(0) @binding(0) var<uniform> parameters: Parameters;
// The texture that the pass reads.
@group(0) @binding(1) var source: texture_2d<f32>;

// The texel, or the nearest one of the border.
fn texel_at(texel: vec2<i32>) -> vec4<f32> {
    let last = vec2<i32>(textureDimensions(source)) - 1;
    return textureLoad(source, clamp(texel, vec2<i32>(0), last), 0);
}

// g at the squared distance x².
fn gaussian(squared: f32) -> f32 {
    return exp(-squared / (2.0 * parameters.sigma * parameters.sigma));
}

// One triangle around the whole target.
@vertex
fn fullscreen(@builtin(vertex_index) index: u32) -> @builtin(position) vec4<f32> {
    return vec4<f32>(f32(index / 2u) * 4.0 - 1.0, f32(index % 2u) * 4.0 - 1.0, 0.0, 1.0);
}
