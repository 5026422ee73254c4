// Paints glass and the layers of filtered groups: a picture, or the last step of a blur, coloured, in the shape of a rounded box.
//
// For glass, three draws make `mix(below, glass, c)` in all four channels, where `c` is coverage times opacity. The comment of
// `paint::pipelines` explains why. One of these is defined, beside the definitions of `common::pass`:
//   REPLACE  writes fully covered pixels, without blending
//   KEEP     scales the picture by 1 - c: blended by (Zero, OneMinusSrcAlpha)
//   ADD      adds the glass times c: blended by (One, One)
//   OVER     a layer: blended by (One, OneMinusSrcAlpha), which adds a glow: colour with alpha 0
// SHARP is defined if the picture is read without a blur, LENS for blurred glass that refracts, INNER for REPLACE without LENS, and
// LINE, with OVER and SHARP, for a line around the picture.
//
// Glossary
//   point    a place in the box, from its centre, before the transform
//   texel    a place in the camera's picture

#import bevy_gaussian_blur::common::pass::finite
#import bevy_gaussian_blur::common::color_functions::colored
#import bevy_gaussian_blur::common::dither::{dither_encoded, dither_stored}
#import bevy_gaussian_blur::common::output::{Output, encode_output}
#import bevy_gaussian_blur::common::srgb::{decode, encode}
#import bevy_gaussian_blur::paint::lens::{Lens, mirrored, rim_light, slope_at}
#import bevy_gaussian_blur::uniform::spline::{spline, spline_beside}

// As in Bevy's user interface, y points down.
struct Paint {
    // From a point to a pixel of the viewport.
    x_axis: vec2<f32>,
    y_axis: vec2<f32>,
    translation: vec2<f32>,
    // The pixels of the viewport that the target holds: the first, and their number.
    target_origin: vec2<f32>,
    target_size: vec2<f32>,
    // The size of the box.
    size: vec2<f32>,
    // How deep the frame of the box reaches, which is drawn alone; 0 for the whole box. INNER leaves the frame out. A negative frame
    // lies around the box, and is drawn with it.
    frame: f32,
    opacity: f32,
    // From a texel of the target to a texel of the camera's picture, to which the noise is fixed.
    to_screen: vec2<i32>,
    // The radii along x and along y: top left, top right, bottom right, bottom left.
    radii: array<vec4<f32>, 2>,
    // The painted texels of the camera's picture: the first, and one past the last. Of a layer: the texels of the source that hold it,
    // or those that it shows, if it is OUTLINED or FADED.
    region: vec4<i32>,
    // The colour of SHADOW and PLAIN.
    color: vec4<f32>,
    // From a texel of the target to a texel of the source.
    to_source: vec2<i32>,
    // How many steps of colour apply, and the flags of `colored`.
    color_steps: u32,
    color_flags: u32,
    flags: u32,
    // The strength of the noise of glass: at 1, its standard deviation is GRAIN.
    grain: f32,
    // The width of a line.
    width: f32,
    // Two turned boxes that clip: the columns of the map from a texel of the camera's picture to a box from -1 to 1. `xy` belongs to
    // the first box, `zw` to the second.
    clips: array<vec4<f32>, 3>,
    lens: Lens,
    // A number for the left, top, right and bottom of the box. FADED: which share the layer gains with every step inwards, 0 where it does
    // not fade. OUTLINED: where the texels of the target end that the box covers as a whole, and that show what they hold themselves.
    sides: vec4<f32>,
}

@group(1) @binding(0) var<uniform> paint: Paint;

#ifdef SHARP
@group(0) @binding(0) var picture: texture_2d<f32>;
#endif

// Edges are antialiased.
const SOFT: u32 = 1u;
// Colours are dithered to eight bits: the values themselves, or light that is encoded as sRGB.
const DITHER_STORED: u32 = 2u;
const DITHER_ENCODED: u32 = 4u;
// All painted pixels are fully covered: the box is upright and on whole pixels.
const WHOLE: u32 = 8u;
// KEEP draws a hole, which REPLACE does not fill.
const HOLE: u32 = 16u;
// The source's alpha in one colour.
const SHADOW: u32 = 32u;
// The colour itself, without a source; with SHARP only.
const PLAIN: u32 = 64u;
// With SHADOW: one minus the source's alpha, which is 0 beyond the region.
const INSET: u32 = 128u;
// Only texels inside of both `clips` are painted.
const CLIPPED: u32 = 256u;
// `grain` is not 0.
const GRAINED: u32 = 512u;
// A layer is shown inside of the box, which covers pixels along its edges in part.
const OUTLINED: u32 = 1024u;
// The box is upright, and the source is known in pixels that lie in it as a whole. Others show the next one of these.
const BORDERED: u32 = 2048u;
// Values are Oklab: the first one is the cube root of light, for greys.
const LIGHTNESS: u32 = 4096u;
// A layer fades towards sides of the box.
const FADED: u32 = 8192u;

