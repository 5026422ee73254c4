//! Blurs of the results of other blurs.

use super::*;
use crate::support::images::ready;

/// The standard deviations of the links of a chain.
const LINKS: [f32; 2] = [4.0, 3.0];

fn set_source(headless: &mut Headless, entity: Entity, source: Handle<Image>) {
    headless.get_mut::<BlurImage>(entity).source = source;
}

/// Compares the result of a chain. Clamping twice differs from clamping once, so the comparison stays away from the
/// influence of the border.
fn assert_chained(name: &str, headless: &Headless, last: Entity, start: &Picture) {
    let got = headless.picture(&target_of(headless, last));
    let sigma = LINKS
        .map(f64::from)
        .iter()
        .map(|sigma| sigma * sigma)
        .sum::<f64>()
        .sqrt();
    let expected = gaussian_blur(&formats::quantised(start, FORMAT), [sigma; 2], EdgeMode::Clamp);
    let [got, expected] = [got, expected].map(|picture| picture.without_border(30));
    assert_close(name, &got, &expected, &RGBA, 1.0 / 255.0);
}

#[test]
fn a_chain_waits_for_its_source() {
    let mut headless = ready();
    let [_, start] = pictures(120, 90);
    let mut empty = start.clone();
    empty.texels.fill([0.0; 4]);
    for last_comes_first in [true, false] {
        let source = headless.reserve_image();
        // It exists from the start, and is empty.
        let middle = headless.add_image(image(&empty));
        let first = once(source.clone()).with_target(middle.clone());
        let first = (GaussianBlur::from_sigma(LINKS[0]), first);
        let last = (GaussianBlur::from_sigma(LINKS[1]), once(middle));
        let world = headless.app.world_mut();
        let last = if last_comes_first {
            let last = world.spawn(last).id();
            world.spawn(first);
            last
        } else {
            world.spawn(first);
            world.spawn(last).id()
        };
        assert_eq!(finished(&mut headless, 5), 0, "there is nothing to blur yet");
        headless.insert_image(&source, image(&start));
        headless.frame();
        let name = format!("once-chain-{last_comes_first}");
        assert_chained(&name, &headless, last, &start);
        assert_eq!(finished(&mut headless, 10), 2, "{name}: each link once");
        assert_chained(&name, &headless, last, &start);
    }
}

#[test]
fn a_chain_goes_through_a_target_of_the_plugin() {
    let mut headless = ready();
    let [_, start] = pictures(120, 90);
    let (source, nothing) = (headless.reserve_image(), headless.reserve_image());
    let last = spawn(&mut headless, GaussianBlur::from_sigma(LINKS[1]), once(nothing));
    let first = spawn(&mut headless, GaussianBlur::from_sigma(LINKS[0]), once(source.clone()));
    assert_eq!(finished(&mut headless, 5), 0, "there is nothing to blur yet");
    headless.insert_image(&source, image(&start));
    headless.frame();
    let middle = target_of(&headless, first);
    set_source(&mut headless, last, middle);
    headless.frame();
    assert_chained("once-chain-own", &headless, last, &start);
    assert_eq!(finished(&mut headless, 10), 2, "each link once");
    assert_chained("once-chain-own", &headless, last, &start);
}

#[test]
fn a_chain_follows_a_source_resized_in_every_frame() {
    let mut headless = ready();
    for (update, last_comes_first) in [
        (BlurUpdate::OnChange, false),
        (BlurUpdate::OnChange, true),
        (BlurUpdate::EveryFrame, true),
    ] {
        let source = headless.add_image(image(&pictures(61, 47)[0]));
        let nothing = headless.reserve_image();
        let mut links = [(); 2].map(|()| {
            let image = plain(nothing.clone()).with_update(update);
            spawn(&mut headless, GaussianBlur::default(), image)
        });
        if last_comes_first {
            links.reverse();
        }
        for (link, sigma) in links.into_iter().zip(LINKS) {
            headless.insert(link, GaussianBlur::from_sigma(sigma));
        }
        set_source(&mut headless, links[0], source.clone());
        headless.frame();
        let middle = target_of(&headless, links[0]);
        set_source(&mut headless, links[1], middle.clone());
        headless.warm_up();
        let end = target_of(&headless, links[1]);
        for (frame, size) in [(90, 30), (7, 80), (61, 47), (62, 48), (1, 1)].into_iter().enumerate() {
            let picture = &pictures(size.0, size.1)[frame % 2];
            replace_image(&mut headless, &source, image(picture));
            headless.frame();
            let name = format!("chain-{update:?}-{last_comes_first}-{frame}");
            assert_blur(&format!("{name}-first"), &headless, &middle, picture, LINKS[0]);
            let between = headless.picture(&middle);
            assert_blur(&format!("{name}-last"), &headless, &end, &between, LINKS[1]);
        }
        for link in links {
            headless.despawn(link);
        }
    }
}

