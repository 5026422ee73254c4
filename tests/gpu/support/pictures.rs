//! Hashes of pictures. `scripts/same-pixels` compares them between two revisions.

use super::report;
use std::hash::{DefaultHasher, Hash, Hasher};

/// Names the file that the hashes are added to.
const FILE: &str = "BLUR_PICTURES";

/// Whether hashes are wanted.
pub fn are_wanted() -> bool {
    std::env::var_os(FILE).is_some()
}

/// Adds the hash of a picture, if hashes are wanted.
pub fn record(name: &str, picture: impl Hash) {
    report::append(FILE, || {
        let mut hasher = DefaultHasher::new();
        picture.hash(&mut hasher);
        format!("{:016x} {name}", hasher.finish())
    });
}
