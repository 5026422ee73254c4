//! The results for valid pictures.

use crate::common::{folder, run};
use image::codecs::png::{PngDecoder, PngEncoder};
use image::{DynamicImage, GrayImage, ImageBuffer, ImageDecoder, ImageEncoder, Luma, Rgb, Rgba, RgbaImage};
use std::fs;
use std::io::Cursor;

fn sprite() -> RgbaImage {
    RgbaImage::from_fn(40, 30, |x, y| Rgba([x as u8 * 6, y as u8 * 8, 90, (x * y % 256) as u8]))
}

#[test]
fn several_pictures_and_strengths_at_once() {
    let folder = folder("several");
    sprite().save(folder.join("a.png")).expect("it can be written");
    sprite().save(folder.join("b.png")).expect("it can be written");
    let arguments = "a.png b.png --out-dir out --radius 3 --radius 9 --json";
    let Some(output) = run(&folder, arguments, &[]) else {
        return;
    };
    for name in ["a-r3.png", "a-r9.png", "b-r3.png", "b-r9.png"] {
        let result = image::open(folder.join("out").join(name)).expect("the result is a picture");
        assert_eq!((result.width(), result.height()), (40, 30), "{name}");
    }
    let told = String::from_utf8_lossy(&output.stdout);
    let reports: Vec<serde_json::Value> = told
        .lines()
        .filter_map(|line| serde_json::from_str(line).ok())
        .collect();
    let sigmas: Vec<f64> = reports.iter().filter_map(|report| report["sigma"].as_f64()).collect();
    assert_eq!(sigmas, [1.0, 3.0, 1.0, 3.0]);
}

#[test]
fn a_picture_may_be_replaced_by_its_blur() {
    let folder = folder("in_place");
    let path = folder.join("a.png");
    sprite().save(&path).expect("it can be written");
    let Some(_) = run(&folder, "a.png a.png --radius 0", &[]) else {
        return;
    };
    let result = image::open(&path).expect("the result is a picture").to_rgba8();
    // Transparent texels lose their colour.
    let visible = |picture: &RgbaImage| {
        picture
            .pixels()
            .filter(|texel| texel[3] > 0)
            .copied()
            .collect::<Vec<_>>()
    };
    assert_eq!(visible(&result), visible(&sprite()));
    let left: Vec<_> = fs::read_dir(&folder).expect("it can be read").collect();
    assert_eq!(left.len(), 1, "nothing but the result is left: {left:?}");
}

/// A result can be read by everyone who can read other new files of the user.
#[cfg(unix)]
#[test]
fn results_have_the_permissions_of_new_files() {
    use std::os::unix::fs::PermissionsExt;

    let folder = folder("permissions");
    sprite().save(folder.join("a.png")).expect("it can be written");
    let Some(_) = run(&folder, "a.png b.png --radius 3", &[]) else {
        return;
    };
    let mode = |name: &str| {
        let file = fs::metadata(folder.join(name)).expect("it is there");
        file.permissions().mode()
    };
    assert_eq!(mode("b.png"), mode("a.png"));
}

#[test]
fn sixteen_bits_and_a_profile_come_through_pipes() {
    let picture = ImageBuffer::from_fn(20, 10, |x, y| Rgb([x as u16 * 3001, y as u16 * 6007, 12_345]));
    let picture = DynamicImage::ImageRgb16(picture);
    let profile = [&[0; 16][..], b"RGB ", &[7; 108]].concat();
    let mut file = Vec::new();
    let mut encoder = PngEncoder::new(&mut file);
    encoder.set_icc_profile(profile.clone()).expect("PNG has profiles");
    picture.write_with_encoder(encoder).expect("it can be encoded");

    let Some(output) = run(&folder("pipes"), "- - --radius 0", &file) else {
        return;
    };
    let mut decoder = PngDecoder::new(Cursor::new(&output.stdout)).expect("the result is a picture");
    assert_eq!(decoder.icc_profile().expect("it can be read"), Some(profile));
    let result = DynamicImage::from_decoder(decoder).expect("the result is a picture");
    let DynamicImage::ImageRgb16(result) = result else {
        panic!("it has 16 bits, and no alpha")
    };
    let pairs = result
        .as_raw()
        .iter()
        .zip(picture.as_rgb16().expect("it is one").as_raw());
    let largest = pairs.map(|(result, value)| result.abs_diff(*value)).max();
    assert!(largest <= Some(1), "{largest:?}");
}

