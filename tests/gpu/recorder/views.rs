//! Layers, mip levels and formats of views.

use super::*;
use crate::support::images::layered;

/// A picture for every layer and level of an image.
fn pictures(layers: usize, levels: usize) -> Vec<Vec<Picture>> {
    let picture = |layer: usize, level: usize| {
        let picture = inputs::patterns(64 >> level, 64 >> level)[layer % 2].clone();
        Picture::from_fn(picture.width, picture.height, |x, y| {
            picture.at(x, y).map(|value| value * (1.0 - 0.1 * layer as f64))
        })
    };
    (0..layers)
        .map(|layer| (0..levels).map(|level| picture(layer, level)).collect())
        .collect()
}

fn part(image: &Handle<Image>, level: u32, layer: u32, format: TextureFormat) -> Shown {
    Shown {
        image: image.clone(),
        view: Some((level, layer, format)),
    }
}

#[test]
fn layers_and_levels_of_one_texture_are_blurred_alone() {
    by_both_backends(|headless| {
        let pictures = pictures(6, 3);
        for is_cube in [false, true] {
            let mut image = layered(&pictures, HDR);
            if is_cube {
                image.texture_view_descriptor = Some(TextureViewDescriptor {
                    dimension: Some(TextureViewDimension::Cube),
                    ..default()
                });
            }
            let image = headless.add_image(image);
            // From one layer into another, from a level of one into the same, and in place.
            let blurs = [((1, 2), (1, 3)), ((2, 3), (2, 3)), ((0, 0), (0, 5))];
            let recording = |((from_level, from_layer), (to_level, to_layer))| {
                Recording::new(
                    part(&image, from_level, from_layer, HDR),
                    part(&image, to_level, to_layer, HDR),
                    Settings::new(2.3),
                )
            };
            headless.record_all(blurs.into_iter().map(recording).collect());
            for (layer, levels) in pictures.iter().enumerate() {
                for (level, before) in levels.iter().enumerate() {
                    let got = to_picture(&headless.read_part(&image, layer as u32, level as u32));
                    let written = blurs.iter().find(|(_, to)| *to == (level as u32, layer as u32));
                    let (expected, tolerance) = match written {
                        Some(((level, layer), _)) => {
                            let source = formats::quantised(&pictures[*layer as usize][*level as usize], HDR);
                            (gaussian_blur(&source, [2.3; 2], EdgeMode::Clamp), 0.6 / 255.0)
                        }
                        None => (formats::quantised(before, HDR), 0.0),
                    };
                    let name = format!("layer-{layer}-level-{level}");
                    assert_close(&name, &got, &expected, &RGBA, tolerance);
                }
            }
        }
    });
}

/// As wgpu does, a two-dimensional view of an image shows one layer, and all further levels, unless it says otherwise.
#[test]
fn an_image_may_view_one_of_its_layers() {
    by_both_backends(|headless| {
        let pictures = pictures(6, 3);
        for (level, layer) in [(0, 0), (1, 2), (0, 5)] {
            let mut image = layered(&pictures, HDR);
            image.texture_view_descriptor = Some(TextureViewDescriptor {
                dimension: Some(TextureViewDimension::D2),
                base_mip_level: level,
                base_array_layer: layer,
                ..default()
            });
            let source = headless.add_image(image);
            let seen = &pictures[layer as usize][level as usize];
            let target = target(headless, [seen.width, seen.height], HDR);
            headless.record_one(Shown::from(&source), &target, Settings::new(2.3));
            let name = format!("viewed-layer-{layer}-level-{level}");
            assert_blur(&name, headless, &target, seen, 2.3);
        }
    });
}

#[test]
fn views_decide_whether_light_is_blurred() {
    by_both_backends(|headless| {
        let picture = inputs::patterns(60, 44)[1].clone();
        let mut image = to_image(&picture, TextureFormat::Rgba8Unorm);
        image.texture_descriptor.view_formats = &[TextureFormat::Rgba8UnormSrgb];
        let source = headless.add_image(image);
        for format in [TextureFormat::Rgba8Unorm, TextureFormat::Rgba8UnormSrgb] {
            let target = target(headless, [60, 44], format);
            headless.record_one(part(&source, 0, 0, format), &target, Settings::new(4.0));
            let got = headless.picture(&target);
            let seen = Picture::from_fn(60, 44, |x, y| {
                let texel = formats::quantised(&picture, TextureFormat::Rgba8Unorm).at(x, y);
                match format {
                    TextureFormat::Rgba8Unorm => texel,
                    _ => core::array::from_fn(|i| {
                        if i == 3 {
                            texel[3]
                        } else {
                            formats::decode_srgb(texel[i])
                        }
                    }),
                }
            });
            let expected = gaussian_blur(&seen, [4.0; 2], EdgeMode::Clamp);
            let expected = within_rounding(&got, &expected, format);
            assert_close(&format!("{format:?}"), &got, &expected, &RGBA, 1.0 / 255.0);
        }
    });
}

#[test]
fn a_texture_that_is_replaced_in_every_frame_is_followed() {
    by_both_backends(|headless| {
        let target = target(headless, [48, 48], HDR);
        let mut recording = None;
        for frame in 0..12 {
            let grey = f64::from(frame) / 12.0;
            let picture = Picture::from_fn(48, 48, |x, _| [if x < 24 { 0.0 } else { grey }; 4]);
            let source = headless.add_image(to_image(&picture, HDR));
            let mut next = recording
                .take()
                .unwrap_or_else(|| Recording::new(&source, &target, Settings::new(3.0)));
            (next.source, next.most) = (Shown::from(&source), next.recorded + 1);
            headless.recordings().0 = vec![next];
            for _ in 0..50 {
                headless.frame();
                let recordings = headless.recordings();
                if recordings.0[0].recorded == recordings.0[0].most {
                    break;
                }
            }
            recording = headless.recordings().0.pop();
            assert_blur(&format!("frame-{frame}"), headless, &target, &picture, 3.0);
        }
    });
}

#[test]
fn a_region_of_a_texture_is_blurred_in_place() {
    by_both_backends(|headless| {
        let picture = inputs::patterns(120, 100)[0].clone();
        let stored = formats::quantised(&picture, HDR);
        let region = URect::new(11, 20, 100, 61);
        for sigma in [1.1_f64, 12.0] {
            let image = headless.add_image(to_image(&picture, HDR));
            let settings = Settings {
                region: Some(region),
                ..Settings::new(sigma as f32)
            };
            headless.record_one(&image, &image, settings);
            let got = headless.picture(&image);
            assert_untouched(&got, &stored, region);
            let crop = |picture: &Picture| picture.crop([11, 20], [89, 41]);
            let expected = gaussian_blur(&crop(&stored), [sigma; 2], EdgeMode::Clamp);
            assert_close(&format!("in-place-{sigma}"), &crop(&got), &expected, &RGBA, 0.6 / 255.0);
        }
    });
}
