//! Blurs of images rest while nothing changes.

use super::{image, pictures};
use crate::support::headless::Headless;
use crate::support::images::{plain, ready_app, set_blur, spawn, target_of};
use crate::support::outcomes::{failures, finished, frames};
use crate::support::scene::{self, Kind};
use bevy::prelude::*;
use bevy::render::render_resource::TextureFormat;
use bevy::window::RequestRedraw;
use bevy_gaussian_blur::prelude::*;
use std::thread::sleep;
use std::time::Duration;

/// Writes a component without changing it, in every frame.
fn write_again<C: Component<Mutability = bevy::ecs::component::Mutable> + Clone>(mut all: Query<&mut C>) {
    for mut one in &mut all {
        *one = one.clone();
    }
}

#[test]
fn settings_that_are_written_without_a_change_blur_nothing() {
    let setup = |app: &mut App| {
        app.add_systems(Update, (write_again::<GaussianBlur>, write_again::<BlurProfile>));
    };
    let Some(mut headless) = ready_app(setup) else {
        return;
    };
    let source = headless.add_image(image(&pictures(61, 47)[0]));
    let nan = Vec2::splat(f32::NAN);
    let profiles = [
        BlurProfile::Uniform,
        BlurProfile::Linear {
            start: nan,
            end: nan,
            from: 0.0,
            to: 1.0,
        },
    ];
    for radius in [9.0, -1.0, f32::NAN] {
        for profile in &profiles {
            let blur = GaussianBlur::new(radius);
            let entity = spawn(&mut headless, blur, plain(source.clone()));
            headless.app.world_mut().entity_mut(entity).insert(profile.clone());
        }
    }
    let outcomes = frames(&mut headless, 10);
    let done = outcomes.iter().filter(|(_, outcome)| outcome.is_ok()).count();
    assert_eq!(done, 6, "each once: {outcomes:?}");
    assert_eq!(finished(&mut headless, 10), 0, "nothing has changed");
}

#[test]
fn a_blur_of_a_single_result_rests_while_a_camera_paints_its_source() {
    let Some(mut headless) = ready_app(|app| scene::add_plugins(app, Kind::Core2d)) else {
        return;
    };
    scene::spawn(&mut headless, Kind::Core2d, 1.0);
    let canvas = scene::target(&mut headless, UVec2::new(80, 50), TextureFormat::Rgba16Float);
    scene::camera(&mut headless, Kind::Core2d, &canvas, Msaa::Off);
    headless.warm_up();
    let blur = GaussianBlur::from_sigma(2.0);
    let single = plain(canvas).with_update(BlurUpdate::Once);
    let single = spawn(&mut headless, blur, single);
    headless.frame();
    let between = target_of(&headless, single);
    spawn(&mut headless, blur, plain(between));
    headless.warm_up();
    finished(&mut headless, 4);
    assert_eq!(finished(&mut headless, 10), 0, "nothing writes its source");
}

/// The number of frames that ask for another one.
#[derive(Resource, Default)]
pub struct Redraws(pub usize);

pub fn count_redraws(mut asked: MessageReader<RequestRedraw>, mut redraws: ResMut<Redraws>) {
    redraws.0 += usize::from(asked.read().count() > 0);
}

/// Runs frames only as long as one is asked for, as a reactive app does. Returns their number.
fn run_reactive(headless: &mut Headless) -> usize {
    for frame in 1..100 {
        headless.app.world_mut().resource_mut::<Redraws>().0 = 0;
        headless.frame();
        if headless.app.world().resource::<Redraws>().0 == 0 {
            return frame;
        }
        // Files take their time to load.
        sleep(Duration::from_millis(2));
    }
    panic!("it asks for frames for ever");
}

/// The pixels that have arrived.
#[derive(Resource, Default)]
struct Arrived(usize);

#[test]
fn reactive_apps_draw_until_a_blur_is_there() {
    let setup = |app: &mut App| {
        app.init_resource::<Redraws>()
            .init_resource::<Arrived>()
            .add_observer(|_: On<BlurredPixels>, mut arrived: ResMut<Arrived>| arrived.0 += 1)
            .add_systems(Last, count_redraws);
    };
    let Some(mut headless) = ready_app(setup) else {
        return;
    };
    assert_eq!(run_reactive(&mut headless), 1, "there is nothing to do");
    let source = headless.add_image(image(&pictures(61, 47)[0]));
    spawn(&mut headless, GaussianBlur::from_sigma(2.0), plain(source.clone()));
    assert!(run_reactive(&mut headless) > 1);
    assert_eq!(finished(&mut headless, 0), 1, "its outcome has arrived");
    let world = headless.app.world_mut();
    world
        .commands()
        .blur_for_pixels(GaussianBlur::from_sigma(2.0), plain(source));
    world.flush();
    assert!(run_reactive(&mut headless) > 1);
    assert_eq!(
        headless.app.world().resource::<Arrived>().0,
        1,
        "its pixels have arrived"
    );
    // What never arrives does not keep the app busy.
    let nothing = headless.app.world().resource::<Assets<Image>>().reserve_handle();
    spawn(&mut headless, GaussianBlur::from_sigma(2.0), plain(nothing));
    run_reactive(&mut headless);
}

#[test]
fn reactive_apps_draw_while_a_source_loads() {
    let setup = |app: &mut App| {
        app.init_resource::<Redraws>().add_systems(Last, count_redraws);
    };
    let Some(mut headless) = ready_app(setup) else {
        return;
    };
    let assets = headless.app.world().resource::<AssetServer>();
    let source = assets.load("no such picture.png");
    spawn(&mut headless, GaussianBlur::from_sigma(2.0), plain(source));
    run_reactive(&mut headless);
    assert_eq!(failures(&mut headless, 0), [BlurError::SourceNotLoaded]);
}

/// Nothing asks for frames for ever: neither a failure whose settings change, nor what waits for something that never comes.
#[test]
fn reactive_apps_rest_although_blurs_wait_or_fail() {
    let setup = |app: &mut App| {
        app.init_resource::<Redraws>().add_systems(Last, count_redraws);
    };
    let Some(mut headless) = ready_app(setup) else {
        return;
    };
    let [source, small] = [pictures(61, 47), pictures(8, 8)].map(|[picture, _]| headless.add_image(image(&picture)));
    let failing = spawn(
        &mut headless,
        GaussianBlur::new(9.0),
        plain(source).with_target(small.clone()),
    );
    run_reactive(&mut headless);
    assert_eq!(failures(&mut headless, 0).len(), 1);
    for radius in [10.0, 11.0] {
        set_blur(&mut headless, failing, GaussianBlur::new(radius));
        assert!(run_reactive(&mut headless) < 5, "radius {radius}");
    }
    // A chain whose source never comes.
    let middle = headless.add_image(image(&pictures(61, 47)[0]));
    let end = headless.add_image(image(&pictures(61, 47)[0]));
    let nothing = headless.app.world().resource::<Assets<Image>>().reserve_handle();
    for [from, to] in [[&nothing, &middle], [&middle, &end]] {
        spawn(
            &mut headless,
            GaussianBlur::new(9.0),
            plain(from.clone()).with_target(to.clone()),
        );
    }
    spawn(&mut headless, GaussianBlur::new(9.0), plain(end));
    assert!(run_reactive(&mut headless) < 5, "nothing of it is on its way");
}
