//! With any wrong input, the tool prints one line that says why, fails, and touches no file.

use exr::image::write::WritableImage;
use exr::image::{AnyChannel, AnyChannels, FlatSamples};
use image::{DynamicImage, GrayImage, ImageFormat, Rgb, RgbImage};
use std::collections::BTreeMap;
use std::fs;
use std::io::Cursor;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use tiff::encoder::TiffEncoder;
use tiff::tags::Tag;

/// Arguments, and a part of the error message.
const CASES: &[(&str, &str)] = &[
    ("", "required"),
    ("good.png", "where should the result go"),
    ("good.png good.jpg good.exr", "--out-dir"),
    ("good.png good.jpg -o out.png", "--out-dir"),
    ("good.png -o out.png --out-dir out", "--out-dir"),
    ("good.png out.png --radius -1", "at least 0"),
    ("good.png out.png --radius NaN", "finite"),
    ("good.png out.png --sigma 2e38", "finite"),
    ("good.png out.png --radius two", "a number of pixels"),
    ("good.png out.png --radius 1 --sigma 1", "--sigma"),
    ("good.png out.png --format rgb8", "rgba8unorm"),
    ("good.png out.png --edge soft", "clamp"),
    ("good.png out.png --depth 12", "16"),
    ("good.png out.exr --depth 16", "--depth"),
    ("good.png out.png --depth 32", "--depth 32 is for TIFF"),
    ("good.png out.png --page 0", "1.."),
    ("good.png out.png --page 2", "it has one page, and no page 2"),
    ("good.tiff out.png --page 2", "it has one page, and no page 2"),
    ("good.png out.png --layer BG", "only EXR files have"),
    ("good.png out.png --profile mask:text.png", "text.png: it must be a PNG"),
    ("good.png - --json", "stdout"),
    ("good.png - --radius 1 --radius 2", "extension"),
    ("good.png out.png --radius 2 --radius 2.0", "out-r2.png"),
    ("good.png good/../good.png --out-dir out", "good.png"),
    ("good.png ./good.png --out-dir out", "good.png"),
    ("good.png good-r2.png --out-dir . --radius 2 --radius 4", "good-r2.png"),
    ("good.png --out-dir text.png", "text.png"),
    ("good.png out.jpg", ".png, .tif or .exr"),
    ("good.png out", ".png, .tif or .exr"),
    ("good.png folder.png", "it is a folder"),
    ("good.png nowhere/out.png", "nowhere is not a folder"),
    ("good.png fixed.png", "it is read-only"),
    ("missing.png out.png", "missing.png"),
    ("folder.png out.png", "folder.png"),
    ("- out.png", "stdin"),
    ("empty.png out.png", "must be a PNG"),
    ("text.png out.png", "must be a PNG"),
    ("animation.gif out.png", "must be a PNG"),
    ("animation.png out.png", "it is an animation"),
    ("ink.jpg out.png", "CMYK"),
    ("ink.tif out.png", "CMYK"),
    ("palette.tif out.png", "its colours are in a palette"),
    ("lab.tif out.png", "its colours are L*a*b*"),
    ("predicted.tif out.png", "behind a predictor"),
    ("layers.exr out.png", "it has the layers BG, FG; --layer takes one"),
    ("layers.exr out.png --layer Z", "it has no layer \"Z\"; it has BG, FG"),
    (
        "normals.exr out.png",
        "its channels X, Y, Z are neither colours nor a single number",
    ),
    ("zero.png out.png", "zero.png"),
    ("huge.png out.png", "huge.png"),
    ("wide.png out.png", "65536x1"),
    ("damaged.png out.png", "damaged.png"),
    ("short.png out.png", "short.png"),
    ("short.jpg out.png", "short.jpg"),
    ("short.webp out.png", "short.webp"),
    ("short.tiff out.png", "short.tiff"),
    ("short.exr out.png", "short.exr"),
    ("short.png short.png", "short.png"),
];

