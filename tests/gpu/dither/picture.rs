//! A picture that shows the effect of dithering.

use super::*;
use crate::support::bundled;
use image::{Rgb, RgbImage};

/// How much darker than the scene the night is, and how much brighter the picture than the night.
const NIGHT: f64 = 0.06;
const STRETCH: f64 = 12.0;
const SIZE: [usize; 2] = [480, 270];

/// Writes `assets/dither.png`: a dark scene behind a strong blur, without dithering above and with it below.
#[test]
#[ignore = "writes a picture of the documentation"]
fn write() {
    let mut headless = gpu(|_| {});
    let (_, scene) = bundled::load("scene.png");
    let step = scene.width / SIZE[0];
    let night = Picture::from_fn(SIZE[0], SIZE[1], |x, y| {
        let texel = scene.at(x * step, y * step);
        let darker = |channel: usize| decode_srgb(NIGHT * encode_srgb(texel[channel]));
        [darker(0), darker(1), darker(2), 1.0]
    });
    let [bands, noise] = [false, true].map(|dither| {
        let source = headless.add_image(to_image(&night, SRGB));
        let image = BlurImage::new(source).with_dither(dither);
        let target = headless
            .blur(GaussianBlur::new(72.0), image)
            .expect("the blur succeeds");
        levels(&headless.read_image(&target))
    });
    let [width, height] = SIZE.map(|side| side as u32);
    let picture = RgbImage::from_fn(width, 2 * height, |x, y| {
        let half = if y < height { &bands } else { &noise };
        let texel = half.at(x as usize, (y % height) as usize);
        Rgb([0, 1, 2].map(|channel| (STRETCH * texel[channel]).min(255.0) as u8))
    });
    let path = bundled::path("dither.png");
    picture.save(&path).expect("the picture can be written");
    println!("{}", path.display());
}
