//! An open TIFF file, and its errors.

use crate::input::MOST_BYTES;
use std::io::Cursor;
use tiff::TiffError;
use tiff::decoder::{Decoder, Limits};

pub type File<'a> = Decoder<Cursor<&'a [u8]>>;

/// Opens a file, at its first page.
///
/// # Errors
/// The reason why it cannot be read.
pub fn open(bytes: &[u8]) -> Result<File<'_>, String> {
    let mut limits = Limits::default();
    limits.decoding_buffer_size = MOST_BYTES as usize;
    limits.intermediate_buffer_size = MOST_BYTES as usize;
    limits.ifd_value_size = bytes.len();
    Ok(Decoder::new(Cursor::new(bytes)).map_err(told)?.with_limits(limits))
}

/// An error in words.
pub fn told(error: TiffError) -> String {
    match error {
        TiffError::UnsupportedError(reason) => format!("it is a TIFF file of a kind that cannot be read ({reason})"),
        error => format!("it must be a sound picture ({error})"),
    }
}
