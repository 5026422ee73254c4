//! The rules for sources also hold for masks: order, chains, the same frame, changes, and waiting.

use super::uploads::congest;
use super::*;
use crate::support::images::ready;
use crate::support::reference::varying_blur;
use crate::support::twins::tolerance;
use bevy::render::render_asset::RenderAssetBytesPerFrame;

const SIGMA: f64 = 6.0;

/// A mask as large as the picture, with the share in its red channel.
fn shares(width: usize, height: usize, share: impl Fn(usize, usize) -> f64) -> Picture {
    Picture::from_fn(width, height, |x, y| [share(x, y), 0.0, 0.0, 1.0])
}

/// Blurs every texel with its own share of the usual sigma. The mask has the size of the picture.
fn masked(picture: &Picture, mask: &Picture) -> Picture {
    varying_blur(picture, EdgeMode::Clamp, |x, y| {
        [SIGMA * mask.at(x, y)[0].clamp(0.0, 1.0); 2]
    })
}

/// Panics if a blur differs from the blur with its current mask.
fn assert_masked(name: &str, headless: &Headless, blur: Entity, sharp: &Picture, mask: &Handle<Image>) {
    let got = headless.picture(&target_of(headless, blur));
    let mask = headless.picture(mask);
    let expected = masked(&formats::quantised(sharp, FORMAT), &mask);
    assert_close(name, &got, &expected, &RGBA, 2.0 / 255.0);
}

fn spawn_masked(headless: &mut Headless, source: Image, mask: &Handle<Image>, update: BlurUpdate) -> Entity {
    let source = headless.add_image(source);
    let image = plain(source).with_update(update);
    let blur = spawn(headless, GaussianBlur::from_sigma(SIGMA as f32), image);
    let profile = BlurProfile::Mask(mask.clone());
    headless.insert(blur, profile);
    blur
}

#[test]
fn a_blur_follows_a_mask_that_another_blur_writes() {
    let mut headless = ready();
    let [sharp, _] = pictures(64, 48);
    let steps = [
        shares(64, 48, |x, _| if x < 20 { 1.0 } else { 0.0 }),
        shares(64, 48, |_, y| if y < 30 { 0.0 } else { 0.8 }),
        shares(64, 48, |x, _| if x < 50 { 0.5 } else { 1.0 }),
    ];
    for mask_comes_last in [false, true] {
        // It exists from the start, and is empty.
        let soft = headless.add_image(image(&shares(64, 48, |_, _| 0.0)));
        let hard = headless.add_image(image(&steps[0]));
        let writer = plain(hard.clone()).with_target(soft.clone());
        let writer = (GaussianBlur::from_sigma(4.0), writer);
        let reader = if mask_comes_last {
            let reader = spawn_masked(&mut headless, image(&sharp), &soft, BlurUpdate::OnChange);
            headless.spawn(writer);
            reader
        } else {
            headless.spawn(writer);
            spawn_masked(&mut headless, image(&sharp), &soft, BlurUpdate::OnChange)
        };
        headless.frame();
        let name = format!("mask-chain-{mask_comes_last}");
        assert_masked(&name, &headless, reader, &sharp, &soft);
        let quiet = format!("{name}: what does not change is not blurred");
        finished(&mut headless, 1);
        assert_eq!(finished(&mut headless, 5), 0, "{quiet}");
        for (step, changed) in steps.iter().enumerate().skip(1) {
            replace_image(&mut headless, &hard, image(changed));
            headless.frame();
            let name = format!("{name}-{step}");
            let got = headless.picture(&soft);
            let expected = gaussian_blur(&formats::quantised(changed, FORMAT), [4.0; 2], EdgeMode::Clamp);
            assert_close(&format!("{name}-mask"), &got, &expected, &[0], 0.6 / 255.0);
            assert_masked(&name, &headless, reader, &sharp, &soft);
        }
    }
}

#[test]
fn a_blur_waits_for_the_blur_that_writes_its_mask() {
    let mut headless = ready();
    let [sharp, _] = pictures(64, 48);
    let soft = headless.add_image(image(&shares(64, 48, |_, _| 0.0)));
    let hard = headless.reserve_image();
    let reader = spawn_masked(&mut headless, image(&sharp), &soft, BlurUpdate::Once);
    let writer = plain(hard.clone()).with_target(soft.clone());
    spawn(&mut headless, GaussianBlur::from_sigma(4.0), writer);
    assert_eq!(finished(&mut headless, 5), 0, "the mask is not there yet");
    headless.insert_image(&hard, image(&shares(64, 48, |x, _| x as f64 / 63.0)));
    headless.frame();
    assert_masked("mask-once", &headless, reader, &sharp, &soft);
    assert_eq!(finished(&mut headless, 10), 2, "each once");
}

