//! Checks that the JPEG decoder omits: it fills the rest of truncated files with grey, and treats the inks of CMYK as colours.

pub const TOO_SHORT: &str = "it ends too early";

/// How a file ends.
#[derive(Debug, PartialEq)]
pub enum End {
    /// With an end marker, behind which this many bytes follow.
    Marked { behind: usize },
    /// Without one. The last compressed data ends here, and all parts of the picture have begun.
    Unmarked { at: usize },
}

/// Checks that a JPEG file has all its parts and holds light, not ink.
///
/// # Errors
/// The reason why it is not.
pub fn check(bytes: &[u8]) -> Result<End, &'static str> {
    let mut scans = Scans::default();
    let mut at = 0;
    loop {
        let before = at;
        let Some(marker) = next_marker(bytes, &mut at) else {
            return scans.end(bytes.len());
        };
        match marker {
            END => {
                return Ok(End::Marked {
                    behind: bytes.len() - at,
                });
            }
            START | TEMPORARY | RESTART_0..=RESTART_7 => continue,
            _ => {}
        }
        // What follows compressed data, without an end marker, may be the start of anything.
        let Some(segment) = segment(bytes, at) else {
            return scans.end(at.saturating_sub(2).max(before));
        };
        // The length, the precision, height and width come before the channels.
        if is_frame(marker) {
            if segment.get(7) == Some(&4) {
                return Err("it is a CMYK picture; convert it to RGB first");
            }
            scans.expect(segment.get(8..).unwrap_or_default());
        }
        if marker == SCAN {
            scans.add(segment.get(2..).unwrap_or_default());
        }
        at += segment.len();
    }
}

/// The picture without an end marker, with one behind some bits that are no part of it. The pixels of a whole picture do not depend
/// on these bits.
pub fn with_end(bytes: &[u8], at: usize, bits: bool) -> Vec<u8> {
    // In compressed data, a 0 after a 0xff says that it is no marker.
    let pad: [u8; 2] = if bits { [0xff, 0] } else { [0, 0] };
    [&bytes[..at], &pad.repeat(PADDING), &[0xff, END]].concat()
}

/// Enough for the decoder to notice.
const PADDING: usize = 256;

/// The part of a file from its length on.
fn segment(bytes: &[u8], at: usize) -> Option<&[u8]> {
    let length = bytes.get(at..at + 2)?;
    let length = usize::from(u16::from_be_bytes([length[0], length[1]]));
    bytes.get(at..at + length).filter(|segment| segment.len() >= 2)
}

/// The coefficients that the scans of a file hold: those of progressive files come one after another, bit by bit.
#[derive(Default)]
struct Scans {
    /// For each channel, its name and the bits that each of its 64 coefficients lacks; `None` before its first scan.
    channels: Vec<(u8, [Option<u8>; 64])>,
}

impl Scans {
    /// Reads the channels of a frame, of three bytes each.
    fn expect(&mut self, channels: &[u8]) {
        let channels = channels.chunks_exact(3);
        self.channels = channels.map(|channel| (channel[0], [None; 64])).collect();
    }

    /// Reads the header of a scan behind its length.
    fn add(&mut self, header: &[u8]) {
        let [count, rest @ ..] = header else { return };
        let Some((names, [first, last, bits])) = rest.split_at_checked(2 * usize::from(*count)) else {
            return;
        };
        let coefficients = usize::from(*first).min(63)..=usize::from(*last).min(63);
        for name in names.chunks_exact(2) {
            for (_, missing) in self.channels.iter_mut().filter(|(other, _)| *other == name[0]) {
                // A damaged scan may end before it starts: it holds nothing.
                let held = missing.get_mut(coefficients.clone()).unwrap_or_default();
                held.fill(Some(bits & 0xf));
            }
        }
    }

    /// The end of a file whose compressed data ends here.
    fn end(&self, at: usize) -> Result<End, &'static str> {
        let is_whole = |channel: &(u8, [Option<u8>; 64])| channel.1.iter().all(|missing| *missing == Some(0));
        if self.channels.is_empty() || !self.channels.iter().all(is_whole) {
            return Err(TOO_SHORT);
        }
        Ok(End::Unmarked { at })
    }
}

const SCAN: u8 = 0xda;
const START: u8 = 0xd8;
const END: u8 = 0xd9;
const TEMPORARY: u8 = 0x01;
const RESTART_0: u8 = 0xd0;
const RESTART_7: u8 = 0xd7;

