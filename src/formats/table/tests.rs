use super::*;
use bevy::render::render_resource::TextureSampleType;
use std::fmt::Write;
use std::fs;

/// The table that the documentation of [`BlurImage`](crate::BlurImage) shows.
const PATH: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/src/formats/table.md");

/// All formats but ASTC, in the order of the table.
fn formats() -> impl Iterator<Item = Format> {
    let textures = TABLE.iter().flat_map(|(_, textures)| *textures);
    textures.map(|texture| Format::find(*texture).expect("it holds colours"))
}

/// Whether a format can only be a source.
fn is_source(format: &Format) -> bool {
    format.texture.is_compressed() || format.texture == TextureFormat::Rgb9e5Ufloat
}

impl Encoding {
    fn description(self) -> String {
        match self {
            Self::Unorm(_) => "0 to 1".to_owned(),
            Self::Srgb => "0 to 1, light".to_owned(),
            Self::Snorm(_) => "-1 to 1".to_owned(),
            Self::Uint(bits) => format!("integers of {bits} bits"),
            Self::Sint(bits) => format!("signed integers of {bits} bits"),
            Self::Half | Self::Float | Self::Packed | Self::SharedExponent => "floats".to_owned(),
        }
    }
}

fn names(formats: &[Format]) -> String {
    let names: Vec<String> = formats.iter().map(|format| format!("`{:?}`", format.texture)).collect();
    names.join(", ")
}

/// The documentation of all formats, from the table.
fn documentation() -> String {
    let mut text = String::from(
        "| Formats | A blur sees | What lies in between | At most off by, of the range | Rounded by |\n|---|---|---|---|---|\n",
    );
    let (mut sources, targets): (Vec<Format>, Vec<Format>) = formats().partition(is_source);
    for group in targets.chunk_by(|a, b| a.numbers == b.numbers) {
        let first = group[0];
        let between = if first.is_wide() {
            "`Rgba32Float`"
        } else {
            "`Rgba16Float`"
        };
        let error = match first.precision() {
            Precision::Standard => "0.35/255",
            Precision::Hdr => "0.1/255",
        };
        let rounded = match first.rounding() {
            Rounding::None => "the GPU",
            Rounding::Half | Rounding::Packed | Rounding::Integer { .. } => "the blur, to the nearest",
        };
        let (names, seen) = (names(group), first.numbers.description());
        let _ = writeln!(text, "| {names} | {seen} | {between} | {error} | {rounded} |");
    }
    text.push_str("\nCompressed formats, and `Rgb9e5Ufloat`, are sources only. A target of the plugin's own then has another format:\n\n");
    text.push_str("| Source | Target |\n|---|---|\n");
    sources.sort_by_key(|format| format!("{:?}", format.stand_in()));
    for group in sources.chunk_by(|a, b| a.stand_in() == b.stand_in()) {
        let _ = writeln!(text, "| {} | `{:?}` |", names(group), group[0].stand_in());
    }
    text.push_str("| ASTC, by its channels | `Rgba8Unorm`, `Rgba8UnormSrgb`, `Rgba16Float` |\n");
    text
}

/// Run with `BLESS=1` to rewrite the documentation.
#[test]
fn the_documentation_is_the_table() {
    let expected = documentation();
    if std::env::var_os("BLESS").is_some() {
        fs::write(PATH, &expected).expect("the file can be written");
    }
    let found = fs::read_to_string(PATH).unwrap_or_default();
    assert_eq!(
        found, expected,
        "{PATH} is not what the table says: run this test with BLESS=1"
    );
}

#[test]
fn shaders_see_what_wgpu_says() {
    for format in formats().filter(|format| !format.texture.is_compressed()) {
        let expected = match format.texture.sample_type(None, None) {
            Some(TextureSampleType::Uint) => Sample::Uint,
            Some(TextureSampleType::Sint) => Sample::Sint,
            Some(TextureSampleType::Float { .. }) => Sample::Float,
            other => panic!("{:?}: {other:?}", format.texture),
        };
        assert_eq!(format.sample(), expected, "{:?}", format.texture);
    }
}

#[test]
fn bits_are_those_of_wgpu() {
    for format in formats().filter(|format| !format.texture.is_compressed()) {
        let bits = match format.numbers {
            Encoding::Unorm(bits) | Encoding::Snorm(bits) | Encoding::Uint(bits) | Encoding::Sint(bits) => bits,
            Encoding::Srgb => 8,
            Encoding::Half => 16,
            Encoding::Float => 32,
            Encoding::Packed | Encoding::SharedExponent => continue,
        };
        if bits != 10 {
            let bytes = format.texture.block_copy_size(None);
            assert_eq!(
                bytes,
                Some(u32::from(format.channels()) * bits / 8),
                "{:?}",
                format.texture
            );
        }
    }
}

#[test]
fn what_stands_in_can_hold_the_picture_and_stands_for_itself() {
    for format in formats() {
        let texture = format.texture;
        if format.sample() != Sample::Float {
            continue;
        }
        let other = Format::find(format.stand_in()).expect("it holds colours");
        assert_eq!(other.stand_in(), other.texture, "{texture:?}");
        assert!(other.is_wide() >= format.is_wide(), "{texture:?}");
        assert!(other.has_opacity() >= format.has_opacity(), "{texture:?}");
    }
}

#[test]
fn integers_end_at_their_largest() {
    let largest = |texture: TextureFormat| match Format::find(texture).map(|format| format.rounding()) {
        Some(Rounding::Integer { largest }) => largest,
        other => panic!("{texture:?}: {other:?}"),
    };
    assert_eq!(largest(TextureFormat::Rgba8Uint), [255; 2]);
    assert_eq!(largest(TextureFormat::R16Sint), [32767; 2]);
    assert_eq!(largest(TextureFormat::R32Uint), [u32::MAX; 2]);
    assert_eq!(largest(TextureFormat::Rg32Sint), [i32::MAX as u32; 2]);
    assert_eq!(largest(TextureFormat::Rgb10a2Uint), [1023, 3]);
}

#[test]
fn depths_are_no_colours() {
    for texture in [
        TextureFormat::Depth32Float,
        TextureFormat::Stencil8,
        TextureFormat::NV12,
    ] {
        assert_eq!(Format::find(texture), None);
    }
}