#[test]
fn a_mask_that_a_camera_paints_is_of_the_same_frame() {
    let mut headless = ready();
    let size = UVec2::new(64, 48);
    scene::spawn(&mut headless, Kind::Core2d, 1.0);
    let mask = scene::target(&mut headless, size, HDR);
    let camera = scene::camera(&mut headless, Kind::Core2d, &mask, Msaa::Off);
    let [sharp, _] = pictures(64, 48);
    let blur = spawn_masked(&mut headless, image(&sharp), &mask, BlurUpdate::EveryFrame);
    headless.warm_up();
    let mut last: Option<Picture> = None;
    for step in 0..6_u8 {
        let place = Transform::from_xyz(f32::from(step) * 17.0 - 40.0, f32::from(step % 3) * 9.0, 0.0);
        headless.insert(camera, place);
        headless.frame();
        let painted = headless.picture(&mask);
        assert!(last.as_ref() != Some(&painted), "step {step}: nothing has moved");
        assert_masked(&format!("painted-mask-{step}"), &headless, blur, &sharp, &mask);
        last = Some(painted);
    }
}

/// Asserts that a camera is blurred with one sigma everywhere.
fn assert_uniform(name: &str, [sharp, got]: &[Picture; 2], sigma: f64) {
    let expected = gaussian_blur(sharp, [sigma; 2], EdgeMode::Clamp);
    let expected = within_rounding(got, &expected, LDR);
    assert_close(name, got, &expected, &RGB, tolerance(LDR, 1.0) + 0.6 / 255.0);
}

/// A share that eight bits store.
fn stored(share: f64) -> f64 {
    (share * 255.0).round() / 255.0
}

fn pictures_of(twins: &Twins) -> [Picture; 2] {
    [&twins.sharp, &twins.blurred].map(|view: &View| view.picture(&twins.headless))
}

fn flat_mask(share: f64) -> Image {
    to_image(&shares(4, 4, |_, _| share), TextureFormat::R8Unorm)
}

/// While a mask loads, a camera keeps its previous profile, at the current radius.
#[test]
fn a_camera_keeps_its_blur_while_a_mask_loads() {
    let mut twins = Twins::new(Kind::Core2d, scene::SIZE, LDR);
    twins.blur(GaussianBlur::from_sigma(SIGMA as f32));
    twins.headless.warm_up();
    assert_uniform("before-mask", &pictures_of(&twins), SIGMA);
    let [first, second] = [(); 2].map(|()| twins.headless.reserve_image());
    twins.blur((GaussianBlur::from_sigma(SIGMA as f32), BlurProfile::Mask(first.clone())));
    for frame in 0..10 {
        twins.headless.frame();
        assert_uniform(&format!("loading-{frame}"), &pictures_of(&twins), SIGMA);
    }
    twins.headless.insert_image(&first, flat_mask(0.6));
    twins.headless.warm_up();
    assert_uniform("first-mask", &pictures_of(&twins), stored(0.6) * SIGMA);
    // The second one loads while the radius is eased.
    for frame in 0..10 {
        let sigma = SIGMA + f64::from(frame) * 0.3;
        twins.blur((
            GaussianBlur::from_sigma(sigma as f32),
            BlurProfile::Mask(second.clone()),
        ));
        twins.headless.frame();
        assert_uniform(
            &format!("second-loading-{frame}"),
            &pictures_of(&twins),
            stored(0.6) * sigma,
        );
    }
    twins.headless.insert_image(&second, flat_mask(1.0));
    twins.blur(GaussianBlur::from_sigma(SIGMA as f32));
    twins.headless.frame();
    assert_uniform("second-mask", &pictures_of(&twins), SIGMA);
}

