//! Cameras and masks that change while a blur is frozen.

use super::*;
use crate::support::scene::SIZE;
use crate::support::twins::assert_gaussian_with;
use bevy::image::ToExtents;

const SIGMA: f64 = 4.0;

/// The picture in another size: the mean of the texels that each texel covers.
fn stretched(picture: &Picture, size: UVec2) -> Picture {
    let shares = |to: usize, from: usize, index: usize| {
        let (start, end) = (index * from, (index + 1) * from);
        (start / to..=(end - 1) / to).map(move |texel| {
            let covered = ((texel + 1) * to).min(end) - (texel * to).max(start);
            (texel, covered as f64 / from as f64)
        })
    };
    let [width, height] = [size.x as usize, size.y as usize];
    Picture::from_fn(width, height, |x, y| {
        let mut mean = [0.0; 4];
        for (row, tall) in shares(height, picture.height, y) {
            for (column, wide) in shares(width, picture.width, x) {
                let texel = picture.at(column, row);
                (0..4).for_each(|channel| mean[channel] += tall * wide * texel[channel]);
            }
        }
        mean
    })
}

/// Freezes an existing scene.
fn freeze(twins: &mut Twins) {
    twins.blur(GaussianBlur::from_sigma(SIGMA as f32));
    twins.headless.warm_up();
    twins.blur(FreezeBlur);
    twins.headless.frame();
}

fn retarget(twins: &mut Twins, size: UVec2) {
    let target = scene::target(&mut twins.headless, size, LDR);
    twins.blurred.retarget(&mut twins.headless, target, 1.0);
}

#[test]
fn a_picture_is_stretched_to_a_viewport_of_another_size() {
    for kind in [Kind::Core2d, Kind::Core3d] {
        let mut twins = Twins::new(kind, SIZE, LDR);
        freeze(&mut twins);
        let still = to_picture(&twins.sharp.pixels(&twins.headless));
        let first = twins.pixels();
        let mut frame = 1;
        for size in [UVec2::new(301, 88), UVec2::new(97, 130), UVec2::new(1, 5)] {
            retarget(&mut twins, size);
            step(&mut twins.headless, frame);
            frame += 1;
            step(&mut twins.headless, frame);
            let got = twins.blurred.picture(&twins.headless);
            let expected = stretched(&still, size);
            let name = format!("stretched-{kind:?}-{size}");
            assert_gaussian_with(&name, &got, &expected, [SIGMA; 2], EdgeMode::Clamp, LDR);
        }
        retarget(&mut twins, SIZE);
        step(&mut twins.headless, frame + 1);
        assert_bits("as large as it was", &twins, &first);
    }
}

#[test]
fn a_picture_is_shown_in_another_format_and_another_space() {
    let mut twins = Twins::new(Kind::Core2d, SIZE, LDR);
    // A transparent background: Bevy converts colours that are multiplied by alpha as they are.
    twins.insert(Camera {
        clear_color: ClearColorConfig::Custom(LinearRgba::new(0.2, 0.05, 0.3, 0.5).into()),
        ..default()
    });
    freeze(&mut twins);
    let still = to_picture(&twins.sharp.pixels(&twins.headless));
    let first = twins.pixels();
    let camera = twins.blurred.camera;
    let spaces = [
        (true, CompositingSpace::Linear),
        (true, CompositingSpace::Oklab),
        (true, CompositingSpace::Srgb),
        (false, CompositingSpace::Linear),
    ];
    for (frame, (hdr, space)) in (1..).zip(spaces) {
        twins.headless.insert(camera, space);
        twins.headless.set(camera, Hdr, hdr);
        // Without a blur, since a blur in another space has another result.
        twins.blur(GaussianBlur::from_sigma(0.0));
        step(&mut twins.headless, 3 * frame);
        step(&mut twins.headless, 3 * frame + 1);
        let name = format!("frozen-{hdr}-{space:?}");
        let got = twins.blurred.picture(&twins.headless);
        let expected = within_rounding(&got, &still, LDR);
        // Half floats of other spaces keep slightly less of bright light.
        assert_close(&name, &got, &expected, &RGBA, 1.0 / 255.0);
        twins.blur(GaussianBlur::from_sigma(SIGMA as f32));
        step(&mut twins.headless, 3 * frame + 2);
        if space == CompositingSpace::Linear {
            let got = twins.blurred.picture(&twins.headless);
            assert_gaussian_with(&name, &got, &still, [SIGMA; 2], EdgeMode::Clamp, LDR);
        }
    }
    assert_bits("as it was", &twins, &first);
}

