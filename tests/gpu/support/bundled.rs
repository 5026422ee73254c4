//! The pictures of `assets/`.

use super::prelude::*;
use bevy::asset::RenderAssetUsages;
use bevy::image::Image;
use bevy::render::render_resource::{Extent3d, TextureDimension};
use std::path::{Path, PathBuf};

/// The format of the files.
pub const FORMAT: TextureFormat = TextureFormat::Rgba8UnormSrgb;

/// The path of a file of `assets/`.
pub fn path(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../assets").join(name)
}

/// Loads a file of `assets/`, as an image and as linear light.
pub fn load(name: &str) -> (Image, Picture) {
    let file = image::open(path(name)).unwrap_or_else(|error| panic!("assets/{name}: {error}"));
    let file = file.to_rgba8();
    let (width, height) = file.dimensions();
    let pixels = Pixels {
        width,
        height,
        format: FORMAT,
        bytes: file.into_raw(),
    };
    let size = Extent3d {
        width,
        height,
        depth_or_array_layers: 1,
    };
    let bytes = pixels.bytes.clone();
    let image = Image::new(size, TextureDimension::D2, bytes, FORMAT, RenderAssetUsages::default());
    (image, formats::to_picture(&pixels))
}
