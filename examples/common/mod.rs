//! What the examples share: an animated scene, and how they run without a user.

pub mod scene;
pub mod textures;
#[cfg(not(target_arch = "wasm32"))]
pub mod unattended;
