//! The shader's data of a backdrop: the mirror of `Backdrop` in `shaders/backdrop/backdrop.wgsl`.

#[cfg(feature = "ui")]
use super::canvas::{Canvas, Hole};
use super::extracted::ExtractedBackdrop;
use crate::formats::dither::Dither;
use crate::formats::precision_of;
use crate::kernel::Precision;
use crate::settings::ColorFunctions;
use bevy::camera::CompositingSpace;
use bevy::math::URect;
use bevy::render::render_resource::TextureFormat;
use bytemuck::{Pod, Zeroable};
use core::mem::offset_of;

/// Glass of at least this opacity replaces the picture below it.
const SOLID: f32 = 0.999;

/// How a picture holds colours, as far as it matters for painting glass on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Colours {
    /// Whether values are encoded as sRGB, and not light. (An sRGB format is light to shaders.)
    pub are_encoded: bool,
    /// Whether values are at most 1.
    pub are_bounded: bool,
    /// Whether the colour functions apply to them.
    pub are_filtered: bool,
    /// Whether the GPU can mix them with the picture below. If not, glass is solid and its edges are hard.
    pub are_mixed: bool,
    /// How they are dithered, if at all.
    pub dither: Dither,
}

impl Colours {
    /// The colours of a camera's picture, which the camera writes to the format `output`.
    pub fn new(
        format: TextureFormat,
        output: Option<TextureFormat>,
        space: Option<CompositingSpace>,
        are_mixed: bool,
    ) -> Self {
        Self {
            are_encoded: space == Some(CompositingSpace::Srgb),
            are_bounded: precision_of(format) == Precision::Standard,
            are_filtered: space != Some(CompositingSpace::Oklab),
            are_mixed,
            dither: Dither::of_camera(format, output, space),
        }
    }
}

/// `Backdrop` in WGSL.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
pub struct BackdropUniform {
    pub x_axis: [f32; 2],
    pub y_axis: [f32; 2],
    pub translation: [f32; 2],
    pub target_origin: [f32; 2],
    pub target_size: [f32; 2],
    pub size: [f32; 2],
    pub frame: f32,
    pub opacity: f32,
    pub to_picture: [i32; 2],
    pub radii: [f32; 4],
    pub region: [i32; 4],
    pub functions: FunctionsUniform,
    pub flags: u32,
    pub padding: [u32; 3],
}

/// `ColorFunctions` in `shaders/common/color_functions.wgsl`.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
pub struct FunctionsUniform {
    pub saturation: f32,
    pub brightness: f32,
    pub contrast: f32,
    pub invert: f32,
    pub hue: [f32; 2],
    pub is_active: u32,
    pub flags: u32,
}

const LIGHT: u32 = 1;
const BOUNDED: u32 = 2;

impl FunctionsUniform {
    /// The functions on a picture with such colours.
    pub fn new(functions: ColorFunctions, colours: Colours) -> Self {
        let angle = functions.hue.to_radians();
        let is_active = colours.are_filtered && !functions.is_neutral();
        Self {
            saturation: functions.saturation,
            brightness: functions.brightness,
            contrast: functions.contrast,
            invert: functions.invert,
            hue: [angle.cos(), angle.sin()],
            is_active: u32::from(is_active),
            flags: LIGHT * u32::from(!colours.are_encoded) + BOUNDED * u32::from(colours.are_bounded),
        }
    }
}

// The rules of WGSL's uniform address space: vectors of four start at multiples of 16 bytes.
const _: () = assert!(offset_of!(BackdropUniform, radii).is_multiple_of(16));
const _: () = assert!(offset_of!(BackdropUniform, region).is_multiple_of(16));
const _: () = assert!(offset_of!(BackdropUniform, functions).is_multiple_of(16));
const _: () = assert!(size_of::<BackdropUniform>().is_multiple_of(16));