/// A result may replace the mask of the blurs that follow it.
#[test]
fn a_mask_may_be_replaced_by_a_result() {
    let folder = folder("mask");
    sprite().save(folder.join("a.png")).expect("it can be written");
    sprite().save(folder.join("b.png")).expect("it can be written");
    let mask = GrayImage::from_fn(40, 30, |x, _| Luma([if x < 20 { 0 } else { 255 }]));
    std::fs::create_dir(folder.join("out")).expect("a folder can be made");
    for path in ["mask.png", "out/a.png"] {
        mask.save(folder.join(path)).expect("it can be written");
    }
    let Some(_) = run(&folder, "b.png expected.png --profile mask:mask.png", &[]) else {
        return;
    };
    let replaces = "a.png b.png --out-dir out --profile mask:out/a.png";
    run(&folder, replaces, &[]).expect("there is a GPU");
    let read = |path: &str| {
        image::open(folder.join(path))
            .expect("the result is a picture")
            .into_rgba8()
    };
    assert!(read("out/b.png") == read("expected.png"));
    assert!(read("out/a.png") == read("expected.png"));
}

/// Every texture format gives the same picture, within the format's resolution.
#[test]
fn formats_of_all_kinds() {
    let folder = folder("formats");
    let picture = RgbaImage::from_fn(40, 30, |x, y| Rgba([x as u8 * 6, y as u8 * 8, 90, 255]));
    picture.save(folder.join("a.png")).expect("it can be written");
    let blur = |format: &str| {
        let arguments = format!("a.png {format}.png --radius 9 --format {format}");
        run(&folder, &arguments, &[])?;
        let result = image::open(folder.join(format!("{format}.png"))).expect("the result is a picture");
        Some(result.into_rgb8())
    };
    let Some(expected) = blur("rgba8unorm") else {
        return;
    };
    let kinds = [
        "rgba8uint",
        "rgba8sint",
        "rgba8snorm",
        "rgba16uint",
        "rgba32uint",
        "rgb10a2uint",
        "rgb10a2unorm",
    ];
    for format in kinds {
        let Some(got) = blur(format) else {
            return;
        };
        // The largest signed 8-bit integer is 127, and signed normalised numbers have one bit less above 0.
        let (tolerance, largest) = match format {
            "rgba8sint" => (1, 127),
            "rgba8snorm" => (2, 255),
            _ => (1, 255),
        };
        for (got, expected) in got.iter().zip(expected.iter()) {
            let difference = got.abs_diff((*expected).min(largest));
            // Values above 127 are clipped before the blur, which changes the result.
            let is_cut = largest == 127 && *expected > 100;
            assert!(is_cut || difference <= tolerance, "{format}: {got} and not {expected}");
        }
    }
}

/// In a dark gradient, blurred strongly, dithered 8-bit values have the same mean as unrounded values. The gradient is so dark
/// that light and encoded values differ only by a factor, and so do their blurs.
#[test]
fn dithered_results_have_no_bands() {
    let folder = folder("dithered");
    let picture = RgbaImage::from_fn(512, 32, |x, _| Rgba([(x / 64) as u8, 0, 0, 255]));
    picture.save(folder.join("a.png")).expect("it can be written");
    let blurred = |arguments: &str| {
        run(&folder, &format!("a.png b.png --radius 200 {arguments}"), &[])?;
        Some(image::open(folder.join("b.png")).expect("the result is a picture"))
    };
    let Some(exact) = blurred("--depth 16") else {
        return;
    };
    let (exact, [banded, dithered]) = (
        exact.into_rgb16(),
        ["--format rgba8unorm", "--format rgba8unorm --dither"]
            .map(|arguments| blurred(arguments).expect("there is a GPU").into_rgb8()),
    );
    // The worst difference between means of 16x16 pixels, in levels.
    let worst = |picture: &image::RgbImage| {
        let block = |column: u32, row: u32| {
            let places = (0..256).map(|i| (16 * column + i % 16, 16 * row + i / 16));
            let differences = places.map(|(x, y)| f64::from(picture[(x, y)][0]) - f64::from(exact[(x, y)][0]) / 257.0);
            differences.sum::<f64>().abs() / 256.0
        };
        let blocks = (0..64).map(|i| block(i % 32, i / 32));
        blocks.fold(0.0, f64::max)
    };
    assert!(worst(&banded) > 0.3, "{}", worst(&banded));
    assert!(worst(&dithered) < 0.1, "{}", worst(&dithered));
}
