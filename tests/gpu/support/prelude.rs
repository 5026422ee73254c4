//! What most tests use.

pub use super::difference::worst_difference;
pub use super::executors::{by_general_executors, by_one_executor};
pub use super::formats::{self, to_image, to_picture, within_rounding};
pub use super::headless::{Headless, Pixels};
pub use super::images::{assert_blur, plain, replace_image, set_blur, spawn, target_of};
pub use super::live::{Live, Shot};
pub use super::outcomes::{self, failures, finished, frames};
pub use super::pool::{warm, warm_with};
pub use super::reference::{Picture, gaussian_blur};
pub use super::scene::{self, Kind, node, set_active, viewport};
pub use super::twins::{Twins, View};
pub use super::{
    BACKENDS, HDR, LDR, RGB, RGBA, assert_close, gpu, gpu_with, inputs, is_full, is_turn, linear, logs, one_backend,
    report,
};
pub use bevy::asset::RenderAssetUsages;
pub use bevy::camera::visibility::RenderLayers;
pub use bevy::camera::{Hdr, RenderTarget, Viewport};
pub use bevy::prelude::*;
pub use bevy::render::RenderApp;
pub use bevy::render::render_asset::RenderAssets;
pub use bevy::render::render_resource::{TextureFormat, TextureUsages, TextureViewDescriptor, TextureViewDimension};
pub use bevy::render::renderer::RenderDevice;
pub use bevy::render::texture::GpuImage;
pub use bevy_gaussian_blur::BlurCompilation;
pub use bevy_gaussian_blur::prelude::*;
pub use std::thread::sleep;
pub use std::time::Duration;
