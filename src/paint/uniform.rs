//! The shader's data of a draw: the mirror of `Paint` in `shaders/paint/paint.wgsl`.

use crate::formats::dither::Dither;
use crate::formats::precision_of;
use crate::kernel::Precision;
use crate::schedule::{
    Backdrop, Canvas, Clip, ClipBox, Filter, Layer, Lens, Picture, Placed, Shadow, Shape, Surface, common, moved,
    scale_of,
};
use crate::settings::ColorMatrices;
use bevy::camera::CompositingSpace;
use bevy::color::{Alpha, ColorToComponents, LinearRgba, Oklaba, Srgba};
use bevy::math::{IRect, IVec2, IVec4, URect, UVec2, Vec2, Vec4};
use bevy::render::render_resource::{ShaderType, TextureFormat};

/// Glass of at least this opacity replaces the picture below it.
const SOLID: f32 = 0.999;

/// How a picture holds colours, as far as it matters for painting on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Colours {
    /// The space of values, `None` for light. (An sRGB format is light to shaders.)
    pub space: Option<CompositingSpace>,
    /// Whether values are at most 1.
    pub are_bounded: bool,
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
            space,
            are_bounded: precision_of(format) == Precision::Standard,
            are_mixed,
            dither: Dither::of_camera(format, output, space),
        }
    }

    /// Whether the colour functions apply to them.
    fn are_filtered(self) -> bool {
        self.space != Some(CompositingSpace::Oklab)
    }

    /// A colour of a setting as values of the picture, and its alpha.
    fn stored(self, color: LinearRgba) -> Vec4 {
        match self.space {
            Some(CompositingSpace::Srgb) => Srgba::from(color).to_vec4(),
            Some(CompositingSpace::Oklab) => Oklaba::from(color).to_vec4(),
            Some(CompositingSpace::Linear) | None => color.to_vec4(),
        }
    }

    /// The values of a shadow's colour, multiplied by its alpha, which is 0 for a glow.
    fn shaded(self, shadow: &Shadow) -> Vec4 {
        let (stored, alpha) = (self.stored(shadow.color), shadow.color.alpha);
        (stored.truncate() * alpha).extend(if shadow.is_glow { 0.0 } else { alpha })
    }

    /// How the shader gets noise into the space.
    fn noise(self, grain: f32) -> u32 {
        flags([
            (GRAINED, grain > 0.0),
            (LIGHTNESS, self.space == Some(CompositingSpace::Oklab)),
        ])
    }

    /// How many of these steps apply.
    fn steps(self, colors: &ColorMatrices) -> u32 {
        if self.are_filtered() { colors.count() } else { 0 }
    }

    fn flags(self) -> u32 {
        let is_light = self.space != Some(CompositingSpace::Srgb);
        flags([(LIGHT, is_light), (BOUNDED, self.are_bounded)])
    }
}

/// `Paint` in WGSL.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, ShaderType)]
pub struct PaintUniform {
    pub x_axis: Vec2,
    pub y_axis: Vec2,
    pub translation: Vec2,
    pub target_origin: Vec2,
    pub target_size: Vec2,
    pub size: Vec2,
    pub frame: f32,
    pub opacity: f32,
    pub to_screen: IVec2,
    pub radii: [Vec4; 2],
    pub region: IVec4,
    pub color: Vec4,
    pub to_source: IVec2,
    pub color_steps: u32,
    pub color_flags: u32,
    pub flags: u32,
    pub grain: f32,
    pub width: f32,
    /// All zeros clip nothing: every texel is at the center.
    pub clips: [Vec4; 3],
    pub lens: LensUniform,
    pub sides: Vec4,
}

// Dynamic offsets are multiples of 256 bytes: a draw takes no more memory than that.
const _: () = assert!(size_of::<PaintUniform>() <= 256);

/// The turned boxes of a clip, from texels of the camera's picture, of which the viewport begins at `origin`, to numbers from -1 to 1.
fn clips(clip: &Clip, origin: Vec2) -> [Vec4; 3] {
    let columns = clip.boxes.map(|one| {
        one.map_or([Vec2::ZERO; 3], |ClipBox { to_box, half_size }| {
            let matrix = to_box.matrix2;
            // A box without an area clips everything, but for its center.
            let half_size = half_size.max(Vec2::splat(1e-6));
            [matrix.x_axis, matrix.y_axis, to_box.transform_point2(-origin)].map(|column| column / half_size)
        })
    });
    let [first, second] = columns;
    [0, 1, 2].map(|column| first[column].extend(second[column].x).extend(second[column].y))
}

/// `Lens` in `shaders/paint/lens.wgsl`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, ShaderType)]
pub struct LensUniform {
    pub bounds: UVec2,
    pub light: Vec2,
    pub bevel: f32,
    pub displacement: f32,
    pub dispersion: f32,
    pub rim_light: f32,
}

