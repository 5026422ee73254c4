// One axis of the separable Gaussian, two texels per fetch.
//
// A linear sampler at the position a + t, between the texels a and b = a + 1, returns (1 - t) source[a] + t source[b].
// With t = w(b) / (w(a) + w(b)), times w(a) + w(b), that is exactly w(a) source[a] + w(b) source[b]: one fetch instead
// of two. The centre stands alone; 1 and 2, 3 and 4, and so on are pairs on either side. Positions and weights come
// from a table, normalised on the CPU.

// (distance from the centre, weight) of the centre and of every pair on one side.
@group(0) @binding(3) var<storage, read> taps: array<vec2<f32>>;
@group(0) @binding(4) var linear_sampler: sampler;

@fragment
fn main(@builtin(position) position: vec4<f32>) -> @location(0) vec4<f32> {
    let texel = 1.0 / vec2<f32>(textureDimensions(source));
    let stride = vec2<f32>(parameters.axis) * texel;
    let centre = position.xy * texel;
    var sum = taps[0].y * textureSampleLevel(source, linear_sampler, centre, 0.0);
    for (var i = 1u; i < arrayLength(&taps); i++) {
        let away = taps[i].x * stride;
        let pair = textureSampleLevel(source, linear_sampler, centre - away, 0.0)
            + textureSampleLevel(source, linear_sampler, centre + away, 0.0);
        sum += taps[i].y * pair;
    }
    return sum;
}
