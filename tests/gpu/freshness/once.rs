//! Single blurs: the result stays until another one is requested.

use super::*;
use crate::support::images::{assert_pixels, ready, touch};

#[test]
fn the_picture_stays_until_another_one_is_asked_for() {
    let mut headless = ready();
    let [first, _] = pictures(61, 47);
    let source = headless.add_image(image(&first));
    let entity = spawn(&mut headless, GaussianBlur::from_sigma(3.5), once(source.clone()));
    assert_eq!(finished(&mut headless, 10), 1);
    let target = target_of(&headless, entity);
    assert_blur("once-first", &headless, &target, &first, 3.5);
    let others = [
        (40, 90, FORMAT),
        (61, 47, TextureFormat::Rgba8Unorm),
        (90, 12, TextureFormat::Rgba8Unorm),
        (61, 47, FORMAT),
    ];
    let mut sigma = 3.5;
    for (width, height, format) in others {
        let name = format!("once-{width}x{height}-{format:?}");
        let before = headless.read_image(&target);
        let [_, other] = pictures(width, height);
        replace_image(&mut headless, &source, to_image(&other, format));
        assert_eq!(
            finished(&mut headless, 10),
            0,
            "{name}: the source alone asks for nothing"
        );
        sigma += 1.0;
        set_blur(&mut headless, entity, GaussianBlur::from_sigma(sigma));
        assert_eq!(finished(&mut headless, 10), 0, "{name}: nor do the settings");
        let after = headless.read_image(&target);
        assert_eq!((after.width, after.height), (before.width, before.height), "{name}");
        assert_eq!(after.format, before.format, "{name}");
        assert!(after.bytes == before.bytes, "{name}: the picture has changed");

        touch(&mut headless, entity);
        headless.frame();
        assert_eq!(target_of(&headless, entity), target, "{name}: the handle stays");
        assert_eq!(headless.read_image(&target).format, format, "{name}");
        assert_blur(&name, &headless, &target, &other, sigma);
        assert_eq!(finished(&mut headless, 10), 1, "{name}: it was blurred once");
    }
}

/// With pipelined rendering, the main world learns late that a blur has run.
#[test]
fn a_source_resized_right_after_its_blur_leaves_a_picture_behind() {
    let mut live = Live::new(BlurBackend::Compute, |_| {});
    // A first blur makes this format known, so that blurs of it are ready.
    let [first, _] = pictures(61, 47);
    let known = live.headless.add_image(image(&first));
    spawn(&mut live.headless, GaussianBlur::from_sigma(2.0), plain(known));
    live.frame();
    live.wait_until_ready();
    for pause in 0..5 {
        let source = live.headless.add_image(image(&first));
        live.frame();
        let entity = spawn(&mut live.headless, GaussianBlur::from_sigma(3.5), once(source.clone()));
        live.frame();
        let target = target_of(&live.headless, entity);
        live.watch(&target);
        live.frames(pause);
        let [_, second] = pictures(40, 31);
        replace_image(&mut live.headless, &source, image(&second));
        live.frames(10);
        let shots = live.shots();
        let shown = shots.last().and_then(|shot| shot.images.last());
        let shown = shown.and_then(Option::as_ref).expect("the target is on the GPU");
        let sharp = if shown.width == 61 { &first } else { &second };
        assert_pixels(&format!("once-live-{pause}"), shown, sharp, 3.5);
    }
}
