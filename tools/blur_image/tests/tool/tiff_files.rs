//! TIFF files that say more than colours.

use crate::common::{folder, run};
use image::{Rgb, RgbImage, Rgba};
use std::fs::File;
use std::io::BufReader;
use std::path::Path;
use tiff::decoder::{Decoder, DecodingResult};
use tiff::encoder::colortype::{ColorType, Gray8, Gray16, Gray32Float, GrayI16, RGB8, RGB16, RGB32Float};
use tiff::encoder::{Rational, TiffEncoder, TiffValue};
use tiff::tags::{ExtraSamples, PhotometricInterpretation, ResolutionUnit, Tag};

const SIZE: (u32, u32) = (40, 30);

/// Writes a file with the samples that `sample` gives for a texel and a channel.
fn write<C: ColorType>(path: &Path, extra: &[ExtraSamples], sample: impl Fn(u32, u32, usize) -> C::Inner)
where
    [C::Inner]: TiffValue,
{
    let mut encoder = TiffEncoder::new(File::create(path).expect("a file can be made")).expect("it can be encoded");
    page::<C>(&mut encoder, extra, sample);
}

fn page<C: ColorType>(
    encoder: &mut TiffEncoder<File>,
    extra: &[ExtraSamples],
    sample: impl Fn(u32, u32, usize) -> C::Inner,
) where
    [C::Inner]: TiffValue,
{
    let mut image = encoder.new_image::<C>(SIZE.0, SIZE.1).expect("it can be encoded");
    if !extra.is_empty() {
        image.extra_samples(extra).expect("it can be encoded");
    }
    image
        .encoder()
        .write_tag(Tag::IccProfile, PROFILE)
        .expect("it can be encoded");
    image.resolution(ResolutionUnit::Inch, Rational { n: 300, d: 1 });
    let channels = C::BITS_PER_SAMPLE.len() + extra.len();
    let places = (0..SIZE.0 * SIZE.1).map(|index| (index % SIZE.0, index / SIZE.0));
    let sample = &sample;
    let samples = places.flat_map(|(x, y)| (0..channels).map(move |channel| sample(x, y, channel)));
    image
        .write_data(&samples.collect::<Vec<_>>())
        .expect("it can be encoded");
}

/// The head of a profile for RGB.
const PROFILE: &[u8] = b"0123456789abcdefRGB XYZ ";

/// A file that was read.
struct Read {
    decoder: Decoder<BufReader<File>>,
    numbers: DecodingResult,
}

