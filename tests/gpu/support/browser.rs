//! Pages that a browser shows, too. A test writes a page into the folder that `BLUR_BROWSER` names, and compares the browser's
//! picture with another one. `scripts/browser-picture` names the folder and starts the browser.

use super::prelude::*;
use std::path::{Path, PathBuf};

const FOLDER: &str = "BLUR_BROWSER";

fn folder() -> Option<PathBuf> {
    std::env::var_os(FOLDER).map(PathBuf::from)
}

/// Writes a page and pictures, if `BLUR_BROWSER` is set.
pub fn leave(page: &str, pictures: &[(&str, &Pixels)]) {
    let Some(folder) = folder() else {
        return;
    };
    for (name, pixels) in pictures {
        write(&folder, name, pixels);
    }
    std::fs::write(folder.join("page.html"), page).expect("the folder can be written to");
}

fn write(folder: &Path, name: &str, pixels: &Pixels) {
    let path = folder.join(name).with_extension("png");
    let written = image::save_buffer(
        path,
        &pixels.bytes,
        pixels.width,
        pixels.height,
        image::ColorType::Rgba8,
    );
    written.unwrap_or_else(|error| panic!("{name}.png: {error}"));
}

/// Reads a picture of the folder: its stored values, from 0 to 1.
pub fn read(name: &str, size: UVec2) -> Picture {
    let folder = folder().unwrap_or_else(|| panic!("{FOLDER} names no folder"));
    let path = folder.join(name).with_extension("png");
    let file = image::open(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let file = file.to_rgba8();
    assert_eq!(file.dimensions(), (size.x, size.y), "{}", path.display());
    Picture::from_fn(size.x as usize, size.y as usize, |x, y| {
        file.get_pixel(x as u32, y as u32)
            .0
            .map(|value| f64::from(value) / 255.0)
    })
}

/// The mean and the largest difference of colours, in 1/255, over the pixels that `is_meant` selects.
pub fn difference(one: &Picture, other: &Picture, is_meant: impl Fn(usize, usize) -> bool) -> [f64; 2] {
    let (mut sum, mut count, mut most) = (0.0, 0.0, 0.0_f64);
    for (x, y) in (0..one.height).flat_map(|y| (0..one.width).map(move |x| (x, y))) {
        if is_meant(x, y) {
            for channel in 0..3 {
                let off = 255.0 * (one.at(x, y)[channel] - other.at(x, y)[channel]).abs();
                (sum, count, most) = (sum + off, count + 1.0, most.max(off));
            }
        }
    }
    assert!(count > 0.0, "no pixel is meant");
    [sum / count, most]
}

/// A colour function in CSS.
pub fn css_step(step: ColorStep) -> String {
    match step {
        ColorStep::Saturate(value) => format!(" saturate({value})"),
        ColorStep::Brightness(value) => format!(" brightness({value})"),
        ColorStep::Contrast(value) => format!(" contrast({value})"),
        ColorStep::Invert(value) => format!(" invert({value})"),
        ColorStep::HueRotate(degrees) => format!(" hue-rotate({degrees}deg)"),
        ColorStep::Sepia(value) => format!(" sepia({value})"),
        ColorStep::Tint(_) | ColorStep::Cover(_) | ColorStep::Matrix(_) => panic!("CSS has no {step:?}"),
    }
}
