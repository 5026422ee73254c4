//! What the examples share: an animated scene, and how they run without a user.

pub mod scene;
pub mod textures;
pub mod unattended;