impl Read {
    fn new(path: &Path) -> Self {
        let file = File::open(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let mut decoder = Decoder::new(BufReader::new(file)).expect("the result is a picture");
        let numbers = decoder.read_image().expect("the result is a picture");
        Self { decoder, numbers }
    }

    fn tag(&mut self, tag: Tag) -> Vec<u32> {
        let value = self.decoder.get_tag_u32_vec(tag);
        value.unwrap_or_else(|error| panic!("{tag:?}: {error}"))
    }

    fn floats(&self) -> &[f32] {
        match &self.numbers {
            DecodingResult::F32(numbers) => numbers,
            other => panic!("it holds {other:?}"),
        }
    }
}

#[test]
fn associated_alpha_is_divided_out_and_comes_back() {
    let folder = folder("associated");
    write::<RGB8>(
        &folder.join("a.tif"),
        &[ExtraSamples::AssociatedAlpha],
        |_, _, channel| [64, 0, 0, 64][channel],
    );
    let Some(_) = run(&folder, "a.tif a.png --radius 4", &[]) else {
        return;
    };
    let png = image::open(folder.join("a.png"))
        .expect("the result is a picture")
        .into_rgba8();
    assert!(
        png.pixels().all(|texel| *texel == Rgba([255, 0, 0, 64])),
        "{:?}",
        png[(5, 5)]
    );
    run(&folder, "a.tif out.tif --radius 4", &[]).expect("there is a GPU");
    let mut result = Read::new(&folder.join("out.tif"));
    assert_eq!(result.tag(Tag::ExtraSamples), [1]);
    let DecodingResult::U8(numbers) = &result.numbers else {
        panic!("it has 8 bits");
    };
    assert!(
        numbers.chunks(4).all(|texel| texel == [64, 0, 0, 64]),
        "{:?}",
        &numbers[..4]
    );
}

#[test]
fn a_sample_of_unknown_meaning_is_left_out_aloud() {
    let folder = folder("unknown");
    let sample = |x: u32, y: u32, channel: usize| [x as u8 * 6, y as u8 * 8, 90, x as u8][channel];
    write::<RGB8>(&folder.join("a.tif"), &[ExtraSamples::Unspecified], sample);
    let Some(output) = run(&folder, "a.tif a.png --radius 0", &[]) else {
        return;
    };
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(told.contains("note: a.tif: sample 4 of 4 is left out"), "{told}");
    let result = image::open(folder.join("a.png")).expect("the result is a picture");
    assert!(!result.color().has_alpha());
    let expected = RgbImage::from_fn(SIZE.0, SIZE.1, |x, y| {
        Rgb([0, 1, 2].map(|channel| sample(x, y, channel)))
    });
    assert!(result.into_rgb8() == expected);
}

/// The Gaussian of a picture whose border goes on outside, in float64.
fn gaussian(size: (u32, u32), sigma: f64, value: impl Fn(i64, i64) -> f64) -> Vec<f64> {
    let reach = (6.0 * sigma).ceil() as i64;
    let weight = |distance: i64| (-0.5 * (distance as f64 / sigma).powi(2)).exp();
    let total: f64 = (-reach..=reach).map(weight).sum();
    let (width, height) = (i64::from(size.0), i64::from(size.1));
    let blurred = |x: i64, y: i64| {
        let rows = (-reach..=reach).map(|dy| {
            let row = (y + dy).clamp(0, height - 1);
            let sum: f64 = (-reach..=reach)
                .map(|dx| weight(dx) * value((x + dx).clamp(0, width - 1), row))
                .sum();
            weight(dy) * sum
        });
        rows.sum::<f64>() / (total * total)
    };
    (0..width * height)
        .map(|index| blurred(index % width, index / width))
        .collect()
}

/// Heights in metres, as hills and a cliff.
fn height(x: u32, y: u32) -> f32 {
    500.0 + 300.0 * (x as f32 / 5.0).sin() * (y as f32 / 4.0).cos() - if x > 25 { 1200.0 } else { 0.0 }
}

#[test]
fn one_channel_of_floats_stays_one_channel_of_floats() {
    let folder = folder("heights");
    write::<Gray32Float>(&folder.join("a.tif"), &[], |x, y, _| height(x, y));
    let Some(output) = run(&folder, "a.tif out.tif --sigma 2 --json", &[]) else {
        return;
    };
    let told = String::from_utf8_lossy(&output.stdout);
    assert!(told.contains(r#""format":"r32float""#), "{told}");
    let mut result = Read::new(&folder.join("out.tif"));
    assert_eq!(result.tag(Tag::SamplesPerPixel), [1]);
    assert_eq!(result.tag(Tag::Compression), [8]);
    assert_eq!(result.tag(Tag::ResolutionUnit), [2]);
    let expected = gaussian(SIZE, 2.0, |x, y| f64::from(height(x as u32, y as u32)));
    let pairs = result.floats().iter().zip(expected);
    let worst = pairs
        .map(|(got, expected)| (f64::from(*got) - expected).abs())
        .fold(0.0, f64::max);
    // Of the range of 1800 m.
    assert!(worst < 1800.0 * 0.1 / 255.0, "{worst}");
}

#[test]
fn signed_integers_become_floats_of_the_same_numbers() {
    let folder = folder("signed");
    write::<GrayI16>(&folder.join("a.tif"), &[], |x, y, _| x as i16 * 100 - y as i16 * 3);
    let Some(output) = run(&folder, "a.tif out.tif --radius 0", &[]) else {
        return;
    };
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(
        told.contains("its signed 16-bit integers are blurred as 32-bit floats"),
        "{told}"
    );
    let result = Read::new(&folder.join("out.tif"));
    assert_eq!(result.floats()[SIZE.0 as usize * 10 + 7], 670.0);
    let output = run(&folder, "a.tif out.png --radius 0", &[]).expect("there is a GPU");
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(told.contains("numbers below 0 and above 1 are cut off"), "{told}");
}

#[test]
fn the_chosen_page_is_read() {
    let folder = folder("pages");
    let file = File::create(folder.join("a.tif")).expect("a file can be made");
    let mut encoder = TiffEncoder::new(file).expect("it can be encoded");
    for level in [40, 120, 200] {
        page::<Gray8>(&mut encoder, &[], |_, _, _| level);
    }
    let level = |arguments: &str| {
        let output = run(&folder, &format!("a.tif out.png {arguments}"), &[])?;
        let result = image::open(folder.join("out.png"))
            .expect("the result is a picture")
            .into_luma8();
        Some((
            result[(3, 3)][0],
            String::from_utf8_lossy(&output.stderr).contains("it has 3 pages"),
        ))
    };
    let Some(first) = level("") else {
        return;
    };
    assert_eq!(first, (40, true));
    assert_eq!(level("--page 1"), Some((40, false)));
    assert_eq!(level("--page 3"), Some((200, false)));
}

/// A picture in a JPEG stream in a TIFF file, as scanners write it.
#[test]
fn luma_and_differences_of_colour_become_colours() {
    let folder = folder("ycbcr");
    let picture = RgbImage::from_fn(SIZE.0, SIZE.1, |x, y| Rgb([x as u8 * 6, y as u8 * 8, 90]));
    let mut jpeg = Vec::new();
    let encoder = image::codecs::jpeg::JpegEncoder::new_with_quality(&mut jpeg, 95);
    picture.write_with_encoder(encoder).expect("it can be encoded");
    let file = File::create(folder.join("a.tif")).expect("a file can be made");
    let mut encoder = TiffEncoder::new(file).expect("it can be encoded");
    let mut directory = encoder.image_directory().expect("it can be encoded");
    let place = directory.write_data(&jpeg[..]).expect("it can be encoded");
    let numbers = [
        (Tag::ImageWidth, SIZE.0),
        (Tag::ImageLength, SIZE.1),
        (Tag::Compression, 7),
        (
            Tag::PhotometricInterpretation,
            PhotometricInterpretation::YCbCr.to_u16().into(),
        ),
        (Tag::SamplesPerPixel, 3),
        (Tag::RowsPerStrip, SIZE.1),
        (Tag::StripOffsets, place as u32),
        (Tag::StripByteCounts, jpeg.len() as u32),
    ];
    for (tag, number) in numbers {
        directory.write_tag(tag, number).expect("it can be encoded");
    }
    directory
        .write_tag(Tag::BitsPerSample, &[8_u16; 3][..])
        .expect("it can be encoded");
    directory.finish().expect("it can be encoded");

    let Some(_) = run(&folder, "a.tif out.png --radius 0", &[]) else {
        return;
    };
    let result = image::open(folder.join("out.png"))
        .expect("the result is a picture")
        .into_rgb8();
    let expected = image::load_from_memory(&jpeg).expect("it is a picture").into_rgb8();
    let pairs = result.iter().zip(expected.iter());
    let worst = pairs.map(|(got, expected)| got.abs_diff(*expected)).max();
    assert!(worst <= Some(2), "{worst:?}");
}

/// Blurs a file by nothing into a folder, and compares all samples.
fn comes_back<C: ColorType>(name: &str, extra: &[ExtraSamples], sample: impl Fn(u32, u32, usize) -> C::Inner) -> bool
where
    [C::Inner]: TiffValue,
{
    let folder = folder(&format!("back_{name}"));
    write::<C>(&folder.join("a.tif"), extra, sample);
    if run(&folder, "a.tif --out-dir out --radius 0", &[]).is_none() {
        return false;
    }
    let mut before = Read::new(&folder.join("a.tif"));
    let mut after = Read::new(&folder.join("out/a.tif"));
    for tag in [
        Tag::SamplesPerPixel,
        Tag::BitsPerSample,
        Tag::SampleFormat,
        Tag::PhotometricInterpretation,
    ] {
        assert_eq!(after.tag(tag), before.tag(tag), "{name}: {tag:?}");
    }
    if !extra.is_empty() {
        assert_eq!(after.tag(Tag::ExtraSamples), before.tag(Tag::ExtraSamples), "{name}");
    }
    let profile = after.decoder.get_tag_u8_vec(Tag::IccProfile).ok();
    let keeps_profile = C::BITS_PER_SAMPLE.len() == 3;
    assert_eq!(profile.as_deref(), keeps_profile.then_some(PROFILE), "{name}");
    let difference = match (&before.numbers, &after.numbers) {
        (DecodingResult::U8(a), DecodingResult::U8(b)) => a.iter().zip(b).map(|(a, b)| u16::from(a.abs_diff(*b))).max(),
        (DecodingResult::U16(a), DecodingResult::U16(b)) => a.iter().zip(b).map(|(a, b)| a.abs_diff(*b)).max(),
        (DecodingResult::F32(a), DecodingResult::F32(b)) => a
            .iter()
            .zip(b)
            .map(|(a, b)| u16::from((a - b).abs() > 1e-6 * a.abs()))
            .max(),
        (a, b) => panic!("{name}: {a:?} became {b:?}"),
    };
    assert!(
        difference <= Some(u16::from(C::BITS_PER_SAMPLE[0] == 16)),
        "{name}: {difference:?}"
    );
    true
}

#[test]
fn all_kinds_of_samples_come_back() {
    use ExtraSamples::{AssociatedAlpha, UnassociatedAlpha};
    let share = |x: u32, y: u32, channel: usize| match channel {
        0 => x as f32 / 40.0,
        1 => (y + 1) as f32 / 30.0,
        2 => 0.75,
        _ => (x + y + 1) as f32 / 70.0,
    };
    let eight = |x, y, channel| (share(x, y, channel) * 255.0) as u8;
    let sixteen = |x, y, channel| (share(x, y, channel) * 65535.0) as u16;
    let float = |x, y, channel| share(x, y, channel) * if channel == 3 { 1.0 } else { 7.0 };
    let all = comes_back::<Gray8>("grey_8", &[], eight)
        && comes_back::<Gray16>("grey_16", &[], sixteen)
        && comes_back::<Gray32Float>("grey_32", &[], float)
        && comes_back::<Gray8>("grey_alpha_8", &[UnassociatedAlpha], eight)
        && comes_back::<Gray16>("grey_alpha_16", &[UnassociatedAlpha], sixteen)
        && comes_back::<Gray32Float>("grey_alpha_32", &[UnassociatedAlpha], share)
        && comes_back::<RGB8>("rgb_8", &[], eight)
        && comes_back::<RGB16>("rgb_16", &[], sixteen)
        && comes_back::<RGB32Float>("rgb_32", &[], float)
        && comes_back::<RGB8>("rgba_8", &[UnassociatedAlpha], eight)
        && comes_back::<RGB16>("rgba_16", &[UnassociatedAlpha], sixteen)
        && comes_back::<RGB32Float>("rgba_32", &[UnassociatedAlpha], float)
        && comes_back::<RGB32Float>("associated_32", &[AssociatedAlpha], float);
    if all {
        println!("13 kinds");
    }
}
