//! Intermediate textures, from Bevy's texture cache: reused while their sizes stay, given back when unused.

use crate::plan::BlurPlan;
use bevy::image::ToExtents;
use bevy::math::UVec2;
use bevy::render::render_resource::{TextureDescriptor, TextureDimension, TextureFormat, TextureUsages};
use bevy::render::renderer::RenderDevice;
use bevy::render::texture::{CachedTexture, TextureCache};

/// Takes the intermediates of a plan for this frame.
pub fn take_intermediates(
    plan: &BlurPlan,
    (format, usage): (TextureFormat, TextureUsages),
    device: &RenderDevice,
    cache: &mut TextureCache,
) -> Vec<CachedTexture> {
    let take = |size: &UVec2| {
        let descriptor = TextureDescriptor {
            label: Some("gaussian_blur_intermediate"),
            size: size.to_extents(),
            mip_level_count: 1,
            sample_count: 1,
            dimension: TextureDimension::D2,
            format,
            usage,
            view_formats: &[],
        };
        cache.get(device, descriptor)
    };
    plan.intermediates.iter().map(take).collect()
}

/// What the intermediates of a plan hold, in bytes.
#[must_use]
pub fn intermediate_bytes(plan: &BlurPlan, format: TextureFormat) -> u64 {
    let texel = u64::from(format.block_copy_size(None).unwrap_or(0));
    let texels = |size: &UVec2| u64::from(size.x) * u64::from(size.y);
    plan.intermediates.iter().map(texels).sum::<u64>() * texel
}