#[test]
fn what_is_below_a_cycle_follows_in_every_frame() {
    let mut headless = ready();
    let [start, _] = pictures(61, 47);
    let mut blank = start.clone();
    blank.texels.fill([0.0; 4]);
    let [x, y, z, w] = [&start, &blank, &blank, &blank].map(|picture| headless.add_image(image(picture)));
    let link = |from: &Handle<Image>, to: &Handle<Image>| plain(from.clone()).with_target(to.clone());
    for image in [link(&z, &w), link(&y, &z)] {
        spawn(&mut headless, GaussianBlur::from_sigma(2.0), image);
    }
    // A trail.
    for image in [link(&x, &y), link(&y, &x)] {
        let image = image.with_update(BlurUpdate::EveryFrame);
        spawn(&mut headless, GaussianBlur::from_sigma(0.8), image);
    }
    headless.warm_up();
    let mut last = Vec::new();
    for frame in 0..4 {
        headless.frame();
        for (link, [from, to]) in [("second", [&y, &z]), ("third", [&z, &w])] {
            let from = headless.picture(from);
            assert!(
                from.texels.iter().any(|texel| texel[0] > 0.01),
                "there is something to blur"
            );
            assert_blur(&format!("below-cycle-{frame}-{link}"), &headless, to, &from, 2.0);
        }
        let shown = headless.read_image(&w).bytes;
        assert!(shown != last, "frame {frame}: the trail goes on");
        last = shown;
    }
}

/// A component that it did not have changes the order in which Bevy lists blurs.
#[test]
fn a_name_does_not_change_the_order_of_a_cycle() {
    let [start, _] = pictures(61, 47);
    let mut blank = start.clone();
    blank.texels.fill([0.0; 4]);
    let trail = |has_name: bool| {
        // In an app of the pool, tests before this one decide on the order.
        let mut headless = ready_app(|_| {});
        let [x, y] = [&start, &blank].map(|picture| headless.add_image(image(picture)));
        let links = [[&x, &y], [&y, &x]].map(|[from, to]| {
            let image = plain(from.clone()).with_target(to.clone());
            let image = image.with_update(BlurUpdate::EveryFrame);
            spawn(&mut headless, GaussianBlur::from_sigma(0.8), image)
        });
        headless.frame();
        if has_name {
            headless.insert(links[0], Name::new("first"));
        }
        headless.frames(4);
        [x, y].map(|image| headless.read_image(&image).bytes)
    };
    let (without, with) = (trail(false), trail(true));
    assert!(
        without.iter().flatten().any(|byte| *byte != 0),
        "there is something to blur"
    );
    assert!(without == with, "another link comes first");
}

/// It reads the last result of the other one.
#[test]
fn a_blur_of_one_that_fails_goes_on() {
    let mut headless = ready();
    let photo = headless.add_image(image(&pictures(61, 47)[0]));
    let first = spawn(&mut headless, GaussianBlur::from_sigma(3.0), plain(photo.clone()));
    headless.frame();
    let middle = target_of(&headless, first);
    let last = spawn(&mut headless, GaussianBlur::from_sigma(4.0), plain(middle.clone()));
    assert_eq!(finished(&mut headless, 10), 2);
    let (end, between) = (target_of(&headless, last), headless.read_image(&middle));
    // It fails, and then its source gets another size.
    insert_unreadable_mask(&mut headless, first);
    replace_image(&mut headless, &photo, image(&pictures(90, 30)[1]));
    let outcomes = frames(&mut headless, 6);
    let failed: Vec<_> = outcomes.iter().filter(|(_, outcome)| outcome.is_err()).collect();
    let [(failed, Err(BlurError::UnsupportedMask { .. }))] = failed[..] else {
        panic!("{outcomes:?}");
    };
    assert_eq!(*failed, first);
    set_blur(&mut headless, last, GaussianBlur::from_sigma(2.0));
    headless.frame();
    assert!(
        headless.read_image(&middle).bytes == between.bytes,
        "it keeps its result"
    );
    assert_blur("of-a-failing-blur", &headless, &end, &to_picture(&between), 2.0);
    // A new one reads it, too. Its target is as large as what it reads, which is not what the asset says.
    let new = spawn(&mut headless, GaussianBlur::from_sigma(5.0), plain(middle.clone()));
    assert_eq!(finished(&mut headless, 4), 2, "both are done");
    let shown = target_of(&headless, new);
    let of = to_picture(&between);
    assert_blur("new-of-a-failing-blur", &headless, &shown, &of, 5.0);
    // It goes on once it can.
    headless.remove::<BlurProfile>(first);
    finished(&mut headless, 3);
    assert_blur("no-longer-failing", &headless, &middle, &pictures(90, 30)[1], 3.0);
    let between = headless.picture(&middle);
    assert_blur("of-its-new-result", &headless, &end, &between, 2.0);
}
