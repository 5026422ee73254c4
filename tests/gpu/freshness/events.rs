//! A blur reported by [`BlurFinished`] has finished, with the reported settings.

use super::uploads::congest;
use super::*;
use bevy_gaussian_blur::BlurRevision;

/// All events so far.
#[derive(Resource, Default)]
struct Heard(Vec<BlurFinished>);

fn listen(app: &mut App) {
    app.init_resource::<Heard>();
    app.add_observer(|event: On<BlurFinished>, mut heard: ResMut<Heard>| heard.0.push(*event));
}

/// The reports of a blur so far.
fn heard(headless: &Headless, entity: Entity) -> Vec<BlurFinished> {
    let events = headless.app.world().resource::<Heard>().0.iter();
    events.filter(|event| event.entity == entity).copied().collect()
}

/// The last requested revision.
fn revision(headless: &Headless, entity: Entity) -> u64 {
    let revision = headless.app.world().get::<BlurRevision>(entity);
    revision.expect("every blur of an image has one").get()
}

#[test]
fn every_blur_is_reported_with_its_settings_once_it_is_there() {
    let mut headless = ready_app(listen);
    let [picture, _] = pictures(61, 47);
    let source = headless.add_image(image(&picture));
    let entity = spawn(&mut headless, GaussianBlur::default(), plain(source));
    let mut carried_out = Vec::new();
    for (index, sigma) in [2.0, 5.0, 11.0, 11.5, 0.0, 3.0].into_iter().enumerate() {
        let blur = GaussianBlur::from_sigma(sigma);
        set_blur(&mut headless, entity, blur);
        headless.frame();
        // A frame reports only what the frames before it rendered.
        assert_eq!(heard(&headless, entity), carried_out, "in frame {index}");
        let name = format!("reported-{index}");
        assert_blur(&name, &headless, &target_of(&headless, entity), &picture, blur.sigma());
        let revision = revision(&headless, entity);
        assert_eq!(revision, index as u64 + 1, "each change asks for one blur");
        carried_out.push(BlurFinished { entity, revision, blur });
    }
    headless.frames(5);
    assert_eq!(heard(&headless, entity), carried_out);
}

#[test]
fn what_was_superseded_is_not_reported() {
    let mut headless = ready_app(listen);
    let [old, new] = pictures(61, 47);
    let source = headless.add_image(image(&old));
    let entity = spawn(&mut headless, GaussianBlur::from_sigma(2.0), plain(source.clone()));
    headless.warm_up();
    let before = heard(&headless, entity).len();
    assert_eq!(before, 1);
    // The settings change while the pixels are on their way.
    let _waiting = congest(&mut headless);
    replace_image(&mut headless, &source, image(&new));
    let mut last = GaussianBlur::default();
    for sigma in [3.0, 5.0, 8.0] {
        last = GaussianBlur::from_sigma(sigma);
        set_blur(&mut headless, entity, last);
        headless.frame();
    }
    assert_eq!(heard(&headless, entity).len(), before, "nothing has been blurred yet");
    headless.frames(20);
    let expected = BlurFinished {
        entity,
        revision: revision(&headless, entity),
        blur: last,
    };
    assert_eq!(heard(&headless, entity)[before..], [expected]);
    assert_eq!(expected.revision, 4, "one for the old pixels, and one for each change");
    let target = target_of(&headless, entity);
    assert_blur("superseded", &headless, &target, &new, last.sigma());
}
