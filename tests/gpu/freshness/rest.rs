//! Blurs of images rest while nothing changes.

use super::*;
use crate::support::events::{heard, listen};
use bevy::window::RequestRedraw;

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
    let mut headless = ready_app(setup);
    let source = headless.add_image(image(&pictures(61, 47)[0]));
    let nan = Vec2::splat(f32::NAN);
    let profiles = [BlurProfile::Uniform, linear([nan, nan], [0.0, 1.0])];
    for radius in [9.0, -1.0, f32::NAN] {
        for profile in &profiles {
            let blur = GaussianBlur::new(radius);
            let entity = spawn(&mut headless, blur, plain(source.clone()));
            headless.insert(entity, profile.clone());
        }
    }
    let outcomes = frames(&mut headless, 10);
    let done = outcomes.iter().filter(|(_, outcome)| outcome.is_ok()).count();
    assert_eq!(done, 6, "each once: {outcomes:?}");
    assert_eq!(finished(&mut headless, 10), 0, "nothing has changed");
}

#[test]
fn a_blur_of_a_single_result_rests_while_a_camera_paints_its_source() {
    let mut headless = ready_app(|app| scene::add_plugins(app, Kind::Core2d));
    scene::spawn(&mut headless, Kind::Core2d, 1.0);
    let canvas = scene::target(&mut headless, UVec2::new(80, 50), HDR);
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

/// Whether the last frame asks for another one.
#[derive(Resource, Default)]
struct Asks(bool);

/// Notes it in every frame from now on.
pub fn note_redraws(app: &mut App) {
    let note = |mut asked: MessageReader<RequestRedraw>, mut asks: ResMut<Asks>| asks.0 = asked.read().count() > 0;
    app.init_resource::<Asks>().add_systems(Last, note);
}

/// Whether the last frame asks for another one.
pub fn asks(headless: &Headless) -> bool {
    headless.app.world().resource::<Asks>().0
}

/// Runs frames, at most so many, as long as they return that they ask for another one, as a reactive app does. Returns their number.
pub fn run_while(limit: usize, mut frame: impl FnMut() -> bool) -> usize {
    let is_last = |_: &usize| {
        let is_asked = frame();
        // Files take their time to load.
        sleep(Duration::from_millis(2));
        !is_asked
    };
    let count = (1..=limit).find(is_last);
    count.unwrap_or_else(|| panic!("{limit} frames are not enough"))
}

fn run_reactive(headless: &mut Headless) -> usize {
    run_while(4000, || {
        headless.frame();
        asks(headless)
    })
}

#[test]
fn reactive_apps_draw_until_a_blur_is_there() {
    let mut headless = ready_app(|app| {
        note_redraws(app);
        listen::<BlurredPixels>(app);
    });
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
    assert_eq!(heard::<BlurredPixels>(&headless).len(), 1, "its pixels have arrived");
    // What never arrives does not keep the app busy.
    let nothing = headless.reserve_image();
    spawn(&mut headless, GaussianBlur::from_sigma(2.0), plain(nothing));
    run_reactive(&mut headless);
}

#[test]
fn reactive_apps_draw_while_a_source_loads() {
    let mut headless = ready_app(note_redraws);
    let assets = headless.app.world().resource::<AssetServer>();
    let source = assets.load("no such picture.png");
    spawn(&mut headless, GaussianBlur::from_sigma(2.0), plain(source));
    run_reactive(&mut headless);
    assert_eq!(failures(&mut headless, 0), [BlurError::SourceNotLoaded]);
}
