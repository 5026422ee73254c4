//! In place all layers are blurred from their original contents, and can be restored.

use super::*;
use std::ops::Range;

const FORMATS: [TextureFormat; 3] = [
    TextureFormat::Rgba8Unorm,
    TextureFormat::Rgba8Uint,
    TextureFormat::Rgba32Sint,
];

/// Eases the radius of a blur in place and checks every visible layer: the `seen` ones of `all`.
fn ease(headless: &mut Headless, name: &str, image: Image, all: &[Picture], seen: Range<usize>) {
    let handle = headless.add_image(image);
    headless.frame();
    let layers = all.len() as u32;
    let before = bytes_of(headless, &handle, layers);
    let blur = plain(handle.clone()).with_target(handle.clone());
    let entity = spawn(headless, GaussianBlur::new(0.0), blur);
    for (step, sigma) in [0.0, 0.7, 2.0, 8.0, 3.5, 0.0, 5.0, 0.0].into_iter().enumerate() {
        set_blur(headless, entity, GaussianBlur::from_sigma(sigma));
        assert!(finished(headless, 4) > 0, "{name}, step {step}");
        let after = bytes_of(headless, &handle, layers);
        for (layer, (before, after)) in before.iter().zip(&after).enumerate() {
            let is_blurred = seen.contains(&layer) && sigma > 0.0;
            // A single texel has nothing to blur with, but may have more bits than a blur preserves.
            let is_right = (before == after) != is_blurred || (is_blurred && all[layer].width == 1);
            assert!(
                is_right,
                "{name}, step {step}, layer {layer}: blurred or every bit as before"
            );
        }
        let name = format!("{name}-{step}");
        assert_layers(&name, headless, &handle, seen.start as u32, &all[seen.clone()], sigma);
    }
    headless.despawn(entity);
}

#[test]
fn all_layers_are_eased_and_given_back() {
    let mut headless = warm(BlurBackend::Compute);
    for format in FORMATS {
        for size in [[61, 47], [1, 1]] {
            let layers = pictures(3, size, format);
            let image = image_of(&layers, format);
            let name = format!("eased-{format:?}-{size:?}");
            ease(&mut headless, &name, image, &layers, 0..3);
        }
    }
}

#[test]
fn all_faces_are_eased_and_given_back() {
    let mut headless = warm(BlurBackend::Compute);
    let layers = pictures(6, [33, 33], FORMATS[0]);
    let mut image = image_of(&layers, FORMATS[0]);
    image.texture_view_descriptor = Some(view_of(TextureViewDimension::Cube));
    ease(&mut headless, "eased-cube", image, &layers, 0..6);
}

#[test]
fn layers_that_are_not_shown_stay_as_they_are() {
    let mut headless = warm(BlurBackend::Compute);
    let layers = pictures(5, [33, 20], FORMATS[0]);
    let mut image = image_of(&layers, FORMATS[0]);
    image.texture_view_descriptor = Some(TextureViewDescriptor {
        base_array_layer: 1,
        array_layer_count: Some(3),
        ..view_of(TextureViewDimension::D2Array)
    });
    ease(&mut headless, "eased-part", image, &layers, 1..4);
}
