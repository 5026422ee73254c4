//! In place, only a blur with `OnChange` keeps the picture before the blur. The others take the current contents.

use super::*;
use crate::support::images::{ready, touch};

fn in_place(image: Handle<Image>, update: BlurUpdate) -> BlurImage {
    BlurImage::in_place(image)
        .with_alpha(BlurAlpha::Premultiplied)
        .with_update(update)
}

#[test]
fn an_eased_radius_blurs_the_picture_as_it_was() {
    let mut headless = ready();
    let [first, second] = pictures(61, 47);
    let handle = headless.add_image(image(&first));
    let blur = in_place(handle.clone(), BlurUpdate::OnChange);
    let entity = spawn(&mut headless, GaussianBlur::new(0.0), blur);
    let sigmas = [0.0, 0.7, 2.0, 3.5, 8.0, 14.0, 9.0, 4.0, 1.0, 0.0, 5.0];
    for (round, picture) in [&first, &second, &first].into_iter().enumerate() {
        let pixels = image(picture);
        let bytes = pixels.data.clone().expect("the image has data");
        if round > 0 {
            // The previous picture is forgotten, although the settings stay for a frame.
            replace_image(&mut headless, &handle, pixels);
            headless.frame();
            assert_blur(&format!("replaced-{round}"), &headless, &handle, picture, 5.0);
        }
        for (step, sigma) in sigmas.into_iter().enumerate() {
            set_blur(&mut headless, entity, GaussianBlur::from_sigma(sigma));
            headless.frame();
            assert_blur(&format!("eased-{round}-{step}"), &headless, &handle, picture, sigma);
            if sigma == 0.0 {
                let is_same = headless.read_image(&handle).bytes == bytes;
                assert!(is_same, "round {round}, step {step}: radius 0 gives every bit back");
            }
        }
    }
    // While nothing changes, nothing is blurred.
    finished(&mut headless, 1);
    assert_eq!(finished(&mut headless, 10), 0);
    assert_blur("eased-still", &headless, &handle, &first, 5.0);
}

/// New pixels count, too, if they arrive while the blur waits for a mask.
#[test]
fn pixels_that_arrive_while_a_mask_loads_are_blurred() {
    let mut headless = ready();
    let [first, second] = pictures(61, 47);
    let handle = headless.add_image(image(&first));
    let entity = spawn(
        &mut headless,
        GaussianBlur::from_sigma(5.0),
        in_place(handle.clone(), BlurUpdate::OnChange),
    );
    finished(&mut headless, 3);
    let mask = headless.reserve_image();
    let profile = BlurProfile::Mask(mask.clone());
    headless.insert(entity, profile);
    headless.frame();
    let mut images = headless.images();
    images.get_mut(&handle).expect("the image").data = image(&second).data;
    finished(&mut headless, 3);
    let white = to_image(&Picture::from_fn(2, 2, |_, _| [1.0; 4]), TextureFormat::R8Unorm);
    headless.insert_image(&mask, white);
    finished(&mut headless, 3);
    let got = headless.picture(&handle);
    let expected = gaussian_blur(&formats::quantised(&second, super::FORMAT), [5.0; 2], EdgeMode::Clamp);
    assert_close("late-pixels", &got, &expected, &RGBA, 2.0 / 255.0);
}

#[test]
fn radius_zero_gives_every_format_back() {
    let mut headless = ready();
    for format in [
        TextureFormat::Rgba8Unorm,
        TextureFormat::Rgba8UnormSrgb,
        TextureFormat::Rgba16Float,
    ] {
        for alpha in [BlurAlpha::Straight, BlurAlpha::Premultiplied, BlurAlpha::Opaque] {
            let [_, picture] = pictures(61, 47);
            let pixels = to_image(&picture, format);
            let bytes = pixels.data.clone().expect("the image has data");
            let handle = headless.add_image(pixels);
            let blur = BlurImage::in_place(handle.clone()).with_alpha(alpha);
            let entity = spawn(&mut headless, GaussianBlur::from_sigma(6.0), blur);
            for sigma in [6.0, 0.0, 2.0, 0.0] {
                set_blur(&mut headless, entity, GaussianBlur::from_sigma(sigma));
                finished(&mut headless, 3);
                let is_same = headless.read_image(&handle).bytes == bytes;
                assert_eq!(is_same, sigma == 0.0, "{format:?}, {alpha:?}, sigma {sigma}");
            }
            headless.despawn(entity);
        }
    }
}

