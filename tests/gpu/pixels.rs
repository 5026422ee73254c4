//! One call blurs an image and hands over its pixels.

use crate::support::images::plain;
use crate::support::outcomes::{failures, record};
use crate::support::reference::{Edge, gaussian_blur};
use crate::support::{assert_close, formats, gpu, inputs};
use bevy::prelude::*;
use bevy::render::render_resource::TextureFormat;
use bevy_gaussian_blur::prelude::*;

#[derive(Resource, Default)]
struct Taken(Vec<Image>);

#[test]
fn the_pixels_are_those_of_the_blur() {
    let Some(mut headless) = gpu(|app| {
        app.init_resource::<Taken>();
    }) else {
        return;
    };
    // Rows of every length, of texels of every size: copies from textures are padded.
    let cases = [
        (61, 47, TextureFormat::Rgba8Unorm),
        (64, 1, TextureFormat::R8Unorm),
        (1, 5, TextureFormat::Rgba16Float),
        (130, 20, TextureFormat::Rgba32Float),
    ];
    for (width, height, format) in cases {
        let [picture, _] = inputs::patterns(width, height);
        let source = headless.add_image(formats::to_image(&picture, format));
        let world = headless.app.world_mut();
        let mut commands = world.commands();
        let blur = GaussianBlur::from_sigma(3.5);
        let entity = commands
            .blur_for_pixels(blur, plain(source))
            .observe(|pixels: On<BlurredPixels>, mut taken: ResMut<Taken>| taken.0.push(pixels.image.clone()))
            .id();
        world.flush();
        assert!(
            headless.frames_until(50, |world| !world.resource::<Taken>().0.is_empty()),
            "{format:?}"
        );
        let images = core::mem::take(&mut headless.app.world_mut().resource_mut::<Taken>().0);
        assert_eq!(images.len(), 1, "{format:?}: once");
        let (width, height) = (width as u32, height as u32);
        assert_eq!(images[0].size(), UVec2::new(width, height));
        let pixels = crate::support::headless::Pixels {
            width,
            height,
            format: images[0].texture_descriptor.format,
            bytes: images[0].data.clone().expect("an image with pixels"),
        };
        assert_eq!(pixels.format, format);
        let expected = gaussian_blur(&formats::quantised(&picture, format), [3.5; 2], Edge::Clamp);
        let channels = formats::stored_channels(format);
        assert_close(
            "pixels",
            &formats::to_picture(&pixels),
            &expected,
            &channels,
            1.0 / 255.0,
        );
        headless.frame();
        assert!(headless.app.world().get_entity(entity).is_err(), "nothing stays behind");
    }
}

#[test]
fn a_failure_is_reported_as_ever() {
    let Some(mut headless) = gpu(record) else {
        return;
    };
    let [picture, _] = inputs::patterns(20, 10);
    let source = headless.add_image(formats::to_image(&picture, TextureFormat::Rgba8Unorm));
    let target = headless.add_image(formats::to_image(
        &inputs::patterns(10, 20)[0],
        TextureFormat::Rgba8Unorm,
    ));
    let image = plain(source).with_target(target);
    let world = headless.app.world_mut();
    world.commands().blur_for_pixels(GaussianBlur::new(6.0), image);
    world.flush();
    let expected = BlurError::SizeMismatch {
        source: UVec2::new(20, 10),
        target: UVec2::new(10, 20),
    };
    assert_eq!(failures(&mut headless, 20), [expected]);
}
