//! Figures on their way from the render world to the diagnostics. Their resources exist only if the diagnostics plugin does.

use super::label::BlurLabel;
use crate::errors::lock;
use bevy::platform::collections::HashMap;
use bevy::prelude::*;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

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
#[derive(Resource, Clone, Default)]
pub struct BackdropCounts(Arc<Mutex<HashMap<BlurLabel, BackdropFigures>>>);

impl BackdropCounts {
    /// Replaces the previous counts.
    pub fn replace(&self, counted: impl Iterator<Item = (BlurLabel, BackdropFigures)>) {
        let mut counts = lock(&self.0);
        counts.clear();
        counts.extend(counted);
    }

    /// The latest counts.
    pub fn get(&self) -> HashMap<BlurLabel, BackdropFigures> {
        lock(&self.0).clone()
    }
}
