//! The bytes of the intermediate textures, on their way from the render world to the diagnostics.

use bevy::prelude::*;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// The bytes of the textures of the last frame. The resource exists only if the diagnostics plugin does.
#[derive(Resource, Clone, Default)]
pub struct TextureBytes(Arc<AtomicU64>);

impl TextureBytes {
    /// Replaces the previous count.
    pub fn set(&self, bytes: u64) {
        self.0.store(bytes, Ordering::Relaxed);
    }

    /// The latest count.
    pub fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}
