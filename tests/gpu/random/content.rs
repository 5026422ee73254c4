//! The contents that steps of a random world create: pictures, canvases, and boxes.

use super::step::Content;
use super::*;
use crate::support::formats::Span;

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
    image.texture_descriptor.usage |= to_image(&inputs::patterns(1, 1)[0], content.format)
        .texture_descriptor
        .usage;
    image
}

pub fn node([left, top, width, height]: [f32; 4]) -> Node {
    scene::node(Vec2::new(left, top), Vec2::new(width, height))
}

/// `min` may be greater than `max`, as in an app with a mistake.
pub fn rect_of([left, top, width, height]: [f32; 4]) -> Rect {
    Rect {
        min: Vec2::new(left, top),
        max: Vec2::new(left + width, top + height),
    }
}
