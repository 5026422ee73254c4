//! The chunks of PNG files that `image` hides: how the numbers encode colours, and how large a pixel is.

use crate::curve::Curve;

/// A chunk of a PNG file.
#[derive(Clone, Debug, PartialEq)]
pub struct Chunk {
    kind: [u8; 4],
    data: Vec<u8>,
}

/// What is true of a blurred picture, too: its colours, those of the display on which it was made, and its resolution.
const KEPT: &[&[u8; 4]] = &[b"cICP", b"gAMA", b"cHRM", b"sRGB", b"mDCV", b"cLLI", b"pHYs"];

const SIGNATURE: usize = 8;
/// The signature and the header, which comes first.
const HEADER_END: usize = 33;

/// The chunks of a file that its blurred picture keeps.
pub fn kept(file: &[u8]) -> Vec<Chunk> {
    let mut chunks = Vec::new();
    let mut rest = file.get(SIGNATURE..).unwrap_or_default();
    while let Some(([size, kind], behind)) = head(rest)
        && kind != *b"IDAT"
    {
        let size = u32::from_be_bytes(size) as usize;
        let Some(data) = behind.get(..size) else { break };
        if KEPT.contains(&&kind) {
            let data = data.to_vec();
            chunks.push(Chunk { kind, data });
        }
        // The checksum has four bytes.
        rest = behind.get(size + 4..).unwrap_or_default();
    }
    chunks
}

/// The size and the kind of a chunk, and what is behind them.
fn head(bytes: &[u8]) -> Option<([[u8; 4]; 2], &[u8])> {
    let (size, rest) = bytes.split_first_chunk()?;
    let (kind, rest) = rest.split_first_chunk()?;
    Some(([*size, *kind], rest))
}

/// A file with these chunks behind its header.
pub fn with(file: &[u8], chunks: &[Chunk]) -> Vec<u8> {
    let (header, rest) = file.split_at(HEADER_END.min(file.len()));
    let mut bytes = header.to_vec();
    for Chunk { kind, data } in chunks {
        let body = [&kind[..], data].concat();
        bytes.extend((data.len() as u32).to_be_bytes());
        bytes.extend(&body);
        bytes.extend(checksum(&body).to_be_bytes());
    }
    bytes.extend(rest);
    bytes
}

/// The checksum of a chunk.
fn checksum(bytes: &[u8]) -> u32 {
    let bit = |sum: u32| if sum & 1 == 1 { sum >> 1 ^ 0xedb8_8320 } else { sum >> 1 };
    let byte = |sum: u32, byte: &u8| (0..8).fold(sum ^ u32::from(*byte), |sum, _| bit(sum));
    !bytes.iter().fold(u32::MAX, byte)
}

/// The code points of a cICP chunk: its primaries, its curve, its matrix, and whether all numbers are used.
fn code_points(chunks: &[Chunk]) -> Option<[u8; 4]> {
    let found = chunks.iter().find(|chunk| chunk.kind == *b"cICP");
    found?.data.as_slice().try_into().ok()
}

/// The numbers of a gAMA chunk: 100,000 times the exponent.
fn exponent(chunks: &[Chunk]) -> Option<u32> {
    let found = chunks.iter().find(|chunk| chunk.kind == *b"gAMA");
    Some(u32::from_be_bytes(found?.data.as_slice().try_into().ok()?))
}

/// The curve of a picture, if it differs from that of sRGB. Of several statements, the first of cICP, colour profile, sRGB and
/// gAMA counts.
///
/// # Errors
/// A note: the curve is unknown, so the picture is blurred as if it had that of sRGB.
pub fn curve(chunks: &[Chunk], has_profile: bool) -> Result<Option<Curve>, String> {
    if let Some([_, curve, _, is_full]) = code_points(chunks) {
        return match (curve, is_full) {
            (1 | 4 | 6 | 13..=15, 1) => Ok(None),
            (8, 1) => Ok(Some(Curve::Power(1.0))),
            (16, 1) => Ok(Some(Curve::Pq)),
            (18, 1) => Ok(Some(Curve::Hlg)),
            (_, 1) => Err(format!(
                "the curve {curve} of its cICP is unknown: it is blurred as if it had that of sRGB"
            )),
            _ => {
                Err("its cICP uses a part of the numbers only: it is blurred as if it had the curve of sRGB".to_owned())
            }
        };
    }
    let is_srgb = has_profile || chunks.iter().any(|chunk| chunk.kind == *b"sRGB");
    Ok(match exponent(chunks) {
        Some(exponent) if !is_srgb && exponent > 0 && !is_like_srgb(exponent) => {
            Some(Curve::Power(exponent as f32 / 100_000.0))
        }
        _ => None,
    })
}