// One over the alpha from which on a texel has a full line.
const FULL: f32 = 10.0;

// Of encoded values.
const GRAIN: f32 = 8.0 / 255.0;

// REPLACE draws pixels with a coverage of at least REPLACED, KEEP and ADD draw those whose share is below MIXED: a little more than
// are covered in part. Drawing both is harmless: glass mixed into itself stays the same. A gap would be a hole: rasterisers round
// vertices to 1/256 of a pixel, and the frame has other vertices than the box.
const REPLACED: f32 = 0.998;
const MIXED: f32 = 1.01;

struct Vertex {
    @builtin(position) position: vec4<f32>,
    @location(0) point: vec2<f32>,
}

// A corner of the box, moved inwards. Indices go around: top left, top right, bottom right, bottom left, and so on.
fn corner(index: u32, inset: f32) -> vec2<f32> {
    let i = index % 4u;
    let side = vec2<f32>(select(-0.5, 0.5, i == 1u || i == 2u), select(-0.5, 0.5, i >= 2u));
    return side * (paint.size - 2.0 * inset);
}

fn point_of(vertex: u32) -> vec2<f32> {
    // Two triangles, by the corners of a quad.
    var corners = array<u32, 6>(0u, 2u, 3u, 0u, 1u, 2u);
    let quad = corners[vertex % 6u];
#ifdef INNER
    return corner(quad, paint.frame);
#else
    if paint.frame > 0.0 {
        // One quad for each side of the frame, with two outer and two inner corners.
        let next = select(0u, 1u, quad == 1u || quad == 2u);
        return corner(vertex / 6u + next, select(0.0, paint.frame, quad >= 2u));
    }
    return corner(quad, paint.frame);
#endif
}

@vertex
fn paint_vertex(@builtin(vertex_index) vertex: u32) -> Vertex {
    let point = point_of(vertex);
    let pixel = paint.x_axis * point.x + paint.y_axis * point.y + paint.translation;
    let place = (pixel - paint.target_origin) / paint.target_size;
    let position = place * vec2<f32>(2.0, -2.0) + vec2<f32>(-1.0, 1.0);
    return Vertex(vec4<f32>(position, 0.0, 1.0), point);
}

// The radii along x and y of the corner next to a point.
fn radius_at(point: vec2<f32>) -> vec2<f32> {
    let along_x = select(paint.radii[0].xy, paint.radii[0].wz, 0.0 < point.y);
    let along_y = select(paint.radii[1].xy, paint.radii[1].wz, 0.0 < point.y);
    return select(vec2<f32>(along_x.x, along_y.x), vec2<f32>(along_x.y, along_y.y), 0.0 < point.x);
}

// The distance from the edge of the box, negative inside. The same as in `bevy_ui::ui_node`, which does not exist
// without Bevy's user interface.
fn distance_from_edge(point: vec2<f32>) -> f32 {
    let radius = radius_at(point);
    let from_arc = abs(point) - 0.5 * paint.size + radius;
    let from_sides = from_arc - radius;
    return select(max(from_sides.x, from_sides.y), distance_from_arc(from_arc, radius), all(from_arc > vec2<f32>(0.0)));
}

// The distance of a point, counted from the center of a corner's arc, from the arc. The distance from an ellipse is that of one step
// of Newton's method: G. Taubin, "Distance Approximations for Rasterizing Implicit Curves", section 3.
fn distance_from_arc(point: vec2<f32>, radius: vec2<f32>) -> f32 {
    if radius.x == radius.y {
        return length(point) - radius.x;
    }
    let slope = point / (radius * radius);
    return 0.5 * (dot(point, slope) - 1.0) / length(slope);
}

