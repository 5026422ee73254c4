//! Hashes of pictures, which `scripts/same-pixels` compares with those of another revision.

use std::env::var_os;
use std::fs::OpenOptions;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::Write;

/// Names the file that the hashes are added to.
const FILE: &str = "BLUR_PICTURES";

/// Whether hashes are wanted.
pub fn are_wanted() -> bool {
    var_os(FILE).is_some()
}

/// Adds the hash of a picture, if hashes are wanted.
pub fn record(name: &str, picture: impl Hash) {
    let Some(path) = var_os(FILE) else {
        return;
    };
    let mut hasher = DefaultHasher::new();
    picture.hash(&mut hasher);
    let file = OpenOptions::new().create(true).append(true).open(&path);
    let written = file.and_then(|mut file| writeln!(file, "{:016x} {name}", hasher.finish()));
    written.unwrap_or_else(|error| panic!("{}: {error}", path.display()));
}
