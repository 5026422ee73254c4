//! The difference of a result from the expected one, as a number and as pictures.

use std::fs;
use std::path::{Path, PathBuf};

use image::{ImageError, ImageFormat, Rgb, RgbImage};

use super::reference::Picture;
pub use super::reference::{Difference, minus, worst_difference};

/// How much a difference is magnified in its picture: one grey level of 255
/// becomes 32 of them.
const MAGNIFICATION: f64 = 32.0;

/// Writes `<name>-got.png`, `<name>-expected.png` and `<name>-difference.png`,
/// and returns their folder.
///
/// Each shows the colour on the left and, as grey, the alpha on the right, with
/// values in `[0, 1]` stored as they are. The difference is magnified 32 times:
/// middle grey where there is none, brighter where the result is too large. NaN
/// is magenta. Characters of `name` that a file name should not hold become
/// `_`. If a file cannot be written, this is reported on standard error, and
/// the test fails with its own message.
pub fn write_failure(name: &str, got: &Picture, expected: &Picture) -> PathBuf {
    let folder = failure_folder();
    let stem = file_stem(name);
    if let Err(error) = fs::create_dir_all(&folder) {
        eprintln!("cannot create {}: {error}", folder.display());
        return folder;
    }
    let pictures = [
        ("got", side_by_side(got)),
        ("expected", side_by_side(expected)),
        ("difference", side_by_side(&magnified(got, expected))),
    ];
    for (kind, picture) in pictures {
        let path = folder.join(format!("{stem}-{kind}.png"));
        if let Err(error) = save(&picture, &path) {
            eprintln!("cannot write {}: {error}", path.display());
        }
    }
    folder
}

/// `blur-failures` in the build's target folder.
fn failure_folder() -> PathBuf {
    // Cargo names a scratch folder inside the target folder when it compiles an
    // integration test, and only then.
    let target = option_env!("CARGO_TARGET_TMPDIR").and_then(|scratch| Path::new(scratch).parent());
    target.unwrap_or(Path::new("target")).join("blur-failures")
}

/// `name` with everything but letters, digits, `.`, `-` and `_` replaced.
fn file_stem(name: &str) -> String {
    name.chars()
        .map(|letter| match letter {
            '.' | '-' | '_' => letter,
            _ if letter.is_alphanumeric() => letter,
            _ => '_',
        })
        .collect()
}

/// Middle grey plus the magnified difference; where the sizes differ, of the
/// part that both pictures have.
fn magnified(got: &Picture, expected: &Picture) -> Picture {
    let width = got.width.min(expected.width);
    let height = got.height.min(expected.height);
    Picture::from_fn(width, height, |x, y| {
        let [here, wanted] = [got.at(x, y), expected.at(x, y)];
        std::array::from_fn(|channel| 0.5 + MAGNIFICATION * (here[channel] - wanted[channel]))
    })
}

/// The colour on the left, the alpha as grey on the right; both opaque.
fn side_by_side(picture: &Picture) -> RgbImage {
    let mut image = RgbImage::new(2 * picture.width as u32, picture.height as u32);
    for y in 0..picture.height {
        for x in 0..picture.width {
            let [red, green, blue, alpha] = picture.at(x, y);
            let right = (x + picture.width) as u32;
            image.put_pixel(x as u32, y as u32, pixel([red, green, blue]));
            image.put_pixel(right, y as u32, pixel([alpha; 3]));
        }
    }
    image
}

/// Eight-bit levels of a colour, clamped to `[0, 1]`; magenta for NaN.
fn pixel(colour: [f64; 3]) -> Rgb<u8> {
    if colour.iter().any(|value| value.is_nan()) {
        return Rgb([255, 0, 255]);
    }
    Rgb(colour.map(|value| (value.clamp(0.0, 1.0) * 255.0).round() as u8))
}

/// Writes a PNG file.
fn save(image: &RgbImage, path: &Path) -> Result<(), ImageError> {
    image.save_with_format(path, ImageFormat::Png)
}