// The covered share of a pixel, as for Bevy's backgrounds, or MIXED deeper inside.
fn share(point: vec2<f32>) -> f32 {
    let distance = distance_from_edge(point);
    if (paint.flags & SOFT) != 0u {
        return clamp(0.5 - distance, 0.0, MIXED);
    }
    return select(0.0, MIXED, distance < 0.0);
}

// The share of a pixel inside the outline. Unlike glass, which ends where its quad ends, the outline also covers a part of the pixels
// along it, so the distance must be in pixels: over its change from one pixel to the next, which is the length of its gradient.
fn outlined(point: vec2<f32>) -> f32 {
    let distance = distance_from_edge(point);
    if (paint.flags & SOFT) == 0u {
        return 1.0 - step(0.0, distance);
    }
    let radius = radius_at(point);
    let from_arc = abs(point) - 0.5 * paint.size + radius;
    let slope = select(from_arc * radius.yx / radius, from_arc, radius.x == radius.y);
    let side = select(vec2<f32>(0.0, 1.0), vec2<f32>(1.0, 0.0), from_arc.x > from_arc.y);
    let is_corner = all(from_arc > vec2<f32>(0.0));
    let normal = sign(point) * select(side, slope / max(length(slope), 1e-6), is_corner);
    // The inverse of the transposed matrix.
    let across = paint.y_axis.y * normal.x - paint.x_axis.y * normal.y;
    let down = paint.x_axis.x * normal.y - paint.y_axis.x * normal.x;
    let area = abs(paint.x_axis.x * paint.y_axis.y - paint.y_axis.x * paint.x_axis.y);
    return saturate(0.5 - distance * area / max(length(vec2<f32>(across, down)), 1e-6));
}

#ifdef OVER
#ifdef SHARP
// The share of a group that fades towards sides of the box.
fn faded(point: vec2<f32>) -> f32 {
    let inwards = 0.5 * paint.size.xyxy + vec4<f32>(point, -point);
    let shares = select(saturate(inwards * paint.sides), vec4<f32>(1.0), paint.sides == vec4<f32>(0.0));
    return shares.x * shares.y * shares.z * shares.w;
}
#endif
#endif

// From a pixel to the next one that lies in the box as a whole, or up to a thousandth.
fn to_whole(point: vec2<f32>) -> vec2<i32> {
    if (paint.flags & BORDERED) == 0u {
        return vec2<i32>(0);
    }
    let first = ceil(paint.translation - 0.5 * paint.size - 1e-3);
    let last = floor(paint.translation + 0.5 * paint.size + 1e-3) - 1.0;
    let pixel = floor(point + paint.translation);
    return vec2<i32>(clamp(pixel, first, last) - pixel);
}

@fragment
fn paint_fragment(in: Vertex) -> Output {
    let pixel = vec2<i32>(in.position.xy);
    let texel = pixel + paint.to_screen;
    let source = pixel + paint.to_source;
    if (paint.flags & CLIPPED) != 0u && is_clipped(texel) {
        discard;
    }
#ifdef OVER
    var c = paint.opacity;
    var seen = source;
    if is_at_edge(in.position.xy) {
        if (paint.flags & OUTLINED) != 0u {
            c *= outlined(in.point);
        }
        if c <= 0.0 || is_beyond(source) {
            discard;
        }
        seen += to_whole(in.point);
    }
    return encode_output(dithered(shown(seen, in.point) * c, texel), texel);
#else
    if is_beyond(texel) {
        discard;
    }
#ifdef REPLACE
    // Only solid glass is drawn by REPLACE: opacity does not count.
    if (paint.flags & WHOLE) == 0u && share(in.point) < REPLACED {
        discard;
    }
    return encode_output(noisy(glass(source, in.point), texel, in.point), texel);
#else
    let share = share(in.point);
    let c = min(share, 1.0) * paint.opacity;
    let is_replaced = share >= MIXED && paint.opacity >= 1.0 && (paint.flags & HOLE) == 0u;
    if c <= 0.0 || is_replaced {
        discard;
    }
#ifdef KEEP
    return Output(vec4<f32>(0.0, 0.0, 0.0, c));
#else
    return encode_output(noisy(glass(source, in.point), texel, in.point) * c, texel);
#endif
#endif
#endif
}

