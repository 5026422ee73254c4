//! How shaders compile.

use bevy::prelude::*;
use core::time::Duration;
#[cfg(feature = "serialize")]
use serde::{Deserialize, Serialize};

/// How many shaders compile per frame, and how long frames wait for them.
#[derive(Resource, Clone, Copy, Debug, PartialEq, Eq, Reflect)]
#[reflect(Resource, Clone, Debug, Default, PartialEq)]
#[cfg_attr(
    feature = "serialize",
    derive(Serialize, Deserialize),
    reflect(Serialize, Deserialize)
)]
pub struct BlurCompilation {
    /// How many pipelines for single kernels may start to compile in a frame. They are faster than the ones that serve
    /// any kernel. Default: 2, and 1 where compiling blocks the main thread (on macOS and the web).
    ///
    /// Where compiling blocks, a frame may have to wait for this many, and the first frame with a new format also for
    /// the pipelines that serve any kernel. With 0, all blurs keep using the latter.
    pub per_frame: usize,
    /// How long frames may wait for the pipelines of visible glass, in total, until [blurs are
    /// ready](crate::BlurReadiness::is_ready) again. Default: one second.
    ///
    /// When that time is over, for example because the app fills Bevy's `AsyncComputeTaskPool`, frames are drawn
    /// without the glass until its pipelines are compiled. With [`Duration::ZERO`] no frame waits.
    pub longest_wait: Duration,
}

impl Default for BlurCompilation {
    fn default() -> Self {
        let blocks = cfg!(any(target_arch = "wasm32", target_os = "macos"));
        Self {
            per_frame: if blocks { 1 } else { 2 },
            longest_wait: Duration::from_secs(1),
        }
    }
}
