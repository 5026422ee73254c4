//! Encodes EXR files of 32-bit floats.

use crate::meaning::LIGHT;
use crate::picture::Picture;
use exr::error::UnitResult;
use exr::image::write::WritableImage;
use exr::image::{AnyChannel, AnyChannels, Encoding, FlatSamples, Image, Layer};
use exr::math::Vec2;
use exr::meta::header::{ImageAttributes, LayerAttributes};
use std::io::Cursor;

/// Encodes a picture, in the frame of its file if that was EXR, too.
///
/// # Errors
/// The reason why it cannot be encoded.
pub fn encode(picture: &Picture) -> Result<Vec<u8>, exr::error::Error> {
    let size = Vec2(picture.size.x as usize, picture.size.y as usize);
    let frame = picture.origin.frame.as_ref();
    let grey = frame.and_then(|frame| frame.channel.as_deref()).unwrap_or("Y");
    let name = |channel: usize| match channel {
        3 => "A",
        0 if picture.is_grey => grey,
        colour => ["R", "G", "B"][colour],
    };
    let list = picture.channels().iter().map(|channel| {
        let numbers = picture.texels_as(LIGHT).map(|texel| texel[*channel]);
        AnyChannel::new(name(*channel), FlatSamples::F32(numbers.collect()))
    });
    let (file, layer) = match frame {
        Some(frame) => (frame.file.clone(), frame.layer.clone()),
        None => (ImageAttributes::with_size(size), LayerAttributes::default()),
    };
    let channels = AnyChannels::sort(list.collect());
    let layer = Layer::new(size, layer, Encoding::FAST_LOSSLESS, channels);
    let mut bytes = Cursor::new(Vec::new());
    let written: UnitResult = Image::new(file, layer).write().to_buffered(&mut bytes);
    written.map(|()| bytes.into_inner())
}
