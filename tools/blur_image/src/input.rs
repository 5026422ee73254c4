//! Sources of pictures.

use std::fmt;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// The largest picture that most GPUs support, 16384x16384 in 32-bit floats, has this many bytes.
pub const MOST_BYTES: u64 = 4 << 30;

/// The argument that names stdin and stdout.
pub const STREAM: &str = "-";

/// The source of a picture.
pub enum Input {
    Stdin,
    File(PathBuf),
}

impl Input {
    pub fn new(path: &Path) -> Self {
        if path == Path::new(STREAM) {
            Self::Stdin
        } else {
            Self::File(path.to_owned())
        }
    }

    /// Reads everything.
    ///
    /// # Errors
    /// It cannot be read, or is too large.
    pub fn bytes(&self) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        let read = match self {
            Self::Stdin => io::stdin().lock().take(MOST_BYTES).read_to_end(&mut bytes)?,
            Self::File(path) => File::open(path)?.take(MOST_BYTES).read_to_end(&mut bytes)?,
        };
        if read as u64 == MOST_BYTES {
            return Err(io::Error::other("it is too large"));
        }
        Ok(bytes)
    }
}

impl fmt::Display for Input {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Stdin => write!(f, "stdin"),
            Self::File(path) => write!(f, "{}", path.display()),
        }
    }
}
