//! Image blurs: spawned, changed, and run once.

use super::formats;
use super::headless::Headless;
use super::reference::Picture;
use bevy::prelude::*;
use bevy::render::render_resource::TextureFormat;
use bevy_gaussian_blur::prelude::*;

/// A blur of an image whose channels are all alike: what they hold is no colour and no opacity.
pub fn plain(source: Handle<Image>) -> BlurImage {
    BlurImage::new(source).with_alpha(BlurAlpha::Premultiplied)
}

/// Spawns a blur of an image.
pub fn spawn(headless: &mut Headless, blur: GaussianBlur, image: BlurImage) -> Entity {
    headless.app.world_mut().spawn((blur, image)).id()
}

/// The image that a blur writes.
pub fn target_of(headless: &Headless, entity: Entity) -> Handle<Image> {
    let image = headless.app.world().get::<BlurImage>(entity).expect("it was spawned");
    image.target.clone().expect("the plugin allocates a target")
}

/// Puts other pixels behind a handle.
pub fn replace_image(headless: &mut Headless, image: &Handle<Image>, replacement: Image) {
    let mut images = headless.app.world_mut().resource_mut::<Assets<Image>>();
    *images.get_mut(image).expect("it was added") = replacement;
}

/// Blurs `source` into an image of another format.
pub fn blurred(
    headless: &mut Headless,
    blur: GaussianBlur,
    source: Image,
    alpha: BlurAlpha,
    format: TextureFormat,
) -> Picture {
    let [width, height] = [source.width(), source.height()].map(|side| side as usize);
    let black = Picture::new(width, height, vec![[0.0; 4]; width * height]);
    let (source, target) = (
        headless.add_image(source),
        headless.add_image(formats::to_image(&black, format)),
    );
    let image = BlurImage::new(source).with_target(target).with_alpha(alpha);
    let target = headless.blur(blur, image).expect("the blur succeeds");
    formats::to_picture(&headless.read_image(&target))
}

/// Blurs a picture in a format into a target of the plugin's own.
pub fn blurred_into_own(
    headless: &mut Headless,
    blur: GaussianBlur,
    picture: &Picture,
    format: TextureFormat,
) -> Picture {
    let source = headless.add_image(formats::to_image(picture, format));
    let target = headless.blur(blur, plain(source)).expect("the blur succeeds");
    formats::to_picture(&headless.read_image(&target))
}
