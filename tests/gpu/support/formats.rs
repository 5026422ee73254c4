//! Images in texture formats, and what is read back from them. [`reference::formats`] has the bytes.

use super::prelude::*;
pub use super::reference::formats::{
    Kind, Span, all, is_integer, kind, quantised, stored_channels, tolerance, within_rounding, within_storage,
};
use super::reference::formats::{decode, encode};
pub use super::reference::{decode_srgb, encode_srgb};
use bevy::asset::RenderAssetUsages;
use bevy::render::render_resource::{Extent3d, TextureDimension};

/// An image asset that holds `picture` as exactly as its format can.
pub fn to_image(picture: &Picture, format: TextureFormat) -> Image {
    let size = Extent3d {
        width: picture.width as u32,
        height: picture.height as u32,
        depth_or_array_layers: 1,
    };
    let bytes = encode(picture, format);
    let mut image = Image::new(size, TextureDimension::D2, bytes, format, RenderAssetUsages::default());
    image.texture_descriptor.usage |= TextureUsages::RENDER_ATTACHMENT | TextureUsages::COPY_SRC;
    image
}

/// The picture that the bytes of a texture hold. Channels that the format lacks are 0, alpha 1.
pub fn to_picture(pixels: &Pixels) -> Picture {
    let [width, height] = [pixels.width, pixels.height].map(|side| side as usize);
    decode(&pixels.bytes, width, height, pixels.format)
}

/// Panics if a blurred picture differs from the expected one by more than the [`tolerance`] of its format. `span` is the
/// span of its source. Returns the worst difference as a share of the span.
pub fn assert_stored(name: &str, got: &Picture, expected: &Picture, format: TextureFormat, span: &Span) -> f64 {
    let within = within_storage(got, expected, format);
    let (got, within) = (span.unit(got), span.unit(&within));
    let tolerance = tolerance(format, span);
    let stored = stored_channels(format);
    let (colour, alpha): (Vec<usize>, Vec<usize>) = stored.iter().copied().partition(|channel| *channel < 3);
    if alpha.is_empty() || tolerance[3] == tolerance[0] {
        return assert_close(name, &got, &within, &stored, tolerance[0]);
    }
    let worst = assert_close(name, &got, &within, &colour, tolerance[0]);
    worst.max(assert_close(name, &got, &within, &alpha, tolerance[3]))
}