/// The distance between two uniforms in their buffer: dynamic offsets are multiples of 256 bytes.
pub const BACKDROP_STRIDE: usize = size_of::<BackdropUniform>().next_multiple_of(256);

// The flags.
const SOFT: u32 = 1;
const DITHER_STORED: u32 = 2;
const DITHER_ENCODED: u32 = 4;
const WHOLE: u32 = 8;
#[cfg(feature = "ui")]
const HOLE: u32 = 16;

impl BackdropUniform {
    /// A backdrop on a picture with such colours.
    pub fn new(backdrop: &ExtractedBackdrop, colours: Colours) -> Self {
        let canvas = backdrop.canvas();
        let (shape, tint) = (&backdrop.shape, backdrop.tint);
        let matrix = shape.transform.matrix2;
        let solid = is_solid(backdrop, colours);
        let rim = shape.rim();
        // A frame whose sides meet in the middle is the whole box.
        let has_frame = solid && 2.0 * rim < shape.size.min_element();
        // Without a blur there are no new bands.
        let dithers = |to: Dither| backdrop.picture.dithers && backdrop.blurs() && colours.dither == to;
        let flags = [
            (SOFT, has_rim(backdrop, colours)),
            (DITHER_STORED, dithers(Dither::Stored)),
            (DITHER_ENCODED, dithers(Dither::Encoded)),
            (WHOLE, shape.is_on_pixels()),
        ];
        Self {
            x_axis: matrix.x_axis.to_array(),
            y_axis: matrix.y_axis.to_array(),
            translation: shape.transform.translation.to_array(),
            target_origin: canvas.origin.as_vec2().to_array(),
            target_size: canvas.size.to_array(),
            size: shape.size.to_array(),
            frame: if has_frame { rim } else { 0.0 },
            opacity: if solid { 1.0 } else { tint.opacity },
            to_picture: canvas.to_screen(backdrop.picture.viewport).to_array(),
            radii: shape.radii,
            region: ends(backdrop.region),
            functions: FunctionsUniform::new(tint.functions, colours),
            flags: flags.iter().map(|(flag, is_set)| flag * u32::from(*is_set)).sum(),
            padding: [0; 3],
        }
    }

    /// The hole that a backdrop makes in its own node's picture.
    #[cfg(feature = "ui")]
    pub fn of_hole(backdrop: &ExtractedBackdrop, hole: Hole, canvas: Canvas, colours: Colours) -> Self {
        Self {
            target_origin: canvas.origin.as_vec2().to_array(),
            target_size: canvas.size.to_array(),
            to_picture: canvas.to_screen(backdrop.picture.viewport).to_array(),
            frame: 0.0,
            opacity: hole.opacity,
            // Also beyond the viewport, from where a blur brings it into view.
            region: [-FAR, -FAR, FAR, FAR],
            flags: HOLE + SOFT * u32::from(has_rim(backdrop, colours)),
            ..Self::new(backdrop, colours)
        }
    }

    /// The vertices of the frame, or of the whole box if there is no frame.
    pub fn frame_vertices(&self) -> u32 {
        if self.frame > 0.0 { 24 } else { BOX_VERTICES }
    }
}

/// Beyond all texels.
#[cfg(feature = "ui")]
const FAR: i32 = 1 << 30;

/// The vertices of the whole box.
pub const BOX_VERTICES: u32 = 6;

/// Whether a backdrop replaces the picture below it, except at its rim.
pub fn is_solid(backdrop: &ExtractedBackdrop, colours: Colours) -> bool {
    !colours.are_mixed || backdrop.tint.opacity >= SOLID
}

/// Whether a backdrop covers some pixels only in part.
pub fn has_rim(backdrop: &ExtractedBackdrop, colours: Colours) -> bool {
    colours.are_mixed && backdrop.shape.has_rim()
}

fn ends(region: URect) -> [i32; 4] {
    let [min, max] = [region.min.as_ivec2(), region.max.as_ivec2()];
    [min.x, min.y, max.x, max.y]
}
