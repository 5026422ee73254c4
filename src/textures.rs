//! Intermediate textures, from Bevy's texture cache: reused while their sizes stay, given back when unused.

use crate::plan::BlurPlan;
use bevy::image::ToExtents;
use bevy::math::UVec2;
use bevy::render::render_resource::{TextureDescriptor, TextureDimension, TextureFormat, TextureUsages};
use bevy::render::renderer::RenderDevice;
use bevy::render::texture::{CachedTexture, TextureCache};

/// The format that intermediates need so that neither precision nor range is lost between `source` and `destination`.
///
/// Half floats add 0.12/255 to an error at most; the formats of fewer bits add up to 1.3/255.
#[must_use]
pub fn intermediate_format(source: TextureFormat, destination: TextureFormat) -> TextureFormat {
    if is_full_float(source) || is_full_float(destination) {
        TextureFormat::Rgba32Float
    } else {
        TextureFormat::Rgba16Float
    }
}

fn is_full_float(format: TextureFormat) -> bool {
    matches!(
        format,
        TextureFormat::R32Float | TextureFormat::Rg32Float | TextureFormat::Rgba32Float
    )
}

/// Takes the intermediates of a plan for this frame. `usage` is how they are written.
pub fn take_intermediates(
    plan: &BlurPlan,
    format: TextureFormat,
    device: &RenderDevice,
    cache: &mut TextureCache,
    usage: TextureUsages,
) -> Vec<CachedTexture> {
    let take = |size: &UVec2| {
        let descriptor = TextureDescriptor {
            label: Some("gaussian_blur_intermediate"),
            size: size.to_extents(),
            mip_level_count: 1,
            sample_count: 1,
            dimension: TextureDimension::D2,
            format,
            usage: TextureUsages::TEXTURE_BINDING | usage,
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