/// Bevy removes an image from the GPU while its new pixels wait for their turn.
#[test]
fn a_camera_keeps_its_mask_while_new_pixels_are_on_their_way() {
    let mut twins = Twins::new(Kind::Core2d, scene::SIZE, LDR);
    let mask = twins.headless.add_image(flat_mask(1.0));
    twins.blur((GaussianBlur::from_sigma(SIGMA as f32), BlurProfile::Mask(mask.clone())));
    twins.headless.warm_up();
    assert_uniform("mask-there", &pictures_of(&twins), SIGMA);
    let _waiting = congest(&mut twins.headless);
    replace_image(&mut twins.headless, &mask, flat_mask(0.0));
    let mut kept = 0;
    for frame in 0..20 {
        twins.headless.frame();
        let [sharp, got] = pictures_of(&twins);
        if sharp == got {
            continue;
        }
        kept += 1;
        assert_uniform(&format!("mask-late-{frame}"), &[sharp, got], SIGMA);
    }
    assert!((3..15).contains(&kept), "{kept} frames showed the old mask");
    let [sharp, got] = pictures_of(&twins);
    assert!(sharp == got, "the new mask is there in the end");
    twins.headless.app.insert_resource(RenderAssetBytesPerFrame::default());
}

/// The box of the glass.
const ORIGIN: [usize; 2] = [31, 17];
const EXTENT: [usize; 2] = [120, 81];

/// The region of the glass, on the blurred camera.
fn region(twins: &Twins) -> BackdropRegion {
    let pair = |texels: [usize; 2]| Vec2::new(texels[0] as f32, texels[1] as f32);
    BackdropRegion::new(
        twins.blurred.camera,
        Rect::from_corners(pair(ORIGIN), pair(ORIGIN) + pair(EXTENT)),
    )
}

/// Asserts that the glass blurs what the sharp camera shows with one sigma.
fn assert_glass(name: &str, twins: &Twins, sigma: f64) {
    let [sharp, got] = pictures_of(twins).map(|picture| picture.crop(ORIGIN, EXTENT));
    let expected = gaussian_blur(&sharp, [sigma; 2], EdgeMode::Mirror);
    let expected = within_rounding(&got, &expected, LDR);
    assert_close(name, &got, &expected, &RGB, 2.0 / 255.0);
}

/// Glass is uniform at first, then gets one mask and another one, each of which loads for some frames.
#[test]
fn glass_keeps_its_blur_while_a_mask_loads() {
    let mut twins = Twins::new(Kind::Core2d, scene::SIZE, LDR);
    let region = region(&twins);
    let pane = twins.headless.spawn(region);
    let check = |twins: &mut Twins, name: &str, profile: &BlurProfile, sigma: f64, share: f64| {
        let mut pane = twins.headless.app.world_mut().entity_mut(pane);
        pane.insert(BackdropBlur::from_sigma(sigma as f32));
        pane.insert(profile.clone());
        twins.headless.frame();
        assert_glass(name, twins, sigma * share);
    };
    twins.headless.insert(pane, BackdropBlur::default());
    twins.headless.warm_up();
    check(&mut twins, "glass-uniform", &BlurProfile::Uniform, SIGMA, 1.0);
    let mut shown = 1.0;
    for share in [0.6, 0.8] {
        let mask = twins.headless.reserve_image();
        let profile = BlurProfile::Mask(mask.clone());
        for frame in 0..10 {
            let sigma = SIGMA + f64::from(frame) * 0.2;
            let name = format!("glass-loading-{share}-{frame}");
            check(&mut twins, &name, &profile, sigma, shown);
        }
        twins.headless.insert_image(&mask, flat_mask(share));
        twins.headless.warm_up();
        shown = stored(share);
        check(&mut twins, &format!("glass-loaded-{share}"), &profile, SIGMA, shown);
    }
}

/// The first mask of glass exists at once, but Bevy uploads it some frames later.
#[test]
fn uniform_glass_keeps_its_blur_while_its_mask_is_uploaded() {
    let mut twins = Twins::new(Kind::Core2d, scene::SIZE, LDR);
    let region = region(&twins);
    // The pipelines for varying glass exist.
    let mask = BlurProfile::Mask(twins.headless.add_image(flat_mask(1.0)));
    let pane = (region, BackdropBlur::from_sigma(SIGMA as f32), mask);
    let pane = twins.headless.spawn(pane);
    twins.headless.warm_up();
    twins.headless.insert(pane, BlurProfile::Uniform);
    twins.headless.warm_up();
    assert_glass("uniform-before-upload", &twins, SIGMA);
    let _waiting = congest(&mut twins.headless);
    let mask = twins.headless.add_image(flat_mask(0.6));
    twins.headless.insert(pane, BlurProfile::Mask(mask));
    for frame in 0..3 {
        twins.headless.frame();
        assert_glass(&format!("uploading-{frame}"), &twins, SIGMA);
    }
    twins.headless.frames(20);
    assert_glass("uploaded", &twins, stored(0.6) * SIGMA);
    twins.headless.app.insert_resource(RenderAssetBytesPerFrame::default());
}