/// The result in another space is made anew, although everything else is as it was.
#[test]
fn the_result_follows_the_space() {
    let hdr = HDR;
    let mut twins = Twins::new(Kind::Core2d, SIZE, hdr);
    let camera = twins.blurred.camera;
    twins
        .headless
        .insert(camera, (Hdr, bevy::core_pipeline::tonemapping::DebandDither::Disabled));
    freeze(&mut twins);
    step(&mut twins.headless, 1);
    let first = twins.blurred.picture(&twins.headless);
    twins.headless.insert(camera, CompositingSpace::Srgb);
    step(&mut twins.headless, 2);
    step(&mut twins.headless, 3);
    // Encoded values are blurred now. Far from edges, colours are the same.
    let got = twins.blurred.picture(&twins.headless);
    let corner = |picture: &Picture| picture.crop([0, 0], [4, 4]);
    let (got, first) = (corner(&got), corner(&first));
    assert_close("frozen-space", &got, &first, &RGB, 2.0 / 255.0);
}

#[test]
fn a_mask_may_change() {
    let mut twins = Twins::new(Kind::Core2d, SIZE, LDR);
    let half = |is_left: bool| {
        let mask = Picture::from_fn(SIZE.x as usize, SIZE.y as usize, |x, _| {
            [f64::from(u8::from((x < 100) == is_left)); 4]
        });
        to_image(&mask, TextureFormat::R8Unorm)
    };
    let mask = twins.headless.add_image(half(true));
    twins.blur(BlurProfile::Mask(mask.clone()));
    freeze(&mut twins);
    let left = twins.pixels();
    step(&mut twins.headless, 1);
    assert_bits("the same mask", &twins, &left);
    let set = |twins: &mut Twins, is_left: bool| {
        let mut images = twins.headless.images();
        images.get_mut(&mask).expect("the mask").data = half(is_left).data;
    };
    set(&mut twins, false);
    step(&mut twins.headless, 2);
    step(&mut twins.headless, 3);
    let right = twins.pixels();
    assert!(right.bytes != left.bytes, "another half is blurred");
    set(&mut twins, true);
    step(&mut twins.headless, 4);
    step(&mut twins.headless, 5);
    assert_bits("the first mask", &twins, &left);
}

#[test]
fn a_mask_may_be_painted_by_a_camera() {
    let mut twins = Twins::new(Kind::Core2d, SIZE, LDR);
    let mask = scene::target(&mut twins.headless, UVec2::splat(8), TextureFormat::Rgba8Unorm);
    let painter = scene::camera(&mut twins.headless, Kind::Core2d, &mask, Msaa::Off);
    let paint = |twins: &mut Twins, share: f32| {
        // It sees nothing but its clear colour.
        twins.headless.insert(painter, RenderLayers::layer(3));
        let mut camera = twins.headless.get_mut::<Camera>(painter);
        camera.order = -1;
        camera.clear_color = ClearColorConfig::Custom(LinearRgba::gray(share).into());
        camera.is_active = true;
    };
    paint(&mut twins, 1.0);
    twins.blur(BlurProfile::Mask(mask.clone()));
    freeze(&mut twins);
    let blurred = twins.pixels();
    paint(&mut twins, 0.0);
    step(&mut twins.headless, 1);
    step(&mut twins.headless, 2);
    assert!(twins.pixels().bytes != blurred.bytes, "the mask is black");
    paint(&mut twins, 1.0);
    step(&mut twins.headless, 3);
    // The last paint counts, even if the camera stops right after it.
    scene::set_active(&mut twins.headless, painter, false);
    step(&mut twins.headless, 4);
    assert_bits("the mask is white again", &twins, &blurred);
}

