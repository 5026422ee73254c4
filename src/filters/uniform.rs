//! The shader's data of a layer: the mirror of `Layer` in `shaders/backdrop/filter.wgsl`.

use super::extract::ExtractedFilter;
use super::stage::{Layer, Stage};
use crate::backdrop::canvas::Canvas;
use crate::backdrop::uniform::{Colours, FunctionsUniform};
use crate::formats::dither::Dither;
use crate::settings::ColorFunctions;
use bevy::math::{IRect, IVec2, Vec2, Vec4};
use bevy::render::render_resource::ShaderType;

/// `Layer` in WGSL.
#[derive(Clone, Copy, Debug, ShaderType)]
pub struct LayerUniform {
    rect: Vec4,
    target_origin: Vec2,
    target_size: Vec2,
    to_source: IVec2,
    to_screen: IVec2,
    color: Vec4,
    scales: Vec4,
    hue: Vec2,
    functions: u32,
    function_flags: u32,
    opacity: f32,
    flags: u32,
}

// The flags.
const SHADOW: u32 = 1;
const DITHER_STORED: u32 = 2;
const DITHER_ENCODED: u32 = 4;

impl LayerUniform {
    /// A layer on a canvas that holds such colours.
    pub fn new(filter: &ExtractedFilter, stage: &Stage, layer: &Layer, canvas: Canvas, colours: Colours) -> Self {
        let functions = if stage.is_colored && layer.shadow.is_none() {
            filter.functions
        } else {
            ColorFunctions::NEUTRAL
        };
        let functions = FunctionsUniform::new(functions, colours);
        let to_source = if layer.is_batched() {
            stage.to_blurred()
        } else {
            stage.to_page()
        };
        let dithers = |to: Dither| filter.picture.dithers && layer.blurs() && colours.dither == to;
        let flags = [
            (SHADOW, layer.shadow.is_some()),
            (DITHER_STORED, dithers(Dither::Stored)),
            (DITHER_ENCODED, dithers(Dither::Encoded)),
        ];
        Self {
            color: Vec4::from(layer.shadow.unwrap_or_default()),
            scales: Vec4::new(
                functions.saturation,
                functions.brightness,
                functions.contrast,
                functions.invert,
            ),
            hue: Vec2::from(functions.hue),
            functions: functions.is_active,
            function_flags: functions.flags,
            opacity: stage.opacity,
            flags: flags.iter().map(|(flag, is_set)| flag * u32::from(*is_set)).sum(),
            ..Self::plain(filter, to_source - layer.offset, layer.shown, canvas)
        }
    }

    /// A picture without any filter. `to_source` is the offset from a pixel to the texel that it shows.
    pub fn plain(filter: &ExtractedFilter, to_source: IVec2, shown: IRect, canvas: Canvas) -> Self {
        let rect = shown.as_rect();
        Self {
            rect: Vec4::new(rect.min.x, rect.min.y, rect.max.x, rect.max.y),
            target_origin: canvas.origin.as_vec2(),
            target_size: canvas.size,
            to_source: to_source - canvas.to_texel,
            to_screen: canvas.to_screen(filter.picture.viewport),
            color: Vec4::ZERO,
            scales: Vec4::ZERO,
            hue: Vec2::ZERO,
            functions: 0,
            function_flags: 0,
            opacity: 1.0,
            flags: 0,
        }
    }
}
