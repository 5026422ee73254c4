//! The log reports every setup that cannot work, once.

use super::*;
use crate::support::images::ready_app;

/// The name of a camera whose radius is out of range.
const CAMERA: &str = "usage-invalid-camera";

fn camera_reports() -> usize {
    logs::count(&format!("{CAMERA}: the blur radius is "))
}

/// Waits for [`SpawnCamera`].
fn spawn_camera(mut commands: Commands, wanted: Option<Res<SpawnCamera>>) {
    if wanted.is_some() {
        commands.spawn((Name::new(CAMERA), Camera2d, GaussianBlur::new(f32::NAN)));
        commands.remove_resource::<SpawnCamera>();
    }
}

#[derive(Resource)]
struct SpawnCamera;

#[test]
fn an_invalid_radius_of_a_camera_spawned_in_update() {
    let setup = |app: &mut App| {
        app.add_systems(Update, spawn_camera);
    };
    let mut headless = ready_app(setup);
    headless.app.insert_resource(SpawnCamera);
    headless.frame();
    assert_eq!(camera_reports(), 1, "in the frame in which it is spawned");
    headless.frames(20);
    assert_eq!(camera_reports(), 1, "once");
    let world = headless.app.world_mut();
    let camera = world.query_filtered::<Entity, With<Camera2d>>().single(world);
    let camera = camera.expect("the camera was spawned");
    for radius in [f32::NAN, -1.0, f32::INFINITY] {
        set_blur(&mut headless, camera, GaussianBlur::new(radius));
        headless.frames(2);
    }
    assert_eq!(camera_reports(), 1, "it has not been in range since");
    set_blur(&mut headless, camera, GaussianBlur::new(5.0));
    headless.frames(2);
    assert_eq!(camera_reports(), 1, "it is in range");
    set_blur(&mut headless, camera, GaussianBlur::new(-1.0));
    headless.frames(2);
    assert_eq!(camera_reports(), 2, "it is out of range again");
}

#[test]
fn a_blur_of_nothing() {
    let mut headless = warm(BlurBackend::Compute);
    let source = headless.add_image(image(&pictures(16, 16)[0]));
    let blur = GaussianBlur::new(5.0);
    let name = |name: &'static str| Name::new(name);
    let world = headless.app.world_mut();
    let idle = world.spawn((name("usage-idle"), blur)).id();
    world.spawn((name("usage-busy-camera"), Camera2d, blur));
    world.spawn((name("usage-busy-image"), plain(source)));
    headless.frame();
    assert_eq!(logs::count("usage-idle has a GaussianBlur"), 1, "in its first frame");
    for radius in [9.0, 0.0, 24.0] {
        set_blur(&mut headless, idle, GaussianBlur::new(radius));
        headless.frames(5);
    }
    assert_eq!(logs::count("usage-idle"), 1, "once");
    assert_eq!(
        logs::count("usage-busy"),
        0,
        "cameras and images have something to blur"
    );
}

#[test]
fn a_lens_out_of_range() {
    let mut headless = warm(BlurBackend::Compute);
    let wrong = BackdropLens {
        bevel: -2.0,
        rim_light: f32::NAN,
        ..default()
    };
    let region = BackdropRegion::new(Entity::PLACEHOLDER, Rect::new(0.0, 0.0, 9.0, 9.0));
    let world = headless.app.world_mut();
    let glass = world.spawn((Name::new("usage-lens"), region, wrong)).id();
    world.spawn((Name::new("usage-no-glass"), BackdropLens::default()));
    headless.frames(20);
    let bevel = "the bevel is -2; it must be finite and at least 0";
    let rim_light = "the rim_light is NaN; it must be between 0 and 1";
    assert_eq!([bevel, rim_light].map(logs::count), [1, 1], "once");
    assert_eq!(logs::count("usage-no-glass"), 1, "a lens without glass");
    for lens in [BackdropLens::default(), wrong] {
        headless.insert(glass, lens);
        headless.frames(2);
    }
    assert_eq!([bevel, rim_light].map(logs::count), [2, 2], "it was in range");
}

#[test]
fn a_blur_in_place_of_a_painted_image_and_a_blur_beside_a_camera() {
    let mut headless = warm(BlurBackend::Compute);
    let mut canvas = || {
        let mut canvas = image(&pictures(16, 16)[0]);
        canvas.texture_descriptor.usage |= TextureUsages::RENDER_ATTACHMENT;
        headless.add_image(canvas)
    };
    let [waits, follows, both] = [(); 3].map(|()| canvas());
    let blur = GaussianBlur::from_sigma(1.0);
    let named = |name: &'static str| (Name::new(name), blur);
    let painter = |image: &Handle<Image>| (Camera2d, RenderTarget::Image(image.clone().into()));
    let in_place = |image: &Handle<Image>| {
        let target = image.clone();
        plain(target.clone()).with_target(target)
    };
    let world = headless.app.world_mut();
    world.spawn(painter(&waits));
    world.spawn(painter(&follows));
    world.spawn((named("usage-painted-waits"), in_place(&waits)));
    let always = in_place(&follows).with_update(BlurUpdate::EveryFrame);
    world.spawn((named("usage-painted-always"), always));
    world.spawn((named("usage-doubled"), painter(&both), plain(waits.clone())));
    headless.frames(20);
    assert_eq!(logs::count("usage-painted-waits"), 1, "once");
    assert_eq!(
        logs::count("only when its settings change: use BlurUpdate::EveryFrame"),
        1
    );
    assert_eq!(logs::count("usage-painted-always"), 0);
    let said = logs::all("usage-doubled");
    assert_eq!(said.len(), 1, "once: {said:?}");
    assert!(said[0].contains("so its GaussianBlur blurs both"), "{said:?}");
}

/// What no frame blurs is not reported by a frame either, but when it is spawned.
#[test]
fn masks_that_never_reach_the_gpu() {
    let mut headless = warm(BlurBackend::Compute);
    let mut mask = image(&pictures(16, 16)[0]);
    mask.asset_usage = RenderAssetUsages::MAIN_WORLD;
    let mask = BlurProfile::Mask(headless.add_image(mask));
    let named = |name: &'static str| (Name::new(name), mask.clone());
    let world = headless.app.world_mut();
    let camera = (named("usage-hidden-camera"), Camera2d, GaussianBlur::new(5.0));
    let camera = world.spawn(camera).id();
    let region = BackdropRegion::new(camera, Rect::new(0.0, 0.0, 9.0, 9.0));
    world.spawn((named("usage-hidden-glass"), region));
    world.spawn((named("usage-hidden-filter"), Node::default(), UiFilter::from_sigma(5.0)));
    headless.frames(20);
    let names = ["usage-hidden-camera", "usage-hidden-glass", "usage-hidden-filter"];
    for name in &names {
        let said = logs::all(&format!("the BlurProfile of {name}"));
        assert_eq!(said.len(), 1, "once: {said:?}");
        assert!(said[0].contains("MAIN_WORLD"), "{said:?}");
    }
}