#[test]
fn bad_input_costs_one_line_and_no_file() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("bad_input");
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(folder.join("folder.png")).expect("a folder can be made");
    for (name, bytes) in inputs().into_iter().chain(unreadable()) {
        fs::write(folder.join(name), bytes).expect("a file can be written");
    }
    let fixed = folder.join("fixed.png");
    let mut permissions = fs::metadata(&fixed).expect("the file is there").permissions();
    permissions.set_readonly(true);
    fs::set_permissions(&fixed, permissions).expect("a file can be protected");

    let before = files(&folder);
    for (arguments, part) in CASES {
        let output = Command::new(env!("CARGO_BIN_EXE_blur_image"))
            .current_dir(&folder)
            .args(arguments.split_whitespace())
            .stdin(Stdio::null())
            .output()
            .expect("the tool runs");
        let told = String::from_utf8_lossy(&output.stderr);
        let errors: Vec<&str> = told.lines().filter(|line| line.starts_with("error: ")).collect();
        assert!(!output.status.success(), "blur_image {arguments}: succeeds\n{told}");
        assert!(output.stdout.is_empty(), "blur_image {arguments}: writes to stdout");
        assert_eq!(errors.len(), 1, "blur_image {arguments}: {told}");
        let needs_gpu = errors[0].contains("no GPU adapter");
        assert!(errors[0].contains(part) || needs_gpu, "blur_image {arguments}: {told}");
        assert!(!told.contains("panicked"), "blur_image {arguments}: {told}");
        assert!(files(&folder) == before, "blur_image {arguments}: changes files");
    }
}

/// All files in a folder and their contents.
fn files(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let entries = fs::read_dir(folder).expect("the folder is there");
    let paths = entries.map(|entry| entry.expect("an entry can be read").path());
    let files = paths.filter(|path| path.is_file());
    files
        .map(|path| (path.clone(), fs::read(&path).expect("a file can be read")))
        .collect()
}

fn inputs() -> Vec<(&'static str, Vec<u8>)> {
    let [png, jpeg, webp, tiff, exr] = [
        ImageFormat::Png,
        ImageFormat::Jpeg,
        ImageFormat::WebP,
        ImageFormat::Tiff,
        ImageFormat::OpenExr,
    ]
    .map(encoded);
    let half = |whole: &[u8]| whole[..whole.len() / 2].to_vec();
    let mut damaged = png.clone();
    damaged[png.len() / 2] ^= 0xff;
    let mut wide = Vec::new();
    let row = DynamicImage::from(GrayImage::new(65536, 1));
    row.write_to(Cursor::new(&mut wide), ImageFormat::Png)
        .expect("it can be encoded");
    let frame = [
        &[0xff_u8, 0xd8, 0xff, 0xc0, 0, 20, 8, 0, 16, 0, 16, 4][..],
        &[0; 12],
        &[0xff, 0xd9],
    ];
    // The first 33 bytes are the signature and the header.
    let animated = [&png[..33], &chunk(*b"acTL", &[0, 0, 0, 1, 0, 0, 0, 0]), &png[33..]];
    vec![
        ("good-r2.png", png.clone()),
        ("fixed.png", png.clone()),
        ("short.png", half(&png)),
        ("short.jpg", half(&jpeg)),
        ("short.webp", half(&webp)),
        ("short.tiff", half(&tiff)),
        ("short.exr", half(&exr)),
        ("damaged.png", damaged),
        ("animation.png", animated.concat()),
        ("animation.gif", b"GIF89a\x01\0\x01\0\0\0\0;".to_vec()),
        ("ink.jpg", frame.concat()),
        ("good.tiff", tiff.clone()),
        ("zero.png", empty_png(0, 16)),
        ("huge.png", empty_png(60_000, 60_000)),
        ("wide.png", wide),
        ("empty.png", Vec::new()),
        ("text.png", b"This is no picture.".to_vec()),
        ("out.png", b"What was there before.".to_vec()),
        ("good.png", png),
        ("good.jpg", jpeg),
        ("good.exr", exr),
    ]
}

/// Valid files of kinds that the tool does not read, or not without an option.
fn unreadable() -> Vec<(&'static str, Vec<u8>)> {
    vec![
        (
            "ink.tif",
            tiff_with(&[(Tag::PhotometricInterpretation, 5), (Tag::SamplesPerPixel, 4)], 4),
        ),
        ("palette.tif", tiff_with(&[(Tag::PhotometricInterpretation, 3)], 1)),
        ("lab.tif", tiff_with(&[(Tag::PhotometricInterpretation, 8)], 3)),
        (
            "predicted.tif",
            tiff_with(
                &[
                    (Tag::PhotometricInterpretation, 2),
                    (Tag::ExtraSamples, 0),
                    (Tag::Predictor, 2),
                ],
                4,
            ),
        ),
        ("layers.exr", exr_with(&["BG.R", "BG.G", "FG.R", "FG.G"])),
        ("normals.exr", exr_with(&["N.X", "N.Y", "N.Z"])),
    ]
}

