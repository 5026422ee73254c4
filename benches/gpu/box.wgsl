// The box blur with the variance of the Gaussian: the mean of the texels around each texel, along one axis.
//
// Equal weights on -r .. r have the variance r (r + 1) / 3, which equals σ² only for a few σ. So the two texels at
// ± (r + 1) get the weight e in [0, 1) that supplies the rest:
//
//   (r (r + 1) (2r + 1) / 3 + 2 e (r + 1)²) / (2r + 1 + 2e) = σ²
//
// The width grows as sqrt(12) σ: fewer texels than a Gaussian's 6 σ, and no weights. The result is boxy: the kernel has
// corners, and its spectrum has zeros.

@fragment
fn main(@builtin(position) position: vec4<f32>) -> @location(0) vec4<f32> {
    let centre = vec2<i32>(position.xy);
    let r = parameters.radius;
    let e = parameters.outermost;
    var sum = e * (texel_at(centre - (r + 1) * parameters.axis) + texel_at(centre + (r + 1) * parameters.axis));
    for (var x = -r; x <= r; x++) {
        sum += texel_at(centre + x * parameters.axis);
    }
    return sum / (2.0 * f32(r) + 1.0 + 2.0 * e);
}