/// Whether an exponent stands for the curve of sRGB: 1 / 2.2, or nearly.
fn is_like_srgb(exponent: u32) -> bool {
    (43_000..=48_000).contains(&exponent)
}

/// What a result that is no PNG file does not keep, as notes.
pub fn losses(chunks: &[Chunk]) -> Vec<String> {
    let colours = chunks
        .iter()
        .filter(|chunk| !chunk.is_of_srgb() && chunk.kind != *b"pHYs");
    let names: Vec<_> = colours.map(|chunk| String::from_utf8_lossy(&chunk.kind)).collect();
    let mut losses = Vec::new();
    if !names.is_empty() {
        losses.push(format!(
            "what it says about its colours ({}) is left out: only PNG keeps it; its colours are taken for those of sRGB",
            names.join(", ")
        ));
    }
    if chunks.iter().any(|chunk| chunk.kind == *b"pHYs") {
        losses.push("its resolution is left out: only PNG keeps that of a PNG file".to_owned());
    }
    losses
}

impl Chunk {
    /// Whether it says no more than that the colours are those of sRGB.
    fn is_of_srgb(&self) -> bool {
        let numbers = self
            .data
            .chunks_exact(4)
            .map(|four| u32::from_be_bytes([four[0], four[1], four[2], four[3]]));
        match &self.kind {
            b"sRGB" => true,
            b"cICP" => matches!(self.data.as_slice(), [1, 1 | 6 | 13..=15, 0, 1]),
            b"gAMA" => numbers.into_iter().all(is_like_srgb),
            b"cHRM" => {
                let expected = [31_270, 32_900, 64_000, 33_000, 30_000, 60_000, 15_000, 6_000];
                numbers
                    .zip(expected)
                    .all(|(number, expected)| number.abs_diff(expected) <= 50)
            }
            _ => false,
        }
    }
}

/// The chunks of a picture whose width and height change places.
pub fn on_its_side(chunks: Vec<Chunk>) -> Vec<Chunk> {
    let turned = chunks.into_iter().map(|mut chunk| {
        if chunk.kind == *b"pHYs" && chunk.data.len() == 9 {
            // The pixels per unit along x and y, and the unit.
            chunk.data[..8].rotate_left(4);
        }
        chunk
    });
    turned.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chunk(kind: &[u8; 4], data: &[u8]) -> Chunk {
        Chunk {
            kind: *kind,
            data: data.to_vec(),
        }
    }

    #[test]
    fn what_is_put_into_a_file_is_found_in_it() {
        let mut file = Vec::new();
        let picture = image::GrayImage::new(3, 2);
        let written = picture.write_to(&mut std::io::Cursor::new(&mut file), image::ImageFormat::Png);
        written.expect("it can be encoded");
        assert_eq!(kept(&file), []);
        let chunks = [
            chunk(b"cICP", &[9, 16, 0, 1]),
            chunk(b"pHYs", &[0, 0, 1, 0, 0, 0, 2, 0, 1]),
        ];
        let file = with(&file, &chunks);
        assert_eq!(kept(&file), chunks);
        assert!(image::load_from_memory(&file).is_ok(), "its checksums are right");
        for length in 0..file.len() {
            assert!(kept(&file[..length]).len() <= 2, "no length panics");
        }
    }

    #[test]
    fn the_first_statement_about_the_curve_counts() {
        let pq = chunk(b"cICP", &[9, 16, 0, 1]);
        let linear = chunk(b"gAMA", &100_000_u32.to_be_bytes());
        let like_srgb = chunk(b"gAMA", &45_455_u32.to_be_bytes());
        let srgb = chunk(b"sRGB", &[0]);
        assert_eq!(curve(&[linear.clone(), pq.clone()], true), Ok(Some(Curve::Pq)));
        assert_eq!(curve(std::slice::from_ref(&linear), false), Ok(Some(Curve::Power(1.0))));
        assert_eq!(curve(std::slice::from_ref(&linear), true), Ok(None));
        assert_eq!(curve(&[srgb, linear], false), Ok(None));
        assert_eq!(curve(std::slice::from_ref(&like_srgb), false), Ok(None));
        assert!(curve(&[chunk(b"cICP", &[9, 9, 0, 1])], false).is_err());
        assert!(curve(&[chunk(b"cICP", &[9, 16, 0, 0])], false).is_err());
        assert_eq!(losses(&[like_srgb]), Vec::<String>::new());
        assert!(losses(&[pq])[0].contains("(cICP)"));
    }

    #[test]
    fn resolutions_change_places_with_width_and_height() {
        let turned = on_its_side(vec![chunk(b"pHYs", &[0, 0, 0, 1, 0, 0, 0, 2, 1])]);
        assert_eq!(turned, [chunk(b"pHYs", &[0, 0, 0, 2, 0, 0, 0, 1, 1])]);
    }
}