impl LensUniform {
    /// A lens that may show these texels, on a picture with such colours.
    fn new(lens: &Lens, sampled: URect, colours: Colours) -> Self {
        Self {
            bounds: [sampled.min, sampled.max]
                .map(|corner| corner.x | corner.y << 16)
                .into(),
            light: lens.light,
            bevel: lens.bevel,
            displacement: lens.displacement,
            dispersion: lens.dispersion,
            // Like the colour functions, light needs colours that it can add to.
            rim_light: if colours.are_filtered() { lens.rim_light } else { 0.0 },
        }
    }
}

/// `ColorSteps` in `shaders/common/color_functions.wgsl`: the steps of one draw, whose number is in [`PaintUniform`].
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, ShaderType)]
pub struct ColorStepsUniform {
    pub matrices: [[Vec4; 3]; ColorMatrices::MOST],
}

// The flags of colours.
const LIGHT: u32 = 1;
const BOUNDED: u32 = 2;

// The flags of a draw.
const SOFT: u32 = 1;
const DITHER_STORED: u32 = 2;
const DITHER_ENCODED: u32 = 4;
const WHOLE: u32 = 8;
const HOLE: u32 = 16;
const SHADOW: u32 = 32;
const PLAIN: u32 = 64;
const INSET: u32 = 128;
const CLIPPED: u32 = 256;
const GRAINED: u32 = 512;
const OUTLINED: u32 = 1024;
const BORDERED: u32 = 2048;
const LIGHTNESS: u32 = 4096;
const FADED: u32 = 8192;

fn flags<const N: usize>(flags: [(u32, bool); N]) -> u32 {
    flags.iter().map(|(flag, is_set)| flag * u32::from(*is_set)).sum()
}

/// What is painted on: its part of the viewport, the camera's picture, and how that holds colours.
#[derive(Clone, Copy, Debug)]
pub struct PaintedOn {
    /// The part of the viewport.
    pub canvas: Canvas,
    /// The camera's picture.
    pub picture: Picture,
    /// How it holds colours.
    pub colours: Colours,
}

impl PaintedOn {
    /// A box whose source is the camera's picture.
    fn shape(&self, shape: &Shape) -> PaintUniform {
        let to_screen = self.canvas.to_screen(self.picture.viewport);
        let matrix = shape.transform.matrix2;
        PaintUniform {
            x_axis: matrix.x_axis,
            y_axis: matrix.y_axis,
            translation: shape.transform.translation,
            target_origin: self.canvas.origin.as_vec2(),
            target_size: self.canvas.size,
            size: shape.size,
            opacity: 1.0,
            to_screen,
            radii: shape.radii.map(Vec4::from),
            to_source: to_screen,
            color_flags: self.colours.flags(),
            ..PaintUniform::default()
        }
    }

    /// What is painted inside of the turned boxes of a clip. Its bounds end what is painted anyway.
    fn clipped(&self, uniform: PaintUniform, clip: Option<Clip>) -> PaintUniform {
        let Some(clip) = clip.filter(Clip::is_turned) else {
            return uniform;
        };
        let origin = self.picture.viewport.min.as_vec2();
        PaintUniform {
            clips: clips(&clip, origin),
            flags: uniform.flags | CLIPPED,
            ..uniform
        }
    }

    /// The ends of these pixels, in texels of the camera's picture.
    fn texels(&self, pixels: IRect) -> IVec4 {
        let origin = self.picture.viewport.min.as_ivec2();
        corners(pixels.min + origin, pixels.max + origin)
    }

    fn dithers(&self, is_blurred: bool) -> u32 {
        // Without a blur there are no new bands.
        let dithers = |to: Dither| self.picture.dithers && is_blurred && self.colours.dither == to;
        flags([
            (DITHER_STORED, dithers(Dither::Stored)),
            (DITHER_ENCODED, dithers(Dither::Encoded)),
        ])
    }

    /// Glass.
    pub fn glass(&self, backdrop: &Backdrop, placed: &Placed) -> PaintUniform {
        let (shape, colours) = (&backdrop.shape, self.colours);
        let solid = is_solid(placed, colours);
        let rim = shape.rim();
        // A frame whose sides meet in the middle is the whole box.
        let has_frame = solid && 2.0 * rim < shape.size.min_element();
        let uniform = PaintUniform {
            frame: if has_frame { rim } else { 0.0 },
            opacity: if solid { 1.0 } else { placed.opacity },
            region: ends(placed.region.painted),
            color_steps: colours.steps(&backdrop.colors),
            grain: backdrop.grain,
            lens: backdrop
                .lens
                .map(|lens| LensUniform::new(&lens, placed.region.sampled, colours))
                .unwrap_or_default(),
            flags: flags([(SOFT, has_rim(backdrop, colours)), (WHOLE, shape.is_on_pixels())])
                + colours.noise(backdrop.grain)
                + self.dithers(backdrop.blurs()),
            ..self.shape(shape)
        };
        self.clipped(uniform, placed.clip)
    }