/// Glass that is frozen, or no longer frozen, while its mask loads keeps its previous profile.
#[test]
fn glass_keeps_its_blur_when_it_freezes_while_a_mask_loads() {
    let mut twins = Twins::new(Kind::Core2d, scene::SIZE, LDR);
    let region = region(&twins);
    let glass = BackdropBlur::from_sigma(SIGMA as f32);
    let pane = twins.headless.spawn((region, glass));
    twins.headless.warm_up();
    let check = |twins: &mut Twins, name: &str, share: f64| {
        for frame in 0..5 {
            twins.headless.frame();
            assert_glass(&format!("{name}-{frame}"), twins, SIGMA * share);
        }
    };
    let loaded = BlurProfile::Mask(twins.headless.add_image(flat_mask(0.6)));
    for (name, before, share) in [("uniform", BlurProfile::Uniform, 1.0), ("mask", loaded, stored(0.6))] {
        let profile = BlurProfile::Mask(twins.headless.reserve_image());
        twins.headless.remove::<FreezeBlur>(pane);
        twins.headless.insert(pane, before);
        twins.headless.warm_up();
        check(&mut twins, &format!("before-{name}"), share);
        twins.headless.insert(pane, (profile, FreezeBlur));
        check(&mut twins, &format!("freezes-{name}"), share);
        twins.headless.remove::<FreezeBlur>(pane);
        check(&mut twins, &format!("thaws-{name}"), share);
    }
}

/// The picture of frozen glass is not blurred again while nothing changes. But it is when new pixels of its mask arrive.
#[test]
fn frozen_glass_follows_a_mask_that_comes_late() {
    let mut twins = Twins::new(Kind::Core2d, scene::SIZE, LDR);
    let region = region(&twins);
    let glass = BackdropBlur::from_sigma(SIGMA as f32);
    let mask = twins.headless.add_image(flat_mask(1.0));
    let pane = (region, glass, BlurProfile::Mask(mask.clone()));
    let pane = twins.headless.spawn(pane);
    twins.headless.warm_up();
    twins.headless.insert(pane, FreezeBlur);
    twins.headless.warm_up();
    assert_glass("frozen-first-mask", &twins, SIGMA);
    let _waiting = congest(&mut twins.headless);
    replace_image(&mut twins.headless, &mask, flat_mask(0.6));
    twins.headless.frames(3);
    assert_glass("frozen-late-mask", &twins, SIGMA);
    twins.headless.frames(20);
    assert_glass("frozen-second-mask", &twins, stored(0.6) * SIGMA);
    twins.headless.app.insert_resource(RenderAssetBytesPerFrame::default());
}

#[test]
fn an_image_keeps_its_picture_while_a_mask_loads() {
    let mut headless = ready();
    let [sharp, _] = pictures(64, 48);
    for update in [BlurUpdate::OnChange, BlurUpdate::EveryFrame] {
        let source = headless.add_image(image(&sharp));
        let blur = spawn(
            &mut headless,
            GaussianBlur::from_sigma(3.0),
            plain(source).with_update(update),
        );
        finished(&mut headless, 3);
        let before = headless.read_image(&target_of(&headless, blur)).bytes;
        let mask = headless.reserve_image();
        let profile = BlurProfile::Mask(mask.clone());
        headless.insert(blur, profile);
        set_blur(&mut headless, blur, GaussianBlur::from_sigma(SIGMA as f32));
        finished(&mut headless, 1);
        assert_eq!(finished(&mut headless, 4), 0, "{update:?}: the mask is not there");
        let after = headless.read_image(&target_of(&headless, blur)).bytes;
        assert!(before == after, "{update:?}: the picture stays");
        headless.insert_image(&mask, image(&shares(64, 48, |x, _| x as f64 / 63.0)));
        headless.frame();
        assert_masked(&format!("loaded-{update:?}"), &headless, blur, &sharp, &mask);
        headless.despawn(blur);
        finished(&mut headless, 1);
    }
}
