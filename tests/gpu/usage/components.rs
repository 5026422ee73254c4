//! Components that are omitted, cloned, or in conflict.

use super::*;
use bevy::ecs::entity_disabling::Disabled;
use bevy::render::render_resource::TextureDimension;

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

/// What takes a blur from its target.
type Release = (&'static str, fn(&mut Headless, Entity));

const RELEASES: [Release; 4] = [
    ("it is despawned", Headless::despawn),
    ("it is removed", Headless::remove::<GaussianBlur>),
    ("it is disabled", |headless, blur| headless.insert(blur, Disabled)),
    ("it is disabled, and despawned", |headless, blur| {
        headless.insert(blur, Disabled);
        headless.despawn(blur);
    }),
];

#[test]
fn a_shared_target_belongs_to_the_first() {
    let mut headless = warm(BlurBackend::Compute);
    let [one, other] = pictures(61, 47);
    for (name, release) in RELEASES {
        let [target, first, second] = [&one, &one, &other].map(|picture| headless.add_image(image(picture)));
        let [first, second] = [first, second].map(|source| plain(source).with_target(target.clone()));
        let first = spawn(&mut headless, GaussianBlur::from_sigma(3.5), first);
        assert_eq!(finished(&mut headless, 5), 1);
        let second = spawn(&mut headless, GaussianBlur::from_sigma(3.5), second);
        let shared = |other| BlurError::SharedTarget { other };
        assert_eq!(frames(&mut headless, 20), [(second, Err(shared(first)))], "{name}");
        assert_blur("shared-first", &headless, &target, &one, 3.5);

        set_blur(&mut headless, first, GaussianBlur::from_sigma(9.0));
        assert_eq!(frames(&mut headless, 5), [(first, Ok(()))], "{name}");
        assert_blur("shared-first-changed", &headless, &target, &one, 9.0);

        release(&mut headless, first);
        assert_eq!(frames(&mut headless, 5), [(second, Ok(()))], "{name}");
        assert_blur("shared-second", &headless, &target, &other, 3.5);
        if name == "it is disabled" {
            headless.remove::<Disabled>(first);
            assert_eq!(
                frames(&mut headless, 5),
                [(first, Err(shared(second)))],
                "it comes too late"
            );
        }
        headless.despawn(second);
        let _ = headless.app.world_mut().try_despawn(first);
        frames(&mut headless, 2);
    }
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