/// The next marker from `at` on; `at` is moved behind it. In compressed data, a 0 after a 0xff says that it is no marker.
fn next_marker(bytes: &[u8], at: &mut usize) -> Option<u8> {
    loop {
        let pair = bytes.get(*at..*at + 2)?;
        *at += 1;
        if pair[0] == 0xff && pair[1] != 0 && pair[1] != 0xff {
            *at += 1;
            return Some(pair[1]);
        }
    }
}

/// Whether a marker is followed by the size and the channels of a picture.
fn is_frame(marker: u8) -> bool {
    // These three are the Huffman and arithmetic tables, and a reserved extension.
    (0xc0..=0xcf).contains(&marker) && ![0xc4, 0xc8, 0xcc].contains(&marker)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(channels: u8) -> Vec<u8> {
        let names = 1..=channels;
        let head = [0xff, 0xd8, 0xff, 0xc0, 0, 8 + 3 * channels, 8, 0, 1, 0, 1, channels];
        let sampled: Vec<u8> = names.clone().flat_map(|name| [name, 0x11, 0]).collect();
        let scan = [0xff, 0xda, 0, 6 + 2 * channels, channels];
        let tables: Vec<u8> = names.flat_map(|name| [name, 0]).collect();
        let data = [0, 63, 0, 1, 2, 0xff, 0, 3, 0xff, 0xd0, 4];
        [&head[..], &sampled, &scan, &tables, &data, &[0xff, 0xd9]].concat()
    }

    #[test]
    fn whole_files_pass() {
        assert_eq!(check(&file(1)), Ok(End::Marked { behind: 0 }));
        assert_eq!(check(&file(3)), Ok(End::Marked { behind: 0 }));
        let behind = [file(3).as_slice(), b"\xff\xd8 a thumbnail"].concat();
        assert_eq!(check(&behind), Ok(End::Marked { behind: 14 }));
    }

    #[test]
    fn files_that_end_before_their_compressed_data_do_not() {
        let file = file(3);
        let data = file.len() - 10;
        for length in 0..data {
            assert_eq!(check(&file[..length]), Err(TOO_SHORT), "{length} bytes");
        }
        for length in data..file.len() - 2 {
            assert_eq!(
                check(&file[..length]),
                Ok(End::Unmarked { at: length }),
                "{length} bytes"
            );
        }
        let with_phone = [&file[..file.len() - 2], &[0xff, 0xe5, 0xff, 0xff, 1]].concat();
        assert_eq!(check(&with_phone), Ok(End::Unmarked { at: file.len() - 2 }));
    }

    /// A progressive file without its last scan has less than all bits.
    #[test]
    fn files_that_lack_a_scan_do_not() {
        let scan = |first, last, bits| [0xff, 0xda, 0, 8, 1, 1, 0, first, last, bits, 7, 7];
        let frame = [0xff, 0xd8, 0xff, 0xc2, 0, 11, 8, 0, 1, 0, 1, 1, 1, 0x11, 0];
        let scans = [scan(0, 0, 1), scan(1, 63, 0), scan(0, 0, 0x10)];
        let whole = [frame.as_slice(), scans.as_flattened()].concat();
        assert_eq!(check(&whole), Ok(End::Unmarked { at: whole.len() }));
        assert_eq!(check(&whole[..whole.len() - scans[2].len()]), Err(TOO_SHORT));
    }

    /// A scan holds the coefficients from its first to its last: nothing if these are the wrong way round.
    #[test]
    fn files_whose_scans_hold_too_little_do_not() {
        let data = file(1).len() - 2;
        let mut file = file(1)[..data].to_vec();
        for (first, last) in (0..=u8::MAX).flat_map(|first| (0..=u8::MAX).map(move |last| (first, last))) {
            let coefficients = data - 11;
            file[coefficients..coefficients + 2].copy_from_slice(&[first, last]);
            let is_whole = first == 0 && last >= 63;
            let expected = is_whole.then_some(End::Unmarked { at: data }).ok_or(TOO_SHORT);
            assert_eq!(check(&file), expected, "from {first} to {last}");
        }
    }

    #[test]
    fn ink_does_not() {
        assert!(check(&file(4)).is_err_and(|reason| reason.contains("CMYK")));
    }
}
