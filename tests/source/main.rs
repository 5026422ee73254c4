//! Checks that need no GPU: of the source itself, of its features, and of how settings are written.

mod definitions;
mod documents;
mod floors;
mod labels;
mod places;
mod ratchets;
mod reflection;
mod scenes;
#[cfg(feature = "serialize")]
mod serialize;
