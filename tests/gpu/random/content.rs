//! The contents that steps of a random world create: pictures, canvases, and boxes.

use super::step::Content;
use crate::support::formats::{self, Span, to_image};
use crate::support::inputs;
use bevy::prelude::*;

/// The largest size of canvases.
const CANVAS: u32 = 71;

pub fn image(content: Content) -> Image {
    let [width, height] = content.size.map(|side| side as usize);
    let pattern = &inputs::patterns(width, height)[usize::from(content.pattern)];
    to_image(&Span::of(content.format).spread(pattern), content.format)
}

pub fn canvas(content: Content) -> Image {
    let [width, height] = content.size.map(|side| side.min(CANVAS));
    let mut image = Image::new_target_texture(width, height, content.format, None);
    image.texture_descriptor.usage |= formats::to_image(&inputs::patterns(1, 1)[0], content.format)
        .texture_descriptor
        .usage;
    image
}

pub fn node([left, top, width, height]: [f32; 4]) -> Node {
    Node {
        position_type: PositionType::Absolute,
        left: Val::Px(left),
        top: Val::Px(top),
        width: Val::Px(width),
        height: Val::Px(height),
        ..default()
    }
}

/// `min` may be greater than `max`, as in an app with a mistake.
pub fn rect_of([left, top, width, height]: [f32; 4]) -> Rect {
    Rect {
        min: Vec2::new(left, top),
        max: Vec2::new(left + width, top + height),
    }
}
