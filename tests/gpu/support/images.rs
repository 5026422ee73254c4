//! Image blurs: spawned, changed, and run once.

use super::outcomes::record;
use super::prelude::*;

/// An app of its own that has loaded everything that blurs need: each frame completes its own requests. It records outcomes.
pub fn ready_app(setup: impl FnOnce(&mut App)) -> Headless {
    let headless = gpu(|app| {
        record(app);
        setup(app);
    });
    made_ready(headless)
}

/// The same, of the [pool](super::pool).
pub fn ready() -> Headless {
    made_ready(warm(BlurBackend::Compute))
}

fn made_ready(mut headless: Headless) -> Headless {
    let image = headless.add_image(formats::to_image(
        &inputs::patterns(64, 64)[0],
        TextureFormat::Rgba16Float,
    ));
    let blurred = headless.blur(GaussianBlur::from_sigma(8.0), plain(image));
    blurred.expect("an ordinary blur works");
    headless.warm_up();
    frames(&mut headless, 0);
    headless
}

/// A blur of an image whose channels are all alike: they hold neither colour nor opacity.
pub fn plain(source: Handle<Image>) -> BlurImage {
    BlurImage::new(source).with_alpha(BlurAlpha::Premultiplied)
}

/// A stored picture as the GPU reads it, which is the picture to blur. Graphics APIs allow a decoder of sRGB to be off
/// by half a step, and the texture units of NVIDIA's GPUs are.
pub fn as_read(headless: &mut Headless, image: &Handle<Image>, stored: &Picture, format: TextureFormat) -> Picture {
    if !format.is_srgb() {
        return stored.clone();
    }
    let target = headless.add_image(formats::to_image(stored, TextureFormat::Rgba32Float));
    let copy = BlurImage {
        target: Some(target.clone()),
        ..plain(image.clone())
    };
    headless.blur(GaussianBlur::new(0.0), copy).expect("it is copied");
    let read = headless.picture(&target);
    let light = |picture: &Picture| {
        picture
            .texels
            .iter()
            .flat_map(|texel| texel[..3].to_vec())
            .collect::<Vec<f64>>()
    };
    for (read, stored) in light(&read).into_iter().zip(light(stored)) {
        let off = 255.0 * (formats::encode_srgb(read) - formats::encode_srgb(stored));
        assert!(off.abs() <= 0.5, "the GPU decodes {stored} to {read}, {off} steps off");
    }
    read
}

/// Spawns a blur of an image.
pub fn spawn(headless: &mut Headless, blur: GaussianBlur, image: BlurImage) -> Entity {
    headless.spawn((blur, image))
}

/// Changes the settings of a blur.
pub fn set_blur(headless: &mut Headless, entity: Entity, blur: GaussianBlur) {
    *headless.get_mut::<GaussianBlur>(entity) = blur;
}

/// Marks the [`BlurImage`] of an entity as changed.
pub fn touch(headless: &mut Headless, entity: Entity) {
    headless.get_mut::<BlurImage>(entity).set_changed();
}

/// The image that a blur writes.
pub fn target_of(headless: &Headless, entity: Entity) -> Handle<Image> {
    let image = headless.app.world().get::<BlurImage>(entity).expect("it was spawned");
    image.target.clone().expect("the plugin allocates a target")
}

/// Replaces the pixels of an image.
pub fn replace_image(headless: &mut Headless, image: &Handle<Image>, replacement: Image) {
    let mut images = headless.images();
    *images.get_mut(image).expect("it was added") = replacement;
}

/// A blur of an image into one of another format.
pub fn converting(headless: &mut Headless, source: Image, format: TextureFormat) -> BlurImage {
    let [width, height] = [source.width(), source.height()].map(|side| side as usize);
    let black = Picture::new(width, height, vec![[0.0; 4]; width * height]);
    let [source, target] = [source, formats::to_image(&black, format)].map(|image| headless.add_image(image));
    plain(source).with_target(target)
}

/// Blurs `source` into an image of another format.
pub fn blurred(
    headless: &mut Headless,
    blur: GaussianBlur,
    source: Image,
    alpha: BlurAlpha,
    format: TextureFormat,
) -> Picture {
    let image = converting(headless, source, format).with_alpha(alpha);
    all_blurred(headless, [((), blur, image)]).remove(0).1
}

/// Blurs images, all in the same frames. Returns each picture with what was given with its blur.
pub fn all_blurred<Case>(
    headless: &mut Headless,
    blurs: impl IntoIterator<Item = (Case, GaussianBlur, BlurImage)>,
) -> Vec<(Case, Picture)> {
    let mut cases = Vec::new();
    let blurs = blurs.into_iter().map(|(case, blur, image)| {
        cases.push(case);
        (blur, image, BlurProfile::Uniform)
    });
    let targets = headless.blur_all(blurs);
    let pictures = targets
        .into_iter()
        .map(|target| headless.picture(&target.expect("the blur succeeds")));
    cases.into_iter().zip(pictures).collect()
}

/// Blurs a picture in a format into a target that the plugin allocates.
pub fn blurred_into_own(
    headless: &mut Headless,
    blur: GaussianBlur,
    picture: &Picture,
    format: TextureFormat,
) -> Picture {
    let source = headless.add_image(formats::to_image(picture, format));
    all_blurred(headless, [((), blur, plain(source))]).remove(0).1
}

/// An image of several layers, each given by all its levels.
pub fn layered(layers: &[Vec<Picture>], format: TextureFormat) -> Image {
    let mut image = formats::to_image(&layers[0][0], format);
    image.texture_descriptor.size.depth_or_array_layers = layers.len() as u32;
    image.texture_descriptor.mip_level_count = layers[0].len() as u32;
    let pictures = layers.iter().flatten();
    let bytes = pictures.flat_map(|picture| formats::to_image(picture, format).data.expect("the image has data"));
    image.data = Some(bytes.collect());
    image
}

/// The asset behind a handle.
pub fn asset(headless: &Headless, image: &Handle<Image>) -> Image {
    let images = headless.app.world().resource::<Assets<Image>>();
    images.get(image).expect("it is alive").clone()
}

/// Panics if an image is not the Gaussian of a picture that was stored in the same format.
pub fn assert_blur(name: &str, headless: &Headless, image: &Handle<Image>, sharp: &Picture, sigma: f32) {
    assert_pixels(name, &headless.read_image(image), sharp, sigma);
}

/// The same for pixels that were read before.
pub fn assert_pixels(name: &str, pixels: &Pixels, sharp: &Picture, sigma: f32) {
    let got = formats::to_picture(pixels);
    assert_eq!([got.width, got.height], [sharp.width, sharp.height], "{name}: the size");
    let stored = formats::quantised(sharp, pixels.format);
    let expected = gaussian_blur(&stored, [f64::from(sigma); 2], EdgeMode::Clamp);
    let tolerance = match pixels.format {
        TextureFormat::Rgba8Unorm => 1.0,
        _ => 0.6,
    };
    assert_close(name, &got, &expected, &RGBA, tolerance / 255.0);
}
