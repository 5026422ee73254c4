//! Blurs an image once and reads the pixels back, for tools that need the result on the CPU.

use super::request::{BlurId, Outcome, Outcomes, Pixels};
use crate::errors::BlurError;
use crate::gpu::{ViewInfo, create_texel_buffer, first_part};
use crate::settings::{BlurImage, BlurUpdate, GaussianBlur, WantsPixels};
use bevy::image::ToExtents;
use bevy::prelude::*;
use bevy::render::render_resource::{
    Buffer, BufferDescriptor, BufferUsages, MapMode, TexelCopyBufferInfo, TexelCopyBufferLayout, TextureUsages,
};
use bevy::render::renderer::{RenderContext, RenderDevice};
use bevy::render::texture::GpuImage;

/// Blurs images and returns their pixels.
pub trait BlurPixelsExt {
    /// Blurs an image once, triggers [`BlurredPixels`] with the result, and despawns the entity that did it.
    ///
    /// `image` has no target, or one with [`TextureUsages::COPY_SRC`]; its `update` is ignored. If the blur fails,
    /// [`BlurFailed`](crate::BlurFailed) is triggered, and the entity stays. A radius, an aspect or a profile out of range means "no
    /// blur": it triggers `BlurFailed` first, and then `BlurredPixels` with a copy of the picture.
    ///
    /// ```no_run
    /// use bevy::prelude::*;
    /// use bevy_gaussian_blur::prelude::*;
    ///
    /// fn soften(mut commands: Commands, assets: Res<AssetServer>) {
    ///     let photo = BlurImage::new(assets.load("photo.png"));
    ///     commands
    ///         .blur_for_pixels(GaussianBlur::from_sigma(8.0), photo)
    ///         .observe(|blurred: On<BlurredPixels>| {
    ///             let size = blurred.image.size();
    ///             info!("{size}: {:?}", blurred.image.get_color_at(0, 0));
    ///         });
    /// }
    /// ```
    fn blur_for_pixels(&mut self, blur: GaussianBlur, image: BlurImage) -> EntityCommands<'_>;
}

impl BlurPixelsExt for Commands<'_, '_> {
    fn blur_for_pixels(&mut self, blur: GaussianBlur, image: BlurImage) -> EntityCommands<'_> {
        self.spawn((blur, image.with_update(BlurUpdate::Once), WantsPixels))
    }
}

/// Triggered on the entity of [`blur_for_pixels`](BlurPixelsExt::blur_for_pixels) when the pixels arrive.
#[derive(EntityEvent, Clone, Debug)]
pub struct BlurredPixels {
    /// The entity that carried [`BlurImage`].
    pub entity: Entity,
    /// The pixels of the target after the blur: all layers of its view, at the view's first mip level, in the view's
    /// format. The image is not an asset yet.
    pub image: Image,
}

impl BlurredPixels {
    /// Moves the [image](Self::image) out of the event, without a copy of its pixels. Other observers of this event, if they
    /// run later, find an image of one texel.
    ///
    /// ```
    /// # use bevy::prelude::*;
    /// # use bevy_gaussian_blur::prelude::*;
    /// fn show(mut blurred: On<BlurredPixels>, mut images: ResMut<Assets<Image>>, mut commands: Commands) {
    ///     let image = images.add(blurred.take_image());
    ///     commands.spawn(Sprite::from_image(image));
    /// }
    /// ```
    #[must_use]
    pub fn take_image(&mut self) -> Image {
        core::mem::take(&mut self.image)
    }
}

/// Triggers the event, and despawns the entity, unless its blur is another one now.
pub fn hand_over(
    pixels: Pixels,
    blurs: &Query<&BlurImage, With<WantsPixels>>,
    images: &Assets<Image>,
    commands: &mut Commands,
) {
    let entity = pixels.id.entity;
    let Ok(blur) = blurs.get(entity) else {
        return;
    };
    let mut image = pixels.into_image();
    if let Some(target) = blur.target.as_ref().and_then(|target| images.get(target)) {
        image.sampler = target.sampler.clone();
    }
    commands.trigger(BlurredPixels { entity, image });
    commands.entity(entity).try_despawn();
}

impl Pixels {
    fn into_image(self) -> Image {
        let mut image = self.viewed.image("gaussian_blur_pixels");
        let texel = self.viewed.format.block_copy_size(None).unwrap_or(0);
        let row = (self.viewed.size.x * texel) as usize;
        let padded = self.data.chunks_exact(RenderDevice::align_copy_bytes_per_row(row));
        image.data = Some(padded.flat_map(|padded| &padded[..row]).copied().collect());
        image.texture_descriptor.usage |= TextureUsages::COPY_SRC;
        image
    }
}

/// The render world: copies what an image shows at its first level.
///
/// # Errors
/// [`BlurError::MissingUsage`] and [`BlurError::OutOfMemory`].
pub fn copy(image: &GpuImage, context: &mut RenderContext) -> Result<(ViewInfo, Buffer), BlurError> {
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

/// The render world: sends a copy to the main world as soon as the GPU has made it, now that it has been submitted.
pub fn send(id: BlurId, viewed: ViewInfo, buffer: Buffer, outcomes: &Outcomes) {
    let (outcomes, mapped) = (outcomes.clone(), buffer.clone());
    buffer.slice(..).map_async(MapMode::Read, move |result| {
        // A lost device loses its copies: they are made again on the next one.
        if result.is_ok() {
            let data = mapped.slice(..).get_mapped_range().to_vec();
            outcomes.push(Outcome::Read(Pixels { id, viewed, data }));
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Resource, Default)]
    struct Taken(Option<Image>);

    #[test]
    fn pixels_are_taken_without_a_copy() {
        let mut world = World::new();
        world.init_resource::<Taken>();
        let take = |mut blurred: On<BlurredPixels>, mut taken: ResMut<Taken>| taken.0 = Some(blurred.take_image());
        let entity = world.spawn_empty().observe(take).id();
        let image = Image {
            data: Some(vec![7; 4096]),
            ..Image::default()
        };
        let place = |image: &Image| image.data.as_ref().map(|data| (data.as_ptr(), data.len()));
        let before = place(&image);
        world.trigger(BlurredPixels { entity, image });
        let taken = world.resource::<Taken>().0.as_ref().and_then(place);
        assert_eq!(taken, before);
    }
}