// Whether a place on the target may lie at an edge of the box, or beyond it. Most pixels do not, and cost nothing more.
fn is_at_edge(place: vec2<f32>) -> bool {
    if (paint.flags & OUTLINED) != 0u {
        return any(place < paint.sides.xy) || any(place > paint.sides.zw);
    }
    return (paint.flags & FADED) != 0u;
}

fn is_beyond(texel: vec2<i32>) -> bool {
    return any(texel < paint.region.xy) || any(texel >= paint.region.zw);
}

// Whether the center of a texel lies outside of a clip.
fn is_clipped(texel: vec2<i32>) -> bool {
    let center = vec2<f32>(texel) + 0.5;
    let points = paint.clips[0] * center.x + paint.clips[1] * center.y + paint.clips[2];
    return any(abs(points) > vec4<f32>(1.0));
}

// What is painted, before opacity and noise. Only sharp layers fade.
fn shown(texel: vec2<i32>, point: vec2<f32>) -> vec4<f32> {
#ifdef LINE
    return paint.color * line(texel);
#else
#ifdef SHARP
    if (paint.flags & PLAIN) != 0u {
        return paint.color;
    }
    var value = finite(textureLoad(picture, texel, 0));
#ifdef OVER
    if (paint.flags & FADED) != 0u {
        value *= faded(point);
    }
#endif
#else
    let value = finite(spline(texel));
#endif
#ifdef OVER
    if (paint.flags & SHADOW) != 0u {
        return paint.color * shadow(saturate(value.a), texel);
    }
#endif
    return colored(value, paint.color_steps, paint.color_flags);
#endif
}

#ifdef LINE
// The share of a line's colour at a texel.
//
// The widened alpha of a texel is the largest of those around it, less their distance beyond the width: a texel's alpha is the share
// that the group covers of it, so that an edge inside of the texel stays where it is. What is nearly transparent widens by no more than
// FULL times its alpha, so that nothing appears at once. Of the widened alpha the group covers its own, and the line the rest. So a line
// without a width is nothing, and the group over it has the widened alpha.
fn line(texel: vec2<i32>) -> f32 {
    let alpha = alpha_at(texel);
    if alpha >= 1.0 {
        return 0.0;
    }
    var widened = alpha;
    let rows = i32(ceil(paint.width));
    for (var y = -rows; y <= rows && widened < 1.0; y += 1) {
        let columns = i32(sqrt(max((paint.width + 1.0) * (paint.width + 1.0) - f32(y * y), 0.0)));
        for (var x = -columns; x <= columns; x += 1) {
            let by = vec2<i32>(x, y);
            let other = alpha_at(texel + by);
            widened = max(widened, min(FULL * other, other + paint.width - length(vec2<f32>(by))));
        }
    }
    return (min(widened, 1.0) - alpha) / (1.0 - alpha);
}

// The alpha of a texel of the source. Other groups may lie around it.
fn alpha_at(texel: vec2<i32>) -> f32 {
    if is_beyond(texel) {
        return 0.0;
    }
    return saturate(finite(textureLoad(picture, texel, 0)).a);
}
#endif

// The share of a shadow's colour where the source has this alpha.
fn shadow(alpha: f32, texel: vec2<i32>) -> f32 {
    if (paint.flags & INSET) == 0u {
        return alpha;
    }
#ifdef SHARP
    if is_beyond(texel) {
        return 1.0;
    }
#endif
    return 1.0 - alpha;
}

// Glass, before opacity.
fn glass(texel: vec2<i32>, point: vec2<f32>) -> vec4<f32> {
#ifdef LENS
    let radius = radius_at(point);
    let slope = slope_at(point, paint.size, min(radius.x, radius.y), paint.lens.bevel);
    let seen = colored(finite(refracted(texel, slope)), paint.color_steps, paint.color_flags);
    return lit(seen, rim_light(paint.lens, slope));
#else
    return shown(texel, point);
#endif
}

#ifdef LENS
// What is seen through a slope of the lens: red, green and blue at three places, or all at one.
fn refracted(texel: vec2<i32>, slope: vec2<f32>) -> vec4<f32> {
    if all(slope == vec2<f32>(0.0)) {
        return spline(texel);
    }
    let green = moved_by(texel, slope, 0.0);
    if paint.lens.dispersion <= 0.0 {
        return green;
    }
    let red = moved_by(texel, slope, -0.5 * paint.lens.dispersion);
    let blue = moved_by(texel, slope, 0.5 * paint.lens.dispersion);
    return vec4<f32>(red.r, green.g, blue.b, green.a);
}

