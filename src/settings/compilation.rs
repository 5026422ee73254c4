//! How shaders compile.

use bevy::prelude::*;
#[cfg(feature = "serialize")]
use serde::{Deserialize, Serialize};

/// Whether pipelines compile on the main thread.
pub(crate) const COMPILING_BLOCKS: bool = {
    let has_threads = bevy::tasks::cfg::multi_threaded! { if { true } else { false } };
    blocks(has_threads, cfg!(any(target_arch = "wasm32", target_os = "macos")))
};

/// Pipelines compile on other threads if Bevy has any, and if the system's graphics library takes part.
const fn blocks(has_threads: bool, is_browser_or_mac: bool) -> bool {
    !has_threads || is_browser_or_mac
}

/// How many shaders compile per frame. No frame waits for them, unless compiling blocks the main thread.
#[derive(Resource, Clone, Copy, Debug, PartialEq, Eq, Reflect)]
#[reflect(Resource, Clone, Debug, Default, PartialEq)]
#[cfg_attr(
    feature = "serialize",
    derive(Serialize, Deserialize),
    reflect(Serialize, Deserialize)
)]
pub struct BlurCompilation {
    /// How many pipelines for single kernels may start to compile in a frame. They are faster than the ones that serve
    /// any kernel, and compile for kernels that blurs have drawn in several frames. Default: 2, and 1 where compiling
    /// blocks the main thread (on macOS, on the web, and without Bevy's feature `multi_threaded`).
    ///
    /// Where compiling blocks, a frame may have to wait for this many, and the first frame with a new format also for
    /// the pipelines that serve any kernel. With 0, all blurs keep using the latter.
    pub per_frame: usize,
}

impl Default for BlurCompilation {
    fn default() -> Self {
        Self {
            per_frame: if COMPILING_BLOCKS { 1 } else { 2 },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn compiling_blocks_without_threads_in_browsers_and_on_macs() {
        let all = [(true, false), (true, true), (false, false), (false, true)];
        let blocking = all.map(|(has_threads, is_browser_or_mac)| blocks(has_threads, is_browser_or_mac));
        assert_eq!(blocking, [false, true, true, true]);
    }
}
