//! Arbitrary bytes, and valid files with arbitrary damage: each is a picture or an error, and never a panic.
//!
//! `BLUR_DECODE_CASES` sets the number of files.

use super::*;
use image::{DynamicImage, Rgb, RgbImage};
use proptest::prelude::*;
use proptest::sample::Index;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

/// The number of files in the suite.
const FEW: u32 = 400;

const FORMATS: [ImageFormat; 5] = [
    ImageFormat::Png,
    ImageFormat::Jpeg,
    ImageFormat::WebP,
    ImageFormat::Tiff,
    ImageFormat::OpenExr,
];

/// A file of a format with a small picture.
fn sound(format: ImageFormat) -> Vec<u8> {
    let picture = RgbImage::from_fn(19, 13, |x, y| Rgb([(x * 13) as u8, (y * 19) as u8, (x * y) as u8]));
    let picture = match format {
        ImageFormat::OpenExr => DynamicImage::from(DynamicImage::from(picture).to_rgb32f()),
        _ => DynamicImage::from(picture),
    };
    let mut bytes = Vec::new();
    let written = picture.write_to(Cursor::new(&mut bytes), format);
    written.expect("it can be encoded");
    bytes
}

/// The damage to a file.
#[derive(Clone, Debug)]
enum Damage {
    Set(Index, u8),
    Flip(Index, u8),
    Cut(Index),
    Repeat(Index, Index),
}

fn damage() -> impl Strategy<Value = Damage> {
    prop_oneof![
        4 => (any::<Index>(), any::<u8>()).prop_map(|(at, byte)| Damage::Set(at, byte)),
        4 => (any::<Index>(), 0..8_u8).prop_map(|(at, bit)| Damage::Flip(at, bit)),
        1 => any::<Index>().prop_map(Damage::Cut),
        1 => (any::<Index>(), any::<Index>()).prop_map(|(from, to)| Damage::Repeat(from, to)),
    ]
}

fn damaged(mut bytes: Vec<u8>, damages: &[Damage]) -> Vec<u8> {
    for damage in damages {
        if bytes.is_empty() {
            break;
        }
        let length = bytes.len();
        match damage {
            Damage::Set(at, byte) => bytes[at.index(length)] = *byte,
            Damage::Flip(at, bit) => bytes[at.index(length)] ^= 1 << bit,
            Damage::Cut(at) => bytes.truncate(at.index(length)),
            Damage::Repeat(from, to) => {
                let tail = bytes[from.index(length)..].to_vec();
                bytes.truncate(to.index(length));
                bytes.extend(tail);
            }
        }
    }
    bytes
}

/// A file: damaged, or the first bytes of a valid one followed by arbitrary ones.
fn file() -> impl Strategy<Value = Vec<u8>> {
    let format = || proptest::sample::select(FORMATS.to_vec());
    let anything = || proptest::collection::vec(any::<u8>(), 0..200);
    prop_oneof![
        6 => (format(), proptest::collection::vec(damage(), 0..6))
            .prop_map(|(format, damages)| damaged(sound(format), &damages)),
        2 => (format(), 4..40_usize, anything()).prop_map(|(format, kept, rest)| {
            let mut bytes = sound(format);
            bytes.truncate(kept);
            bytes.extend(rest);
            bytes
        }),
        1 => anything(),
    ]
}

#[test]
fn sound_files_are_pictures() {
    for format in FORMATS {
        let picture =
            decode(&sound(format), &Selection::default()).unwrap_or_else(|error| panic!("{format:?}: {error}"));
        assert_eq!(picture.size, UVec2::new(19, 13), "{format:?}");
    }
}

#[test]
fn arbitrary_bytes_are_a_picture_or_an_error() {
    let cases = std::env::var("BLUR_DECODE_CASES").map_or(FEW, |text| text.parse().expect("a number"));
    let config = Config {
        cases,
        failure_persistence: None,
        ..Config::default()
    };
    // The suite uses the same files in every run.
    let mut runner = match cases {
        FEW => TestRunner::new_with_rng(config, TestRng::deterministic_rng(RngAlgorithm::ChaCha)),
        _ => TestRunner::new(config),
    };
    let outcome = runner.run(&file(), |bytes| {
        match decode(&bytes, &Selection::default()) {
            Ok(picture) => assert_eq!(picture.texels.len() as u32, picture.size.x * picture.size.y),
            Err(reason) => assert!(!reason.is_empty(), "an error says something"),
        }
        Ok(())
    });
    outcome.unwrap_or_else(|failure| panic!("{failure}"));
    println!("{cases} files");
}

/// The checksum of a PNG chunk.
fn crc(bytes: &[u8]) -> u32 {
    let step = |crc: u32, byte: &u8| {
        (0..8).fold(crc ^ u32::from(*byte), |crc, _| {
            if crc & 1 == 1 { crc >> 1 ^ 0xedb8_8320 } else { crc >> 1 }
        })
    };
    !bytes.iter().fold(u32::MAX, step)
}

/// A PNG header can claim any size in a few bytes.
#[test]
fn a_size_that_nothing_can_hold_is_an_error() {
    let mut bytes = sound(ImageFormat::Png);
    for side in [16..20, 20..24] {
        bytes[side].copy_from_slice(&60_000_u32.to_be_bytes());
    }
    let checksum = crc(&bytes[12..29]);
    bytes[29..33].copy_from_slice(&checksum.to_be_bytes());
    let error = decode(&bytes, &Selection::default())
        .map(|_| ())
        .expect_err("it is too large");
    assert_eq!(error, "it has 60000x60000 pixels, which are too many");
}
