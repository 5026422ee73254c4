//! What the intermediate textures hold, on its way from the render world to the diagnostics.

use bevy::prelude::*;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// The bytes of the textures that the last frame used. It is there only where they are published.
#[derive(Resource, Clone, Default)]
pub struct TextureBytes(Arc<AtomicU64>);

impl TextureBytes {
    /// Replaces what was counted before.
    pub fn set(&self, bytes: u64) {
        self.0.store(bytes, Ordering::Relaxed);
    }

    /// What was counted last.
    pub fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}
