// One axis of the separable Gaussian in compute, written like a fragment shader: one invocation per texel, every texel
// read from the texture, weights computed on the way, nothing shared within the workgroup.

@group(0) @binding(2) var output: texture_storage_2d<STORAGE_FORMAT, write>;

@compute @workgroup_size(WORKGROUP, WORKGROUP)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    if any(id.xy >= textureDimensions(output)) {
        return;
    }
    let centre = vec2<i32>(id.xy);
    let r = parameters.radius;
    var sum = vec4<f32>(0.0);
    var total = 0.0;
    for (var x = -r; x <= r; x++) {
        let weight = gaussian(f32(x * x));
        sum += weight * texel_at(centre + x * parameters.axis);
        total += weight;
    }
    textureStore(output, id.xy, sum / total);
}
