//! What a file holds beside colours is kept, or a note says that it is not.

use crate::common::{folder, run};
use exr::image::write::WritableImage;
use exr::image::{AnyChannel, AnyChannels, Encoding, FlatSamples, Layer};
use exr::math::Vec2;
use exr::meta::header::{ImageAttributes, LayerAttributes};
use image::codecs::jpeg::JpegEncoder;
use image::{DynamicImage, ImageFormat, Rgb, RgbImage, Rgba};
use std::fs::{self, File};
use std::io::Cursor;
use std::path::Path;
use std::process::Output;
use tiff::decoder::Decoder;
use tiff::decoder::ifd::Value;
use tiff::encoder::{Rational, TiffEncoder};
use tiff::tags::Tag;

fn told(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// A bilevel page of 40x16 texels in this group: a black rectangle from (8, 4) to (24, 12).
fn page_of_a_fax(group: u16, fill_order: u16) -> Vec<u8> {
    let is_black = |x: u16, y: u16| (8..24).contains(&x) && (4..12).contains(&y);
    let plain = |y: u16| {
        let byte = move |first: u16| (0..8).fold(0, |byte: u8, bit| byte << 1 | u8::from(is_black(first + bit, y)));
        (0..5).map(move |index| byte(index * 8))
    };
    let mut data: Vec<u8> = match group {
        4 => group_4(),
        _ => (0..16).flat_map(plain).collect(),
    };
    if fill_order == 2 {
        data.iter_mut().for_each(|byte| *byte = byte.reverse_bits());
    }
    let mut file = Cursor::new(Vec::new());
    let mut encoder = TiffEncoder::new(&mut file).expect("it can be encoded");
    let mut directory = encoder.image_directory().expect("it can be encoded");
    let place = directory.write_data(&data[..]).expect("it can be encoded");
    let numbers = [
        (Tag::ImageWidth, 40),
        (Tag::ImageLength, 16),
        (Tag::BitsPerSample, 1),
        (Tag::Compression, if group == 4 { 4 } else { 1 }),
        (Tag::PhotometricInterpretation, 0),
        (Tag::FillOrder, u32::from(fill_order)),
        (Tag::StripOffsets, place as u32),
        (Tag::SamplesPerPixel, 1),
        (Tag::RowsPerStrip, 16),
        (Tag::StripByteCounts, data.len() as u32),
    ];
    for (tag, number) in numbers {
        directory.write_tag(tag, number).expect("it can be encoded");
    }
    directory.finish().expect("it can be encoded");
    file.into_inner()
}

/// The rectangle in group 4, a word for each run of equal rows: four white ones; one in which 16 black texels follow 8 white ones;
/// seven like it; one that passes them by; three white ones; and the end.
fn group_4() -> Vec<u8> {
    let rows = [
        "1111",
        "001 10011 0000010111 1",
        &"111".repeat(7),
        "0001 1",
        "111",
        &"000000000001".repeat(2),
    ];
    let bits: Vec<u8> = rows
        .concat()
        .bytes()
        .filter(|bit| *bit != b' ')
        .map(|bit| bit - b'0')
        .collect();
    let byte = |bits: &[u8]| bits.iter().fold(0, |byte, bit| byte << 1 | bit) << (8 - bits.len());
    bits.chunks(8).map(byte).collect()
}

#[test]
fn mirrored_bits_are_read_as_what_they_are() {
    let folder = folder("fill_order");
    for group in [1, 4] {
        for fill_order in [1, 2] {
            fs::write(folder.join("a.tif"), page_of_a_fax(group, fill_order)).expect("it can be written");
            let Some(_) = run(&folder, "a.tif out.png --radius 0", &[]) else {
                return;
            };
            let page = image::open(folder.join("out.png"))
                .expect("it is a picture")
                .into_luma8();
            for (x, y, texel) in page.enumerate_pixels() {
                let is_black = (8..24).contains(&x) && (4..12).contains(&y);
                let expected = if is_black { 0 } else { 255 };
                assert_eq!(texel.0, [expected], "group {group}, order {fill_order}, at {x}, {y}");
            }
        }
    }
}

/// Writes a grey TIFF file of 40x30 texels with tags.
fn tiff_with(path: &Path, orientation: u16, texts: &[(Tag, &str)], unit: u16, map: bool) {
    let mut encoder = TiffEncoder::new(File::create(path).expect("a file can be made")).expect("it can be encoded");
    let mut image = encoder
        .new_image::<tiff::encoder::colortype::Gray8>(40, 30)
        .expect("it can be encoded");
    let directory = image.encoder();
    directory
        .write_tag(Tag::Orientation, orientation)
        .expect("it can be encoded");
    directory
        .write_tag(Tag::XResolution, Rational { n: 300, d: 1 })
        .expect("it can be encoded");
    directory
        .write_tag(Tag::YResolution, Rational { n: 150, d: 1 })
        .expect("it can be encoded");
    directory
        .write_tag(Tag::ResolutionUnit, unit)
        .expect("it can be encoded");
    for (tag, text) in texts {
        directory.write_tag(*tag, *text).expect("it can be encoded");
    }
    if map {
        directory
            .write_tag(Tag::ModelPixelScaleTag, &[1.0_f64, 1.0, 0.0][..])
            .expect("it can be encoded");
    }
    image.write_data(&[90_u8; 40 * 30]).expect("it can be encoded");
}

fn tiff(path: &Path) -> Decoder<File> {
    Decoder::new(File::open(path).expect("the result is there")).expect("the result is a picture")
}

#[test]
fn a_turned_tiff_keeps_its_owner_and_its_resolution() {
    let folder = folder("turned");
    let owner = [(Tag::Artist, "the artist"), (Tag::Copyright, "the owner")];
    for (orientation, size, resolution) in [(3, (40, 30), (300.0, 150.0)), (6, (30, 40), (150.0, 300.0))] {
        tiff_with(&folder.join("a.tif"), orientation, &owner, 2, orientation == 6);
        let Some(output) = run(&folder, "a.tif out.tif --radius 3", &[]) else {
            return;
        };
        let mut result = tiff(&folder.join("out.tif"));
        assert_eq!(result.dimensions().ok(), Some(size));
        for (tag, text) in owner {
            assert_eq!(
                result.get_tag_ascii_string(tag).ok().as_deref(),
                Some(text),
                "{orientation}"
            );
        }
        let mut number = |tag| match result.get_tag(tag) {
            Ok(Value::Rational(dots, inches)) => f64::from(dots) / f64::from(inches),
            other => panic!("{tag:?}: {other:?}"),
        };
        assert_eq!((number(Tag::XResolution), number(Tag::YResolution)), resolution);
        assert_eq!(result.get_tag_u32(Tag::ResolutionUnit).ok(), Some(2));
        let note = told(&output).contains("its place on a map is left out");
        assert_eq!(note, orientation == 6, "{}", told(&output));
    }
    let output = run(&folder, "a.tif out.png --radius 3", &[]).expect("there is a GPU");
    assert!(told(&output).contains("only TIFF keeps them"), "{}", told(&output));
}

#[test]
fn the_unit_in_a_description_by_imagej_is_kept() {
    let folder = folder("imagej");
    let description = "ImageJ=1.54f\nimages=3\nslices=3\nunit=micron\nspacing=2.0\n";
    tiff_with(
        &folder.join("a.tif"),
        1,
        &[(Tag::ImageDescription, description)],
        1,
        false,
    );
    let Some(_) = run(&folder, "a.tif out.tif --radius 3", &[]) else {
        return;
    };
    let mut result = tiff(&folder.join("out.tif"));
    let kept = result.get_tag_ascii_string(Tag::ImageDescription).expect("it is kept");
    assert_eq!(kept, "ImageJ=1.54f\nunit=micron\n");
    assert_eq!(result.get_tag_u32(Tag::ResolutionUnit).ok(), Some(1));
    tiff_with(
        &folder.join("a.tif"),
        1,
        &[(Tag::ImageDescription, "A holiday")],
        1,
        false,
    );
    let output = run(&folder, "a.tif out.tif --radius 3", &[]).expect("there is a GPU");
    assert!(
        told(&output).contains("its description is left out"),
        "{}",
        told(&output)
    );
}

/// A PNG file of 16 bits with another chunk behind its header.
fn png_with(kind: &[u8; 4], data: &[u8], number: impl Fn(u32, u32) -> u16) -> Vec<u8> {
    let picture = image::ImageBuffer::from_fn(64, 16, |x, y| Rgb([number(x, y); 3]));
    let mut file = Vec::new();
    let written = DynamicImage::ImageRgb16(picture).write_to(Cursor::new(&mut file), ImageFormat::Png);
    written.expect("it can be encoded");
    let body = [&kind[..], data].concat();
    let sum = body.iter().fold(u32::MAX, |sum, byte| {
        (0..8).fold(sum ^ u32::from(*byte), |sum, _| {
            if sum & 1 == 1 { sum >> 1 ^ 0xedb8_8320 } else { sum >> 1 }
        })
    });
    let length = (data.len() as u32).to_be_bytes();
    let chunk = [&length[..], &body, &(!sum).to_be_bytes()].concat();
    [&file[..33], &chunk, &file[33..]].concat()
}

/// The numbers of an edge, blurred, in the middle.
fn edge(folder: &Path, name: &str) -> [u16; 3] {
    let result = image::open(folder.join(name))
        .expect("the result is a picture")
        .into_rgb16();
    [4, 32, 60].map(|x| result[(x, 8)][0])
}

/// Half of the light of 10,000 cd/m² is 0.926 of the perceptual quantiser, and not 0.73, as a blur of its numbers as those of sRGB
/// would have it.
#[test]
fn a_png_of_hdr_is_blurred_as_light_and_stays_one() {
    let folder = folder("pq");
    let file = png_with(b"cICP", &[9, 16, 0, 1], |x, _| if x < 32 { 0 } else { 65_535 });
    fs::write(folder.join("a.png"), file).expect("it can be written");
    let Some(_) = run(&folder, "a.png out.png --sigma 6", &[]) else {
        return;
    };
    let [dark, middle, bright] = edge(&folder, "out.png");
    // Texel 32 is half a texel to the right of the edge: 0.5332 of the light, whose number is 0.9334.
    let share = f64::from(middle) / 65_535.0;
    assert!((share - 0.9334).abs() < 0.002, "{share}");
    assert!(dark < 1000 && bright > 65_530, "{dark}, {bright}");
    let bytes = fs::read(folder.join("out.png")).expect("it is there");
    assert!(
        bytes.windows(8).any(|window| window == b"cICP\x09\x10\x00\x01"),
        "it says so"
    );

    let output = run(&folder, "a.png out.exr --sigma 6", &[]).expect("there is a GPU");
    assert!(told(&output).contains("(cICP) is left out"), "{}", told(&output));
    let light = image::open(folder.join("out.exr"))
        .expect("it is a picture")
        .into_rgb32f();
    assert!((light[(60, 8)][0] - 49.26).abs() < 0.1, "{}", light[(60, 8)][0]);
    let output = run(&folder, "a.png out.tif --sigma 6", &[]).expect("there is a GPU");
    assert!(told(&output).contains("above 1 are cut off"), "{}", told(&output));
}

#[test]
fn a_png_of_linear_numbers_is_blurred_as_them() {
    let folder = folder("gamma");
    let file = png_with(
        b"gAMA",
        &100_000_u32.to_be_bytes(),
        |x, _| if x < 32 { 0 } else { 60_000 },
    );
    fs::write(folder.join("a.png"), file).expect("it can be written");
    let Some(_) = run(&folder, "a.png out.png --sigma 6", &[]) else {
        return;
    };
    let [_, middle, _] = edge(&folder, "out.png");
    assert!((f64::from(middle) / 60_000.0 - 0.5332).abs() < 0.002, "{middle}");
    let bytes = fs::read(folder.join("out.png")).expect("it is there");
    assert!(
        bytes.windows(8).any(|window| window == b"gAMA\x00\x01\x86\xa0"),
        "it says so"
    );
}

fn exr_with(path: &Path, channels: &[(&str, f32)]) {
    let size = Vec2(24, 20);
    let channel = |(name, number): &(&str, f32)| AnyChannel::new(*name, FlatSamples::F32(vec![*number; 24 * 20]));
    let channels = AnyChannels::sort(channels.iter().map(channel).collect());
    let layer = Layer::new(size, LayerAttributes::default(), Encoding::FAST_LOSSLESS, channels);
    let image = exr::image::Image::new(ImageAttributes::with_size(size), layer);
    image.write().to_file(path).expect("it can be written");
}

#[test]
fn light_without_alpha_is_shown_over_black_aloud() {
    let folder = folder("flame");
    exr_with(&folder.join("a.exr"), &[("R", 0.8), ("G", 0.4), ("B", 0.1), ("A", 0.0)]);
    for name in ["out.png", "out.tif"] {
        let Some(output) = run(&folder, &format!("a.exr {name} --radius 6"), &[]) else {
            return;
        };
        assert!(
            told(&output).contains("light where its alpha is 0"),
            "{}",
            told(&output)
        );
        let result = image::open(folder.join(name)).expect("the result is a picture");
        assert!(!result.color().has_alpha(), "{name}");
        let [red, green, blue] = result.into_rgb32f()[(12, 10)].0;
        let expected = if name == "out.png" {
            [0.9063, 0.6652, 0.3492]
        } else {
            [0.8, 0.4, 0.1]
        };
        for (got, expected) in [red, green, blue].into_iter().zip(expected) {
            assert!((got - expected).abs() < 0.002, "{name}: {got} and not {expected}");
        }
    }
    let output = run(&folder, "a.exr out.exr --radius 6", &[]).expect("there is a GPU");
    assert!(!told(&output).contains("light where"), "{}", told(&output));
}

#[test]
fn channels_may_be_named_in_full() {
    let folder = folder("in_full");
    let names = ["diffuse.red", "diffuse.green", "diffuse.blue", "diffuse.alpha"];
    let channels: Vec<_> = names
        .into_iter()
        .zip([0.8, 0.4, 0.1, 1.0])
        .chain([("R", 0.0), ("G", 0.0), ("B", 0.0)])
        .collect();
    exr_with(&folder.join("a.exr"), &channels);
    let Some(_) = run(&folder, "a.exr out.exr --layer diffuse --radius 6", &[]) else {
        return;
    };
    let result = image::open(folder.join("out.exr"))
        .expect("the result is a picture")
        .into_rgb32f();
    assert!((result[(12, 10)][1] - 0.4).abs() < 1e-4, "{:?}", result[(12, 10)]);
}

#[test]
fn plain_channels_of_one_of_several_parts_are_the_picture() {
    let folder = folder("parts");
    let size = Vec2(24, 20);
    let part = |name: &str, channels: &[&str], number: f32| {
        let channel = |channel: &&str| AnyChannel::new(*channel, FlatSamples::F32(vec![number; 24 * 20]));
        let channels = AnyChannels::sort(channels.iter().map(channel).collect());
        Layer::new(size, LayerAttributes::named(name), Encoding::FAST_LOSSLESS, channels)
    };
    let parts = [part("depth", &["Z"], 7.0), part("beauty", &["R", "G", "B", "A"], 1.0)];
    let image = exr::image::Image::from_layers(ImageAttributes::with_size(size), parts.to_vec());
    image.write().to_file(folder.join("a.exr")).expect("it can be written");
    let Some(output) = run(&folder, "a.exr out.exr --radius 6", &[]) else {
        return;
    };
    assert!(
        told(&output).contains("its layers depth are left out"),
        "{}",
        told(&output)
    );
    let result = image::open(folder.join("out.exr"))
        .expect("the result is a picture")
        .into_rgb32f();
    assert!((result[(12, 10)][0] - 1.0).abs() < 1e-4, "{:?}", result[(12, 10)]);
}

/// A picture that is hard to compress, so that the ends of its files differ.
fn noise() -> RgbImage {
    RgbImage::from_fn(120, 90, |x, y| {
        let hash = (x.wrapping_mul(0x9e37_79b1) ^ y.wrapping_mul(0x85eb_ca77)).wrapping_mul(0x7feb_352d);
        Rgb([(hash >> 24) as u8, (hash >> 16) as u8, (hash >> 8) as u8])
    })
}

#[test]
fn a_jpeg_with_all_its_pixels_is_a_picture() {
    let folder = folder("jpeg");
    let mut whole = Vec::new();
    let encoder = JpegEncoder::new_with_quality(&mut whole, 90);
    noise().write_with_encoder(encoder).expect("it can be encoded");
    let expected = image::load_from_memory(&whole).expect("it is a picture").into_rgb8();
    let endless = &whole[..whole.len() - 2];
    let phone = b"\x00\x00\x51\x0aMotionPhoto_Data\xff\xe5\xff\xff SEFH and so on SEFT";
    let files = [
        ("no end marker", endless.to_vec(), "no end marker"),
        ("a phone's bytes", [endless, phone].concat(), "no end marker"),
        (
            "bytes behind the end",
            [&whole[..], phone].concat(),
            "bytes behind its end are left out",
        ),
    ];
    for (kind, file, note) in files {
        fs::write(folder.join("a.jpg"), file).expect("it can be written");
        let Some(output) = run(&folder, "a.jpg out.png --radius 0", &[]) else {
            return;
        };
        assert!(told(&output).contains(note), "{kind}: {}", told(&output));
        let result = image::open(folder.join("out.png"))
            .expect("the result is a picture")
            .into_rgb8();
        let worst = result
            .iter()
            .zip(expected.iter())
            .map(|(got, expected)| got.abs_diff(*expected))
            .max();
        assert!(worst <= Some(1), "{kind}: {worst:?}");
    }
}

/// A result is there before its blur is repeated to be timed, and it is timed only on request.
#[test]
fn blurs_are_timed_on_request_only() {
    let folder = folder("timed");
    noise().save(folder.join("a.png")).expect("it can be written");
    let Some(output) = run(&folder, "a.png out.png --radius 6", &[]) else {
        return;
    };
    let line = told(&output);
    assert!(!line.contains("timed") && !line.contains("on the GPU"), "{line}");
    let output = run(&folder, "a.png out.png --radius 6 --time", &[]).expect("there is a GPU");
    let line = told(&output);
    assert!(line.contains("timed") || line.contains("on the GPU"), "{line}");
    let result = image::open(folder.join("out.png"))
        .expect("the result is a picture")
        .into_rgba8();
    assert_ne!(result[(5, 5)], Rgba([0; 4]));
}
