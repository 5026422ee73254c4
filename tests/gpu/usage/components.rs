//! Components that are omitted, cloned, or in conflict.

use super::*;
use bevy::render::render_resource::TextureDimension;

/// An outcome, and the entity that has reported it.
type Outcome = (Entity, Result<(), BlurError>);

#[test]
fn defaults() {
    assert_eq!(BlurAlpha::default(), BlurAlpha::Straight);
    assert_eq!(BlurUpdate::default(), BlurUpdate::OnChange);
    let expected = BlurImage {
        source: Handle::default(),
        target: None,
        region: None,
        padding: 0,
        alpha: BlurAlpha::Straight,
        update: BlurUpdate::OnChange,
        dither: false,
    };
    assert_eq!(BlurImage::default(), expected);
    assert_eq!(BlurImage::new(Handle::default()), expected);
}

#[test]
fn an_image_needs_no_settings() {
    let mut headless = warm(BlurBackend::Compute);
    let [picture, _] = pictures(61, 47);
    let source = headless.add_image(image(&picture));
    let entity = headless.spawn(plain(source));
    assert_eq!(finished(&mut headless, 10), 1);
    let blur = headless.app.world().get::<GaussianBlur>(entity);
    assert_eq!(blur, Some(&GaussianBlur::new(24.0)));
    assert_blur("no-settings", &headless, &target_of(&headless, entity), &picture, 8.0);
}

/// A blur that has written its target, and another one that wants the same target.
struct SharedTarget {
    target: Handle<Image>,
    /// The sources of the two.
    pictures: [Picture; 2],
    first: Entity,
    second: BlurImage,
}

fn share_target(headless: &mut Headless) -> SharedTarget {
    let pictures = pictures(61, 47);
    let [one, other] = &pictures;
    let [target, first, second] = [one, one, other].map(|picture| headless.add_image(image(picture)));
    let [first, second] = [first, second].map(|source| plain(source).with_target(target.clone()));
    let first = spawn(headless, GaussianBlur::from_sigma(3.5), first);
    assert_eq!(finished(headless, 5), 1);
    SharedTarget {
        target,
        pictures,
        first,
        second,
    }
}

#[test]
fn a_shared_target_belongs_to_the_first() {
    let mut headless = warm(BlurBackend::Compute);
    let SharedTarget {
        target,
        pictures: [one, other],
        first,
        second,
    } = share_target(&mut headless);
    let second = spawn(&mut headless, GaussianBlur::from_sigma(3.5), second);
    let failure: Outcome = (second, Err(BlurError::SharedTarget { other: first }));
    assert_eq!(frames(&mut headless, 20), [failure]);
    assert_blur("shared-first", &headless, &target, &one, 3.5);

    set_blur(&mut headless, first, GaussianBlur::from_sigma(9.0));
    let [first_again, second_at_last] = [first, second].map(|entity| -> Outcome { (entity, Ok(())) });
    assert_eq!(frames(&mut headless, 5), [first_again]);
    assert_blur("shared-first-changed", &headless, &target, &one, 9.0);

    headless.despawn(first);
    assert_eq!(frames(&mut headless, 5), [second_at_last]);
    assert_blur("shared-second", &headless, &target, &other, 3.5);
}

/// An entity from which only the blur is removed writes its target no longer.
#[test]
fn a_removed_blur_leaves_its_target_to_others() {
    let mut headless = warm(BlurBackend::Compute);
    let SharedTarget {
        target,
        pictures: [_, other],
        first,
        second,
    } = share_target(&mut headless);
    headless.remove::<GaussianBlur>(first);
    frames(&mut headless, 3);
    let second = spawn(&mut headless, GaussianBlur::from_sigma(3.5), second);
    assert_eq!(frames(&mut headless, 5), [(second, Ok(()))] as [Outcome; 1]);
    assert_blur("left-to-others", &headless, &target, &other, 3.5);
}

/// A broken file in place of the source, as in hot reloading, and then a valid one.
#[test]
fn a_failure_does_not_cost_the_target() {
    let mut headless = warm(BlurBackend::Compute);
    let [first, _] = pictures(61, 47);
    let [_, second] = pictures(40, 31);
    let source = headless.add_image(image(&first));
    let entity = spawn(&mut headless, GaussianBlur::from_sigma(3.5), plain(source.clone()));
    assert_eq!(finished(&mut headless, 5), 1);
    let target = target_of(&headless, entity);
    let mut layers = image(&pictures(8, 24)[0]);
    layers
        .reinterpret_stacked_2d_as_array(3)
        .expect("three layers of eight rows");
    layers.texture_descriptor.dimension = TextureDimension::D3;
    replace_image(&mut headless, &source, layers);
    assert_eq!(failures(&mut headless, 20), [BlurError::NotTwoDimensional], "once");
    assert_blur("before-failure", &headless, &target, &first, 3.5);
    replace_image(&mut headless, &source, image(&second));
    assert_eq!(finished(&mut headless, 10), 1);
    assert_eq!(target_of(&headless, entity), target, "the handle stays");
    assert_blur("after-failure", &headless, &target, &second, 3.5);
}
