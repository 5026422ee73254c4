// The Gaussian of a small sigma, as a sum of texels of the sharp picture: the source of `common::pass`, with the edges
// of the pass.

#define_import_path bevy_gaussian_blur::profile::direct_sum

#import bevy_gaussian_blur::common::pass::{EDGE_RENORMALIZE, blur, is_finite, is_inside, is_present, load_unchecked}
#import bevy_gaussian_blur::common::pass::{read_texel, source_position}
#ifdef SUMS_FILTERED
#import bevy_gaussian_blur::common::pass::{linear_sampler, source}
#endif

// A sampled Gaussian around a texel of the sharp picture. Pairs are x and y.
struct Window {
    centre: vec2<i32>,
    reach: vec2<i32>,
    // In texels.
    support: vec2<f32>,
    // A weight is exp(scale * x²).
    scale: vec2<f32>,
}

// The window around the sharp texel of a target texel, with Gaussian weights that end after this many sigmas.
fn window_of(texel: vec2<i32>, sigmas: vec2<f32>, cutoff: f32) -> Window {
    let support = cutoff * sigmas;
    // Large enough to divide by.
    let scale = -0.5 / max(sigmas * sigmas, vec2<f32>(1e-4));
    return Window(source_position(texel), vec2<i32>(ceil(support)), support, scale);
}

// The sum of all texels of a window.
fn gaussian_sum(window: Window) -> vec4<f32> {
    if is_inside(window.centre - window.reach, window.centre + window.reach) {
        if may_filter(window) {
            let sum = plain_sum(window, true);
            if is_finite(sum) {
                return sum;
            }
        }
        let sum = plain_sum(window, false);
        if is_finite(sum) {
            return sum;
        }
    }
    return careful_sum(window);
}

// Whether fetches may be filtered: what samplers pick up of a neighbour shows where the picture is hardly blurred.
fn may_filter(window: Window) -> bool {
#ifdef SUMS_FILTERED
    return all(window.reach > vec2<i32>(2));
#else
    return false;
#endif
}

// The sum of the row through the centre of a window. Columns of these are summed only away from edges.
fn row_sum(window: Window) -> vec4<f32> {
    let filtered = may_filter(window);
    var sum = read(window.centre, vec2<f32>(0.0), filtered);
    var total = 1.0;
    for (var x = 1; x <= window.reach.x; x += select(1, 2, filtered)) {
        let across = tap(x, window.scale.x, window.support.x, filtered);
        let offset = vec2<f32>(across.x, 0.0);
        sum += across.y * (read(window.centre, offset, filtered) + read(window.centre, -offset, filtered));
        total += 2.0 * across.y;
    }
    if is_finite(sum) {
        return sum / total;
    }
    // Skips values that are not finite, and applies the edge modes.
    return careful_sum(Window(window.centre, vec2<i32>(window.reach.x, 0), window.support, window.scale));
}

// The sum away from edges: reads at equal distances share a weight. If filtered, one fetch reads two texels of each
// axis. The last fetch may read a texel beyond the reach, whose weight is 0.
fn plain_sum(window: Window, filtered: bool) -> vec4<f32> {
    var sum = vec4<f32>(0.0);
    var total = vec2<f32>(0.0);
    for (var y = 0; y <= window.reach.y; y += select(1, 2, filtered && y > 0)) {
        let down = tap(y, window.scale.y, window.support.y, filtered);
        var rows = vec4<f32>(0.0);
        var total_x = 0.0;
        for (var x = 0; x <= window.reach.x; x += select(1, 2, filtered && x > 0)) {
            let across = tap(x, window.scale.x, window.support.x, filtered);
            rows += across.y * mirrored(window.centre, vec2<f32>(across.x, down.x), filtered);
            total_x += select(2.0, 1.0, x == 0) * across.y;
        }
        sum += down.y * rows;
        total = vec2<f32>(total_x, total.y + select(2.0, 1.0, y == 0) * down.y);
    }
    return sum / (total.x * total.y);
}

// The offset and the weight of a read: of one texel or, if filtered, of this texel and the next. Offsets between two
// texels are rounded to the steps that samplers distinguish.
fn tap(first: i32, scale: f32, support: f32, filtered: bool) -> vec2<f32> {
    let near = fading(f32(first), scale, support);
    if first == 0 || !filtered {
        return vec2<f32>(f32(first), near);
    }
    let far = fading(f32(first + 1), scale, support);
    let weight = near + far;
    let offset = round(256.0 * far / max(weight, 1e-30)) / 256.0;
    return vec2<f32>(f32(first) + offset, weight);
}

// The sum of the reads at an offset, to both sides, up and down.
fn mirrored(centre: vec2<i32>, offset: vec2<f32>, filtered: bool) -> vec4<f32> {
    var sum = read(centre, offset, filtered);
    if offset.x > 0.0 {
        sum += read(centre, vec2<f32>(-offset.x, offset.y), filtered);
    }
    if offset.y > 0.0 {
        sum += read(centre, vec2<f32>(offset.x, -offset.y), filtered);
        if offset.x > 0.0 {
            sum += read(centre, -offset, filtered);
        }
    }
    return sum;
}

fn read(centre: vec2<i32>, offset: vec2<f32>, filtered: bool) -> vec4<f32> {
#ifdef SUMS_FILTERED
    if filtered {
        // Samplers may round down: a little is added so that they lose nothing.
        let position = vec2<f32>(centre) + (0.5 + 1.0 / 1024.0) + offset;
        return textureSampleLevel(source, linear_sampler, position * blur.texel_size, 0.0);
    }
#endif
    return load_unchecked(centre + vec2<i32>(offset), false);
}

// The same across any edge, and around values that are not finite.
fn careful_sum(window: Window) -> vec4<f32> {
    var sum = vec4<f32>(0.0);
    var inside = vec2<f32>(0.0);
    for (var y = -window.reach.y; y <= window.reach.y; y++) {
        let weight_y = fading(f32(y), window.scale.y, window.support.y);
        var row = vec4<f32>(0.0);
        var inside_x = 0.0;
        for (var x = -window.reach.x; x <= window.reach.x; x++) {
            let place = window.centre + vec2<i32>(x, y);
            let weight = fading(f32(x), window.scale.x, window.support.x);
            row += weight * read_texel(place);
            inside_x += select(0.0, weight, counts(place.x, 0u));
        }
        sum += weight_y * row;
        inside = vec2<f32>(inside_x, inside.y + select(0.0, weight_y, counts(window.centre.y + y, 1u)));
    }
    return sum / (inside.x * inside.y);
}

// A weight of a sampled Gaussian whose last texel fades, as in `kernel::gaussian`.
fn fading(distance: f32, scale: f32, support: f32) -> f32 {
    return exp(distance * distance * scale) * clamp(support + 1.0 - abs(distance), 0.0, 1.0);
}

// Whether the weight of a texel counts in the total: only a renormalised edge leaves out missing texels.
fn counts(texel: i32, axis: u32) -> bool {
    return blur.edge[axis] != EDGE_RENORMALIZE
        || is_present(texel, blur.bounds_min[axis], blur.bounds_max[axis], blur.edge[axis]);
}
