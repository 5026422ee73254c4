//! Figures on their way from the render world to the diagnostics. Their resources exist only if the diagnostics plugin does.

use super::label::BlurLabel;
use crate::mailbox::Mailbox;
use bevy::prelude::*;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// The bytes of the textures of the last frame.
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

/// The glass of one layer of a camera in one frame.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct BackdropFigures {
    /// The visible backdrops.
    pub backdrops: usize,
    /// How many times the picture is read: backdrops of a group are blurred together.
    pub groups: usize,
    /// The texels that the passes of the blurs write; the glass itself is not among them.
    pub texels: u64,
}

/// All glass of the last prepared frame.
pub type BackdropCounts = Mailbox<(BlurLabel, BackdropFigures)>;
