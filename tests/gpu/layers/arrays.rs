//! Arrays and cubes as a whole.

use super::*;

/// Eight bits of each kind of numbers, and formats that need other passes and other intermediate textures.
const FORMATS: [TextureFormat; 4] = [
    TextureFormat::Rgba8Unorm,
    TextureFormat::Rgba8Uint,
    TextureFormat::Rgba16Float,
    TextureFormat::R16Sint,
];

const SIGMAS: [f32; 4] = [0.0, 0.8, 3.5, 13.0];

#[test]
fn arrays() {
    by_one_executor(|headless| {
        for format in FORMATS {
            for size in [[1, 1], [61, 47], [2, 33]] {
                let layers = pictures(3, size, format);
                for sigma in SIGMAS {
                    let source = headless.add_image(image_of(&layers, format));
                    let blur = GaussianBlur::from_sigma(sigma);
                    let target = headless.blur(blur, plain(source)).expect("the blur succeeds");
                    let name = format!("array-{format:?}-{size:?}-{sigma}");
                    assert_layers(&name, headless, &target, 0, &layers, sigma);
                    assert_shape(&name, headless, &target, TextureViewDimension::D2Array, 3);
                }
            }
        }
    });
}

#[test]
fn cubes() {
    by_one_executor(|headless| {
        for (dimension, count) in [(TextureViewDimension::Cube, 6), (TextureViewDimension::CubeArray, 12)] {
            for side in [1, 16, 33] {
                let format = TextureFormat::Rgba8Unorm;
                let layers = pictures(count, [side; 2], format);
                let mut image = image_of(&layers, format);
                image.texture_view_descriptor = Some(view_of(dimension));
                for sigma in SIGMAS {
                    let source = headless.add_image(image.clone());
                    let blur = GaussianBlur::from_sigma(sigma);
                    let target = headless.blur(blur, plain(source)).expect("the blur succeeds");
                    let name = format!("{dimension:?}-{side}-{sigma}");
                    assert_layers(&name, headless, &target, 0, &layers, sigma);
                    assert_shape(&name, headless, &target, dimension, count as u32);
                }
            }
        }
    });
}

#[test]
fn into_a_target_with_as_many_layers() {
    by_one_executor(|headless| {
        for format in FORMATS {
            let layers = pictures(6, [21, 21], format);
            let array = image_of(&layers, format);
            let mut cube = array.clone();
            cube.texture_view_descriptor = Some(view_of(TextureViewDimension::Cube));
            // The meaning of the layers does not matter.
            for (source, target) in [(&array, &array), (&cube, &cube), (&cube, &array), (&array, &cube)] {
                let target = headless.add_image(filled_like(target));
                let source = headless.add_image(source.clone());
                let blur = GaussianBlur::from_sigma(3.5);
                let image = plain(source).with_target(target.clone());
                headless.blur(blur, image).expect("the blur succeeds");
                let name = format!("given-{format:?}");
                assert_layers(&name, headless, &target, 0, &layers, 3.5);
            }
        }
    });
}

#[test]
fn into_a_target_of_another_format() {
    by_one_executor(|headless| {
        let layers = pictures(3, [40, 30], TextureFormat::Rgba8Unorm);
        let source = headless.add_image(image_of(&layers, TextureFormat::Rgba8Unorm));
        let target = filled_like(&image_of(&layers, TextureFormat::Rgba16Float));
        let target = headless.add_image(target);
        let image = plain(source).with_target(target.clone());
        let blur = GaussianBlur::from_sigma(3.5);
        headless.blur(blur, image).expect("the blur succeeds");
        assert_layers("layers-of-floats", headless, &target, 0, &layers, 3.5);
    });
}

#[test]
fn own_targets_follow_the_number_of_layers() {
    let mut headless = warm(BlurBackend::Compute);
    let format = TextureFormat::Rgba8Unorm;
    let source = headless.add_image(image_of(&pictures(2, [24, 24], format), format));
    let blur = GaussianBlur::from_sigma(3.5);
    let entity = spawn(&mut headless, blur, plain(source.clone()));
    let target = settled(&mut headless, entity);
    for (count, is_cube) in [(2, false), (5, false), (6, false), (6, true), (1, false), (3, false)] {
        let layers = pictures(count, [24, 24], format);
        let mut image = image_of(&layers, format);
        if is_cube {
            image.texture_view_descriptor = Some(view_of(TextureViewDimension::Cube));
        }
        replace_image(&mut headless, &source, image);
        assert_eq!(settled(&mut headless, entity), target, "the handle stays");
        let name = format!("{count}-layers-{is_cube}");
        assert_layers(&name, &headless, &target, 0, &layers, 3.5);
        let dimension = match (count, is_cube) {
            (_, true) => TextureViewDimension::Cube,
            (1, _) => TextureViewDimension::D2,
            _ => TextureViewDimension::D2Array,
        };
        assert_shape(&name, &headless, &target, dimension, count as u32);
    }
}

/// Expects one blur, and then none. Returns the target.
fn settled(headless: &mut Headless, entity: Entity) -> Handle<Image> {
    assert!(finished(headless, 15) > 0, "it is blurred");
    assert_eq!(finished(headless, 5), 0, "it is at rest");
    target_of(headless, entity)
}

#[test]
fn a_target_with_another_number_of_layers() {
    let mut headless = warm(BlurBackend::Compute);
    let format = TextureFormat::Rgba8Unorm;
    let layers = pictures(3, [40, 30], format);
    let source = headless.add_image(image_of(&layers, format));
    for count in [1, 2, 4] {
        let target = headless.add_image(image_of(&pictures(count, [40, 30], format), format));
        let image = plain(source.clone()).with_target(target.clone());
        let entity = spawn(&mut headless, GaussianBlur::from_sigma(3.5), image);
        let expected = BlurError::LayerMismatch {
            source: 3,
            target: count as u32,
        };
        assert_eq!(failures(&mut headless, 30), [expected]);
        replace_image(&mut headless, &target, filled_like(&image_of(&layers, format)));
        settled(&mut headless, entity);
        assert_layers(&format!("after-{count}-layers"), &headless, &target, 0, &layers, 3.5);
        headless.despawn(entity);
    }
}
