//! Checks that need no GPU: of the source itself, and of its features.

mod floors;
mod labels;
#[cfg(feature = "serialize")]
mod serialize;
