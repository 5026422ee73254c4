//! Checks that need no GPU: of the source itself, and of what its features add.

mod floors;
mod labels;
#[cfg(feature = "serialize")]
mod serialize;
