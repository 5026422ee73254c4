//! The render world: copies the pixels of targets for [`blur_for_pixels`](super::pixels), in the frame in which they
//! are written, so that later changes of the target do not matter.

use super::jobs::ImageJobs;
use super::pixels::{Arrived, Pixels};
use super::request::{BlurId, Outcomes, Requests};
use crate::errors::BlurError;
use crate::gpu::{ViewInfo, create_texel_buffer, first_part};
use bevy::image::ToExtents;
use bevy::prelude::*;
use bevy::render::render_asset::RenderAssets;
use bevy::render::render_resource::{
    Buffer, BufferDescriptor, BufferUsages, MapMode, TexelCopyBufferInfo, TexelCopyBufferLayout, TextureUsages,
};
use bevy::render::renderer::{RenderContext, RenderDevice};
use bevy::render::texture::GpuImage;

/// Copies the pixels of targets that were written in this frame.
pub fn copy_pixels(
    mut jobs: ResMut<ImageJobs>,
    requested: Res<Requests>,
    images: Res<RenderAssets<GpuImage>>,
    outcomes: Res<Outcomes>,
    mut context: RenderContext,
) {
    for request in requested.ordered.iter().filter(|request| request.wants_pixels) {
        let job = jobs.get_mut(request.id).filter(|job| job.was_encoded);
        let (Some(job), Some(target)) = (job, images.get(request.spec.target)) else {
            continue;
        };
        match copy(target, &mut context) {
            Ok(copied) => job.pixels = Some(copied),
            Err(error) => outcomes.fail(request, error),
        }
    }
}

/// Copies what an image shows at its first level.
fn copy(image: &GpuImage, context: &mut RenderContext) -> Result<(ViewInfo, Buffer), BlurError> {
    BlurError::check_usage("target", image.texture_descriptor.usage, TextureUsages::COPY_SRC)?;
    let viewed = ViewInfo {
        levels: 1,
        ..ViewInfo::of_gpu(image)?
    };
    let mut size = viewed.size.to_extents();
    size.depth_or_array_layers = viewed.layers;
    // A renderable format has a fixed size per texel.
    let row = size.width * viewed.format.block_copy_size(None).unwrap_or(0);
    let padded = RenderDevice::align_copy_bytes_per_row(row as usize) as u32;
    let descriptor = BufferDescriptor {
        label: Some("gaussian_blur_pixels"),
        size: u64::from(padded) * u64::from(size.height) * u64::from(size.depth_or_array_layers),
        usage: BufferUsages::COPY_DST | BufferUsages::MAP_READ,
        mapped_at_creation: false,
    };
    let buffer = create_texel_buffer(context.render_device(), &descriptor, viewed.size, viewed.format)?;
    let layout = TexelCopyBufferLayout {
        offset: 0,
        bytes_per_row: Some(padded),
        rows_per_image: Some(size.height),
    };
    let into = TexelCopyBufferInfo {
        buffer: &buffer,
        layout,
    };
    let encoder = context.command_encoder();
    encoder.copy_texture_to_buffer(first_part(image), into, size);
    Ok((viewed, buffer))
}

/// Sends a copy to the main world as soon as the GPU has made it, now that it has been submitted.
pub fn send_pixels(id: BlurId, viewed: ViewInfo, buffer: Buffer, arrived: &Arrived) {
    let (arrived, mapped) = (arrived.clone(), buffer.clone());
    buffer.slice(..).map_async(MapMode::Read, move |result| {
        // A lost device loses its copies: they are made again on the next one.
        if result.is_ok() {
            let data = mapped.slice(..).get_mapped_range().to_vec();
            arrived.push(Pixels { id, viewed, data });
        }
    });
}
