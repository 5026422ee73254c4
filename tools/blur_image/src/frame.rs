//! What an EXR file says beside the texels of its picture.

use bevy::math::{IRect, URect};
use exr::math::Vec2;
use exr::meta::attribute::IntegerBounds;
use exr::meta::header::{Header, ImageAttributes, LayerAttributes};

/// The attributes of a file, and where its picture is.
#[derive(Clone)]
pub struct Frame {
    /// The attributes of the file, among them its chromaticities and its display window.
    pub file: ImageAttributes,
    /// The attributes of the layer, among them the position of the picture.
    pub layer: LayerAttributes,
    /// The name of the only channel, or `None` for red, green and blue.
    pub channel: Option<String>,
}

impl Frame {
    /// The frame of a layer whose texels begin at the corner of `data`.
    pub fn new(header: &Header, data: IRect, channel: Option<String>) -> Self {
        Self {
            file: header.shared_attributes.clone(),
            layer: LayerAttributes {
                layer_position: Vec2(data.min.x, data.min.y),
                // A small copy of the picture, which is not blurred.
                preview: None,
                ..header.own_attributes.clone()
            },
            channel,
        }
    }

    /// The texels that viewers show: the display window.
    pub fn shown(&self) -> URect {
        let Vec2(x, y) = self.layer.layer_position;
        let window = rectangle(self.file.display_window);
        let shown = IRect::new(window.min.x - x, window.min.y - y, window.max.x - x, window.max.y - y);
        shown.as_urect()
    }

    /// Whether the file says what its red, green and blue are.
    pub fn has_primaries(&self) -> bool {
        self.file.chromaticities.is_some()
    }
}

/// The texels of a window.
pub fn rectangle(window: IntegerBounds) -> IRect {
    let (Vec2(x, y), Vec2(width, height)) = (window.position, window.size);
    IRect::new(x, y, x + width as i32, y + height as i32)
}
