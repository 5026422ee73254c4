//! What holds for blurs of images in apps whose frames complete one after the other also holds in apps that run as games do:
//! they hear of a frame one or two frames later.

use super::rest::{asks, note_redraws, run_while};
use super::uploads::{OTHERS, queue};
use super::*;
use crate::support::formats::quantised;
use crate::support::images::assert_pixels;
use crate::support::outcomes::record;

const SIGMA: f32 = 3.5;

/// Runs frames. Returns what the last watched image shows in all of them that have been rendered since the last call.
fn shown_in(live: &mut Live, count: usize) -> Vec<Pixels> {
    live.frames(count);
    let shots = live.shots().into_iter();
    shots.filter_map(|shot| shot.images.into_iter().next_back()?).collect()
}

/// Whether pixels are the blur of a picture.
fn is_blur(pixels: &Pixels, sharp: &Picture) -> bool {
    let expected = gaussian_blur(&quantised(sharp, pixels.format), [f64::from(SIGMA); 2], EdgeMode::Clamp);
    let got = to_picture(pixels);
    [got.width, got.height] == [expected.width, expected.height]
        && worst_difference(&got, &expected).value <= 1.0 / 255.0
}

/// A source, its blur, and the target of the plugin's own.
fn blurred(live: &mut Live, picture: &Picture) -> (Handle<Image>, Entity, Handle<Image>) {
    let source = live.headless.add_image(image(picture));
    let blur = GaussianBlur::from_sigma(SIGMA);
    let entity = spawn(&mut live.headless, blur, plain(source.clone()));
    live.frame();
    let target = target_of(&live.headless, entity);
    (source, entity, target)
}

/// Bevy keeps the texture of the first size or format, which is the last result, and hands it out again.
#[test]
fn a_source_that_goes_back_and_forth_is_followed() {
    let mut live = Live::new(BlurBackend::Auto, record);
    let [old, new] = pictures(61, 47);
    for (size, format) in OTHERS {
        let (source, entity, target) = blurred(&mut live, &old);
        live.wait_until_ready();
        live.watch(&target);
        shown_in(&mut live, 4);
        let waiting = queue(&mut live.headless);
        live.frame();
        replace_image(
            &mut live.headless,
            &source,
            to_image(&pictures(size[0], size[1])[0], format),
        );
        live.frames(2);
        replace_image(&mut live.headless, &source, image(&new));
        for (frame, pixels) in shown_in(&mut live, 20).iter().enumerate() {
            let name = format!("{size:?} {format:?}, frame {frame}");
            assert!(
                is_blur(pixels, &old) || is_blur(pixels, &new),
                "{name}: it shows neither"
            );
        }
        let last = shown_in(&mut live, 4).pop().expect("frames were rendered");
        assert_pixels("back-and-forth-pipelined", &last, &new, SIGMA);
        drop(waiting);
        live.headless.despawn(entity);
    }
}

/// A user who writes the target of a blur, in whichever frame, delays no blur that reads it.
#[test]
fn a_chain_is_current_whenever_its_middle_is_touched() {
    let mut live = Live::new(BlurBackend::Auto, record);
    let [old, new] = [pictures(61, 47)[0].clone(), pictures(90, 30)[1].clone()];
    for touched in 0..8 {
        let (source, first, middle) = blurred(&mut live, &old);
        // A copy: what it shows is what the first one shows.
        let last = spawn(&mut live.headless, GaussianBlur::new(0.0), plain(middle.clone()));
        live.frame();
        live.wait_until_ready();
        let end = target_of(&live.headless, last);
        live.watch(&end);
        shown_in(&mut live, 4);
        replace_image(&mut live.headless, &source, image(&new));
        live.frames(touched);
        let mut images = live.headless.images();
        images.get_mut(&middle).expect("it is alive").sampler = bevy::image::ImageSampler::nearest();
        live.frames(8);
        let shown = shown_in(&mut live, 4).pop().expect("frames were rendered");
        assert_pixels(&format!("touched-in-frame-{touched}"), &shown, &new, SIGMA);
        for entity in [last, first] {
            live.headless.despawn(entity);
        }
    }
}

/// Nothing asks for frames for ever: neither a failure whose settings change, nor what waits for something that never comes.
#[test]
fn reactive_apps_rest_although_blurs_wait_or_fail() {
    let mut live = Live::new(BlurBackend::Auto, note_redraws);
    let run_reactive = |live: &mut Live, reason: &str| {
        println!("{reason}");
        run_while(12, || {
            live.frame();
            asks(&live.headless)
        });
    };
    let [source, small] =
        [pictures(61, 47), pictures(8, 8)].map(|[picture, _]| live.headless.add_image(image(&picture)));
    let image = plain(source).with_target(small);
    let failing = spawn(&mut live.headless, GaussianBlur::new(9.0), image);
    live.frame();
    live.wait_until_ready();
    run_reactive(&mut live, "it fails");
    for radius in [10.0, 11.0] {
        set_blur(&mut live.headless, failing, GaussianBlur::new(radius));
        run_reactive(&mut live, "it fails again");
    }
    // A chain whose source never comes.
    let [middle, end] = pictures(61, 47).map(|picture| live.headless.add_image(self::image(&picture)));
    let nothing = live.headless.reserve_image();
    for [from, to] in [[&nothing, &middle], [&middle, &end]] {
        let image = plain(from.clone()).with_target(to.clone());
        spawn(&mut live.headless, GaussianBlur::new(9.0), image);
    }
    run_reactive(&mut live, "its source never comes");
}
