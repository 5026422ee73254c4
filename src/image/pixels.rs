//! Blurs an image once and hands the pixels over, for tools that want numbers and not a picture on the screen.

use crate::errors::BlurError;
use crate::settings::{BlurFailed, BlurFinished, BlurImage, BlurUpdate, GaussianBlur};
use bevy::asset::RenderAssetUsages;
use bevy::image::Image;
use bevy::prelude::*;
use bevy::render::gpu_readback::{Readback, ReadbackComplete};
use bevy::render::render_resource::{TextureDimension, TextureUsages};
use bevy::render::renderer::RenderDevice;

/// Blurs images for their pixels.
pub trait BlurPixelsExt {
    /// Blurs an image once, triggers [`BlurredPixels`] with the result, and despawns the entity that did it.
    ///
    /// `image` has no target, or one with [`TextureUsages::COPY_SRC`]; its `update` does not count. If the blur fails,
    /// [`BlurFailed`](crate::BlurFailed) is triggered, and the entity stays.
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

/// Triggered on the entity of [`blur_for_pixels`](BlurPixelsExt::blur_for_pixels) when the pixels are there.
#[derive(EntityEvent, Clone, Debug)]
pub struct BlurredPixels {
    /// The entity that carried [`BlurImage`].
    pub entity: Entity,
    /// The result, with its pixels, in the format of the target. It is no asset yet.
    pub image: Image,
}

/// A blur whose result is to be read back.
#[derive(Component)]
pub(super) struct WantsPixels;

/// Asks for the pixels of a target that has been written.
pub(super) fn read_back(
    finished: On<BlurFinished>,
    blurs: Query<&BlurImage, With<WantsPixels>>,
    images: Res<Assets<Image>>,
    mut commands: Commands,
) {
    let entity = finished.entity;
    let Some(target) = blurs.get(entity).ok().and_then(|image| image.target.clone()) else {
        return;
    };
    let usages = images.get(&target).map(|image| image.texture_descriptor.usage);
    if usages.is_some_and(|usages| usages.contains(TextureUsages::COPY_SRC)) {
        commands.entity(entity).try_insert(Readback::texture(target));
    } else {
        let (image, usage) = ("target", "COPY_SRC");
        let error = BlurError::MissingUsage { image, usage };
        error!("entity {entity}: {error}");
        commands.trigger(BlurFailed { entity, error });
    }
}

/// Hands them over.
pub(super) fn hand_over(
    read: On<ReadbackComplete>,
    blurs: Query<&BlurImage, With<WantsPixels>>,
    images: Res<Assets<Image>>,
    mut commands: Commands,
) {
    let entity = read.entity;
    let target = blurs
        .get(entity)
        .ok()
        .and_then(|image| images.get(image.target.as_ref()?));
    let Some(image) = target.and_then(|target| with_pixels(target, &read.data)) else {
        return;
    };
    commands.trigger(BlurredPixels { entity, image });
    commands.entity(entity).try_despawn();
}

/// A copy of an image's first mip level with these pixels, whose rows are padded as copies from textures are.
fn with_pixels(target: &Image, data: &[u8]) -> Option<Image> {
    let descriptor = &target.texture_descriptor;
    let texel = descriptor.format.block_copy_size(None)?;
    let row = (descriptor.size.width * texel) as usize;
    let rows = data.chunks(RenderDevice::align_copy_bytes_per_row(row));
    let pixels = rows
        .take((descriptor.size.height * descriptor.size.depth_or_array_layers) as usize)
        .flat_map(|padded| &padded[..row]);
    let mut image = Image::new(
        descriptor.size,
        TextureDimension::D2,
        pixels.copied().collect(),
        descriptor.format,
        RenderAssetUsages::default(),
    );
    image.texture_descriptor.usage |= descriptor.usage & TextureUsages::COPY_SRC;
    image.sampler = target.sampler.clone();
    image.texture_view_descriptor = target.texture_view_descriptor.clone();
    Some(image)
}
