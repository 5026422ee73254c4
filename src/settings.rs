//! What users set: components, units, edge modes and events. ECS and reflection only.

mod backdrop;
mod color_functions;
mod freeze;
mod image;
mod lens;
mod profile;
mod ranges;
mod region;
mod strength;
#[cfg(feature = "ui")]
mod ui_filter;

use bevy::ecs::VariantDefaults;
use bevy::prelude::*;

pub use backdrop::{BackdropBlur, BackdropGroup, BackdropSampling, HasBlur};
pub use color_functions::{ColorMatrices, ColorStep};
pub use freeze::{FreezeArea, FreezeBlur, FreezeLost, FreezeTaken};
pub use image::{
    BlurAlpha, BlurFailed, BlurFinished, BlurImage, BlurImageTemplate, BlurRevision, BlurUpdate, WantsPixels,
};
pub use lens::BackdropLens;
pub use profile::{BlurProfile, BlurProfileTemplate};
pub use ranges::Problem;
pub use region::{BackdropLayer, BackdropRegion, BackdropRegionTemplate};
pub use strength::{BlurUnit, EdgeMode, GaussianBlur, RADIUS_IN_SIGMAS};
#[cfg(feature = "ui")]
pub use ui_filter::{DropShadow, GroupOutline, UiFilter};

/// When a camera's picture is blurred, and so what stays sharp. Optional, next to [`GaussianBlur`] on a camera.
#[derive(Component, Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Reflect, VariantDefaults)]
#[reflect(Component, Clone, Debug, Default, PartialEq, Hash)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serialize", reflect(Serialize, Deserialize))]
pub enum BlurStage {
    /// Before bloom and tonemapping: blurs light, so bright lamps grow into discs. Meant for cameras with `Hdr`, whose values
    /// may exceed 1; the blur is off by at most 0.1/255 of the brightest one.
    BeforeTonemapping,
    /// After all post-processing, under the user interface.
    ///
    /// The picture's values lie between 0 and 1 here, with `Hdr` too, and the blur is within 0.35/255.
    /// That is faster than a blur of light at some radii, because it needs fewer texels.
    ///
    /// Here and in [`AfterUi`](Self::AfterUi), on a camera with `DebandDither::Enabled`, the blur dithers its result, if the
    /// camera's texture or the target to which it is written has eight bits per colour. Tonemapping dithers too, but the blur
    /// averages that noise away.
    #[default]
    AfterTonemapping,
    /// Over everything, Bevy's user interface included.
    ///
    /// Order the interfaces of other crates against [`GaussianBlurSystems::AfterUi`](crate::GaussianBlurSystems).
    /// `bevy_egui` draws in the system `egui_pass`, in the schedules `Core2d` and `Core3d` of the render app:
    /// `configure_sets(Core3d, GaussianBlurSystems::AfterUi.after(egui_pass))` blurs it too, and `.before(egui_pass)`
    /// keeps it sharp. Without either, the order is not defined.
    AfterUi,
}

/// Which kind of GPU pass executes a blur.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Reflect)]
#[reflect(Clone, Debug, Default, PartialEq, Hash)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serialize", reflect(Serialize, Deserialize))]
pub enum BlurBackend {
    /// On GPUs [`Compute`](Self::Compute), which was faster on every GPU that was measured. Software rasterisers
    /// (llvmpipe, SwiftShader, WARP) run [`Fragment`](Self::Fragment) for targets of eight bits and
    /// [`Compute`](Self::Compute) for targets of half floats, which is faster there. Without compute shaders,
    /// [`Fragment`](Self::Fragment).
    #[default]
    Auto,
    /// Render passes: every renderable format, every GPU, WebGL 2 included.
    Fragment,
    /// Compute passes for every texture that they can store to, and a render pass for a destination that they cannot. On software
    /// rasterisers these are the versions for GPUs, too, which take longer there than those of [`Auto`](Self::Auto).
    Compute,
}

/// Whether the blurs of cameras and of the user interface are drawn: for weak machines, and for players who want less transparency.
///
/// [`Off`](Self::Off) takes effect in the frame in which it is set, and [`On`](Self::On) likewise. While blurs are off, cameras are
/// sharp; glass is painted in its [`fallback`](crate::BackdropBlur::fallback), without its colours, grain and lens; filters of the user
/// interface keep their opacity, their colours, outlines, fades and clips, and lose blurs and shadows. Nothing of a blur is computed or
/// held: for a [frozen](crate::FreezeBlur) blur whose picture is kept, [`FreezeLost`](crate::FreezeLost) is triggered, and when blurs
/// are on again it takes a new picture, with [`FreezeTaken`](crate::FreezeTaken). Blurs of images and of the
/// [`recorder`](crate::recorder) are data, and go on.
///
/// ```
/// # use bevy::prelude::*;
/// use bevy_gaussian_blur::BlurSwitch;
///
/// fn toggle_blurs(mut switch: ResMut<BlurSwitch>) {
///     *switch = match *switch {
///         BlurSwitch::On => BlurSwitch::Off,
///         BlurSwitch::Off => BlurSwitch::On,
///     };
/// }
/// ```
#[derive(Resource, Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Reflect)]
#[reflect(Resource, Clone, Debug, Default, PartialEq, Hash)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serialize", reflect(Serialize, Deserialize))]
pub enum BlurSwitch {
    /// Blurs are drawn.
    #[default]
    On,
    /// No camera, no glass and no filter is blurred.
    Off,
}

impl BlurSwitch {
    /// Whether blurs are drawn.
    #[must_use]
    pub fn is_on(self) -> bool {
        self == Self::On
    }
}

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
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serialize", reflect(Serialize, Deserialize))]
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
