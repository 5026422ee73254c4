// The encoding of sRGB, IEC 61966-2-1.

#define_import_path bevy_gaussian_blur::common::srgb

// From light to encoded values. The same curve encodes light above 1; negative light becomes 0.
fn encode(light: vec3<f32>) -> vec3<f32> {
    let positive = max(light, vec3<f32>(0.0));
    let curve = 1.055 * pow(positive, vec3<f32>(1.0 / 2.4)) - 0.055;
    return select(curve, 12.92 * positive, positive <= vec3<f32>(0.0031308));
}

fn decode(encoded: vec3<f32>) -> vec3<f32> {
    let curve = pow((encoded + 0.055) / 1.055, vec3<f32>(2.4));
    return select(curve, encoded / 12.92, encoded <= vec3<f32>(0.04045));
}
