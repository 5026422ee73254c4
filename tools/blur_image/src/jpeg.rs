//! Checks that the JPEG decoder omits: it fills the rest of truncated files with grey, and treats the inks of CMYK as colours.

const TOO_SHORT: &str = "it ends too early";

/// Checks that a JPEG file is complete and holds light, not ink.
///
/// # Errors
/// The reason why it is not.
pub fn check(bytes: &[u8]) -> Result<(), &'static str> {
    let mut at = 0;
    loop {
        let marker = next_marker(bytes, &mut at).ok_or(TOO_SHORT)?;
        match marker {
            END => return Ok(()),
            START | TEMPORARY | RESTART_0..=RESTART_7 => continue,
            _ => {}
        }
        let length = bytes.get(at..at + 2).ok_or(TOO_SHORT)?;
        let length = usize::from(u16::from_be_bytes([length[0], length[1]]));
        let segment = bytes.get(at..at + length).ok_or(TOO_SHORT)?;
        // The length, the precision, height and width come before the number of channels.
        if is_frame(marker) && segment.get(7) == Some(&4) {
            return Err("it is a CMYK picture; convert it to RGB first");
        }
        at += length;
    }
}

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
        let head = [0xff, 0xd8, 0xff, 0xc0, 0, 8, 8, 0, 1, 0, 1, channels];
        let scan = [0xff, 0xda, 0, 2, 1, 2, 0xff, 0, 3, 0xff, 0xd0, 4, 0xff, 0xd9];
        [head.as_slice(), scan.as_slice()].concat()
    }

    #[test]
    fn whole_files_pass() {
        assert_eq!(check(&file(1)), Ok(()));
        assert_eq!(check(&file(3)), Ok(()));
    }

    #[test]
    fn files_that_end_too_early_do_not() {
        let file = file(3);
        for length in 0..file.len() {
            assert_eq!(check(&file[..length]), Err(TOO_SHORT), "{length} bytes");
        }
    }

    #[test]
    fn ink_does_not() {
        assert!(check(&file(4)).is_err_and(|reason| reason.contains("CMYK")));
    }
}
