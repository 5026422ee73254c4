//! What a user may ask for: components, units, edge modes and events. ECS and reflection only.

mod backdrop;
mod color_functions;
mod freeze;
mod image;
mod profile;
mod region;
mod strength;
#[cfg(feature = "ui")]
mod ui_filter;

use bevy::prelude::*;
#[cfg(feature = "serialize")]
use serde::{Deserialize, Serialize};

pub use backdrop::{BackdropBlur, BackdropSampling, Tint};
pub use color_functions::ColorFunctions;
pub use freeze::{FreezeArea, FreezeBlur, FreezeLost};
pub use image::{BlurAlpha, BlurFailed, BlurFinished, BlurImage, BlurRevision, BlurUpdate};
pub use profile::BlurProfile;
pub use region::{BackdropLayer, BackdropRegion};
pub use strength::{BlurUnit, EdgeMode, GaussianBlur, RADIUS_IN_SIGMAS};
#[cfg(feature = "ui")]
pub use ui_filter::{DropShadow, UiFilter};

/// When a camera's picture is blurred, and with it what stays sharp. Optional, next to [`GaussianBlur`] on a camera.
#[derive(Component, Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Reflect)]
#[reflect(Component, Clone, Debug, Default, PartialEq, Hash)]
#[cfg_attr(
    feature = "serialize",
    derive(Serialize, Deserialize),
    reflect(Serialize, Deserialize)
)]
pub enum BlurStage {
    /// In scene-referred light, before bloom and tonemapping: bright lights grow into discs. Meant for HDR cameras, which are
    /// blurred with the precision that lights need.
    BeforeTonemapping,
    /// After all post-processing, under the user interface.
    ///
    /// What has been tonemapped is between 0 and 1, also in the textures of HDR cameras, so it is blurred at a lower resolution
    /// than light: exact to a third of a grey level instead of a tenth.
    ///
    /// Here and in [`AfterUi`](Self::AfterUi), a camera with `DebandDither::Enabled` is dithered by the blur, which takes the
    /// noise of tonemapping away: if the camera's texture, or the target that this is written to, has eight bits for each
    /// colour.
    #[default]
    AfterTonemapping,
    /// Over everything, Bevy's user interface included.
    ///
    /// Other crates' interfaces have to be ordered against [`GaussianBlurSystems::AfterUi`](crate::GaussianBlurSystems).
    /// That of `bevy_egui` is drawn in the system `egui_pass`, in the schedules `Core2d` and `Core3d` of the render app:
    /// `configure_sets(Core3d, GaussianBlurSystems::AfterUi.after(egui_pass))` blurs it too, and `.before(egui_pass)` keeps
    /// it sharp. Without either, which of the two comes first is not decided.
    AfterUi,
}

/// Which kind of GPU pass executes a blur.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Reflect)]
#[reflect(Clone, Debug, Default, PartialEq, Hash)]
#[cfg_attr(
    feature = "serialize",
    derive(Serialize, Deserialize),
    reflect(Serialize, Deserialize)
)]
pub enum BlurBackend {
    /// [`Compute`](Self::Compute), which was faster on every GPU that was measured. Without compute shaders
    /// [`Fragment`](Self::Fragment), and on software rasterisers (llvmpipe, SwiftShader, WARP) whichever is faster there:
    /// [`Fragment`](Self::Fragment) for targets of eight bits, [`Compute`](Self::Compute) for those of half floats.
    #[default]
    Auto,
    /// Render passes: every renderable format, every GPU, WebGL 2 included.
    Fragment,
    /// Compute passes for whatever they can store, and a render pass for a destination that they cannot.
    Compute,
}
