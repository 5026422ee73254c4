//! Views that show some layers of a texture.

use super::*;

const FORMAT: TextureFormat = TextureFormat::Rgba8Unorm;
/// The layers of two cubes.
const LAYERS: usize = 12;
const SIGMA: f32 = 3.5;

fn some_layers(dimension: TextureViewDimension, first: u32, count: Option<u32>) -> TextureViewDescriptor<'static> {
    TextureViewDescriptor {
        dimension: Some(dimension),
        base_array_layer: first,
        array_layer_count: count,
        ..default()
    }
}

#[test]
fn some_layers_of_a_source() {
    use TextureViewDimension::{Cube, CubeArray, D2, D2Array};
    by_one_executor(|headless| {
        let layers = pictures(LAYERS, [33, 33], FORMAT);
        for (dimension, first, count, shown) in [
            (D2Array, 1, Some(2), 1..3),
            (D2Array, 9, None, 9..12),
            (D2Array, 11, None, 11..12),
            (D2Array, 0, Some(1), 0..1),
            (D2, 5, Some(1), 5..6),
            (D2, 5, None, 5..6),
            (Cube, 2, Some(6), 2..8),
            (CubeArray, 6, None, 6..12),
        ] {
            let mut source = image_of(&layers, FORMAT);
            source.texture_view_descriptor = Some(some_layers(dimension, first, count));
            let source = headless.add_image(source);
            let blur = GaussianBlur::from_sigma(SIGMA);
            let target = headless.blur(blur, plain(source)).expect("the blur succeeds");
            let name = format!("source-{dimension:?}-{shown:?}");
            assert_layers(&name, headless, &target, 0, &layers[shown.clone()], SIGMA);
            assert_shape(&name, headless, &target, dimension, shown.len() as u32);
        }
    });
}

#[test]
fn some_layers_of_a_target() {
    by_one_executor(|headless| {
        let layers = pictures(2, [33, 20], FORMAT);
        let others = pictures(LAYERS, [33, 20], FORMAT);
        for (first, count) in [(0, Some(2)), (3, Some(2)), (10, None)] {
            let mut target = image_of(&others, FORMAT);
            target.texture_view_descriptor = Some(some_layers(TextureViewDimension::D2Array, first, count));
            let target = headless.add_image(target);
            headless.frame();
            let before = bytes_of(headless, &target, LAYERS as u32);
            let source = headless.add_image(image_of(&layers, FORMAT));
            let image = plain(source).with_target(target.clone());
            let blur = GaussianBlur::from_sigma(SIGMA);
            headless.blur(blur, image).expect("the blur succeeds");
            assert_layers(&format!("target-{first}"), headless, &target, first, &layers, SIGMA);
            let after = bytes_of(headless, &target, LAYERS as u32);
            for (layer, (before, after)) in (0..).zip(before.iter().zip(&after)) {
                let is_written = (first..first + 2).contains(&layer);
                assert_eq!(before != after, is_written, "from {first} on: layer {layer}");
            }
        }
    });
}
