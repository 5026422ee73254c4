// Paints glass: the last step of a blur, coloured, in the shape of a rounded box.
//
// Three draws make `mix(below, glass, c)` in all four channels, where `c` is coverage times opacity. The comment of
// `backdrop::pipelines` says why. One of these is defined, next to what `common::pass` knows:
//   REPLACE  what is covered as a whole, without blending
//   KEEP     blended by (Zero, OneMinusSrcAlpha): what stays of the picture, 1 - c
//   ADD      blended by (One, One): what the glass adds, c times its value
//
// Glossary
//   point    a place in the box, from its centre, before the transform
//   texel    a place in the picture

#import bevy_gaussian_blur::common::pass::finite
#import bevy_gaussian_blur::common::color_functions::{ColorFunctions, colored}
#import bevy_gaussian_blur::common::dither::{dither_encoded, dither_stored}
#import bevy_gaussian_blur::common::output::{Output, encode_output}
#import bevy_gaussian_blur::uniform::spline::spline

// A backdrop. Points up and down the box are seen as they are in Bevy's user interface: y goes down.
struct Backdrop {
    // From a point to a pixel of the viewport.
    x_axis: vec2<f32>,
    y_axis: vec2<f32>,
    translation: vec2<f32>,
    // The pixels of the viewport that are painted on: the first, and how many.
    target_origin: vec2<f32>,
    target_size: vec2<f32>,
    // The size of the box.
    size: vec2<f32>,
    // How deep the frame reaches into the box that KEEP and ADD draw; 0 for the whole box.
    frame: f32,
    opacity: f32,
    // From the texel that is painted on to that of the picture which is blurred.
    to_picture: vec2<i32>,
    // Top left, top right, bottom right, bottom left.
    radii: vec4<f32>,
    // The texels that are painted: the first, and the first that is not.
    region: vec4<i32>,
    functions: ColorFunctions,
    flags: u32,
}

@group(1) @binding(0) var<uniform> backdrop: Backdrop;

// Edges are antialiased.
const SOFT: u32 = 1u;
// Colours are dithered to eight bits: as they are, or as light that is encoded.
const DITHER_STORED: u32 = 2u;
const DITHER_ENCODED: u32 = 4u;
// All that is painted is covered as a whole: an upright box on whole pixels.
const WHOLE: u32 = 8u;

// From the one on a pixel is replaced, up to the other it is mixed. Between them it is both, which does no harm: glass
// mixed into glass is backdrop. A gap would be a hole wherever two pipelines compute a distance differently.
const REPLACED: f32 = 0.998;
const MIXED: f32 = 0.999;

struct Vertex {
    @builtin(position) position: vec4<f32>,
    @location(0) point: vec2<f32>,
}

// A corner of the box, moved inwards: top left, top right, bottom right, bottom left, and so on around.
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
        // One side of the frame after the other. Two corners of each quad are outer ones, and the other two inner ones.
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

// The distance from the edge of the box, negative inside. As `bevy_ui::ui_node` has it, which is not there without
// Bevy's user interface.
fn distance_from_edge(point: vec2<f32>) -> f32 {
    let pair = select(backdrop.radii.xy, backdrop.radii.wz, 0.0 < point.y);
    let radius = select(pair.x, pair.y, 0.0 < point.x);
    let from_arc = abs(point) - 0.5 * backdrop.size + radius;
    let from_centre = length(from_arc);
    let in_corner = from_centre - radius;
    return select(max(from_arc.x, from_arc.y) - radius, in_corner, all(from_arc > vec2<f32>(0.0)));
}

// How much of a pixel is covered, as Bevy's backgrounds have it.
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
    // What replaces is solid.
    if (backdrop.flags & WHOLE) == 0u && coverage(in.point) < REPLACED {
        discard;
    }
    return encode_output(dithered(texel), texel);
#else
    let c = coverage(in.point) * backdrop.opacity;
    if c <= 0.0 || c >= MIXED {
        discard;
    }
#ifdef KEEP
    return Output(vec4<f32>(0.0, 0.0, 0.0, c));
#else
    return encode_output(dithered(texel) * c, texel);
#endif
#endif
}

// The glass, dithered if the camera is. What is mixed with the picture below mixes its noise as well: both have the same.
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
