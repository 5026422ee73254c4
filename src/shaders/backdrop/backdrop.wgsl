// Paints glass: the last step of a blur, coloured, in the shape of a rounded box.
//
// Three draws make `mix(below, glass, c)` in all four channels, where `c` is coverage times opacity. The comment of
// `backdrop::pipelines` explains why. One of these is defined, beside the definitions of `common::pass`:
//   REPLACE  writes fully covered pixels, without blending
//   KEEP     scales the picture by 1 - c: blended by (Zero, OneMinusSrcAlpha)
//   ADD      adds the glass times c: blended by (One, One)
//
// Glossary
//   point    a place in the box, from its centre, before the transform
//   texel    a place in the picture

#import bevy_gaussian_blur::common::pass::finite
#import bevy_gaussian_blur::common::color_functions::{ColorFunctions, colored}
#import bevy_gaussian_blur::common::dither::{dither_encoded, dither_stored}
#import bevy_gaussian_blur::common::output::{Output, encode_output}
#import bevy_gaussian_blur::uniform::spline::spline

// A backdrop. As in Bevy's user interface, y points down.
struct Backdrop {
    // From a point to a pixel of the viewport.
    x_axis: vec2<f32>,
    y_axis: vec2<f32>,
    translation: vec2<f32>,
    // The pixels of the viewport that the target holds: the first, and their number.
    target_origin: vec2<f32>,
    target_size: vec2<f32>,
    // The size of the box.
    size: vec2<f32>,
    // How deep the frame that KEEP and ADD draw reaches into the box; 0 for the whole box.
    frame: f32,
    opacity: f32,
    // From a texel of the target to the texel of the blurred picture.
    to_picture: vec2<i32>,
    // Top left, top right, bottom right, bottom left.
    radii: vec4<f32>,
    // The painted texels: the first, and one past the last.
    region: vec4<i32>,
    functions: ColorFunctions,
    flags: u32,
}

@group(1) @binding(0) var<uniform> backdrop: Backdrop;

// Edges are antialiased.
const SOFT: u32 = 1u;
// Colours are dithered to eight bits: the values themselves, or light that is encoded as sRGB.
const DITHER_STORED: u32 = 2u;
const DITHER_ENCODED: u32 = 4u;
// All painted pixels are fully covered: the box is upright and on whole pixels.
const WHOLE: u32 = 8u;
// KEEP draws a hole, which REPLACE does not fill.
const HOLE: u32 = 16u;

// REPLACE draws pixels with a coverage of at least REPLACED, KEEP and ADD draw pixels with `c` below MIXED. Drawing both is
// harmless: glass mixed into itself stays the same. A gap would be a hole where two pipelines round a distance differently.
const REPLACED: f32 = 0.998;
const MIXED: f32 = 0.999;

struct Vertex {
    @builtin(position) position: vec4<f32>,
    @location(0) point: vec2<f32>,
}

// A corner of the box, moved inwards. Indices go around: top left, top right, bottom right, bottom left, and so on.
fn corner(index: u32, inset: f32) -> vec2<f32> {
    let i = index % 4u;
    let side = vec2<f32>(select(-0.5, 0.5, i == 1u || i == 2u), select(-0.5, 0.5, i >= 2u));
    return side * (backdrop.size - 2.0 * inset);
}

fn point_of(vertex: u32) -> vec2<f32> {
    // Two triangles, by the corners of a quad.
    var corners = array<u32, 6>(0u, 2u, 3u, 0u, 1u, 2u);
    let quad = corners[vertex % 6u];
#ifndef REPLACE
    if backdrop.frame > 0.0 {
        // One quad for each side of the frame, with two outer and two inner corners.
        let next = select(0u, 1u, quad == 1u || quad == 2u);
        return corner(vertex / 6u + next, select(0.0, backdrop.frame, quad >= 2u));
    }
#endif
    return corner(quad, 0.0);
}

@vertex
fn backdrop_vertex(@builtin(vertex_index) vertex: u32) -> Vertex {
    let point = point_of(vertex);
    let pixel = backdrop.x_axis * point.x + backdrop.y_axis * point.y + backdrop.translation;
    let place = (pixel - backdrop.target_origin) / backdrop.target_size;
    let position = place * vec2<f32>(2.0, -2.0) + vec2<f32>(-1.0, 1.0);
    return Vertex(vec4<f32>(position, 0.0, 1.0), point);
}

// The distance from the edge of the box, negative inside. The same as in `bevy_ui::ui_node`, which does not exist
// without Bevy's user interface.
fn distance_from_edge(point: vec2<f32>) -> f32 {
    let pair = select(backdrop.radii.xy, backdrop.radii.wz, 0.0 < point.y);
    let radius = select(pair.x, pair.y, 0.0 < point.x);
    let from_arc = abs(point) - 0.5 * backdrop.size + radius;
    let from_centre = length(from_arc);
    let in_corner = from_centre - radius;
    return select(max(from_arc.x, from_arc.y) - radius, in_corner, all(from_arc > vec2<f32>(0.0)));
}

// The covered share of a pixel, as for Bevy's backgrounds.
fn coverage(point: vec2<f32>) -> f32 {
    let distance = distance_from_edge(point);
    if (backdrop.flags & SOFT) != 0u {
        return saturate(0.5 - distance);
    }
    return 1.0 - step(0.0, distance);
}

@fragment
fn backdrop_fragment(in: Vertex) -> Output {
    let texel = vec2<i32>(in.position.xy) + backdrop.to_picture;
    if any(texel < backdrop.region.xy) || any(texel >= backdrop.region.zw) {
        discard;
    }
#ifdef REPLACE
    // Only solid glass is drawn by REPLACE: opacity does not count.
    if (backdrop.flags & WHOLE) == 0u && coverage(in.point) < REPLACED {
        discard;
    }
    return encode_output(dithered(texel), texel);
#else
    let c = coverage(in.point) * backdrop.opacity;
    if c <= 0.0 || (c >= MIXED && (backdrop.flags & HOLE) == 0u) {
        discard;
    }
#ifdef KEEP
    return Output(vec4<f32>(0.0, 0.0, 0.0, c));
#else
    return encode_output(dithered(texel) * c, texel);
#endif
#endif
}

// The glass, dithered if the camera dithers. Mixing it with the picture below mixes the noise as well: both have the same.
fn dithered(texel: vec2<i32>) -> vec4<f32> {
    let value = colored(finite(spline(texel)), backdrop.functions);
    if (backdrop.flags & DITHER_STORED) != 0u {
        return vec4<f32>(dither_stored(value.rgb, texel), value.a);
    }
    if (backdrop.flags & DITHER_ENCODED) != 0u {
        return vec4<f32>(dither_encoded(value.rgb, texel), value.a);
    }
    return value;
}