#[test]
fn once_blurs_what_the_image_holds() {
    let mut headless = ready();
    let [picture, _] = pictures(61, 47);
    let handle = headless.add_image(image(&picture));
    let blur = in_place(handle.clone(), BlurUpdate::Once);
    let entity = spawn(&mut headless, GaussianBlur::from_sigma(3.5), blur);
    assert_eq!(finished(&mut headless, 10), 1);
    assert_blur("in-place-once", &headless, &handle, &picture, 3.5);
    let once = headless.picture(&handle);
    touch(&mut headless, entity);
    assert_eq!(finished(&mut headless, 10), 1);
    assert_blur("in-place-twice", &headless, &handle, &once, 3.5);
}

#[test]
fn every_frame_blurs_what_the_image_holds() {
    let mut headless = ready();
    let [picture, _] = pictures(61, 47);
    let handle = headless.add_image(image(&picture));
    let blur = in_place(handle.clone(), BlurUpdate::EveryFrame);
    spawn(&mut headless, GaussianBlur::from_sigma(1.5), blur);
    let mut before = picture;
    for frame in 0..5 {
        headless.frame();
        assert_blur(&format!("in-place-every-{frame}"), &headless, &handle, &before, 1.5);
        before = headless.picture(&handle);
    }
}

#[test]
fn radius_zero_gives_the_picture_back_although_it_is_not_kept_from_now_on() {
    let mut headless = ready();
    for update in [BlurUpdate::Once, BlurUpdate::EveryFrame] {
        let [picture, _] = pictures(61, 47);
        let pixels = image(&picture);
        let bytes = pixels.data.clone().expect("the image has data");
        let handle = headless.add_image(pixels);
        let blur = in_place(handle.clone(), BlurUpdate::OnChange);
        let entity = spawn(&mut headless, GaussianBlur::from_sigma(5.0), blur);
        headless.frame();
        assert_blur("kept", &headless, &handle, &picture, 5.0);
        headless.get_mut::<BlurImage>(entity).update = update;
        set_blur(&mut headless, entity, GaussianBlur::new(0.0));
        headless.frame();
        assert!(headless.read_image(&handle).bytes == bytes, "{update:?}");
        headless.despawn(entity);
    }
}

/// Changes a blur so that it needs other pipelines.
type Change = fn(&mut EntityWorldMut);

/// While the pipelines of another blur compile, the previous blur must not run over its own result.
#[test]
fn once_stays_once_while_pipelines_compile() {
    let changes: [(&str, Change); 2] = [
        ("dither", |blur| {
            blur.get_mut::<BlurImage>().expect("it was spawned").dither = true
        }),
        ("profile", |blur| {
            blur.insert(linear([Vec2::ZERO, Vec2::X], [1.0, 1.0]));
            blur.get_mut::<BlurImage>().expect("it was spawned").set_changed();
        }),
    ];
    for (name, change) in changes {
        let mut live = Live::new(BlurBackend::Compute, |_| {});
        let [picture, _] = pictures(61, 47);
        let sharp = to_image(&picture, TextureFormat::Rgba8Unorm);
        let handle = live.headless.add_image(sharp);
        let blur = in_place(handle.clone(), BlurUpdate::Once);
        let entity = spawn(&mut live.headless, GaussianBlur::from_sigma(2.0), blur);
        live.watch(&handle);
        live.frame();
        live.wait_until_ready();
        live.frames(5);
        let shown = |live: &Live| {
            let shots = live.shots();
            let shown = shots.last().and_then(|shot| shot.images[0].as_ref());
            to_picture(shown.expect("the image is on the GPU"))
        };
        let first = shown(&live);
        let expected = gaussian_blur(&picture, [2.0; 2], EdgeMode::Clamp);
        assert_close(&format!("{name}-first"), &first, &expected, &RGBA, 1.1 / 255.0);
        change(&mut live.headless.app.world_mut().entity_mut(entity));
        live.frames(5);
        live.wait_until_ready();
        live.frames(5);
        let expected = gaussian_blur(&first, [2.0; 2], EdgeMode::Clamp);
        let name = format!("{name}-second");
        assert_close(&name, &shown(&live), &expected, &RGBA, 2.1 / 255.0);
    }
}
