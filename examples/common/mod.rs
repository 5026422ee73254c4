//! Code that the examples share: an animated scene, and the options for runs without a user.

pub mod scene;
pub mod textures;
#[cfg(not(target_arch = "wasm32"))]
pub mod unattended;
