// The Gaussian from its definition: every texel of the square around each one, weighted by g(x) g(y) = g(sqrt(x² + y²)),
// over the sum of the weights.
//
// (2r + 1)² texels and as many exponentials: the cost grows with the square of σ.

@fragment
fn main(@builtin(position) position: vec4<f32>) -> @location(0) vec4<f32> {
    let centre = vec2<i32>(position.xy);
    let r = parameters.radius;
    var sum = vec4<f32>(0.0);
    var total = 0.0;
    for (var y = -r; y <= r; y++) {
        for (var x = -r; x <= r; x++) {
            let weight = gaussian(f32(x * x + y * y));
            sum += weight * texel_at(centre + vec2<i32>(x, y));
            total += weight;
        }
    }
    return sum / total;
}
