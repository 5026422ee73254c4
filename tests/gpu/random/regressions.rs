//! Regressions: shrunk failures of random worlds, and similar ones that were found by reading the code.

use super::step::{Content, Source, Target};
use super::*;

const FORMAT: TextureFormat = TextureFormat::Rgba16Float;
const SIGMA: f32 = 3.0;

fn picture(width: usize, height: usize) -> Picture {
    inputs::patterns(width, height)[0].clone()
}

fn add(headless: &mut Headless, picture: &Picture) -> Handle<Image> {
    headless.add_image(to_image(picture, FORMAT))
}

/// The second blur of a chain did not run while the first one could not.
#[test]
fn a_blur_does_not_wait_for_one_that_fails() {
    let mut headless = warm(BlurBackend::Compute);
    let (source, middle) = (picture(20, 20), picture(31, 17));
    let [source, between] = [&source, &middle].map(|picture| add(&mut headless, picture));
    let blur = GaussianBlur::from_sigma(SIGMA);
    let first = spawn(&mut headless, blur, plain(source.clone()).with_target(between.clone()));
    let second = spawn(&mut headless, blur, plain(between.clone()));
    let outcomes = frames(&mut headless, 15);
    let is_mismatch = |outcome: &(Entity, Result<(), BlurError>)| {
        outcome.0 == first && matches!(outcome.1, Err(BlurError::SizeMismatch { .. }))
    };
    assert!(outcomes.iter().any(is_mismatch), "{outcomes:?}");
    assert!(outcomes.contains(&(second, Ok(()))), "{outcomes:?}");
    assert_blur("unfed", &headless, &target_of(&headless, second), &middle, SIGMA);
    // When the first one can run, the second one follows.
    let fitting = picture(31, 17);
    replace_image(&mut headless, &source, to_image(&fitting, FORMAT));
    let outcomes = frames(&mut headless, 15);
    assert!(outcomes.contains(&(first, Ok(()))), "{outcomes:?}");
    assert!(outcomes.contains(&(second, Ok(()))), "{outcomes:?}");
}

/// A blur whose source was the target of a single blur never ran again after the app had replaced that image.
#[test]
fn a_blur_does_not_wait_for_one_that_is_done() {
    let mut headless = warm(BlurBackend::Compute);
    let [source, between] = [(); 2].map(|()| add(&mut headless, &picture(31, 17)));
    let blur = GaussianBlur::from_sigma(SIGMA);
    let once = plain(source).with_target(between.clone()).with_update(BlurUpdate::Once);
    spawn(&mut headless, blur, once);
    let second = spawn(&mut headless, blur, plain(between.clone()));
    frames(&mut headless, 15);
    // Of another size, so that it is another texture.
    let other = picture(40, 23);
    replace_image(&mut headless, &between, to_image(&other, FORMAT));
    let outcomes = frames(&mut headless, 15);
    assert!(outcomes.contains(&(second, Ok(()))), "{outcomes:?}");
    assert_blur("fed-once", &headless, &target_of(&headless, second), &other, SIGMA);
}

/// What is below a cycle was not compared with anything.
#[test]
fn what_is_below_a_cycle_is_compared() {
    let mut world = World::new(BlurBackend::Compute, Mode::Lockstep, true);
    let content = Content {
        size: [40, 30],
        format: FORMAT,
        pattern: false,
    };
    (0..4).for_each(|_| world.take(&Step::AddImage(content)));
    // The last two are a cycle.
    for (from, to, update) in [
        (2, 3, BlurUpdate::OnChange),
        (1, 2, BlurUpdate::OnChange),
        (0, 1, BlurUpdate::EveryFrame),
        (1, 0, BlurUpdate::EveryFrame),
    ] {
        let (source, target) = (Source::Image(from), Target::Image(to));
        let blur = GaussianBlur::from_sigma(SIGMA);
        world.take(&Step::SpawnBlur(source, target, blur, BlurAlpha::Premultiplied, update));
    }
    world.take(&Step::Check);
    assert_eq!(world.compared, 2, "both images below the cycle");
}
