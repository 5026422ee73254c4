//! Images whose blur varies: in place, with alpha, in layers, and as it changes.

use super::*;

/// The allowed error of interpolation for the test pictures' noise.
const TOLERANCE: f64 = 10.0 / 255.0;

#[test]
fn images_are_blurred_in_place() {
    let [picture, _] = inputs::patterns(101, 77);
    let stored = formats::quantised(&picture, FORMAT);
    for backend in BACKENDS {
        for update in [BlurUpdate::Once, BlurUpdate::OnChange] {
            let mut headless = warm(backend);
            for (name, profile) in profiles() {
                let image = headless.add_image(to_image(&picture, FORMAT));
                let in_place = BlurImage::in_place(image)
                    .with_alpha(BlurAlpha::Premultiplied)
                    .with_update(update);
                let got = blurred(&mut headless, GaussianBlur::from_sigma(9.0), in_place, profile.clone());
                let wanted = expected(&stored, &sigmas(&profile, [101, 77], 9.0), [1.0; 2], EdgeMode::Clamp);
                let name = format!("profile-in-place-{backend:?}-{update:?}-{name}");
                assert_close(&name, &got, &wanted, &RGBA, TOLERANCE);
            }
        }
    }
}

/// In place, too, alpha becomes 1 everywhere, and colour stays to the bit where the share is 0.
#[test]
fn opaque_images_have_no_seam_in_place() {
    let [picture, _] = inputs::patterns(64, 40);
    let half = linear([Vec2::new(0.5, 0.0), Vec2::new(0.9, 0.0)], [0.0, 1.0]);
    for backend in BACKENDS {
        let mut headless = warm(backend);
        for (format, opaque) in [
            (TextureFormat::Rgba8Unorm, &[255][..]),
            (TextureFormat::Rgba8UnormSrgb, &[255]),
            (TextureFormat::Rgba8Uint, &[255]),
            (FORMAT, &[0, 0x3c]),
            (TextureFormat::Rgba32Float, &[0, 0, 0x80, 0x3f]),
        ] {
            for update in [BlurUpdate::Once, BlurUpdate::OnChange] {
                let mut image = to_image(&picture, format);
                if format == FORMAT {
                    // Texels that are not blurred need not be finite.
                    let data = image.data.as_mut().expect("pixels");
                    data[..2].copy_from_slice(&0x7c00_u16.to_le_bytes());
                }
                let bytes = image.data.clone().expect("pixels");
                let image = headless.add_image(image);
                let in_place = BlurImage::in_place(image)
                    .with_alpha(BlurAlpha::Opaque)
                    .with_update(update);
                let target = headless
                    .blur_with(GaussianBlur::from_sigma(9.0), in_place, half.clone())
                    .expect("the blur succeeds");
                let got = headless.read_image(&target).bytes;
                let size = bytes.len() / (64 * 40);
                let colour = size - opaque.len();
                for (index, (got, sharp)) in got.chunks(size).zip(bytes.chunks(size)).enumerate() {
                    let name = format!("{backend:?}, {format:?}, {update:?}, texel {index}");
                    assert_eq!(got[colour..], *opaque, "{name}: alpha");
                    assert!(index % 64 >= 32 || got[..colour] == sharp[..colour], "{name}: colour");
                }
            }
        }
    }
}

#[test]
fn straight_alpha_keeps_its_colour() {
    // Colour under transparent texels must not show, whatever the share is.
    let picture = Picture::from_fn(96, 64, |x, y| {
        let is_there = (x / 16 + y / 16) % 2 == 0;
        if is_there {
            [0.2, 0.6, 0.4, 1.0]
        } else {
            [1.0, 0.0, 1.0, 0.0]
        }
    });
    for backend in BACKENDS {
        let mut headless = warm(backend);
        for (name, profile) in profiles() {
            let image = headless.add_image(to_image(&picture, FORMAT));
            let straight = BlurImage::new(image);
            let got = blurred(&mut headless, GaussianBlur::from_sigma(6.0), straight, profile.clone());
            let all = sigmas(&profile, [96, 64], 6.0);
            for (index, texel) in got.texels.iter().enumerate() {
                if all[index] >= 0.5 && texel[3] > 0.02 {
                    for (channel, value) in [(0, 0.2), (1, 0.6), (2, 0.4)] {
                        let off = (texel[channel] - value).abs() * texel[3] * 255.0;
                        assert!(off < 0.6, "{backend:?}, {name}, texel {index}: {texel:?}");
                    }
                }
            }
        }
    }
}

#[test]
fn a_profile_that_changes_is_followed() {
    let [picture, _] = inputs::patterns(64, 48);
    let stored = formats::quantised(&picture, FORMAT);
    let mut headless = warm(BlurBackend::Compute);
    let source = headless.add_image(to_image(&picture, FORMAT));
    let blur = GaussianBlur::from_sigma(6.0);
    let entity = headless.spawn((blur, plain(source)));
    headless.warm_up();
    finished(&mut headless, 2);
    for (name, profile) in profiles() {
        headless.insert(entity, profile.clone());
        // Pipelines need a moment to compile.
        headless.warm_up();
        assert_eq!(finished(&mut headless, 2), 1, "{name}: one change is one blur");
        let got = headless.picture(&target_of(&headless, entity));
        let wanted = expected(&stored, &sigmas(&profile, [64, 48], 6.0), [1.0; 2], EdgeMode::Clamp);
        let off = worst(&got, &wanted, |_| true);
        assert!(off.iter().all(|off| *off <= 10.0), "{name}: {off:?}");
    }
    headless.remove::<BlurProfile>(entity);
    assert_eq!(finished(&mut headless, 4), 1, "without a profile");
    let got = headless.picture(&target_of(&headless, entity));
    let uniform = expected(&stored, &vec![6.0; 64 * 48], [1.0; 2], EdgeMode::Clamp);
    let off = worst(&got, &uniform, |_| true);
    assert!(off.iter().all(|off| *off <= 0.6), "{off:?}");
}

#[test]
fn numbers_that_are_none_are_no_blur_and_reported_once() {
    let [picture, _] = inputs::patterns(40, 30);
    let mut headless = warm(BlurBackend::Compute);
    let image = to_image(&picture, TextureFormat::Rgba8Unorm);
    let bytes = image.data.clone().expect("pixels");
    let source = headless.add_image(image);
    let broken = BlurProfile::Radial {
        center: Vec2::splat(0.5),
        inner: f32::NAN,
        outer: 1.0,
        from: 0.0,
        to: 1.0,
    };
    let bundle = (GaussianBlur::from_sigma(6.0), plain(source), broken);
    let entity = headless.spawn(bundle);
    headless.warm_up();
    let target = target_of(&headless, entity);
    assert!(headless.read_image(&target).bytes == bytes, "the picture is as it was");
    let outcomes = frames(&mut headless, 1);
    let failed: Vec<_> = outcomes
        .iter()
        .filter_map(|(_, outcome)| outcome.clone().err())
        .collect();
    assert_eq!(failed, [BlurError::InvalidProfile]);
    let more = frames(&mut headless, 3);
    assert!(more.iter().all(|(_, outcome)| outcome.is_ok()), "said once: {more:?}");
}
