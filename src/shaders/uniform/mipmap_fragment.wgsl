// The next mip level, or the picture in any other size: the mean of the texels that a target texel covers.
//
// If a side is odd, a target texel covers some texels only in part, and these count in part. The unit of length makes
// all lengths integers: a source texel is as long as the target has texels, a target texel as long as the source has.

#import bevy_gaussian_blur::common::output::{Output, encode_output}
#import bevy_gaussian_blur::common::pass::{blur, decode_input, fetch}
#import bevy_gaussian_blur::common::compositing::converted

@fragment
fn mipmap_fragment(@builtin(position) fragment: vec4<f32>) -> Output {
    let texel = vec2<i32>(fragment.xy);
    let start = texel * blur.bounds_max;
    let end = start + blur.bounds_max;
    let last = (end - 1) / blur.size;
    var sum = vec4<f32>(0.0);
    for (var y = start.y / blur.size.y; y <= last.y; y++) {
        for (var x = start.x / blur.size.x; x <= last.x; x++) {
            let position = vec2<i32>(x, y);
            let covered = min((position + 1) * blur.size, end) - max(position * blur.size, start);
            let share = vec2<f32>(covered) / vec2<f32>(blur.bounds_max);
            sum += share.x * share.y * decode_input(fetch(position));
        }
    }
#ifdef CONVERTS
    sum = converted(sum);
#endif
    return encode_output(sum, texel);
}
