// Compute: a blur whose sigma varies over the picture: the last pass.

#import bevy_gaussian_blur::common::{blur, store}
#import bevy_gaussian_blur::blend::{blended, target_sigma}
#ifndef IN_PLACE
#import bevy_gaussian_blur::leave::as_it_is
#import bevy_gaussian_blur::common::{fetch, source_position, stored}
#endif

@compute @workgroup_size(#{WIDTH}, #{HEIGHT})
fn blend_compute(@builtin(global_invocation_id) invocation: vec3<u32>) {
    let position = vec2<i32>(invocation.xy);
    if any(position >= blur.size) {
        return;
    }
    let texel = blur.origin + position;
    let sigma = target_sigma(texel);
    if sigma > 0.0 {
        store(position, blended(texel, sigma));
        return;
    }
#ifndef IN_PLACE
    // A texel that is not blurred, to the bit. In place it is there already.
    textureStore(stored, texel, as_it_is(fetch(source_position(texel))).value);
#endif
}
