//! One call blurs an image and returns its pixels.

use crate::support::images::{assert_pixels, layered};
use crate::support::outcomes::record;
use crate::support::prelude::*;
use bevy::image::ImageSampler;

#[derive(Resource, Default)]
struct Taken(Vec<Image>);

const SIGMA: f32 = 3.5;

/// Requests the pixels of a blur. They arrive in [`Taken`].
fn ask(headless: &mut Headless, image: BlurImage) -> Entity {
    let world = headless.app.world_mut();
    let mut commands = world.commands();
    let mut request = commands.blur_for_pixels(GaussianBlur::from_sigma(SIGMA), image);
    request.observe(|pixels: On<BlurredPixels>, mut taken: ResMut<Taken>| taken.0.push(pixels.image.clone()));
    let entity = request.id();
    world.flush();
    entity
}

/// The requested pixels.
fn taken(headless: &mut Headless) -> Image {
    let arrived = headless.frames_until(50, |world| !world.resource::<Taken>().0.is_empty());
    assert!(arrived, "no pixels in 50 frames");
    headless.app.world_mut().resource_mut::<Taken>().0.remove(0)
}

fn app(app: &mut App) {
    record(app);
    app.init_resource::<Taken>();
}

/// The layers of an image that has no other levels.
fn layers_of(image: &Image) -> Vec<Pixels> {
    let [width, height] = [image.width(), image.height()];
    let format = image.texture_descriptor.format;
    let bytes = image.data.as_ref().expect("an image with pixels");
    let layers = image.texture_descriptor.size.depth_or_array_layers as usize;
    assert_eq!(bytes.len() % layers, 0);
    let pixels = |bytes: &[u8]| Pixels {
        width,
        height,
        format,
        bytes: bytes.to_vec(),
    };
    bytes.chunks(bytes.len() / layers).map(pixels).collect()
}

#[test]
fn the_pixels_are_those_of_the_blur() {
    let mut headless = gpu(app);
    // Rows of every length, of texels of every size: copies from textures are padded.
    let cases = [
        (61, 47, TextureFormat::Rgba8Unorm),
        (64, 1, TextureFormat::R8Unorm),
        (1, 5, TextureFormat::Rgba16Float),
        (130, 20, TextureFormat::Rgba32Float),
    ];
    for (width, height, format) in cases {
        let [picture, _] = inputs::patterns(width, height);
        let mut source = to_image(&picture, format);
        source.sampler = ImageSampler::nearest();
        let source = headless.add_image(source);
        let entity = ask(&mut headless, plain(source));
        let image = taken(&mut headless);
        let is_kept = matches!(image.sampler, ImageSampler::Descriptor(_));
        assert!(is_kept, "{format:?}: the sampler of the source is kept");
        let [pixels] = &layers_of(&image)[..] else {
            panic!("{format:?}: it has one layer");
        };
        assert_eq!(pixels.format, format);
        let expected = gaussian_blur(&formats::quantised(&picture, format), [3.5; 2], EdgeMode::Clamp);
        let channels = formats::stored_channels(format);
        assert_close("pixels", &to_picture(pixels), &expected, &channels, 1.0 / 255.0);
        headless.frame();
        assert!(headless.app.world().get_entity(entity).is_err(), "nothing stays behind");
        assert!(
            headless.app.world().resource::<Taken>().0.is_empty(),
            "{format:?}: once"
        );
    }
}

#[test]
fn a_failure_is_reported_as_ever() {
    let mut headless = warm(BlurBackend::Compute);
    let [picture, _] = inputs::patterns(20, 10);
    let source = headless.add_image(to_image(&picture, TextureFormat::Rgba8Unorm));
    let target = headless.add_image(to_image(&inputs::patterns(10, 20)[0], TextureFormat::Rgba8Unorm));
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

#[test]
fn a_target_that_is_replaced_before_its_pixels_arrive() {
    let mut headless = gpu(app);
    let [picture, other] = inputs::patterns(40, 31);
    let others = [
        inputs::patterns(90, 12),
        inputs::patterns(9, 70),
        [other.clone(), other],
    ];
    for (replaced, frames) in others
        .iter()
        .flat_map(|other| (0..4).map(move |frames| (&other[0], frames)))
    {
        let source = headless.add_image(to_image(&picture, HDR));
        let target = headless.add_image(to_image(&picture, HDR));
        ask(&mut headless, plain(source).with_target(target.clone()));
        while finished(&mut headless, 1) == 0 {}
        finished(&mut headless, frames);
        replace_image(&mut headless, &target, to_image(replaced, HDR));
        let image = taken(&mut headless);
        assert_pixels(&format!("replaced-{frames}"), &layers_of(&image)[0], &picture, SIGMA);
    }
}

/// The view of some layers, from one of the mip levels on.
fn view_of(dimension: TextureViewDimension, layers: [u32; 2], level: u32) -> TextureViewDescriptor<'static> {
    TextureViewDescriptor {
        dimension: Some(dimension),
        base_array_layer: layers[0],
        array_layer_count: Some(layers[1]),
        base_mip_level: level,
        ..default()
    }
}

#[test]
fn the_pixels_are_those_that_the_view_of_a_target_shows() {
    use TextureViewDimension::{Cube, D2, D2Array};
    let mut headless = gpu(app);
    let format = TextureFormat::Rgba8Unorm;
    // Levels whose rows are padded, and some that are not.
    let sides = [64, 32, 16];
    let pictures = |side: usize| -> Vec<Picture> { inputs::patterns(side, side).into_iter().cycle().take(8).collect() };
    let levels = sides.map(pictures);
    let filled: Vec<Vec<Picture>> = (0..8)
        .map(|layer| levels.iter().map(|level| level[7 - layer].clone()).collect())
        .collect();
    for (dimension, [first, count], level) in [
        (D2, [0, 1], 1),
        (D2, [5, 1], 0),
        (D2, [7, 1], 2),
        (D2Array, [3, 1], 1),
        (D2Array, [2, 3], 1),
        (D2Array, [0, 8], 0),
        (Cube, [1, 6], 2),
    ] {
        let name = format!("{dimension:?}, {count} from {first} on, level {level}");
        let mut target = layered(&filled, format);
        target.texture_view_descriptor = Some(view_of(dimension, [first, count], level));
        let target = headless.add_image(target);
        let sharp = &levels[level as usize][..count as usize];
        let one_level: Vec<Vec<Picture>> = sharp.iter().map(|picture| vec![picture.clone()]).collect();
        let mut source = layered(&one_level, format);
        source.texture_view_descriptor = Some(view_of(dimension, [0, count], 0));
        let source = headless.add_image(source);
        ask(&mut headless, plain(source).with_target(target));
        let image = taken(&mut headless);
        let got = layers_of(&image);
        assert_eq!(got.len(), sharp.len(), "{name}: layers");
        for (pixels, sharp) in got.iter().zip(sharp) {
            assert_pixels(&name, pixels, sharp, SIGMA);
        }
        // It is a complete image: the GPU accepts it, and a blur of it has the same view.
        let whole = headless.add_image(image);
        headless.frame();
        for (layer, pixels) in (0..).zip(&got) {
            assert_eq!(
                headless.read_part(&whole, layer, 0).bytes,
                pixels.bytes,
                "{name}: layer {layer}"
            );
        }
        ask(&mut headless, plain(whole));
        assert_eq!(
            layers_of(&taken(&mut headless)).len(),
            sharp.len(),
            "{name}: a blur of it"
        );
    }
}
