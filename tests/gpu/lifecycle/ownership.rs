//! The owner of a target. The plugin owns a target that it has allocated, and fits it to its source, while the
//! component for which it was allocated stays on its entity. After that the target is an ordinary image.

use super::*;
use bevy::ecs::entity_disabling::Disabled;

/// The sizes of the picture that the target is allocated for, and of another one.
const SIZES: [[usize; 2]; 2] = [[61, 47], [40, 31]];

/// A blur that has finished, with its source and its target.
fn finished_blur(headless: &mut Headless) -> (Entity, Handle<Image>, Handle<Image>) {
    let [width, height] = SIZES[0];
    let (entity, source) = spawn(headless, &picture(width, height), BlurUpdate::OnChange);
    assert_eq!(finished(headless, 15), 1);
    (entity, source, target_of(headless, entity))
}

/// A blur of a source of the other size into a given image.
fn spawn_other(headless: &mut Headless, target: &Handle<Image>) -> Entity {
    let [width, height] = SIZES[1];
    let (entity, _) = spawn(headless, &picture(width, height), BlurUpdate::OnChange);
    headless.get_mut::<BlurImage>(entity).target = Some(target.clone());
    entity
}

fn mismatch() -> BlurError {
    let [target, source] = SIZES.map(|side| UVec2::new(side[0] as u32, side[1] as u32));
    BlurError::SizeMismatch { source, target }
}

#[test]
fn a_target_whose_blur_is_gone_is_yours() {
    let mut headless = warm(BlurBackend::Compute);
    let gone: [fn(&mut World, Entity); 3] = [
        |world, entity| {
            world.despawn(entity);
        },
        |world, entity| {
            world.entity_mut(entity).remove::<BlurImage>();
        },
        |world, entity| {
            world.get_mut::<BlurImage>(entity).expect("it was spawned").target = None;
        },
    ];
    for end in gone {
        for frames in [0, 10] {
            let (first, source, target) = finished_blur(&mut headless);
            let before = headless.read_image(&target).bytes;
            end(headless.app.world_mut(), first);
            finished(&mut headless, frames);
            let second = spawn_other(&mut headless, &target);
            if frames == 0 && headless.app.world().get::<BlurImage>(first).is_some() {
                // The first blur gets its own target.
                headless.despawn(first);
            }
            assert_eq!(
                failures(&mut headless, 15),
                [mismatch()],
                "it is not fitted to another source"
            );
            assert_eq!(headless.read_image(&target).bytes, before, "nothing has touched it");
            headless.get_mut::<BlurImage>(second).source = source;
            assert_eq!(finished(&mut headless, 15), 1, "it takes what is as large as it is");
            assert_eq!(target_of(&headless, second), target);
            let [width, height] = SIZES[0];
            assert_blurred(&headless, second, &picture(width, height), SIGMA);
            headless.despawn(second);
            headless.despawn(first);
            finished(&mut headless, 2);
        }
    }
}

#[test]
fn a_component_that_is_put_elsewhere_has_a_target_of_yours() {
    let mut headless = warm(BlurBackend::Compute);
    let [width, height] = SIZES[1];
    for is_same_entity in [false, true] {
        let (first, source, target) = finished_blur(&mut headless);
        let world = headless.app.world_mut();
        let image = world.entity_mut(first).take::<BlurImage>().expect("it was spawned");
        let second = if is_same_entity {
            first
        } else {
            world.spawn_empty().id()
        };
        world
            .entity_mut(second)
            .insert((GaussianBlur::from_sigma(SIGMA), image));
        assert_eq!(finished(&mut headless, 15), 1, "it is blurred anew");
        assert_eq!(target_of(&headless, second), target, "into the same image");
        replace(&mut headless, &source, &picture(width, height));
        assert_eq!(failures(&mut headless, 15), [mismatch()]);
        headless.get_mut::<BlurImage>(second).target = None;
        assert_eq!(finished(&mut headless, 15), 1, "the remedy is a new one");
        assert_blurred(&headless, second, &picture(width, height), SIGMA);
        headless.despawn(second);
    }
}

#[test]
fn a_target_is_fitted_as_long_as_its_component_stays() {
    let mut headless = warm(BlurBackend::Compute);
    let (entity, source, target) = finished_blur(&mut headless);
    let fits = |headless: &mut Headless, size: [usize; 2], what: &str| {
        let [width, height] = size;
        replace(headless, &source, &picture(width, height));
        assert!(finished(headless, 15) > 0, "{what}");
        assert_eq!(target_of(headless, entity), target, "{what}");
        assert_blurred(headless, entity, &picture(width, height), SIGMA);
    };
    // The component is replaced by a clone of itself.
    let image = headless
        .app
        .world()
        .get::<BlurImage>(entity)
        .expect("it was spawned")
        .clone();
    headless.insert(entity, image);
    fits(&mut headless, SIZES[1], "replaced");
    headless.insert(entity, Disabled);
    assert_eq!(finished(&mut headless, 10), 0, "nothing blurs what is disabled");
    headless.remove::<Disabled>(entity);
    assert_eq!(finished(&mut headless, 10), 1);
    fits(&mut headless, SIZES[0], "disabled for a while");
    // Another image, and the first one again.
    let other = headless.add_image(images::asset(&headless, &source));
    for next in [other, target.clone()] {
        headless.get_mut::<BlurImage>(entity).target = Some(next);
        assert_eq!(finished(&mut headless, 15), 1);
    }
    fits(&mut headless, SIZES[1], "named again");
}

#[test]
fn a_clone_has_a_target_of_its_own() {
    let mut headless = warm(BlurBackend::Compute);
    let (first, source, target) = finished_blur(&mut headless);
    let world = headless.app.world_mut();
    let image = world.get::<BlurImage>(first).expect("it was spawned").clone();
    let of_component = images::spawn(&mut headless, GaussianBlur::from_sigma(9.0), image);
    let of_entity = headless.app.world_mut().entity_mut(first).clone_and_spawn();
    assert_eq!(finished(&mut headless, 15), 2);
    let targets = [first, of_component, of_entity].map(|entity| target_of(&headless, entity));
    assert_eq!(targets[0], target);
    assert!(targets[0] != targets[1] && targets[0] != targets[2] && targets[1] != targets[2]);
    // The plugin owns each, also when the first one is removed.
    headless.despawn(first);
    let [width, height] = SIZES[1];
    replace(&mut headless, &source, &picture(width, height));
    assert!(finished(&mut headless, 15) > 0);
    assert_blurred(&headless, of_component, &picture(width, height), 9.0);
    assert_blurred(&headless, of_entity, &picture(width, height), SIGMA);
    // A clone of a component does not own your image.
    let yours = headless.add_image(images::asset(&headless, &source));
    let image = plain(source.clone()).with_target(yours.clone());
    let writer = images::spawn(&mut headless, GaussianBlur::from_sigma(SIGMA), image.clone());
    finished(&mut headless, 15);
    images::spawn(&mut headless, GaussianBlur::from_sigma(SIGMA), image);
    assert_eq!(failures(&mut headless, 15), [BlurError::SharedTarget { other: writer }]);
    assert_blur("yours", &headless, &yours, &picture(width, height), SIGMA);
}