/// A TIFF file of 16x16 texels with these tags and this many samples.
fn tiff_with(tags: &[(Tag, u16)], samples: u16) -> Vec<u8> {
    let mut file = Cursor::new(Vec::new());
    let mut encoder = TiffEncoder::new(&mut file).expect("it can be encoded");
    let mut directory = encoder.image_directory().expect("it can be encoded");
    let bytes = vec![50_u8; 16 * 16 * usize::from(samples)];
    let place = directory.write_data(&bytes[..]).expect("it can be encoded");
    let lengths = [
        (Tag::ImageWidth, 16),
        (Tag::ImageLength, 16),
        (Tag::RowsPerStrip, 16),
        (Tag::StripOffsets, place as u32),
        (Tag::StripByteCounts, bytes.len() as u32),
    ];
    for (tag, length) in lengths {
        directory.write_tag(tag, length).expect("it can be encoded");
    }
    for (tag, number) in [(Tag::SamplesPerPixel, samples)].iter().chain(tags) {
        directory.write_tag(*tag, *number).expect("it can be encoded");
    }
    let bits = vec![8_u16; usize::from(samples)];
    directory
        .write_tag(Tag::BitsPerSample, &bits[..])
        .expect("it can be encoded");
    directory.finish().expect("it can be encoded");
    file.into_inner()
}

/// An EXR file with these channels.
fn exr_with(names: &[&str]) -> Vec<u8> {
    let channel = |name: &&str| AnyChannel::new(*name, FlatSamples::F32(vec![0.5; 16 * 16]));
    let channels = AnyChannels::sort(names.iter().map(channel).collect());
    let mut file = Cursor::new(Vec::new());
    let image = exr::image::Image::from_channels((16, 16), channels);
    image.write().to_buffered(&mut file).expect("it can be encoded");
    file.into_inner()
}

/// A small picture that does not compress well.
fn encoded(format: ImageFormat) -> Vec<u8> {
    let noise = |x: u32, y: u32| (x.wrapping_mul(0x9e37_79b1) ^ y.wrapping_mul(0x85eb_ca77)).wrapping_mul(0x7feb_352d);
    let picture = RgbImage::from_fn(64, 64, |x, y| {
        let [red, green, blue, _] = noise(x, y).to_be_bytes();
        Rgb([red, green, blue])
    });
    let picture = DynamicImage::from(picture);
    let picture = match format {
        ImageFormat::OpenExr => DynamicImage::from(picture.to_rgb32f()),
        _ => picture,
    };
    let mut bytes = Vec::new();
    picture
        .write_to(Cursor::new(&mut bytes), format)
        .expect("it can be encoded");
    bytes
}

/// A PNG file that claims a size but holds nothing.
fn empty_png(width: u32, height: u32) -> Vec<u8> {
    let size = [width.to_be_bytes(), height.to_be_bytes()].concat();
    let head = [&size[..], &[8, 2, 0, 0, 0]].concat();
    let signature = b"\x89PNG\r\n\x1a\n";
    let chunks = [chunk(*b"IHDR", &head), chunk(*b"IDAT", &[]), chunk(*b"IEND", &[])];
    [&signature[..], &chunks.concat()].concat()
}

/// A chunk of a PNG file.
fn chunk(kind: [u8; 4], data: &[u8]) -> Vec<u8> {
    let body = [&kind[..], data].concat();
    let checksum = body.iter().fold(u32::MAX, |sum, byte| {
        (0..8).fold(sum ^ u32::from(*byte), |sum, _| match sum & 1 {
            0 => sum >> 1,
            _ => sum >> 1 ^ 0xedb8_8320,
        })
    });
    let length = (data.len() as u32).to_be_bytes();
    [&length[..], &body, &(!checksum).to_be_bytes()].concat()
}
