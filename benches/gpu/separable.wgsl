// One axis of the separable Gaussian.
//
// g(sqrt(x² + y²)) = g(x) g(y), so the sum over the square is a sum over rows of sums along rows: one pass along x, one
// along y, each of 2r + 1 texels. The cost grows as σ instead of σ². The weights are still computed at every texel.

@fragment
fn main(@builtin(position) position: vec4<f32>) -> @location(0) vec4<f32> {
    let centre = vec2<i32>(position.xy);
    let r = parameters.radius;
    var sum = vec4<f32>(0.0);
    var total = 0.0;
    for (var x = -r; x <= r; x++) {
        let weight = gaussian(f32(x * x));
        sum += weight * texel_at(centre + x * parameters.axis);
        total += weight;
    }
    return sum / total;
}
