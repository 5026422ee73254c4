//! Each layer of an image is blurred separately: of an array, of a cube, and of the part of one that a view shows.

mod arrays;
mod in_place;
mod mipmaps;
mod views;

use crate::support::formats::Span;
use crate::support::images::{asset, layered};
use crate::support::prelude::*;

/// A picture for each layer, over the whole range of a format. All differ, and neighbours differ much.
fn pictures(layers: usize, [width, height]: [usize; 2], format: TextureFormat) -> Vec<Picture> {
    let patterns = inputs::patterns(width, height);
    let picture = |layer: usize| {
        let scale = 1.0 - 0.06 * layer as f64;
        let scaled = Picture::from_fn(width, height, |x, y| {
            let value = |value: f64| if layer.is_multiple_of(2) { value } else { 1.0 - value };
            patterns[layer / 2 % 2].at(x, y).map(|from| scale * value(from))
        });
        formats::quantised(&Span::of(format).spread(&scaled), format)
    };
    (0..layers).map(picture).collect()
}

/// An image of these layers, without mip levels.
fn image_of(layers: &[Picture], format: TextureFormat) -> Image {
    let levels: Vec<Vec<Picture>> = layers.iter().map(|picture| vec![picture.clone()]).collect();
    layered(&levels, format)
}

/// An image as large as another one, with other contents.
fn filled_like(image: &Image) -> Image {
    let mut filled = image.clone();
    filled.data.iter_mut().flatten().for_each(|byte| *byte = 0x31);
    filled
}

fn view_of(dimension: TextureViewDimension) -> TextureViewDescriptor<'static> {
    TextureViewDescriptor {
        dimension: Some(dimension),
        ..default()
    }
}

/// How an image's view arranges its layers.
fn dimension_of(image: &Image) -> TextureViewDimension {
    let view = image.texture_view_descriptor.as_ref();
    let layers = image.texture_descriptor.size.depth_or_array_layers;
    view.and_then(|view| view.dimension).unwrap_or(if layers == 1 {
        TextureViewDimension::D2
    } else {
        TextureViewDimension::D2Array
    })
}

/// Asserts that the layers of an image from `first` on are the blurs of these pictures.
fn assert_layers(name: &str, headless: &Headless, image: &Handle<Image>, first: u32, sharp: &[Picture], sigma: f32) {
    for (layer, sharp) in (first..).zip(sharp) {
        let pixels = headless.read_part(image, layer, 0);
        assert_blur_of(&format!("{name}-layer-{layer}"), &pixels, sharp, sigma);
    }
}

/// Asserts that these pixels are the blur of a picture.
fn assert_blur_of(name: &str, pixels: &Pixels, sharp: &Picture, sigma: f32) {
    let got = to_picture(pixels);
    assert_eq!([got.width, got.height], [sharp.width, sharp.height], "{name}: the size");
    let expected = gaussian_blur(sharp, [f64::from(sigma); 2], EdgeMode::Clamp);
    formats::assert_stored(name, &got, &expected, pixels.format, &Span::of(pixels.format));
}

/// The bytes of the first level of each of some layers.
fn bytes_of(headless: &Headless, image: &Handle<Image>, layers: u32) -> Vec<Vec<u8>> {
    (0..layers)
        .map(|layer| headless.read_part(image, layer, 0).bytes)
        .collect()
}

/// Asserts that the view of a target that the plugin has allocated is arranged like the source's.
fn assert_shape(name: &str, headless: &Headless, target: &Handle<Image>, dimension: TextureViewDimension, layers: u32) {
    let target = asset(headless, target);
    let size = target.texture_descriptor.size;
    assert_eq!(size.depth_or_array_layers, layers, "{name}: layers");
    assert_eq!(dimension_of(&target), dimension, "{name}: the view's dimension");
    let shown = target.texture_view_descriptor.as_ref();
    let shown = shown.and_then(|view| view.array_layer_count).unwrap_or(layers);
    assert_eq!(shown, layers, "{name}: layers that its view shows");
}
