// The Gaussian from its definition, with g(x) g(y) looked up.
//
// The weights are the same at every texel, so they are computed and normalised once, on the CPU. By symmetry one
// quadrant of them suffices: (r + 1)² numbers, row after row. That saves the exponentials, not the (2r + 1)² texels.

@group(0) @binding(3) var<storage, read> weights: array<f32>;

@fragment
fn main(@builtin(position) position: vec4<f32>) -> @location(0) vec4<f32> {
    let centre = vec2<i32>(position.xy);
    let r = parameters.radius;
    var sum = vec4<f32>(0.0);
    for (var y = -r; y <= r; y++) {
        let row = abs(y) * (r + 1);
        for (var x = -r; x <= r; x++) {
            sum += weights[row + abs(x)] * texel_at(centre + vec2<i32>(x, y));
        }
    }
    return sum;
}
