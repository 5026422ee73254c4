// Which texels of a pass are read later, if sigma varies. See `plan::pass::Needed`.

#define_import_path bevy_gaussian_blur::profile::tile_culling

#import bevy_gaussian_blur::common::pass::blur
#ifdef SKIPS
#import bevy_gaussian_blur::profile::sigma_field::shares_within
#endif

// Whether any texel of a tile is read later, which begins at a texel that counts from `blur.origin`.
fn is_read(first: vec2<i32>, size: vec2<i32>) -> bool {
#ifdef MERGES
    // The passes of a dispatch may differ in size.
    if any(first >= blur.size) {
        return false;
    }
#endif
    return is_needed(blur.origin + first, blur.origin + min(first + size, blur.size) - 1);
}

#ifdef SKIPS
// Whether a texel of the picture may read any of the target's texels from `first` to `last`.
fn is_needed(first: vec2<i32>, last: vec2<i32>) -> bool {
    let needed = blur.needed;
    let low = vec2<f32>(first + needed.first - needed.around) * needed.scale;
    let high = vec2<f32>(last + needed.first + needed.around + 1) * needed.scale;
    let shares = shares_within(low, high);
    return shares.y >= needed.shares.x && shares.x <= needed.shares.y;
}
#else
// All of them are.
fn is_needed(first: vec2<i32>, last: vec2<i32>) -> bool {
    return true;
}
#endif