    /// One opaque colour in the shape of glass.
    pub fn plain(&self, backdrop: &Backdrop, placed: &Placed, color: LinearRgba) -> PaintUniform {
        let glass = self.glass(backdrop, placed);
        PaintUniform {
            color: self.colours.stored(color.with_alpha(1.0)),
            flags: glass.flags & !(DITHER_STORED | DITHER_ENCODED) | PLAIN,
            ..glass
        }
    }

    /// The hole that glass, or this share of its opacity, makes in its own node's picture, of which the surface holds these pixels: also
    /// those beyond the viewport, from where a blur brings them into view.
    pub fn hole(&self, backdrop: &Backdrop, held: IRect, share: f32) -> PaintUniform {
        PaintUniform {
            opacity: backdrop.opacity * share,
            region: self.texels(held),
            flags: HOLE + SOFT * u32::from(has_rim(backdrop, self.colours)),
            ..self.shape(&backdrop.shape)
        }
    }

    /// A picture inside of an outline, which covers a part of the pixels along it, also of those around it. If it fades towards the sides,
    /// also where these pixels of it lie beyond the outline.
    fn outlined(&self, to_source: IVec2, outline: &Shape, fade: Option<[f32; 4]>, shown: IRect) -> PaintUniform {
        let to_box = outline.transform.inverse();
        let pixel = scale_of(to_box.matrix2).max_element();
        let covered = moved(common(outline.covered(), shown), self.canvas.to_texel);
        let outlined = PaintUniform {
            to_source: to_source - self.canvas.to_texel,
            frame: -pixel.clamp(1.0, 1e6),
            flags: OUTLINED + SOFT * u32::from(outline.has_rim()),
            sides: corners(covered.min, covered.max).as_vec4(),
            ..self.shape(outline)
        };
        let Some(fade) = fade else {
            return outlined;
        };
        let beyond = |corner: Vec2| (to_box.transform_point2(corner).abs() - 0.5 * outline.size).max_element();
        let corners = Shape::of_rect(shown.as_rect()).corners().map(beyond);
        PaintUniform {
            frame: corners.iter().fold(outlined.frame, |frame, beyond| frame.min(-beyond)),
            flags: FADED,
            sides: fade.into(),
            ..outlined
        }
    }

    /// A picture without any filter. `to_source` is the offset from a pixel to the texel that it shows.
    pub fn picture(&self, to_source: IVec2, shown: IRect) -> PaintUniform {
        PaintUniform {
            to_source: to_source - self.canvas.to_texel,
            ..self.shape(&Shape::of_rect(shown.as_rect()))
        }
    }

    /// A layer of a surface, under a clip.
    pub fn layer(&self, filter: &Filter, surface: &Surface, layer: &Layer, clip: Option<Clip>) -> PaintUniform {
        let is_colored = surface.is_colored && layer.shadow.is_none();
        let to_source = if layer.is_batched() {
            surface.to_blurred(layer)
        } else {
            surface.to_page()
        };
        let from = to_source - layer.offset;
        // A box of whole pixels ends where the layer ends.
        let outline = surface
            .outline
            .filter(|outline| surface.fade.is_some() || !outline.is_on_pixels());
        let (picture, held) = match &outline {
            Some(outline) => (self.outlined(from, outline, surface.fade, layer.shown), layer.shown),
            None => (self.picture(from, layer.shown), surface.painted),
        };
        let is_bordered = outline.is_some() && !layer.edge.spreads();
        let own = [
            (SHADOW, layer.shadow.is_some()),
            (INSET, layer.is_inset()),
            (BORDERED, is_bordered),
        ];
        let uniform = PaintUniform {
            color: layer.shadow.map_or(Vec4::ZERO, |shadow| self.colours.shaded(&shadow)),
            color_steps: if is_colored {
                self.colours.steps(&filter.colors)
            } else {
                0
            },
            opacity: surface.opacity,
            width: layer.width(),
            region: corners(held.min + to_source, held.max + to_source),
            flags: picture.flags + flags(own) + self.dithers(layer.blurs()),
            ..picture
        };
        self.clipped(uniform, clip)
    }
}

/// Whether glass replaces the picture below it, except at its rim.
pub fn is_solid(placed: &Placed, colours: Colours) -> bool {
    !colours.are_mixed || placed.opacity >= SOLID
}

/// Whether glass covers some pixels only in part.
pub fn has_rim(backdrop: &Backdrop, colours: Colours) -> bool {
    colours.are_mixed && backdrop.shape.has_rim()
}

fn ends(region: URect) -> IVec4 {
    corners(region.min.as_ivec2(), region.max.as_ivec2())
}

fn corners(min: IVec2, max: IVec2) -> IVec4 {
    IVec4::new(min.x, min.y, max.x, max.y)
}
