//! What users set: components, units, edge modes and events. ECS and reflection only.

mod backdrop;
mod color_functions;
mod compilation;
mod freeze;
mod group;
mod image;
mod lens;
mod profile;
mod region;
mod strength;
mod switch;
mod ui_filter;
mod viewport;

use bevy::ecs::VariantDefaults;
use bevy::prelude::*;
#[cfg(feature = "serialize")]
use serde::{Deserialize, Serialize};

pub use backdrop::{BackdropBlur, BackdropSampling, HasBlur, Tint};
pub use color_functions::{ColorMatrices, ColorStep, HasRange};
pub use compilation::BlurCompilation;
pub(crate) use compilation::COMPILING_BLOCKS;
pub use freeze::{FreezeArea, FreezeBlur, FreezeLost, FreezeTaken};
pub use group::BackdropGroup;
pub use image::{BlurAlpha, BlurFailed, BlurFinished, BlurImage, BlurImageTemplate, BlurRevision, BlurUpdate};
pub use lens::BackdropLens;
pub use profile::{BlurProfile, BlurProfileTemplate};
pub use region::{BackdropLayer, BackdropRegion, BackdropRegionTemplate};
pub use strength::{BlurUnit, EdgeMode, GaussianBlur, RADIUS_IN_SIGMAS};
pub use switch::BlurSwitch;
pub use ui_filter::{DropShadow, GroupOutline, UiFilter};

/// When a camera's picture is blurred, and so what stays sharp. Optional, next to [`GaussianBlur`] on a camera.
#[derive(Component, Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Reflect, VariantDefaults)]
#[reflect(Component, Clone, Debug, Default, PartialEq, Hash)]
#[cfg_attr(
    feature = "serialize",
    derive(Serialize, Deserialize),
    reflect(Serialize, Deserialize)
)]
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
#[cfg_attr(
    feature = "serialize",
    derive(Serialize, Deserialize),
    reflect(Serialize, Deserialize)
)]
pub enum BlurBackend {
    /// On GPUs [`Compute`](Self::Compute), which was faster on every GPU that was measured. Software rasterisers
    /// (llvmpipe, SwiftShader, WARP) run [`Fragment`](Self::Fragment) for targets of eight bits and
    /// [`Compute`](Self::Compute) for targets of half floats, which is faster there. Without compute shaders,
    /// [`Fragment`](Self::Fragment).
    #[default]
    Auto,
    /// Render passes: every renderable format, every GPU, WebGL 2 included.
    Fragment,
    /// Compute passes for every texture that they can store to, and a render pass for a destination that they cannot.
    Compute,
}