// The place that a slope shows, with this share more of the displacement.
fn moved_by(texel: vec2<i32>, slope: vec2<f32>, more: f32) -> vec4<f32> {
    let by = -(1.0 + more) * paint.lens.displacement * slope;
    let centre = vec2<f32>(texel) + 0.5;
    let place = centre + paint.x_axis * by.x + paint.y_axis * by.y;
    return spline_beside(texel, mirrored(place, paint.lens.bounds) - centre);
}

// Brighter by a share of what is missing to white: of encoded values, and not of alpha. Light above white stays as it is.
fn lit(value: vec4<f32>, share: f32) -> vec4<f32> {
    if share <= 0.0 || value.a <= 0.0 {
        return value;
    }
    let colour = value.rgb / value.a;
    let is_light = (paint.color_flags & 1u) != 0u;
    let encoded = select(colour, encode(colour), is_light);
    let bright = encoded + share * max(1.0 - encoded, vec3<f32>(0.0));
    return vec4<f32>(select(bright, decode(bright), is_light) * value.a, value.a);
}
#endif

// Glass with static noise and dithering. Most pixels have neither.
fn noisy(value: vec4<f32>, texel: vec2<i32>, point: vec2<f32>) -> vec4<f32> {
    if (paint.flags & (GRAINED | DITHER_STORED | DITHER_ENCODED)) == 0u {
        return value;
    }
    return dithered(grained(value, point), texel);
}

// Glass with static noise, which is fixed to the box: of encoded values, with the mean 0, and not of alpha.
fn grained(value: vec4<f32>, point: vec2<f32>) -> vec4<f32> {
    if (paint.flags & GRAINED) == 0u {
        return value;
    }
    let noise = paint.grain * GRAIN * value.a * random(vec2<i32>(floor(point + 0.5 * paint.size)));
    // Lightness has the noise of a grey as light as the colour.
    let is_lightness = (paint.flags & LIGHTNESS) != 0u;
    let lightness = max(value.x, 0.0);
    let colour = select(value.rgb, vec3<f32>(lightness * lightness * lightness), is_lightness);
    // Encoded once, whatever the values are: software rasterisers execute both sides of a branch.
    let is_encoded = !is_lightness && (paint.color_flags & 1u) == 0u;
    let noisy = max(select(encode(colour), colour, is_encoded) + noise, vec3<f32>(0.0));
    let result = select(decode(noisy), noisy, is_encoded);
    return vec4<f32>(select(result, vec3<f32>(pow(result.x, 1.0 / 3.0), value.yz), is_lightness), value.a);
}

// A random number of a place, with the mean 0 and the standard deviation 1: the sum of two that are uniform between 0 and 1, less its
// mean, over its standard deviation. The numbers come from a permuted congruential generator: M. Jarzynski, M. Olano, "Hash Functions
// for GPU Rendering", Journal of Computer Graphics Techniques 9 (3), 2020.
fn random(place: vec2<i32>) -> f32 {
    var v = bitcast<vec2<u32>>(place) * 1664525u + 1013904223u;
    v.x += v.y * 1664525u;
    v.y += v.x * 1664525u;
    v = v ^ (v >> vec2<u32>(16u));
    v.x += v.y * 1664525u;
    v.y += v.x * 1664525u;
    v = v ^ (v >> vec2<u32>(16u));
    let uniform_pair = vec2<f32>(v >> vec2<u32>(8u)) / 16777216.0;
    return (uniform_pair.x + uniform_pair.y - 1.0) * sqrt(6.0);
}

// A value, dithered if the camera dithers. Mixing glass with the picture below mixes the noise as well: both have the same.
fn dithered(value: vec4<f32>, texel: vec2<i32>) -> vec4<f32> {
    if (paint.flags & DITHER_STORED) != 0u {
        return vec4<f32>(dither_stored(value.rgb, texel), value.a);
    }
    if (paint.flags & DITHER_ENCODED) != 0u {
        return vec4<f32>(dither_encoded(value.rgb, texel), value.a);
    }
    return value;
}