/// A frozen blur follows a mask that another blur writes, and does nothing while that blur is at rest.
#[test]
fn a_mask_may_be_written_by_a_blur() {
    let mut twins = Twins::with_figures(SIZE, LDR);
    let flat = |share: f64| to_image(&Picture::from_fn(8, 8, |_, _| [share; 4]), TextureFormat::Rgba8Unorm);
    let source = twins.headless.add_image(flat(1.0));
    let target = twins.headless.add_image(flat(0.0));
    let writer = BlurImage::new(source.clone()).with_target(target.clone());
    let world = twins.headless.app.world_mut();
    let writer = world.spawn((GaussianBlur::from_sigma(1.0), writer)).id();
    twins.headless.warm_up();
    twins.blur(BlurProfile::Mask(target));
    freeze(&mut twins);
    let white = twins.pixels();
    (1..10).for_each(|frame| step(&mut twins.headless, frame));
    assert_bits("at rest", &twins, &white);
    let kept = 2 * u64::from(4 * SIZE.element_product());
    assert_eq!(bytes_held(&twins.headless), kept, "the picture and the result");
    twins.headless.insert_image(&source, flat(0.0));
    (10..13).for_each(|frame| step(&mut twins.headless, frame));
    assert!(twins.pixels().bytes != white.bytes, "the mask is black");
    twins.headless.insert_image(&source, flat(1.0));
    twins.headless.get_mut::<BlurImage>(writer).update = BlurUpdate::EveryFrame;
    (13..16).for_each(|frame| step(&mut twins.headless, frame));
    assert_bits("white again", &twins, &white);
    (16..22).for_each(|frame| step(&mut twins.headless, frame));
    assert!(bytes_held(&twins.headless) > kept, "the mask may change in every frame");
}

#[test]
fn a_target_that_is_resized_in_every_frame_is_never_sharp() {
    let mut twins = Twins::new(Kind::Core2d, SIZE, LDR);
    freeze(&mut twins);
    let still = to_picture(&twins.sharp.pixels(&twins.headless));
    for frame in 0..20 {
        let size = UVec2::new(100 + (frame * 37) % 61, 50 + (frame * 23) % 41);
        let target = twins.blurred.target.clone();
        let world = twins.headless.app.world_mut();
        world.write_message(AssetEvent::<Image>::Modified { id: target.id() });
        let mut images = world.resource_mut::<Assets<Image>>();
        images.get_mut(&target).expect("a target").resize(size.to_extents());
        step(&mut twins.headless, frame);
        let got = twins.blurred.picture(&twins.headless);
        let expected = stretched(&still, size);
        assert_gaussian_with(
            &format!("resizing-{frame}"),
            &got,
            &expected,
            [SIGMA; 2],
            EdgeMode::Clamp,
            LDR,
        );
    }
}

#[test]
fn an_eased_radius_copies_no_result() {
    let mut twins = Twins::with_figures(SIZE, LDR);
    freeze(&mut twins);
    for frame in 0..8_u8 {
        twins.blur(GaussianBlur::from_sigma(1.5 + 0.1 * f32::from(frame)));
        step(&mut twins.headless, frame.into());
    }
    let [picture, intermediate] = [4, 8].map(|texel| u64::from(SIZE.element_product() * texel));
    let eased = bytes_held(&twins.headless);
    // The intermediate may have some room to grow.
    assert!(
        (picture + intermediate..2 * picture + intermediate).contains(&eased),
        "{eased} bytes"
    );
    twins.headless.warm_up();
    assert_eq!(
        bytes_held(&twins.headless),
        2 * picture,
        "the picture and the result are kept"
    );
}
