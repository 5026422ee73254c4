//! It does not matter in which order and in which frames the components of a blur come, nor what they were before: each
//! blur becomes as its twin, which was spawned at once.

use super::*;
use crate::support::outcomes::record;
use bevy::ecs::entity_disabling::Disabled;

/// What another crate disables entities with.
#[derive(Component)]
struct Pooled;

/// The strength of every blur here.
fn blur() -> GaussianBlur {
    GaussianBlur::from_sigma(SIGMA)
}

const SIGMA: f32 = 4.0;

fn profile() -> BlurProfile {
    linear([Vec2::new(0.2, 0.0), Vec2::new(0.8, 0.0)], [0.0, 1.0])
}

/// Brings the components of a blur together.
type Beginning = fn(&mut Headless, BlurImage) -> Entity;

fn edit(headless: &mut Headless, entity: Entity, change: impl FnOnce(&mut EntityWorldMut)) {
    change(&mut headless.app.world_mut().entity_mut(entity));
    headless.frames(2);
}

fn spawn(headless: &mut Headless, bundle: impl Bundle) -> Entity {
    let entity = headless.spawn(bundle);
    headless.frames(2);
    entity
}

const BEGINNINGS: [(&str, Beginning); 9] = [
    ("its strength comes first", |headless, image| {
        let entity = spawn(headless, blur());
        edit(headless, entity, |one| _ = one.insert(image));
        edit(headless, entity, |one| _ = one.insert(profile()));
        entity
    }),
    ("its profile comes first", |headless, image| {
        let entity = spawn(headless, (profile(), blur()));
        edit(headless, entity, |one| _ = one.insert(image));
        entity
    }),
    ("its image comes first", |headless, image| {
        let entity = spawn(headless, image);
        edit(headless, entity, |one| _ = one.insert((profile(), blur())));
        entity
    }),
    ("its strength was removed", |headless, image| {
        let entity = spawn(headless, (image, GaussianBlur::new(60.0), profile()));
        edit(headless, entity, |one| _ = one.remove::<GaussianBlur>());
        edit(headless, entity, |one| _ = one.insert(blur()));
        entity
    }),
    ("its image was removed", |headless, image| {
        let entity = spawn(headless, (image.clone(), blur(), profile()));
        edit(headless, entity, |one| _ = one.remove::<BlurImage>());
        edit(headless, entity, |one| _ = one.insert(image));
        entity
    }),
    ("its image was removed and inserted at once", |headless, image| {
        let entity = spawn(headless, (image.clone(), blur(), profile()));
        edit(headless, entity, |one| _ = one.remove::<BlurImage>().insert(image));
        entity
    }),
    ("it was disabled when it was spawned", |headless, image| {
        let entity = spawn(headless, (image, blur(), profile(), Disabled));
        edit(headless, entity, |one| _ = one.remove::<Disabled>());
        entity
    }),
    ("it was changed while it was disabled", |headless, image| {
        let other = headless.add_image(super::image(&pictures(61, 47)[1]));
        let entity = spawn(headless, (plain(other), blur()));
        edit(headless, entity, |one| _ = one.insert(Disabled));
        let target = target_of(headless, entity);
        let image = image.with_target(target);
        edit(headless, entity, |one| _ = one.insert((image, profile())));
        edit(headless, entity, |one| _ = one.remove::<Disabled>());
        entity
    }),
    ("it was disabled in another way", |headless, image| {
        let entity = spawn(headless, (image, GaussianBlur::new(60.0), profile()));
        edit(headless, entity, |one| _ = one.insert(Pooled));
        edit(headless, entity, |one| _ = one.insert(blur()));
        edit(headless, entity, |one| _ = one.remove::<Pooled>());
        entity
    }),
];

#[test]
fn a_blur_becomes_as_its_twin_however_its_components_came() {
    for backend in one_backend() {
        let setup = |app: &mut App| {
            record(app);
            app.world_mut().register_disabling_component::<Pooled>();
        };
        let mut headless = gpu_with(backend, setup);
        for (name, begin) in BEGINNINGS {
            let [old, new] = pictures(61, 47);
            let source = headless.add_image(image(&old));
            let late = begin(&mut headless, plain(source.clone()));
            let twin = spawn(&mut headless, (blur(), profile(), plain(source.clone())));
            frames(&mut headless, 6);
            let compare = |headless: &Headless, what: &str| {
                let [late, twin] = [late, twin].map(|entity| headless.read_image(&target_of(headless, entity)).bytes);
                assert!(twin.iter().any(|byte| *byte != twin[0]), "the twin shows something");
                assert!(late == twin, "{backend:?}: {name}: {what}");
            };
            compare(&headless, "from the start");
            replace_image(&mut headless, &source, image(&new));
            frames(&mut headless, 2);
            compare(&headless, "new pixels");
            for entity in [late, twin] {
                set_blur(&mut headless, entity, GaussianBlur::new(24.0));
            }
            frames(&mut headless, 2);
            compare(&headless, "another radius");
            for entity in [late, twin] {
                headless.despawn(entity);
            }
            let outcomes = frames(&mut headless, 2);
            assert!(outcomes.iter().all(|(_, outcome)| outcome.is_ok()), "{outcomes:?}");
        }
    }
}

/// With pipelined rendering the outcome of a blur that was removed arrives after the next one was inserted.
#[test]
fn an_outcome_belongs_to_the_blur_that_it_is_of() {
    let mut live = Live::new(BlurBackend::Auto, record);
    let [old, new] = pictures(61, 47);
    let mut add = |picture, format| live.headless.add_image(to_image(picture, format));
    let sources = [add(&old, FORMAT), add(&new, TextureFormat::R8Unorm)];
    let known = live.headless.spawn((blur(), plain(sources[0].clone())));
    live.frame();
    live.wait_until_ready();
    let [first, second] = sources.map(plain);
    let entity = live.headless.spawn((blur(), first));
    live.frame();
    live.headless.remove::<BlurImage>(entity);
    live.headless.insert(entity, second);
    live.frame();
    let target = target_of(&live.headless, entity);
    live.watch(&target);
    live.wait_until_ready();
    live.frames(10);
    let shots = live.shots();
    let shown = shots.last().and_then(|shot| shot.images[0].as_ref());
    let got = to_picture(shown.expect("the target is on the GPU"));
    let expected = gaussian_blur(
        &formats::quantised(&new, TextureFormat::R8Unorm),
        [f64::from(SIGMA); 2],
        EdgeMode::Clamp,
    );
    assert_close("of-its-own", &got, &expected, &[0], 1.1 / 255.0);
    live.headless.despawn(known);
}
