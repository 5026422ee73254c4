// Which texels of a pass are read by somebody, where sigma varies. See `plan::pass::Needed`.

#define_import_path bevy_gaussian_blur::needed

#import bevy_gaussian_blur::common::blur
#import bevy_gaussian_blur::shares::shares_within

// Whether some texel of the picture may read what is written from the first to the last of these texels of the target.
fn is_needed(first: vec2<i32>, last: vec2<i32>) -> bool {
    let needed = blur.needed;
    let low = vec2<f32>(first + needed.first - needed.around) * needed.scale;
    let high = vec2<f32>(last + needed.first + needed.around + 1) * needed.scale;
    let shares = shares_within(low, high);
    return shares.y >= needed.shares.x && shares.x <= needed.shares.y;
}
