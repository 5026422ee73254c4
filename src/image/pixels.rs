//! Blurs an image once and reads the pixels back, for tools that need the result on the CPU.

use super::blurred::ImageBlurs;
use super::request::{BlurId, Requests};
use crate::gpu::ViewInfo;
use crate::mailbox::Mailbox;
use crate::settings::{BlurImage, BlurUpdate, GaussianBlur, WantsPixels};
use bevy::image::Image;
use bevy::prelude::*;
use bevy::render::render_resource::TextureUsages;
use bevy::render::renderer::RenderDevice;

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

/// Awaits the pixels of results.
pub fn await_pixels(mut requests: ResMut<Requests>, known: Res<ImageBlurs>, readers: Query<Entity, With<WantsPixels>>) {
    let has_result = |entity| known.get(entity).is_some_and(|blur| blur.has_result());
    requests.are_awaited |= readers.iter().any(has_result);
}

/// The pixels of a target, on their way from the render world to the main world.
pub struct Pixels {
    pub id: BlurId,
    /// What the pixels show: one level.
    pub viewed: ViewInfo,
    /// One row after the other, layer by layer, each row padded as in copies from textures.
    pub data: Vec<u8>,
}

/// All pixels that are on their way.
pub type Arrived = Mailbox<Pixels>;

/// Triggers the events.
pub fn hand_over(
    arrived: Res<Arrived>,
    mut known: ResMut<ImageBlurs>,
    blurs: Query<&BlurImage, With<WantsPixels>>,
    images: Res<Assets<Image>>,
    mut commands: Commands,
) {
    let mut taken = Vec::new();
    arrived.take(&mut taken);
    for pixels in taken {
        let entity = pixels.id.entity;
        let (Some(_), Ok(blur)) = (known.with_id(pixels.id), blurs.get(entity)) else {
            continue;
        };
        let mut image = pixels.into_image();
        if let Some(target) = blur.target.as_ref().and_then(|target| images.get(target)) {
            image.sampler = target.sampler.clone();
        }
        commands.trigger(BlurredPixels { entity, image });
        commands.entity(entity).try_despawn();
    }
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

#[cfg(test)]
mod tests {
    use super::super::request::ImageSpec;
    use super::*;
    use crate::errors::BlurError;
    use bevy::ecs::system::RunSystemOnce;

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

    #[test]
    fn pixels_on_their_way_are_awaited() {
        let mut world = World::new();
        world.init_resource::<Requests>();
        world.init_resource::<ImageBlurs>();
        let are_awaited = |world: &mut World| {
            *world.resource_mut::<Requests>() = Requests::default();
            world.run_system_once(await_pixels).expect("its parameters exist");
            world.resource::<Requests>().are_awaited
        };
        assert!(!are_awaited(&mut world), "there is no blur");
        let reader = world.spawn(WantsPixels).id();
        let mut known = world.resource_mut::<ImageBlurs>();
        known.begin();
        known.see(reader, &BlurImage::default());
        let blur = known.get_mut(reader).expect("this frame has seen it");
        blur.send(&ImageSpec::default());
        blur.finish(1);
        assert!(
            are_awaited(&mut world),
            "it is blurred, and its pixels are on their way"
        );
        let mut known = world.resource_mut::<ImageBlurs>();
        let blur = known.get_mut(reader).expect("this frame has seen it");
        let _ = blur.refuse(1, BlurError::SourceNotLoaded);
        assert!(!are_awaited(&mut world), "they never come");
        world.despawn(reader);
        assert!(!are_awaited(&mut world));
    }
}
