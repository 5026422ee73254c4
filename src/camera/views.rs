//! What a camera's blur reads and writes.

use crate::gpu::Views;
use bevy::render::render_resource::TextureView;
use bevy::render::view::ViewTarget;

/// The views of a blur in place.
pub fn in_place(target: &ViewTarget) -> Views<'_> {
    from(target.main_texture_view(), target)
}

/// The views of a blur that reads another texture.
pub fn from<'a>(source: &'a TextureView, target: &'a ViewTarget) -> Views<'a> {
    Views {
        attachment: target.get_unsampled_color_attachment(),
        // The main texture is a pair; either one may be current.
        turns: 2,
        ..Views::new(source, target.main_texture_view())
    }
}
